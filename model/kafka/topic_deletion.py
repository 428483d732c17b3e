"""TopicDeletionManager: topics with a marker in /admin/delete_topics are stopped, deleted, and then forgotten.

Without delete.topic.enable a controller removes the markers that it finds, and that is all.

Words: a topic is *queued* while the context has it in topicsToBeDeleted. Deletion is *started* when its replicas were
first sent StopReplica. A replica that is dead, or that failed, makes the topic *ineligible* until a broker with a
replica of it starts. Once all replicas have succeeded, the deletion is completed: `topic_deletion_completion` has that.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER
from model.kafka.controller_channels import send_stop_replica, send_update_metadata
from model.kafka.controller_context import Controller, EventKind, Step, TopicContext
from model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker
from model.kafka.replica_state_machine import take_replicas_offline
from model.kafka.state import Cluster
from model.kafka.state_machines import PartitionStatus, ReplicaStatus
from model.kafka.versions import DELETE_TOPIC_ENABLE, DELETION, OFFLINE_LOGS
from model.kafka.zookeeper import check_controller_epoch, remove_marker
from model.language import action, require


@action(
    by=CONTROLLER,
    says="handles TopicDeletion: lists the markers, queues their topics, and goes on with deletions",
    source="KafkaController.processTopicDeletion; TopicDeletionManager.enqueueTopicsForDeletion",
)
def topic_deletion(cluster: Cluster, broker: Broker) -> None:
    """Markers of topics that the context does not have are deleted; without delete.topic.enable all are."""
    require(DELETION)
    controller, zookeeper = cluster.brokers[broker].controller, cluster.zookeeper
    require(controller.is_at(EventKind.TOPIC_DELETION))
    controller.events.pop()
    if not controller.is_active:
        return
    zookeeper.watches[broker].delete_topics = True
    marked = zookeeper.delete_topics
    for topic in TOPICS:
        if topic in marked and (controller.topics[topic].partition_count == 0 or not DELETE_TOPIC_ENABLE):
            check_controller_epoch(cluster, broker)
            remove_marker(cluster, topic)
    for topic in TOPICS:
        if topic in marked & zookeeper.delete_topics:
            controller.topics[topic].machines.to_be_deleted = True
    if marked & zookeeper.delete_topics:
        resume_deletions(cluster, broker)


@action(
    by=CONTROLLER,
    says="handles a StopReplica response: replicas are deleted; goes on with deletions",
    source="KafkaController.processTopicDeletionStopReplicaResponseReceived, "
    "TopicDeletionManager.completeReplicaDeletion",
)
def stop_replica_response(cluster: Cluster, broker: Broker) -> None:
    """Brokers never fail to delete here, and a request that is refused whole has no partitions in its response."""
    require(DELETION)
    controller = cluster.brokers[broker].controller
    require(controller.is_at(EventKind.STOP_REPLICA_RESPONSE))
    event = controller.events.pop()
    if not controller.is_active:
        return
    machines = controller.topics[event.topic].machines
    if machines.to_be_deleted:
        for partition in PARTITIONS:
            if partition in event.partitions:
                machines.move_replica(partition, event.replica, ReplicaStatus.SUCCESSFUL)
    resume_deletions(cluster, broker)


def resume_deletions(cluster: Cluster, broker: int) -> None:
    """resumeDeletions: what is all deleted is completed first, in steps of their own; then others (re)start."""
    controller = cluster.brokers[broker].controller
    if completed_topic(controller) is not None:
        controller.step = Step.REPLICAS_DELETED
        return
    for topic in TOPICS:
        context = controller.topics[topic]
        if context.machines.to_be_deleted and not any_replica(context, ReplicaStatus.STARTED):
            if any_replica(context, ReplicaStatus.INELIGIBLE):
                retry_ineligible_replicas(cluster, broker, topic)
            if not context.machines.ineligible:
                on_topic_deletion(cluster, broker, topic)


def completed_topic(controller: Controller) -> int | None:
    """The first queued topic whose replicas are all deleted: so is one of which the context has no replicas."""
    return next(
        (
            topic
            for topic in TOPICS
            if controller.topics[topic].machines.to_be_deleted and all_replicas_deleted(controller.topics[topic])
        ),
        None,
    )


def all_replicas_deleted(context: TopicContext) -> bool:
    """areAllReplicasInState(ReplicaDeletionSuccessful)."""
    return all(
        context.machines.replicas[partition][replica] is ReplicaStatus.SUCCESSFUL
        for partition in PARTITIONS
        for replica in BROKERS
        if partition < context.partition_count
    )


def any_replica(context: TopicContext, status: ReplicaStatus) -> bool:
    """isAnyReplicaInState."""
    return any(
        context.machines.replicas[partition][replica] is status
        for partition in PARTITIONS
        for replica in BROKERS
        if partition < context.partition_count
    )


def known_partitions(context: TopicContext) -> frozenset[int]:
    """The partitions that the context knows."""
    return frozenset({partition for partition in PARTITIONS if partition < context.partition_count})


def retry_ineligible_replicas(cluster: Cluster, broker: int, topic: int) -> None:
    """retryDeletionForIneligibleReplicas: they become OfflineReplica again."""
    context = cluster.brokers[broker].controller.topics[topic]
    for replica in BROKERS:
        ineligible = frozenset(
            {
                partition
                for partition in PARTITIONS
                if partition < context.partition_count
                and context.machines.replicas[partition][replica] is ReplicaStatus.INELIGIBLE
            }
        )
        take_replicas_offline(cluster, broker, topic, ineligible, on=frozenset({replica}))


def on_topic_deletion(cluster: Cluster, broker: int, topic: int) -> None:
    """onTopicDeletion: the first time partitions become NonExistentPartition; then onPartitionDeletion."""
    context = cluster.brokers[broker].controller.topics[topic]
    if not context.machines.deletion_started:
        for partition in PARTITIONS:
            if partition < context.partition_count:
                context.machines.move_partition(partition, PartitionStatus.OFFLINE)
                context.machines.move_partition(partition, PartitionStatus.NON_EXISTENT)
        context.machines.deletion_started = True
    live = cluster.brokers[broker].controller.live_brokers
    send_update_metadata(cluster, broker, topic, known_partitions(context), to=live)
    on_partition_deletion(cluster, broker, topic)


def on_partition_deletion(cluster: Cluster, broker: int, topic: int) -> None:
    """onPartitionDeletion: dead replicas become ineligible; live ones are stopped, and then told to delete."""
    controller = cluster.brokers[broker].controller
    context, live = controller.topics[topic], controller.live_brokers
    fail_replicas(context, on=frozenset(BROKERS) - live)
    if OFFLINE_LOGS:
        fail_offline_replicas(context)
    for replica in BROKERS:
        if replica in live:
            left = frozenset(
                {
                    partition
                    for partition in PARTITIONS
                    if partition < context.partition_count
                    and replica not in context.offline[partition]
                    and context.machines.replicas[partition][replica] is not ReplicaStatus.SUCCESSFUL
                }
            )
            take_replicas_offline(cluster, broker, topic, left, on=frozenset({replica}))
            start_deletion(cluster, broker, topic, left, replica=replica)
    if live != frozenset(BROKERS):
        context.machines.ineligible = True


def fail_replicas(context: TopicContext, *, on: frozenset[int]) -> None:
    """handleStateChanges(…, ReplicaDeletionIneligible)."""
    for partition in PARTITIONS:
        for replica in BROKERS:
            if replica in on and partition < context.partition_count:
                context.machines.move_replica(partition, replica, ReplicaStatus.INELIGIBLE)


def fail_offline_replicas(context: TopicContext) -> None:
    """The same for replicas on live brokers that are offline there: the topic is ineligible with them."""
    for partition in PARTITIONS:
        for replica in BROKERS:
            if replica in context.offline[partition] and partition < context.partition_count:
                context.machines.move_replica(partition, replica, ReplicaStatus.INELIGIBLE)
                context.machines.ineligible = True


def start_deletion(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, replica: int
) -> None:
    """handleStateChanges(…, ReplicaDeletionStarted): those that are OfflineReplica are told to delete their logs."""
    machines = cluster.brokers[broker].controller.topics[topic].machines
    started = frozenset(
        {
            partition
            for partition in PARTITIONS
            if partition in partitions and machines.replicas[partition][replica] is ReplicaStatus.OFFLINE
        }
    )
    for partition in PARTITIONS:
        if partition in started:
            machines.replicas[partition][replica] = ReplicaStatus.STARTED
    send_stop_replica(cluster, broker, topic, started, to=frozenset({replica}), delete=True)


def fail_replica_deletion(cluster: Cluster, broker: int, *, on: frozenset[int]) -> None:
    """failReplicaDeletion: the queued topics' replicas on dead brokers are ineligible, and so are the topics."""
    controller, is_any_queued = cluster.brokers[broker].controller, False
    for context in controller.topics:
        if context.machines.to_be_deleted and context.partition_count > 0:
            fail_replicas(context, on=on)
            context.machines.ineligible = is_any_queued = True
    if is_any_queued:
        resume_deletions(cluster, broker)


