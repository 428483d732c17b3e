"""Properties of a stop, or a failed start, of a broker up to the end of its network threads."""

from __future__ import annotations

from kwalk.model.kafka.server.network_stop import SHUTDOWN_TRIES, BrokerPhase, NetworkOfBroker
from kwalk.model.kafka.server.versions import STOPS_KNOW_THE_CONTROLLER
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a broker that is stopped, or whose start has failed, does not end until it is killed",
    log="none: a thread dump shows KafkaServer.controlledShutdown, or SocketServer.stopProcessingRequests",
)
def broker_ends(broker: NetworkOfBroker) -> bool:
    """A broker that is to stop ends its network threads."""
    premise(broker.phase not in (BrokerPhase.STARTING, BrokerPhase.RUNNING))
    return broker.phase is BrokerPhase.ENDED


@always(
    symptom="partitions have no leader for a while, as a broker stops during a failover of the controller",
    log="none: the broker logs no controlled shutdown that succeeded",
)
def stop_asks_for_other_leaders(broker: NetworkOfBroker) -> bool:
    """A broker that stops before its leaders are moved has asked as often as it is configured to."""
    premise(broker.tries > 0 and broker.phase in (BrokerPhase.ENDING, BrokerPhase.ENDED))
    return broker.leaders_are_moved or broker.tries == SHUTDOWN_TRIES


@step(symptom="a broker stops unasked, or without a word to the controller", log="none")
def phases_are_in_order(before: NetworkOfBroker, after: NetworkOfBroker) -> bool:
    """A broker starts, runs, asks, and ends; or its start fails."""
    premise(before.phase is not after.phase)
    if after.phase is BrokerPhase.ENDED:
        return before.phase is BrokerPhase.ENDING and not before.acceptor_waits
    if after.phase is BrokerPhase.ENDING:
        has_asked = before.phase is BrokerPhase.ASKING and after.tries > before.tries
        return before.phase is BrokerPhase.STARTING or has_asked
    if after.phase is BrokerPhase.ASKING:
        return before.phase is BrokerPhase.RUNNING
    return before.phase is BrokerPhase.STARTING and not after.acceptor_waits


@step(symptom="a broker believes that its leaders were moved", log="none")
def controller_moves_leaders(before: NetworkOfBroker, after: NetworkOfBroker) -> bool:
    """A controller that can be reached, and reaches ZooKeeper, moves the leaders of a broker that asks."""
    premise(before.tries != after.tries or before.leaders_are_moved != after.leaders_are_moved)
    is_reached = not before.zookeeper_is_away and not before.controller_is_away
    is_asked = before.phase is BrokerPhase.ASKING and after.tries == before.tries + 1
    return after.leaders_are_moved == is_reached and is_asked


@step(symptom="a broker knows the controller without asking for it", log="none")
def broker_knows_whom_to_ask(before: NetworkOfBroker, after: NetworkOfBroker) -> bool:
    """A broker asks for the controller while ZooKeeper, or an earlier answer, names one."""
    premise(before.tries != after.tries)
    return STOPS_KNOW_THE_CONTROLLER or not before.zookeeper_is_away


@step(symptom="a broker that runs accepts no connections", log="none")
def only_a_start_leaves_connections_waiting(before: NetworkOfBroker, after: NetworkOfBroker) -> bool:
    """The thread that accepts connections waits once, while its broker starts."""
    premise(before.acceptor_waits != after.acceptor_waits)
    return before.phase is BrokerPhase.STARTING and (after.phase is BrokerPhase.RUNNING or after.acceptor_waits)


@step(symptom="a controller is elected without ZooKeeper", log="none")
def controller_needs_zookeeper(before: NetworkOfBroker, after: NetworkOfBroker) -> bool:
    """A controller comes back while ZooKeeper answers."""
    premise(before.controller_is_away and not after.controller_is_away)
    return not before.zookeeper_is_away


@reachable()
def stop_finds_zookeeper_away(broker: NetworkOfBroker) -> bool:
    """ZooKeeper does not answer as a broker is to ask."""
    return broker.phase is BrokerPhase.ASKING and broker.zookeeper_is_away


@reachable()
def stop_moves_the_leaders_at_last(broker: NetworkOfBroker) -> bool:
    """A broker has asked more than once, and its leaders were moved."""
    return broker.leaders_are_moved and broker.tries > 1
