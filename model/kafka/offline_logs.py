"""Logs on a disk that has failed: the broker lives on without them, and the controller looks for other leaders.

Words: a replica is *offline* while its broker's process answers KAFKA_STORAGE_ERROR to all that is about it. It is so
until the process ends. The controller knows when it is told so in a response, and forgets when the broker is lost or
starts: it is told again in the response to the LeaderAndIsr that every broker gets then.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER, FAULT
from model.kafka.broker import join
from model.kafka.controller_context import EventKind
from model.kafka.domains import PARTITIONS, TOPICS, Broker
from model.kafka.partition_state_machine import take_partitions_offline, trigger_online_partition_state_change
from model.kafka.replica_state_machine import take_replicas_offline
from model.kafka.state import Cluster
from model.kafka.state_machines import ReplicaStatus
from model.kafka.topic_deletion import resume_deletions
from model.kafka.versions import OFFLINE_LOGS
from model.language import action, require


@action(
    by=FAULT,
    says="broker {broker} starts, and the disk with its logs has failed",
    source="LogManager: offlineLogDirs; Partition.createLogIfNotExists: KafkaStorageException; markPartitionOffline",
)
def start_with_offline_logs(cluster: Cluster, broker: Broker) -> None:
    """What it has on disk is there for a later start. New logs go to a disk that works.

    Kafka notices at the first LeaderAndIsr; a StopReplica that comes before is answered as if nothing was there.
    """
    require(OFFLINE_LOGS and not cluster.is_up(broker) and not cluster.runbook.keeps_down)
    replicas = cluster.brokers[broker].replicas
    require(any(replicas[topic][partition].on_disk for topic in TOPICS for partition in PARTITIONS))
    for topic in TOPICS:
        for partition in PARTITIONS:
            replicas[topic][partition].offline = replicas[topic][partition].on_disk
    join(cluster, broker)


@action(
    by=CONTROLLER,
    says="handles a response with KAFKA_STORAGE_ERROR: replicas are offline",
    source="KafkaController.processLeaderAndIsrResponseReceived, onReplicasBecomeOffline; "
    "processTopicDeletionStopReplicaResponseReceived, TopicDeletionManager.failReplicaDeletion",
)
def storage_error(cluster: Cluster, broker: Broker) -> None:
    """They cannot lead and are not deleted. After StopReplica Kafka only fails the deletion, and may try again."""
    require(OFFLINE_LOGS)
    controller = cluster.brokers[broker].controller
    require(controller.is_at(EventKind.STORAGE_ERROR))
    event = controller.events.pop()
    if not controller.is_active:
        return
    for topic in TOPICS:
        if topic == event.topic:
            replicas_become_offline(cluster, broker, topic, event.partitions, replica=event.replica)


def replicas_become_offline(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, replica: int
) -> None:
    """onReplicasBecomeOffline: other leaders where these led, then out of the ISR; or their deletion has failed."""
    context = cluster.brokers[broker].controller.topics[topic]
    known = frozenset({p for p in PARTITIONS if p in partitions and p < context.partition_count})
    new = frozenset({p for p in PARTITIONS if p in known and replica not in context.offline[p]})
    for partition in PARTITIONS:
        if partition in new:
            context.offline[partition] = context.offline[partition] | {replica}
    if context.machines.to_be_deleted:
        fail_deletion(cluster, broker, topic, known, replica=replica)
    elif new:
        take_partitions_offline(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)
        take_replicas_offline(cluster, broker, topic, new, on=frozenset({replica}))


def fail_deletion(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, replica: int) -> None:
    """failReplicaDeletion: the replicas are ReplicaDeletionIneligible, and so is the topic."""
    machines = cluster.brokers[broker].controller.topics[topic].machines
    for partition in PARTITIONS:
        if partition in partitions:
            machines.move_replica(partition, replica, ReplicaStatus.INELIGIBLE)
    if partitions:
        machines.ineligible = True
        resume_deletions(cluster, broker)
