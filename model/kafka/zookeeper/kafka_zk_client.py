"""KafkaZkClient: reads and writes of znodes, with one-shot watches and fenced writes.

Words: a write is *fenced* when it succeeds only under the controller epoch that the writer was elected with. Nothing
else is compared: a topic's znode is overwritten blindly, whatever it holds, unless the flag `cas_topic_write` is on.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import ZOOKEEPER
from kwalk.model.kafka.assignment import created_assignment, first_replicas
from kwalk.model.kafka.controller.controller_context import ControllerEvent, EventKind, EventProgress
from kwalk.model.kafka.domains import (
    BROKERS,
    CHOSEN_LISTS,
    NOTIFICATIONS,
    PARTITIONS,
    PLANNED_LIVES,
    REPLICATION_FACTOR,
    TOPICS,
    Broker,
)
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.versions.grain import DELETION, REASSIGNMENT, SESSIONS
from kwalk.model.kafka.versions.sessions import ZK_FENCING
from kwalk.model.kafka.versions.topic_ids import CAS_TOPIC_WRITE
from kwalk.model.kafka.zookeeper.znodes import Assignment, TopicZnode
from kwalk.model.language import Abort, action, require


class ControllerMoved(Abort):
    """A fenced write failed, as another controller was elected meanwhile (Kafka: ControllerMovedException)."""


def notify(cluster: Cluster, broker: int, event: ControllerEvent) -> None:
    """Queue the event of a fired watch at the broker's client; the event has no content.

    An expired session gets no notifications.
    """
    if cluster.brokers[broker].session is SessionState.EXPIRED:
        return
    if NOTIFICATIONS > 0:
        cluster.controller_of(broker).notifications.push(event)
    else:
        cluster.controller_of(broker).events.push(event)


@action(
    by=ZOOKEEPER,
    description="notifies broker {broker} of a change",
    source="ZooKeeperClient.ZooKeeperClientWatcher.process",
)
def deliver_notification(cluster: Cluster, broker: Broker) -> None:
    """The client's event thread queues the event, unless the path has no handler, like that of a removed topic."""
    controller = cluster.controller_of(broker)
    require(NOTIFICATIONS > 0 and not controller.notifications.is_empty)
    event = controller.notifications.pop()
    is_known = event.kind is not EventKind.PARTITION_MODIFICATIONS or controller.topics[event.topic].partition_count > 0
    if event.kind in (EventKind.REELECT, EventKind.CONTROLLER_CHANGE) or (controller.epoch > 0 and is_known):
        controller.events.push(event)


def controller_changed(cluster: Cluster, kind: EventKind) -> None:
    """Fire the watches on /controller: it was created (ControllerChange) or deleted (Reelect)."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.controller:
            watches.controller = False
            notify(cluster, broker, ControllerEvent(kind))


def broker_ids_changed(cluster: Cluster) -> None:
    """Fire the watches on /brokers/ids."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.broker_ids:
            watches.broker_ids = False
            notify(cluster, broker, ControllerEvent(EventKind.BROKER_CHANGE))


def topics_changed(cluster: Cluster) -> None:
    """Fire the watches on /brokers/topics."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.topics:
            watches.topics = False
            notify(cluster, broker, ControllerEvent(EventKind.TOPIC_CHANGE))


def topic_changed(cluster: Cluster, topic: int) -> None:
    """Fire the watches on a topic's znode."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.topic[topic]:
            watches.topic[topic] = False
            notify(cluster, broker, ControllerEvent(EventKind.PARTITION_MODIFICATIONS, topic))


def write_topic(cluster: Cluster, topic: int, partition_count: int, topic_id: int | None) -> None:
    """Set a topic's znode as a whole, with version -1: its previous content is not compared.

    Kafka: KafkaZkClient.setTopicAssignment.
    """
    znode = cluster.zookeeper.topics[topic]
    if REASSIGNMENT:
        assign_partitions(cluster, znode, partition_count)
    if DELETION and not znode.exists:
        topics_changed(cluster)
    znode.partition_count = partition_count
    znode.topic_id = topic_id
    if znode.first_topic_id is None:
        znode.first_topic_id = topic_id
    topic_changed(cluster, topic)


