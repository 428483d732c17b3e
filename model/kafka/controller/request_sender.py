"""ControllerChannelManager: the end of a connection to a broker, which the thread that sends requests may be using.

A controller that resigns removes all brokers: of each it ends the thread, and closes the connection, which two threads
cannot use at a time. A connection that is not closed has left its sensors, and so a later controller fails to begin.

What the model leaves out, and why its story loses nothing by it: other brokers, and what is sent.
"""

from __future__ import annotations

from kwalk.model.kafka.versions.sessions import SENDERS_END_FIRST
from kwalk.model.language import Actor, action, flag, require, state

SENDER = Actor("request sender")
CONTROLLER = Actor("controller")
ZOOKEEPER = Actor("ZooKeeper", system=False)


@state
class RequestSender:
    """A broker that may be controller, with a connection to another one.

    Its thread `is_sending`. It `is_to_resign` once it is not elected any more. Sensors of a connection that failed to
    be closed `are_left`; then an election `has_failed`.
    """

    is_controller: bool = flag()
    is_sending: bool = flag()
    is_to_resign: bool = flag()
    are_left: bool = flag()
    has_failed: bool = flag()


@action(by=ZOOKEEPER, description="has the broker elected", source="KafkaController.onControllerFailover")
def elect(sender: RequestSender) -> None:
    """Open the connection, with sensors of its own."""
    sender.is_controller, sender.has_failed = not sender.are_left, sender.are_left


@action(by=SENDER, description="sends a request", source="RequestSendThread.doWork: NetworkClient.poll")
def send(sender: RequestSender) -> None:
    """Use the connection."""
    require(sender.is_controller)
    sender.is_sending = True


@action(by=SENDER, description="has the answer", source="RequestSendThread.doWork")
def receive(sender: RequestSender) -> None:
    """Leave the connection."""
    sender.is_sending = False


@action(by=ZOOKEEPER, description="has another controller elected", source="LeaderChangeListener")
def depose(sender: RequestSender) -> None:
    """Have the broker resign."""
    require(sender.is_controller)
    sender.is_to_resign = True


@action(
    by=CONTROLLER,
    description="closes the connection",
    source="ControllerChannelManager.removeExistingBroker; KafkaController.onControllerResignation",
)
def resign(sender: RequestSender) -> None:
    """End the thread, and close the connection. Until KAFKA-4959 it was closed first, as the thread used it."""
    require(sender.is_to_resign and (not sender.is_sending or not SENDERS_END_FIRST))
    sender.are_left = sender.is_sending
    sender.is_controller = sender.is_to_resign = sender.is_sending = False
