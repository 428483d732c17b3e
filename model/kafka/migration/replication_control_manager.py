"""ReplicationControlManager: how KRaft's controller moves leaders when brokers fail, stop and start."""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, KRAFT, NEW_CLIENT
from kwalk.model.kafka.assignment import first_assigned, first_replica, reassign_to
from kwalk.model.kafka.domains import (
    BROKERS,
    CREATED_PARTITIONS,
    DELETIONS,
    INCARNATIONS,
    KRAFT_REASSIGNMENTS,
    NEW_EXPANSIONS,
    PARTITIONS,
    TOPICS,
    Broker,
    Partition,
    Topic,
)
from kwalk.model.kafka.migration.migration_propagator import send_to_changed_brokers
from kwalk.model.kafka.migration.state import BrokerMode, DriverState
from kwalk.model.kafka.migration.strays import close
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION, REASSIGNMENT
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import action, require


@action(
    by=KRAFT,
    group="migration",
    description="fences broker {broker}, and moves its leaders",
    source="ReplicationControlManager.handleBrokerFenced, generateLeaderAndIsrUpdates",
)
def fence_broker(cluster: Cluster, broker: Broker) -> None:
    """The broker's process has ended. Brokers in ZooKeeper mode hear of it when the driver writes it."""
    migration = cluster.migration
    require(MIGRATION and migration.is_led and broker in migration.ended)
    migration.ended = migration.ended - {broker}
    leave(cluster, broker)


def leave(cluster: Cluster, broker: int) -> None:
    """Fence a broker: remove it from ISRs, and elect other leaders; the last member of an ISR stays in it.

    Each change has a new leader epoch, also that of an ISR only, as brokers in ZooKeeper mode need one.

    Kafka: PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded.
    """
    migration = cluster.migration
    migration.live, migration.changed_brokers = migration.live - {broker}, migration.changed_brokers - {broker}
    for topic in TOPICS:
        for partition in PARTITIONS:
            state = cluster.zookeeper.state_of(topic, partition)
            is_there = migration.has_partition(topic, partition) and state.leader_epoch is not None
            if is_there and (state.leader == broker or (broker in state.isr and len(state.isr) > 1)):
                migration.change(topic, partition)
                assert state.leader_epoch is not None
                state.leader_epoch += 1
                if len(state.isr) > 1:
                    state.isr = state.isr - {broker}
                if state.leader == broker:
                    elect(cluster, topic, partition)


def elect(cluster: Cluster, topic: int, partition: int) -> None:
    """Make the first live ISR member leader; without one there is none."""
    state = cluster.zookeeper.state_of(topic, partition)
    assignment = cluster.zookeeper.topics[topic].assignments[partition]
    state.leader = first_replica(partition, assignment, state.isr & cluster.migration.live)


@action(
    by=KRAFT,
    group="migration",
    description="unfences broker {broker}, and elects it where there is no leader",
    source="ReplicationControlManager.handleBrokerUnfenced; MigrationPropagator.sendRPCsToBrokersFromMetadataDelta",
)
def unfence_broker(cluster: Cluster, broker: Broker) -> None:
    """The broker has started. In ZooKeeper mode it hears of the image when the driver has handled the delta."""
    migration = cluster.migration
    require(MIGRATION and migration.is_led and broker not in migration.live and cluster.is_up(broker))
    migration.live = migration.live | {broker}
    for topic in TOPICS:
        for partition in PARTITIONS:
            state = cluster.zookeeper.state_of(topic, partition)
            is_there = migration.has_partition(topic, partition) and state.leader_epoch is not None
            if is_there and state.leader is None and broker in state.isr:
                migration.change(topic, partition)
                assert state.leader_epoch is not None
                state.leader, state.leader_epoch = broker, state.leader_epoch + 1
    if migration.driver is DriverState.DUAL_WRITE:
        migration.changed_brokers = migration.changed_brokers | {broker}
        send_to_changed_brokers(cluster)


# What clients ask for.


@action(
    by=NEW_CLIENT,
    group="migration",
    description="adds a partition to {topic} through KRaft's controller",
    source="ReplicationControlManager.createPartitions",
)
def client_adds_partition(cluster: Cluster, topic: Topic) -> None:
    """KRaft's controller answers as soon as the record is committed; ZooKeeper is written after it.

    Brokers forward to it from its first UpdateMetadata on (Kafka: MetadataCacheControllerNodeProvider).
    """
    migration, image = cluster.migration, cluster.migration.images[topic]
    require(MIGRATION and migration.serves_clients and image.exists and image.partition_count < len(PARTITIONS))
    require(cluster.new_expansions < NEW_EXPANSIONS)
    cluster.new_expansions += 1
    for partition in PARTITIONS:
        if partition == image.partition_count:
            create_partition(cluster, topic, partition)
    image.partition_count += 1
    cluster.zookeeper.topics[topic].accepted_partitions = image.partition_count


