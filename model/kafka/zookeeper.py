"""ZooKeeper's side of every step: one-shot watches, fenced writes, and topic znodes that are written whole.

Words: a write is *fenced* when it succeeds only under the controller epoch that the writer was elected with. Nothing
else is compared: a topic's znode is always overwritten blindly, whatever it holds by then.
"""
from __future__ import annotations

from model.kafka.actors import ZOOKEEPER
from model.kafka.assignment import created_replicas
from model.kafka.controller_context import ControllerEvent, EventKind, Step
from model.kafka.domains import BROKERS, NOTIFICATIONS, PARTITIONS, Broker
from model.kafka.state import Cluster, Session
from model.kafka.versions import DELETION, REASSIGNMENT, SESSIONS, ZK_FENCING
from model.kafka.znodes import Assignment, TopicZnode
from model.language import Abort, action, require


class ControllerMoved(Abort):
    """ControllerMovedException: a fenced write failed, as another controller was elected meanwhile."""


def notify(cluster: Cluster, broker: int, event: ControllerEvent) -> None:
    """A watch of the broker's session has fired: its client is told, and queues one event that holds no content.

    Nobody is told over a session that has expired.
    """
    if cluster.brokers[broker].session is Session.EXPIRED:
        return
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
    """The client's event thread queues the event, unless nobody handles the path any more, as that of a topic gone."""
    controller = cluster.brokers[broker].controller
    require(NOTIFICATIONS > 0 and not controller.notifications.is_empty)
    event = controller.notifications.pop()
    is_known = event.kind is not EventKind.PARTITION_MODIFICATIONS or controller.topics[event.topic].partition_count > 0
    if event.kind in (EventKind.REELECT, EventKind.CONTROLLER_CHANGE) or (controller.epoch > 0 and is_known):
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
    """A child of /brokers/topics came or went."""
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
    if REASSIGNMENT:
        assign_partitions(znode, partition_count)
    if DELETION and not znode.exists:
        topics_changed(cluster)
    znode.partition_count = partition_count
    znode.topic_id = topic_id
    if znode.first_topic_id is None:
        znode.first_topic_id = topic_id
    topic_changed(cluster, topic)


def assign_partitions(znode: TopicZnode, partition_count: int) -> None:
    """Partitions that the znode gets have the replicas that a client gives them; those that it had keep theirs."""
    for partition in PARTITIONS:
        if partition >= partition_count:
            znode.assignments[partition] = Assignment()
        elif partition >= znode.partition_count:
            znode.assignments[partition] = Assignment(replicas=created_replicas(partition))


def write_topic_from_context(cluster: Cluster, broker: int, topic: int) -> None:
    """A controller sets a topic's znode to what its context has, for all partitions and with the id.

    If the znode is gone, nothing is written, and the answer NONODE is ignored.
    """
    context, znode = cluster.brokers[broker].controller.topics[topic], cluster.zookeeper.topics[topic]
    if DELETION and not znode.exists:
        return
    write_topic(cluster, topic, context.partition_count, context.topic_id)
    if REASSIGNMENT:
        for partition in PARTITIONS:
            znode.assignments[partition] = context.assignments[partition]


def create_topic(cluster: Cluster, topic: int, partition_count: int, topic_id: int | None) -> None:
    """Create a topic's znode, and its configuration before."""
    if DELETION:
        begin_incarnation(cluster, topic)
    write_topic(cluster, topic, partition_count, topic_id)
    cluster.zookeeper.topics[topic].accepted_partitions = partition_count
    topics_changed(cluster)


def check_controller_epoch(cluster: Cluster, broker: int) -> None:
    """The fence of a controller's writes: leave the event with ControllerMoved if another epoch has begun.

    KafkaZkClient.wrapRequestWithControllerEpochCheck; the event thread will then resign. Before 2.1 nothing stops it.
    """
    controller = cluster.brokers[broker].controller
    if cluster.zookeeper.controller_epoch != controller.epoch:
        if ZK_FENCING:
            controller.step = Step.CONTROLLER_MOVED
            raise ControllerMoved
        if SESSIONS:
            cluster.deposed_write = True


# Deletion.


def begin_incarnation(cluster: Cluster, topic: int) -> None:
    """A topic is created, perhaps again; nobody has asked to delete this one."""
    znode = cluster.zookeeper.topics[topic]
    if znode.was_created:
        znode.incarnation += 1
        for commits in cluster.commits[topic]:
            commits.clear()
    znode.was_created = znode.has_config = True
    znode.deletion_asked = False


def markers_changed(cluster: Cluster) -> None:
    """A child of /admin/delete_topics came or went."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.delete_topics:
            watches.delete_topics = False
            notify(cluster, broker, ControllerEvent(EventKind.TOPIC_DELETION))


def create_marker(cluster: Cluster, topic: int) -> None:
    """Create /admin/delete_topics/T."""
    cluster.zookeeper.topics[topic].deletion_asked = True
    cluster.zookeeper.delete_topics = cluster.zookeeper.delete_topics | {topic}
    markers_changed(cluster)


def remove_marker(cluster: Cluster, topic: int) -> None:
    """Delete /admin/delete_topics/T, if it is there."""
    if topic in cluster.zookeeper.delete_topics:
        cluster.zookeeper.delete_topics = cluster.zookeeper.delete_topics - {topic}
        markers_changed(cluster)


def remove_config(cluster: Cluster, topic: int) -> None:
    """Delete /config/topics/T."""
    cluster.zookeeper.topics[topic].has_config = False


def remove_topic_znode(cluster: Cluster, topic: int) -> None:
    """Delete /brokers/topics/T with everything below, if it is there.

    Under the flag `piecemeal_removal` what is below has gone in a step before, and others may have seen that. The
    watches of the topic's data fire, for which controllers have no handler; nobody's are armed then.
    """
    znode = cluster.zookeeper.topics[topic]
    if znode.exists:
        znode.partition_count = znode.accepted_partitions = 0
        znode.topic_id = znode.first_topic_id = None
        remove_partition_states(cluster, topic)
        for broker in BROKERS:
            cluster.zookeeper.watches[broker].topic[topic] = False
        topics_changed(cluster)


def remove_partition_states(cluster: Cluster, topic: int) -> None:
    """Delete /brokers/topics/T/partitions with everything below; nobody watches any of it."""
    for state in cluster.zookeeper.topics[topic].states:
        state.leader = state.leader_epoch = None
        state.isr = frozenset()


def has_partition_states(cluster: Cluster, topic: int) -> bool:
    """Whether the topic's znode has znodes below: it cannot be deleted then, NOTEMPTY."""
    return any(state.exists for state in cluster.zookeeper.topics[topic].states)
