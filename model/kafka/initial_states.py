"""Initial states: a running cluster, and one with a topic and everything that its creation leaves behind."""

from __future__ import annotations

from kwalk.model.kafka.assignment import created_assignment, created_replicas, first_assigned
from kwalk.model.kafka.controller.controller_context import BrokerRegistration
from kwalk.model.kafka.domains import BROKERS, ELECTION_REQUESTS, RECORDS, TOPICS
from kwalk.model.kafka.requests import UpdateMetadataPartitionState
from kwalk.model.kafka.state import Cluster, Replica
from kwalk.model.kafka.versions.deletion import MARKS_ARE_REMOVED
from kwalk.model.kafka.versions.grain import (
    BROKER_CHECKS,
    DELETE_TOPIC_ENABLE,
    DELETION,
    LIVE_BROKER_CACHES,
    METADATA_CACHES,
    REASSIGNMENT,
    STOP_REPLICA,
)


def running_cluster(cluster: Cluster) -> None:
    """All brokers are up, broker 0 is the controller, and there is no topic."""
    cluster.zookeeper.controller = 0
    cluster.zookeeper.controller_epoch = 1
    for number in BROKERS:
        cluster.zookeeper.watches[number].controller = True
        cluster.brokers[number].controller_epoch = 1
    serve_as_controller(cluster, 0)


def serve_as_controller(cluster: Cluster, number: int) -> None:
    """Make the broker the active controller of the present epoch, with all registrations and watches."""
    controller, watches = cluster.controller_of(number), cluster.zookeeper.watches[number]
    controller.epoch = cluster.zookeeper.controller_epoch
    for other in BROKERS:
        controller.registrations[other] = (
            BrokerRegistration.CURRENT if cluster.is_up(other) else BrokerRegistration.GONE
        )
    watches.broker_ids = watches.topics = True
    watches.preferred_elections = ELECTION_REQUESTS > 0
    if DELETION:
        watches.delete_topics = bool(DELETE_TOPIC_ENABLE) or bool(MARKS_ARE_REMOVED)
    for topic in TOPICS:
        watches.topic[topic] = cluster.zookeeper.topics[topic].exists
    for state in cluster.brokers:
        if LIVE_BROKER_CACHES:
            state.cached_brokers = cluster.zookeeper.broker_ids


def cluster_with_topic(cluster: Cluster) -> None:
    """All brokers are up, and there is a topic with one partition and an id that all brokers have."""
    running_cluster(cluster)
    create_topic(cluster, 1, topic_id=cluster.topic_ids.take())


def create_topic(
    cluster: Cluster,
    partition_count: int,
    *,
    topic_id: int | None,
    topic: int = 0,
    replicas: frozenset[int] | None = None,
) -> None:
    """Create a topic with partitions that are led and followed under leader epoch 0, and its id on all brokers.

    Args:
        cluster: The cluster.
        partition_count: How many partitions the topic has.
        topic_id: The topic's id.
        topic: Which topic.
        replicas: The replicas of each partition; as clients create them, without.
    """
    znode = cluster.zookeeper.topics[topic]
    znode.partition_count = znode.accepted_partitions = partition_count
    znode.topic_id = znode.first_topic_id = topic_id
    for broker in BROKERS:
        if cluster.zookeeper.controller == broker:
            context = cluster.controller_of(broker).topics[topic]
            context.partition_count, context.topic_id = partition_count, topic_id
            cluster.zookeeper.watches[broker].topic[topic] = True
    for partition in range(partition_count):
        created = created_replicas(partition) if REASSIGNMENT else frozenset(BROKERS)
        given = created if replicas is None else replicas
        assign(cluster, topic, partition, given)
        lead(cluster, topic, partition, given)
        for broker in sorted(given):
            open_log(cluster.replica_of(broker, topic, partition), topic_id)


def assign(cluster: Cluster, topic: int, partition: int, replicas: frozenset[int]) -> None:
    """Set the partition's replicas in ZooKeeper and in the controller's context."""
    if REASSIGNMENT:
        assignment = created_assignment(partition, replicas)
        cluster.zookeeper.topics[topic].assignments[partition] = assignment
        for broker in BROKERS:
            if cluster.zookeeper.controller == broker:
                cluster.controller_of(broker).topics[topic].assignments[partition] = assignment


def lead(cluster: Cluster, topic: int, partition: int, replicas: frozenset[int]) -> None:
    """Make the preferred replica leader under leader epoch 0, the others followers, and fill metadata caches."""
    state, leader = cluster.zookeeper.state_of(topic, partition), first_assigned(partition, replicas)
    state.leader, state.isr, state.leader_epoch = leader, replicas, 0
    for number, broker in enumerate(cluster.brokers):
        if cluster.zookeeper.controller == number:
            leadership = broker.controller.topics[topic].leadership[partition]
            leadership.leader, leadership.leader_epoch = leader, 0
            if RECORDS > 0:
                leadership.isr = replicas
        if number in replicas:
            replica = broker.replicas[topic][partition]
            replica.leader_epoch, replica.is_leader = 0, number == leader
            if REASSIGNMENT and number == leader:
                replica.assigned = replicas
            if RECORDS > 0 and number == leader:
                replica.replication.isr = replicas
            elif RECORDS > 0:
                replica.replication.leader = leader
        if BROKER_CHECKS:
            broker.cached_topics = broker.cached_topics | {topic}
        if METADATA_CACHES:
            broker.metadata[topic][partition] = UpdateMetadataPartitionState(leader, 0)


def open_log(replica: Replica, topic_id: int | None) -> None:
    """Open the log, with the id in memory and in its file."""
    replica.log_open = True
    replica.topic_id = replica.file_topic_id = topic_id
    if STOP_REPLICA:
        replica.on_disk = True
