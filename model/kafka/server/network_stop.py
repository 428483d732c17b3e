"""KafkaServer: a stop of a broker up to the end of its network threads; `server_stop` has what comes then.

A broker that stops first asks the controller to move its leaders, a few times. Then it ends the threads that accept
connections, and those that handle them. A start that fails does the latter, too.

What the model leaves out, and why its story loses nothing by it:

* Which leaders are moved, which the models of the controller have.
* More than one thread of each kind: a stop waits for each.
* Connections while the broker runs: their queue is emptied all the time.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    ACCEPTORS_START_LAST,
    STOPS_ASK_AGAIN,
    STOPS_KNOW_THE_CONTROLLER,
)
from kwalk.model.kafka.storage.domains import FAULT, OPERATOR
from kwalk.model.language import Actor, Bound, action, choice, flag, number, require, state

SHUTDOWN_TRIES = Bound("shutdown_tries", "controlled.shutdown.max.retries", default=2)

BROKER = Actor("broker")
CLIENTS = Actor("clients", system=False)


class BrokerPhase(Enum):
    """How far the broker has started or stopped."""

    STARTING = "starting: connections are accepted, and not handled yet"
    RUNNING = "running"
    ASKING = "asks the controller to move its leaders"
    ENDING = "ends its network threads"
    ENDED = "has ended them"


@state
class NetworkOfBroker:
    """A broker, what it has reached of its cluster, and whether the thread waits that accepts connections."""

    phase: BrokerPhase = choice(BrokerPhase)
    zookeeper_is_away: bool = flag()
    controller_is_away: bool = flag()
    acceptor_waits: bool = flag()
    leaders_are_moved: bool = flag()
    tries: int = number(0, SHUTDOWN_TRIES)


@action(
    by=CLIENTS,
    description="make more connections than are queued",
    source="SocketServer.Acceptor.assignNewConnection; Processor.accept: newConnections.put",
)
def connect(broker: NetworkOfBroker) -> None:
    """Fill the queue, which nobody empties yet. Since KAFKA-9796 the thread that accepts is not started yet, either."""
    require(broker.phase is BrokerPhase.STARTING)
    broker.acceptor_waits = not ACCEPTORS_START_LAST


@action(by=BROKER, description="has started", source="KafkaServer.startup: startProcessingRequests")
def start(broker: NetworkOfBroker) -> None:
    """Handle connections from now on."""
    require(broker.phase is BrokerPhase.STARTING)
    broker.phase, broker.acceptor_waits = BrokerPhase.RUNNING, False


@action(by=FAULT, description="has the start fail", source="KafkaServer.startup: shutdown")
def fail_start(broker: NetworkOfBroker) -> None:
    """End the start: the broker has nothing to ask the controller for."""
    require(broker.phase is BrokerPhase.STARTING)
    broker.phase = BrokerPhase.ENDING


@action(by=OPERATOR, description="stops the broker", source="KafkaServer.shutdown")
def request_stop(broker: NetworkOfBroker) -> None:
    """Send SIGTERM."""
    require(broker.phase is BrokerPhase.RUNNING)
    broker.phase = BrokerPhase.ASKING


@action(by=FAULT, description="has ZooKeeper not answer", source="ZooKeeperClient.handleRequests")
def lose_zookeeper(broker: NetworkOfBroker) -> None:
    """Have it stopped before the brokers are."""
    broker.zookeeper_is_away = True


@action(by=FAULT, description="has the controller fail", source="KafkaController.elect")
def lose_controller(broker: NetworkOfBroker) -> None:
    """Have its session end before another broker is elected."""
    broker.controller_is_away = True


@action(by=FAULT, description="has a controller elected", source="KafkaController.elect")
def elect_controller(broker: NetworkOfBroker) -> None:
    """Have the brokers told."""
    require(not broker.zookeeper_is_away)
    broker.controller_is_away = False


@action(
    by=BROKER,
    description="asks the controller to move its leaders",
    source="KafkaServer.controlledShutdown: getControllerId",
)
def ask(broker: NetworkOfBroker) -> None:
    """Ask who the controller is, and it. Up to 2.8 ZooKeeper says who; up to 1.0 the broker asked once."""
    require(broker.phase is BrokerPhase.ASKING)
    require(STOPS_KNOW_THE_CONTROLLER or not broker.zookeeper_is_away)
    broker.tries += 1
    if not broker.zookeeper_is_away and not broker.controller_is_away:
        broker.leaders_are_moved, broker.phase = True, BrokerPhase.ENDING
    elif broker.tries == SHUTDOWN_TRIES or not STOPS_ASK_AGAIN:
        broker.phase = BrokerPhase.ENDING


@action(by=BROKER, description="ends its network threads", source="SocketServer.stopProcessingRequests")
def end_network(broker: NetworkOfBroker) -> None:
    """Wait for the thread that accepts connections, and end."""
    require(broker.phase is BrokerPhase.ENDING and not broker.acceptor_waits)
    broker.phase = BrokerPhase.ENDED
