"""ZkTopicMigrationClient: what KRaft's controller copies of a topic from ZooKeeper."""

from __future__ import annotations

from kwalk.model.kafka.assignment import first_in, first_replica
from kwalk.model.kafka.domains import CHOSEN_LISTS
from kwalk.model.kafka.migration.partition_registration import PartitionRegistration
from kwalk.model.kafka.migration.versions import LEAVES_DELETIONS_OUT
from kwalk.model.kafka.state import Cluster


def replicas_of(cluster: Cluster, topic: int, partition: int) -> frozenset[int]:
    """Return the replicas that the topic's znode gives a partition."""
    return cluster.zookeeper.topics[topic].assignments[partition].replicas


def first_leader(cluster: Cluster, topic: int, partition: int) -> int | None:
    """Return the leader that a partition without state znode is read with: its first replica, alive or not."""
    return first_replica(
        partition, cluster.zookeeper.topics[topic].assignments[partition], replicas_of(cluster, topic, partition)
    )


def is_copied(cluster: Cluster, topic: int) -> bool:
    """Whether a topic is copied (Kafka: ZkTopicMigrationClient.iterateTopics, readPendingTopicDeletions)."""
    is_pending = bool(LEAVES_DELETIONS_OUT) and topic in cluster.zookeeper.delete_topics
    return cluster.zookeeper.topics[topic].exists and not is_pending


def partition_registration(cluster: Cluster, topic: int, partition: int) -> PartitionRegistration | None:
    """Return what is copied of a partition; None if the copy fails, as the topic has no id (Kafka: topicIdOpt.get).

    A partition without state znode gets all its replicas for the ISR, the first of them as leader, and epoch 0.

    Kafka: ZkTopicMigrationClient.iterateTopics.
    """
    znode = cluster.zookeeper.topics[topic]
    if znode.topic_id is None:
        return None
    replicas, state = znode.assignments[partition].replicas, znode.states[partition]
    if state.leader_epoch is None:
        chosen = first_in(znode.orders[partition], replicas) if CHOSEN_LISTS > 0 else None
        first = first_replica(partition, znode.assignments[partition], replicas) if chosen is None else chosen
        return PartitionRegistration(znode.topic_id, replicas, first, replicas, 0)
    return PartitionRegistration(znode.topic_id, replicas, state.leader, state.isr, state.leader_epoch)
