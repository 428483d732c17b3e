"""ZooKeeper's side of every step: one-shot watches, fenced writes, and topic znodes that are written whole.

Words: a write is *fenced* when it succeeds only under the controller epoch that the writer was elected with. Nothing
else is compared: a topic's znode is always overwritten blindly, whatever it holds by then.
"""
from __future__ import annotations

from model.kafka.actors import ZOOKEEPER
from model.kafka.domains import BROKERS, NOTIFICATIONS, Broker
from model.kafka.state import Cluster, ControllerEvent, EventKind, Step
from model.language import Abort, action, require


class ControllerMoved(Abort):
    """ControllerMovedException: a fenced write failed, as another controller was elected meanwhile."""


def notify(cluster: Cluster, broker: int, event: ControllerEvent) -> None:
    """A watch of the broker's session has fired: its client is told, and queues one event that holds no content."""
    if NOTIFICATIONS > 0:
        cluster.brokers[broker].controller.notifications.push(event)
    else:
        cluster.brokers[broker].controller.events.push(event)


@action(
    by=ZOOKEEPER,
    says="notifies broker {broker} of a change",
    source="ZooKeeperClient.ZooKeeperClientWatcher.process",
)
def deliver_notification(cluster: Cluster, broker: Broker) -> None:
    """The client's event thread queues the event, unless nobody handles the path any more."""
    controller = cluster.brokers[broker].controller
    require(NOTIFICATIONS > 0 and not controller.notifications.is_empty)
    event = controller.notifications.pop()
    if controller.is_active or event.kind in (EventKind.REELECT, EventKind.CONTROLLER_CHANGE):
        controller.events.push(event)


def controller_changed(cluster: Cluster, kind: EventKind) -> None:
    """/controller was created (ControllerChange) or deleted (Reelect)."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.controller:
            watches.controller = False
            notify(cluster, broker, ControllerEvent(kind))


def broker_ids_changed(cluster: Cluster) -> None:
    """A child of /brokers/ids came or went."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.broker_ids:
            watches.broker_ids = False
            notify(cluster, broker, ControllerEvent(EventKind.BROKER_CHANGE))


def topics_changed(cluster: Cluster) -> None:
    """A child of /brokers/topics came."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.topics:
            watches.topics = False
            notify(cluster, broker, ControllerEvent(EventKind.TOPIC_CHANGE))


def topic_changed(cluster: Cluster, topic: int) -> None:
    """A topic's znode was written."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.topic[topic]:
            watches.topic[topic] = False
            notify(cluster, broker, ControllerEvent(EventKind.PARTITION_MODIFICATIONS, topic))


def write_topic(cluster: Cluster, topic: int, partition_count: int, topic_id: int | None) -> None:
    """Set a topic's znode whole, with version -1: what it held before does not matter."""
    znode = cluster.zookeeper.topics[topic]
    znode.partition_count = partition_count
    znode.topic_id = topic_id
    if znode.first_topic_id is None:
        znode.first_topic_id = topic_id
    topic_changed(cluster, topic)


def create_topic(cluster: Cluster, topic: int, partition_count: int, topic_id: int | None) -> None:
    """Create a topic's znode."""
    write_topic(cluster, topic, partition_count, topic_id)
    cluster.zookeeper.topics[topic].accepted_partitions = partition_count
    topics_changed(cluster)


def check_controller_epoch(cluster: Cluster, broker: int) -> None:
    """The fence of a controller's writes: leave the event with ControllerMoved if another epoch has begun.

    KafkaZkClient.wrapRequestWithControllerEpochCheck; the event thread will then resign.
    """
    controller = cluster.brokers[broker].controller
    if cluster.zookeeper.controller_epoch != controller.epoch:
        controller.step = Step.CONTROLLER_MOVED
        raise ControllerMoved
