"""Where a story begins with a topic that is there already: all that creating it leaves behind, everywhere."""
from __future__ import annotations

from model.kafka.assignment import created_replicas, first_assigned
from model.kafka.domains import BROKERS, RECORDS
from model.kafka.requests import CachedPartition
from model.kafka.scenarios import running_cluster
from model.kafka.state import Cluster, Replica
from model.kafka.versions import METADATA_CACHES, REASSIGNMENT, STOP_REPLICA
from model.kafka.znodes import Assignment


def cluster_with_topic(cluster: Cluster) -> None:
    """All brokers are up, and there is a topic with one partition and an id that all know."""
    running_cluster(cluster)
    create_topic(cluster, 1, topic_id=cluster.topic_ids.take())


def create_topic(cluster: Cluster, partition_count: int, *, topic_id: int | None) -> None:
    """The topic exists with that many partitions, led and followed under leader epoch 0, and everybody knows its id."""
    znode = cluster.zookeeper.topics[0]
    znode.partition_count = znode.accepted_partitions = partition_count
    znode.topic_id = znode.first_topic_id = topic_id
    for broker in BROKERS:
        if cluster.zookeeper.controller == broker:
            context = cluster.brokers[broker].controller.topics[0]
            context.partition_count, context.topic_id = partition_count, topic_id
            cluster.zookeeper.watches[broker].topic[0] = True
    for partition in range(partition_count):
        replicas = created_replicas(partition) if REASSIGNMENT else frozenset(BROKERS)
        assign(cluster, partition, replicas)
        lead(cluster, partition, replicas)
        for broker in BROKERS:
            if broker in replicas:
                open_log(cluster.brokers[broker].replicas[0][partition], topic_id)


def assign(cluster: Cluster, partition: int, replicas: frozenset[int]) -> None:
    """ZooKeeper and the controller know the partition's replicas."""
    if REASSIGNMENT:
        cluster.zookeeper.topics[0].assignments[partition] = Assignment(replicas)
        for broker in BROKERS:
            if cluster.zookeeper.controller == broker:
                cluster.brokers[broker].controller.topics[0].assignments[partition] = Assignment(replicas)


def lead(cluster: Cluster, partition: int, replicas: frozenset[int]) -> None:
    """The preferred replica leads under leader epoch 0, all others follow it, and all brokers tell clients so."""
    state, leader = cluster.zookeeper.topics[0].states[partition], first_assigned(partition, replicas)
    state.leader, state.isr, state.leader_epoch = leader, replicas, 0
    for number, broker in enumerate(cluster.brokers):
        if cluster.zookeeper.controller == number:
            leadership = broker.controller.topics[0].leadership[partition]
            leadership.leader, leadership.leader_epoch = leader, 0
            if RECORDS > 0:
                leadership.isr = replicas
        if number in replicas:
            replica = broker.replicas[0][partition]
            replica.leader_epoch, replica.is_leader = 0, number == leader
            if RECORDS > 0 and number == leader:
                replica.replication.isr = replicas
            elif RECORDS > 0:
                replica.replication.leader = leader
        if METADATA_CACHES:
            broker.metadata[0][partition] = CachedPartition(leader, 0)


def open_log(replica: Replica, topic_id: int | None) -> None:
    """The log is open, and has the id in memory and in its file."""
    replica.log_open = True
    replica.topic_id = replica.file_topic_id = topic_id
    if STOP_REPLICA:
        replica.on_disk = True
