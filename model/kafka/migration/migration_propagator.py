"""MigrationPropagator: the LeaderAndIsr requests of KRaft's controller to brokers in ZooKeeper mode.

They carry ZooKeeper's controller epoch under which KRaft has claimed /controller. Brokers in KRaft mode get none: they
read the image. A full request is one for each topic here: what it does not name of the topic is not there.
"""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, KRAFT_REASSIGNMENTS, PARTITIONS, RECORDS, TOPICS
from kwalk.model.kafka.migration.state import BrokerMode
from kwalk.model.kafka.migration.versions import (
    COMPARES_AFTER_CLAIM,
    DELETES_REMOVED_REPLICAS,
    ZOOKEEPER_CHANNELS_ONLY,
)
from kwalk.model.kafka.requests import ControlRequest, EpochKind, LeaderAndIsrPartitionState, RequestKind
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import METADATA_CACHES, REASSIGNMENT


def send_full(cluster: Cluster) -> None:
    """Send every live broker in ZooKeeper mode everything (Kafka: sendRPCsToBrokersFromMetadataImage)."""
    for topic in TOPICS:
        send_update_metadata(cluster, topic, frozenset(PARTITIONS), to=cluster.migration.live, is_full=True)
        send(cluster, topic, to=cluster.migration.live, partitions=frozenset(PARTITIONS), is_full=True)


def send(
    cluster: Cluster, topic: int, *, to: frozenset[int], partitions: frozenset[int], is_full: bool = False
) -> None:
    """Send partitions of a topic to live brokers in ZooKeeper mode (Kafka: sendRPCsToBrokersFromMetadataDelta).

    Metadata caches get them with the same batch.
    """
    epoch, topic_id = cluster.zookeeper.controller_epoch, cluster.migration.images[topic].topic_id
    for receiver in BROKERS:
        if receiver in to and has_channel(cluster, receiver) and (is_full or bool(partitions)):
            requests = cluster.brokers[receiver].requests
            requests.headers.push(ControlRequest(epoch, topic, topic_id, is_full=is_full))
            for partition in PARTITIONS:
                wanted = partition_state(cluster, topic, partition, receiver) if partition in partitions else None
                requests.partition_states[partition].push(wanted)
    if not is_full:
        send_update_metadata(cluster, topic, partitions, to=to)


def send_to_changed_brokers(cluster: Cluster) -> None:
    """Send brokers that were unfenced the image, once the driver has handled the changes before.

    Since 3.5 each delta is written to /migration before that: if ZooKeeper refuses it, these brokers never hear of it.

    Kafka: KRaftMigrationDriver.MetadataChangeEvent; MigrationPropagator.sendRPCsToBrokersFromMetadataDelta.
    """
    migration = cluster.migration
    if not bool(migration.unwritten):
        is_refused = migration.has_stale_version and COMPARES_AFTER_CLAIM
        to = frozenset() if is_refused else migration.changed_brokers
        for topic in TOPICS:
            named = frozenset({p for p in PARTITIONS if migration.has_partition(topic, p)})
            send(cluster, topic, to=to, partitions=named)
        migration.changed_brokers = frozenset()


def has_channel(cluster: Cluster, broker: int) -> bool:
    """Whether requests to a broker are sent: it runs in ZooKeeper mode, and is not fenced.

    In 3.4 there is a channel to each registered broker (KAFKA-14918).
    """
    migration, in_mode = cluster.migration, cluster.brokers[broker].mode is BrokerMode.ZOOKEEPER
    return broker in migration.live - migration.ended and (in_mode or not ZOOKEEPER_CHANNELS_ONLY)


def send_stop_replica(cluster: Cluster, topic: int, partitions: frozenset[int], *, to: frozenset[int]) -> None:
    """Let live brokers in ZooKeeper mode delete replicas of a topic that was deleted, or deleted and created again.

    What is not in the image has no leader epoch. A name that is in the image has the epoch of the new partition, which
    brokers compare with that of the old one.

    Kafka: MigrationPropagator.sendRPCsToBrokersFromMetadataDelta: deletedTopics.
    """
    header = ControlRequest(cluster.zookeeper.controller_epoch, topic, None, RequestKind.STOP_REPLICA)
    for receiver in BROKERS:
        if receiver in to and has_channel(cluster, receiver) and bool(partitions):
            requests = cluster.brokers[receiver].requests
            requests.headers.push(header)
            for partition in PARTITIONS:
                wanted = stop_state(cluster, topic, partition) if partition in partitions else None
                requests.partition_states[partition].push(wanted)