def assign_partitions(cluster: Cluster, znode: TopicZnode, partition_count: int) -> None:
    """Assign replicas to the znode's new partitions as a client does; existing partitions keep theirs.

    A partition that is added gets as many as partition 0 has in the znode, also during a reassignment; where clients
    choose whole lists, it gets its own.

    Kafka: AdminUtils.addPartitions (1.0.0), AdminZkClient.addPartitions: existingAssignmentPartition0.
    """
    first = znode.assignments[0].replicas
    count = len(first) if znode.exists else int(REPLICATION_FACTOR)
    for partition in PARTITIONS:
        if partition >= partition_count:
            znode.assignments[partition] = Assignment()
            znode.orders[partition] = frozenset()
        elif partition >= znode.partition_count and CHOSEN_LISTS > 0:
            for life in PLANNED_LIVES:
                if znode.incarnation == life:
                    znode.assignments[partition] = Assignment(cluster.planned[life][partition].replicas)
                    znode.orders[partition] = cluster.planned[life][partition].order
        elif partition >= znode.partition_count:
            znode.assignments[partition] = created_assignment(partition, first_replicas(partition, count))


def write_topic_from_context(cluster: Cluster, broker: int, topic: int) -> None:
    """Set a topic's znode to the context's partitions, assignments and id.

    If the znode is gone, nothing is written, and the answer NONODE is ignored.
    """
    context, znode = cluster.controller_of(broker).topics[topic], cluster.zookeeper.topics[topic]
    if DELETION and not znode.exists:
        return
    write_topic(cluster, topic, context.partition_count, context.topic_id)
    if REASSIGNMENT:
        for partition in PARTITIONS:
            znode.assignments[partition] = context.assignments[partition]
            znode.orders[partition] = context.orders[partition]