def create_partition(cluster: Cluster, topic: int, partition: int) -> None:
    """Give a new partition its first leader; all live brokers are replicas, and in the ISR."""
    state, live = cluster.zookeeper.state_of(topic, partition), cluster.migration.live
    assignment = cluster.zookeeper.topics[topic].assignments[partition]
    state.leader, state.isr = first_replica(partition, assignment, live), live
    state.leader_epoch = 0
    cluster.migration.change(topic, partition)


@action(
    by=NEW_CLIENT,
    group="migration",
    description="deletes {topic} through KRaft's controller",
    source="ReplicationControlManager.deleteTopics",
)
def client_deletes_topic(cluster: Cluster, topic: Topic) -> None:
    """The topic is gone for KRaft at once; ZooKeeper and the brokers hear of it by a delta."""
    migration, image, znode = cluster.migration, cluster.migration.images[topic], cluster.zookeeper.topics[topic]
    require(MIGRATION and migration.serves_clients and image.exists and cluster.deletions < DELETIONS)
    cluster.deletions += 1
    is_written = not image.is_new or znode.exists  # nothing is to be removed of what this delta alone has
    for partition in PARTITIONS:
        if partition < image.partition_count:
            state = znode.states[partition]
            state.leader, state.leader_epoch, state.isr = None, None, frozenset()
            migration.change(topic, partition)
            cluster.commits[topic][partition].clear()
    changed = image.changed
    image.remove()
    if is_written:
        image.changed = changed
    else:
        migration.unwritten = migration.unwritten - {topic}
    znode.accepted_partitions, znode.first_topic_id = 0, None


@action(
    by=NEW_CLIENT,
    group="migration",
    description="creates {topic} again through KRaft's controller",
    source="ReplicationControlManager.createTopics",
)
def client_creates_topic(cluster: Cluster, topic: Topic) -> None:
    """The topic has a new id."""
    migration, image, znode = cluster.migration, cluster.migration.images[topic], cluster.zookeeper.topics[topic]
    require(MIGRATION and migration.serves_clients and not image.exists and znode.incarnation < INCARNATIONS)
    require(bool(migration.live))
    znode.incarnation += 1
    image.topic_id = znode.first_topic_id = cluster.topic_ids.take()
    image.partition_count = znode.accepted_partitions = int(CREATED_PARTITIONS)
    image.is_new = True
    for partition in PARTITIONS:
        if partition < CREATED_PARTITIONS:
            create_partition(cluster, topic, partition)


@action(
    by=NEW_CLIENT,
    group="migration reassignment",
    description="asks KRaft's controller to move the replica of {topic}-{partition} from broker {removed} to another",
    source="ReplicationControlManager.changePartitionReassignment",
)
def client_moves_replica(cluster: Cluster, topic: Topic, partition: Partition, removed: Broker) -> None:
    """The other broker is the first live one without a replica. The leader epoch stays, as no replica goes yet."""
    migration, current = cluster.migration, cluster.zookeeper.topics[topic].assignments[partition]
    require(MIGRATION and migration.serves_clients and migration.has_partition(topic, partition))
    require(migration.reassignments < KRAFT_REASSIGNMENTS and not current.is_being_reassigned)
    added = first_assigned(partition, migration.live - current.replicas)
    require(removed in current.replicas and added is not None)
    migration.reassignments += 1
    target = frozenset({b for b in BROKERS if b == added or (b in current.replicas and b != removed)})
    cluster.zookeeper.topics[topic].assignments[partition] = reassign_to(current, target, current.preferred)
    migration.change(topic, partition)


def complete_reassignment(cluster: Cluster, topic: int, partition: int) -> None:
    """Complete a reassignment whose target is in the ISR; the leader epoch is raised, as replicas go.

    Kafka: PartitionReassignmentReplicas.maybeCompleteReassignment; PartitionChangeBuilder.
    """
    state, current = (
        cluster.zookeeper.state_of(topic, partition),
        cluster.zookeeper.topics[topic].assignments[partition],
    )
    if current.is_being_reassigned and current.target <= state.isr and state.leader_epoch is not None:
        state.isr = state.isr & current.target
        cluster.zookeeper.topics[topic].assignments[partition] = Assignment(current.target, preferred=current.preferred)
        state.leader_epoch += 1
        if state.leader not in current.target:
            elect(cluster, topic, partition)


@action(
    by=BROKER,
    group="migration",
    description="deletes its log of {topic}-{partition}, which the image does not have",
    source="BrokerMetadataPublisher.onMetadataUpdate; ReplicaManager.applyDelta: stopPartitions",
)
def apply_deletion(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A broker in KRaft mode deletes the log of a topic that was deleted, also if the name is in use again.

    So it does with a replica that a reassignment has removed.
    """
    replica = cluster.replica_of(broker, topic, partition)
    require(MIGRATION and cluster.brokers[broker].mode is BrokerMode.KRAFT and cluster.is_up(broker))
    is_other = replica.topic_id is not None and replica.topic_id != cluster.migration.images[topic].topic_id
    is_removed = REASSIGNMENT and broker not in cluster.zookeeper.topics[topic].assignments[partition].replicas
    is_gone = is_other or is_removed or not cluster.migration.has_partition(topic, partition)
    require(replica.on_disk and is_gone)
    close(replica)
