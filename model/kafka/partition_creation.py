"""KafkaController.onNewPartitionCreation: partitions and replicas become New, then partitions get a leader."""
from __future__ import annotations

from model.kafka.domains import BROKERS, PARTITIONS
from model.kafka.partition_state_machine import bring_online
from model.kafka.replica_state_machine import make_online
from model.kafka.state import Cluster
from model.kafka.state_machines import PartitionStatus, ReplicaStatus
from model.kafka.versions import DELETION


def on_new_partition_creation(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """Dead entries refuse to become New: then an election looks for a state znode that nobody creates."""
    if DELETION:
        make_new(cluster, broker, topic, partitions)
    bring_online(cluster, broker, topic, partitions)
    if DELETION:
        make_online(cluster, broker, topic, partitions, on=frozenset(BROKERS))


def make_new(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """handleStateChanges(…, NewPartition) and (…, NewReplica)."""
    machines = cluster.brokers[broker].controller.topics[topic].machines
    for partition in PARTITIONS:
        if partition in partitions:
            machines.move_partition(partition, PartitionStatus.NEW)
            for replica in BROKERS:
                machines.move_replica(partition, replica, ReplicaStatus.NEW)
