"""What admin clients do to topics.

Words: an *old client* is one before 2.8, or a later one with --zookeeper: it knows no topic id and writes the znode
whole without one. A *new client* asks a broker, which keeps the id. Each reads and writes in one step: nobody else
writes topics at the same time, except controllers.
"""
from __future__ import annotations

from model.kafka.actors import NEW_CLIENT, OLD_CLIENT
from model.kafka.domains import (
    CREATED_PARTITIONS,
    EXPANSIONS,
    NEW_CREATIONS,
    NEW_EXPANSIONS,
    OLD_CREATIONS,
    PARTITIONS,
    Topic,
)
from model.kafka.state import Cluster
from model.kafka.zookeeper import create_topic, write_topic
from model.language import action, require


@action(
    by=OLD_CLIENT,
    says="creates topic {topic} through ZooKeeper",
    source="kafka.admin.AdminUtils.createOrUpdateTopicPartitionAssignmentPathInZK (1.0.0)",
)
def old_client_creates_topic(cluster: Cluster, topic: Topic) -> None:
    """The znode has partitions and no topic_id."""
    require(OLD_CREATIONS > 0 and not cluster.zookeeper.topics[topic].exists)
    create_topic(cluster, topic, int(CREATED_PARTITIONS), None)


@action(
    by=NEW_CLIENT,
    says="creates topic {topic}",
    source="ZkAdminManager.createTopics; AdminZkClient.createTopicWithAssignment",
)
def new_client_creates_topic(cluster: Cluster, topic: Topic) -> None:
    """The znode has an id from the start."""
    require(NEW_CREATIONS > 0 and not cluster.zookeeper.topics[topic].exists)
    create_topic(cluster, topic, int(CREATED_PARTITIONS), cluster.topic_ids.take())


@action(
    by=OLD_CLIENT,
    says="adds partitions to {topic} through ZooKeeper: topic_id is gone",
    source="kafka.admin.AdminUtils.addPartitions, writeTopicPartitionAssignment (1.0.0)",
)
def old_client_adds_partitions(cluster: Cluster, topic: Topic) -> None:
    """The znode is written whole, without the field that the client does not know."""
    znode = cluster.zookeeper.topics[topic]
    require(znode.exists and znode.partition_count < len(PARTITIONS) and cluster.expansions < EXPANSIONS)
    cluster.expansions += 1
    znode.accepted_partitions = len(PARTITIONS)
    write_topic(cluster, topic, len(PARTITIONS), None)


@action(
    by=NEW_CLIENT,
    says="adds partitions to {topic}",
    source="ZkAdminManager.createPartitions; AdminZkClient.createPartitionsWithAssignment",
)
def new_client_adds_partitions(cluster: Cluster, topic: Topic) -> None:
    """The znode is written whole, with the id that it had."""
    znode = cluster.zookeeper.topics[topic]
    require(znode.exists and znode.partition_count < len(PARTITIONS) and cluster.new_expansions < NEW_EXPANSIONS)
    cluster.new_expansions += 1
    znode.accepted_partitions = len(PARTITIONS)
    write_topic(cluster, topic, len(PARTITIONS), znode.topic_id)
