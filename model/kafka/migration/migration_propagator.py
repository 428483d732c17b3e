"""MigrationPropagator: the LeaderAndIsr requests of KRaft's controller to brokers in ZooKeeper mode.

They carry ZooKeeper's controller epoch under which KRaft has claimed /controller. Brokers in KRaft mode get none: they
read the image. A full request is one for each topic here: what it does not name of the topic is not there.
"""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, PARTITIONS, RECORDS, TOPICS
from kwalk.model.kafka.migration.state import BrokerMode
from kwalk.model.kafka.requests import ControlRequest, LeaderAndIsrPartitionState
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import REASSIGNMENT


def send_full(cluster: Cluster) -> None:
    """Send every live broker in ZooKeeper mode everything (Kafka: sendRPCsToBrokersFromMetadataImage)."""
    for topic in TOPICS:
        send(cluster, topic, to=cluster.migration.live, is_full=True)


def send(cluster: Cluster, topic: int, *, to: frozenset[int], is_full: bool = False) -> None:
    """Send the partitions of a topic to live brokers in ZooKeeper mode (Kafka: sendRPCsToBrokersFromMetadataDelta)."""
    migration = cluster.migration
    epoch, topic_id = cluster.zookeeper.controller_epoch, migration.images[topic].topic_id
    for receiver in BROKERS:
        is_due = is_full or migration.images[topic].exists
        in_mode = cluster.brokers[receiver].mode is BrokerMode.ZOOKEEPER
        if receiver in to and receiver in migration.live - migration.ended and in_mode and is_due:
            requests = cluster.brokers[receiver].requests
            requests.headers.push(ControlRequest(epoch, topic, topic_id, is_full=is_full))
            for partition in PARTITIONS:
                requests.partition_states[partition].push(partition_state(cluster, topic, partition, receiver))


def partition_state(cluster: Cluster, topic: int, partition: int, receiver: int) -> LeaderAndIsrPartitionState | None:
    """Return a partition's entry in a request; None without one."""
    state = cluster.zookeeper.state_of(topic, partition)
    if not cluster.migration.has_partition(topic, partition) or state.leader_epoch is None:
        return None
    replicas = cluster.zookeeper.topics[topic].assignments[partition].replicas
    for_leader = replicas if REASSIGNMENT and state.leader == receiver else frozenset()
    isr = state.isr if RECORDS > 0 else frozenset()
    return LeaderAndIsrPartitionState(state.leader, state.leader_epoch, isr=isr, replicas=for_leader)