def write_assignment(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Write the context's assignment of a partition to the topic's znode, whose other content is the context's, too.

    If topic znodes are compared before they are written, a controller whose write is refused reads the znode again, and
    changes nothing but the partition: what clients have added stays, and their event is still to be handled.

    Kafka: KafkaController.updateReplicaAssignmentForPartition.
    """
    if CAS_TOPIC_WRITE:
        context, znode = cluster.controller_of(broker).topics[topic], cluster.zookeeper.topics[topic]
        znode.assignments[partition] = context.assignments[partition]
        znode.orders[partition] = context.orders[partition]
        topic_changed(cluster, topic)
    else:
        write_topic_from_context(cluster, broker, topic)


def create_topic(cluster: Cluster, topic: int, partition_count: int, topic_id: int | None) -> None:
    """Create a topic's configuration and then its znode (Kafka: AdminZkClient.createTopicWithAssignment)."""
    if DELETION:
        begin_incarnation(cluster, topic)
    write_topic(cluster, topic, partition_count, topic_id)
    cluster.zookeeper.topics[topic].accepted_partitions = partition_count
    topics_changed(cluster)


def check_controller_epoch(cluster: Cluster, broker: int) -> None:
    """Fence a controller's write: leave the event with ControllerMoved if there is another controller epoch.

    The event thread then resigns. Before 2.1 the write succeeds.

    Kafka: KafkaZkClient.wrapRequestWithControllerEpochCheck.
    """
    controller = cluster.controller_of(broker)
    if cluster.zookeeper.controller_epoch != controller.epoch:
        if ZK_FENCING:
            controller.step = EventProgress.CONTROLLER_MOVED
            raise ControllerMoved
        if SESSIONS:
            cluster.deposed_write = True


# Requested elections.


def preferred_elections_changed(cluster: Cluster, *, created: bool) -> None:
    """Fire the watches on /admin/preferred_replica_election; controllers have no handler for its deletion.

    Kafka: PreferredReplicaElectionHandler.handleCreation.
    """
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.preferred_elections:
            watches.preferred_elections = False
            if created:
                notify(cluster, broker, ControllerEvent(EventKind.REPLICA_LEADER_ELECTION))


def remove_preferred_elections(cluster: Cluster) -> None:
    """Delete /admin/preferred_replica_election if it exists (Kafka: KafkaZkClient.deletePreferredReplicaElection)."""
    zookeeper = cluster.zookeeper
    if zookeeper.has_preferred_elections:
        for topic in TOPICS:
            zookeeper.preferred_elections[topic] = frozenset()
        preferred_elections_changed(cluster, created=False)


# Deletion.


def begin_incarnation(cluster: Cluster, topic: int) -> None:
    """Begin a new incarnation of a topic name: its deletion is not requested."""
    znode = cluster.zookeeper.topics[topic]
    if znode.was_created:
        znode.incarnation += 1
        for commits in cluster.commits[topic]:
            commits.clear()
    znode.was_created = znode.has_config = True
    znode.deletion_requested = False


def delete_topics_changed(cluster: Cluster) -> None:
    """Fire the watches on /admin/delete_topics."""
    for broker in BROKERS:
        watches = cluster.zookeeper.watches[broker]
        if watches.delete_topics:
            watches.delete_topics = False
            notify(cluster, broker, ControllerEvent(EventKind.TOPIC_DELETION))


def create_delete_topics_znode(cluster: Cluster, topic: int) -> None:
    """Create /admin/delete_topics/T (Kafka: KafkaZkClient.createDeleteTopicPath)."""
    cluster.zookeeper.topics[topic].deletion_requested = True
    cluster.zookeeper.delete_topics = cluster.zookeeper.delete_topics | {topic}
    delete_topics_changed(cluster)


def remove_delete_topics_znode(cluster: Cluster, topic: int) -> None:
    """Delete /admin/delete_topics/T if it exists (Kafka: KafkaZkClient.deleteTopicDeletions)."""
    if topic in cluster.zookeeper.delete_topics:
        cluster.zookeeper.delete_topics = cluster.zookeeper.delete_topics - {topic}
        delete_topics_changed(cluster)


def remove_config(cluster: Cluster, topic: int) -> None:
    """Delete /config/topics/T (Kafka: KafkaZkClient.deleteTopicConfigs)."""
    cluster.zookeeper.topics[topic].has_config = False


def remove_topic_znode(cluster: Cluster, topic: int) -> None:
    """Delete /brokers/topics/T with everything below, if it exists (Kafka: KafkaZkClient.deleteTopicZNode).

    Under the flag `piecemeal_removal` what is below was deleted in a step before, and others may have seen that. The
    watches of the topic's data fire, for which controllers have no handler; none are armed afterwards.
    """
    znode = cluster.zookeeper.topics[topic]
    if znode.exists:
        if REASSIGNMENT:
            assign_partitions(cluster, znode, 0)
        znode.partition_count = znode.accepted_partitions = 0
        znode.topic_id = znode.first_topic_id = None
        remove_partition_states(cluster, topic)
        for broker in BROKERS:
            cluster.zookeeper.watches[broker].topic[topic] = False
        topics_changed(cluster)


def remove_partition_states(cluster: Cluster, topic: int) -> None:
    """Delete /brokers/topics/T/partitions with everything below; no watch is set there."""
    for state in cluster.zookeeper.topics[topic].states:
        state.leader = state.leader_epoch = None
        state.isr = frozenset()


def has_partition_states(cluster: Cluster, topic: int) -> bool:
    """Whether the topic's znode has children: then it cannot be deleted, NOTEMPTY."""
    return any(state.exists for state in cluster.zookeeper.topics[topic].states)