def stop_removed_replicas(cluster: Cluster, topic: int, partitions: frozenset[int]) -> None:
    """Let brokers stop the replicas that a change of the assignment removes (Kafka: removedReplicas)."""
    epoch, live = cluster.zookeeper.controller_epoch, cluster.migration.live
    for partition in PARTITIONS:
        state = cluster.zookeeper.state_of(topic, partition)
        if KRAFT_REASSIGNMENTS > 0 and partition in partitions and state.leader_epoch is not None:
            before = cluster.migration.images[topic].znodes[partition].handled_replicas
            removed = before - cluster.zookeeper.topics[topic].assignments[partition].replicas
            wanted = LeaderAndIsrPartitionState(None, state.leader_epoch, delete=bool(DELETES_REMOVED_REPLICAS))
            for receiver in BROKERS:
                if receiver in removed & live and has_channel(cluster, receiver):
                    requests = cluster.brokers[receiver].requests
                    requests.headers.push(ControlRequest(epoch, topic, None, RequestKind.STOP_REPLICA))
                    for other in PARTITIONS:
                        requests.partition_states[other].push(wanted if other == partition else None)


def send_update_metadata(
    cluster: Cluster, topic: int, partitions: frozenset[int], *, to: frozenset[int], is_full: bool = False
) -> None:
    """Send partitions to the caches of live brokers in ZooKeeper mode; of those that are gone, that they are.

    A full request names what is there.
    """
    if METADATA_CACHES and bool(partitions):
        epoch = cluster.zookeeper.controller_epoch
        header = ControlRequest(epoch, topic, None, RequestKind.UPDATE_METADATA, is_full=is_full)
        for receiver in BROKERS:
            if receiver in to and has_channel(cluster, receiver):
                requests = cluster.brokers[receiver].requests
                requests.headers.push(header)
                for partition in PARTITIONS:
                    is_named = partition in partitions and (not is_full or is_there(cluster, topic, partition))
                    requests.partition_states[partition].push(
                        cached_state(cluster, topic, partition) if is_named else None
                    )


def is_there(cluster: Cluster, topic: int, partition: int) -> bool:
    """Whether the image has a partition with its leadership."""
    is_led = cluster.zookeeper.state_of(topic, partition).leader_epoch is not None
    return is_led and cluster.migration.has_partition(topic, partition)


def cached_state(cluster: Cluster, topic: int, partition: int) -> LeaderAndIsrPartitionState:
    """Return a partition's entry in UpdateMetadata."""
    state = cluster.zookeeper.state_of(topic, partition)
    if not cluster.migration.has_partition(topic, partition) or state.leader_epoch is None:
        return LeaderAndIsrPartitionState(None, 0, epoch_kind=EpochKind.DURING_DELETE)
    return LeaderAndIsrPartitionState(state.leader, state.leader_epoch)


def stop_state(cluster: Cluster, topic: int, partition: int) -> LeaderAndIsrPartitionState:
    """Return a partition's entry in StopReplica."""
    epoch = cluster.zookeeper.state_of(topic, partition).leader_epoch
    if not cluster.migration.has_partition(topic, partition) or epoch is None:
        return LeaderAndIsrPartitionState(None, 0, delete=True, epoch_kind=EpochKind.DURING_DELETE)
    return LeaderAndIsrPartitionState(None, epoch, delete=True)


def partition_state(cluster: Cluster, topic: int, partition: int, receiver: int) -> LeaderAndIsrPartitionState | None:
    """Return a partition's entry in a request; None without one."""
    state = cluster.zookeeper.state_of(topic, partition)
    if not cluster.migration.has_partition(topic, partition) or state.leader_epoch is None:
        return None
    replicas = cluster.zookeeper.topics[topic].assignments[partition].replicas
    if REASSIGNMENT and receiver not in replicas:
        return None
    for_leader = replicas if REASSIGNMENT and state.leader == receiver else frozenset()
    isr = state.isr if RECORDS > 0 else frozenset()
    return LeaderAndIsrPartitionState(state.leader, state.leader_epoch, isr=isr, replicas=for_leader)