def resume_deletion_for_topics(cluster: Cluster, broker: int) -> None:
    """resumeDeletionForTopics, when a broker starts: every broker has a replica of every topic."""
    controller, is_any_queued = cluster.brokers[broker].controller, False
    for context in controller.topics:
        if context.machines.to_be_deleted and context.partition_count > 0:
            context.machines.ineligible, is_any_queued = False, True
    if is_any_queued:
        resume_deletions(cluster, broker)


def read_markers(cluster: Cluster, broker: int) -> None:
    """F9, fetchTopicDeletionsInProgress: every marker is queued, whether the context has its topic or not.

    TopicDeletionManager.init: without delete.topic.enable every marker is removed instead.
    """
    controller, zookeeper = cluster.brokers[broker].controller, cluster.zookeeper
    zookeeper.watches[broker].delete_topics = True
    for topic in TOPICS:
        if topic in zookeeper.delete_topics and not DELETE_TOPIC_ENABLE:
            check_controller_epoch(cluster, broker)
            remove_marker(cluster, topic)
        elif topic in zookeeper.delete_topics:
            context = controller.topics[topic]
            context.machines.to_be_deleted = True
            context.machines.ineligible = (
                context.partition_count > 0 and controller.live_brokers != frozenset(BROKERS)
            )
