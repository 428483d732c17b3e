"""TopicDeletionManager: topics in /admin/delete_topics are stopped, deleted, and removed from the context.

Without delete.topic.enable a controller only removes the children of /admin/delete_topics.

Words: a *delete_topics znode* is /admin/delete_topics/T, the request to delete topic T. A topic is *queued* while it is
in topicsToBeDeleted. Its deletion is *started* when its replicas were first sent StopReplica. A dead or failed replica
makes the topic *ineligible* until a broker with a replica of it starts. Once all replicas are deleted, the deletion is
*completed*: the topic's znode with everything below is deleted first, then its configuration, then its delete_topics
znode, each under the controller epoch only. Others act in between: a topic that is created again after the first phase
loses its configuration in the second, and if its delete_topics znode remains, the next controller deletes it.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import CONTROLLER
from kwalk.model.kafka.controller.controller_channel_manager import send_stop_replica, send_update_metadata
from kwalk.model.kafka.controller.controller_context import (
    Controller,
    EventKind,
    EventProgress,
    PartitionState,
    ReplicaState,
    TopicContext,
)
from kwalk.model.kafka.controller.replica_state_machine import may_change_replicas, take_replicas_offline
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.deletion import DELETION_WAITS, MARKS_ARE_REMOVED
from kwalk.model.kafka.versions.grain import (
    DELETE_TOPIC_ENABLE,
    DELETION,
    OFFLINE_LOGS,
    PIECEMEAL_REMOVAL,
)
from kwalk.model.kafka.zookeeper.kafka_zk_client import (
    check_controller_epoch,
    remove_config,
    remove_delete_topics_znode,
    remove_partition_states,
    remove_topic_znode,
)
from kwalk.model.language import action, require


@action(
    by=CONTROLLER,
    group="deletion",
    description="handles TopicDeletion: reads /admin/delete_topics, queues the topics, resumes deletions",
    source="KafkaController.processTopicDeletion; TopicDeletionManager.enqueueTopicsForDeletion",
)
def topic_deletion(cluster: Cluster, broker: Broker) -> None:
    """Requests for topics that the context lacks are removed; without delete.topic.enable all are."""
    require(DELETION)
    controller, zookeeper = cluster.controller_of(broker), cluster.zookeeper
    require(controller.is_at(EventKind.TOPIC_DELETION))
    controller.events.pop()
    if not controller.is_active:
        return
    zookeeper.watches[broker].delete_topics = True
    marked = zookeeper.delete_topics
    for topic in sorted(marked):
        if controller.topics[topic].partition_count == 0 or not DELETE_TOPIC_ENABLE:
            check_controller_epoch(cluster, broker)
            remove_delete_topics_znode(cluster, topic)
    for topic in TOPICS:
        context = controller.topics[topic]
        if topic in marked & zookeeper.delete_topics:
            context.to_be_deleted = True
            if DELETION_WAITS and context.is_being_reassigned:
                context.ineligible_for_deletion = True
    if marked & zookeeper.delete_topics:
        resume_deletions(cluster, broker)


@action(
    by=CONTROLLER,
    group="deletion",
    description="handles a StopReplica response: replicas are deleted; resumes deletions",
    source="KafkaController.processTopicDeletionStopReplicaResponseReceived, "
    "TopicDeletionManager.completeReplicaDeletion",
)
def stop_replica_response(cluster: Cluster, broker: Broker) -> None:
    """Brokers never fail to delete here; the response to a request that was refused as a whole has no partitions."""
    require(DELETION)
    controller = cluster.controller_of(broker)
    require(controller.is_at(EventKind.STOP_REPLICA_RESPONSE))
    event = controller.events.pop()
    if not controller.is_active:
        return
    context = controller.topics[event.topic]
    if context.to_be_deleted and may_change_replicas(cluster, broker):
        for partition in PARTITIONS:
            if partition in event.partitions:
                context.move_replica(partition, event.replica, ReplicaState.DELETION_SUCCESSFUL)
    resume_deletions(cluster, broker)


def resume_deletions(cluster: Cluster, broker: int) -> None:
    """Complete a topic whose replicas are deleted, in steps of its own, or start or retry deletions.

    Kafka: TopicDeletionManager.resumeDeletions.
    """
    controller = cluster.controller_of(broker)
    if completed_topic(controller) is not None:
        controller.step = EventProgress.REPLICAS_DELETED
        return
    for topic in TOPICS:
        context = controller.topics[topic]
        if context.to_be_deleted and not any_replica(context, ReplicaState.DELETION_STARTED):
            if any_replica(context, ReplicaState.DELETION_INELIGIBLE):
                retry_ineligible_replicas(cluster, broker, topic)
            if not context.ineligible_for_deletion:
                on_topic_deletion(cluster, broker, topic)


def completed_topic(controller: Controller) -> int | None:
    """Return the first queued topic all of whose replicas are deleted, or that has no replicas in the context."""
    return next(
        (
            topic
            for topic in TOPICS
            if controller.topics[topic].to_be_deleted and all_replicas_deleted(controller.topics[topic])
        ),
        None,
    )


def all_replicas_deleted(context: TopicContext) -> bool:
    """Whether all replicas are in state ReplicaDeletionSuccessful (Kafka: ControllerContext.areAllReplicasInState)."""
    return all(
        replica not in context.assignments[partition].replicas
        or context.replica_states[partition][replica] is ReplicaState.DELETION_SUCCESSFUL
        for partition in sorted(context.partitions)
        for replica in BROKERS
    )


def any_replica(context: TopicContext, status: ReplicaState) -> bool:
    """Whether any replica is in the state (Kafka: ControllerContext.isAnyReplicaInState)."""
    return any(bool(context.partitions_in(status, on=replica)) for replica in BROKERS)


def retry_ineligible_replicas(cluster: Cluster, broker: int, topic: int) -> None:
    """Make ineligible replicas OfflineReplica again.

    Kafka: TopicDeletionManager.retryDeletionForIneligibleReplicas.
    """
    context = cluster.controller_of(broker).topics[topic]
    for replica in BROKERS:
        ineligible = context.partitions_in(ReplicaState.DELETION_INELIGIBLE, on=replica)
        take_replicas_offline(cluster, broker, topic, ineligible, on=frozenset({replica}))


def on_topic_deletion(cluster: Cluster, broker: int, topic: int) -> None:
    """Make partitions NonExistentPartition the first time, and delete them.

    Kafka: TopicDeletionManager.onTopicDeletion.
    """
    context = cluster.controller_of(broker).topics[topic]
    if not context.deletion_started:
        for partition in sorted(context.partitions):
            context.move_partition(partition, PartitionState.OFFLINE)
            context.move_partition(partition, PartitionState.NON_EXISTENT)
        context.deletion_started = True
    live = cluster.controller_of(broker).live_or_shutting_down
    send_update_metadata(cluster, broker, topic, context.partitions, to=live)
    on_partition_deletion(cluster, broker, topic)


def on_partition_deletion(cluster: Cluster, broker: int, topic: int) -> None:
    """Mark dead replicas as ineligible; stop live ones, and then delete them.

    Kafka: TopicDeletionManager.onPartitionDeletion.
    """
    controller = cluster.controller_of(broker)
    context, live = controller.topics[topic], controller.live_brokers
    if may_change_replicas(cluster, broker):
        fail_replicas(context, on=frozenset(BROKERS) - live)
    if OFFLINE_LOGS:
        fail_offline_replicas(cluster, broker, topic)
    for replica in sorted(live):
        offline = frozenset({p for p in PARTITIONS if replica in context.offline[p]})
        deleted = context.partitions_in(ReplicaState.DELETION_SUCCESSFUL, on=replica)
        left = context.partitions_on(replica) - offline - deleted
        take_replicas_offline(cluster, broker, topic, left, on=frozenset({replica}))
        start_deletion(cluster, broker, topic, left, replica=replica)
    if context.has_replica_on(frozenset(BROKERS) - live):
        context.ineligible_for_deletion = True


def fail_replicas(context: TopicContext, *, on: frozenset[int]) -> None:
    """Make the brokers' replicas ReplicaDeletionIneligible."""
    for replica in sorted(on):
        for partition in sorted(context.partitions_on(replica)):
            context.move_replica(partition, replica, ReplicaState.DELETION_INELIGIBLE)


def fail_offline_replicas(cluster: Cluster, broker: int, topic: int) -> None:
    """Make offline replicas on live brokers ReplicaDeletionIneligible, and their topic ineligible."""
    context = cluster.controller_of(broker).topics[topic]
    for partition in sorted(context.partitions):
        for replica in sorted(context.offline[partition]):
            if may_change_replicas(cluster, broker):
                context.move_replica(partition, replica, ReplicaState.DELETION_INELIGIBLE)
            context.ineligible_for_deletion = True


def start_deletion(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, replica: int) -> None:
    """Make OfflineReplicas ReplicaDeletionStarted, and send them StopReplica with deletion."""
    if not may_change_replicas(cluster, broker):
        return
    context = cluster.controller_of(broker).topics[topic]
    started = partitions & context.partitions_in(ReplicaState.OFFLINE, on=replica)
    for partition in sorted(started):
        context.replica_states[partition][replica] = ReplicaState.DELETION_STARTED
    send_stop_replica(cluster, broker, topic, started, to=frozenset({replica}), delete=True)


def fail_replica_deletion(cluster: Cluster, broker: int, *, on: frozenset[int]) -> None:
    """Make queued topics ineligible, with their replicas on dead brokers.

    Kafka: TopicDeletionManager.failReplicaDeletion.
    """
    controller, is_any_queued = cluster.controller_of(broker), False
    for context in controller.topics:
        if context.to_be_deleted and context.has_replica_on(on):
            if may_change_replicas(cluster, broker):
                fail_replicas(context, on=on)
            context.ineligible_for_deletion = is_any_queued = True
    if is_any_queued:
        resume_deletions(cluster, broker)


def resume_deletion_for_topics(cluster: Cluster, broker: int, *, on: frozenset[int]) -> None:
    """Make queued topics eligible that have a replica on brokers which have started.

    Kafka: TopicDeletionManager.resumeDeletionForTopics.
    """
    controller, is_any_queued = cluster.controller_of(broker), False
    for context in controller.topics:
        if context.to_be_deleted and context.has_replica_on(on):
            context.ineligible_for_deletion, is_any_queued = False, True
    if is_any_queued:
        resume_deletions(cluster, broker)


def read_delete_topics(cluster: Cluster, broker: int) -> None:
    """Queue every topic in /admin/delete_topics, known or not, as F9 of a failover.

    Without delete.topic.enable every delete_topics znode is removed instead. Before KAFKA-3175 they stay, and clients
    are told that these topics are being deleted.

    Kafka: KafkaController.fetchTopicDeletionsInProgress, TopicDeletionManager.init.
    """
    controller, zookeeper = cluster.controller_of(broker), cluster.zookeeper
    zookeeper.watches[broker].delete_topics = bool(DELETE_TOPIC_ENABLE) or bool(MARKS_ARE_REMOVED)
    for topic in TOPICS:
        if topic in zookeeper.delete_topics and not DELETE_TOPIC_ENABLE and bool(MARKS_ARE_REMOVED):
            check_controller_epoch(cluster, broker)
            remove_delete_topics_znode(cluster, topic)
        elif topic in zookeeper.delete_topics and not DELETE_TOPIC_ENABLE:
            controller.topics[topic].ineligible_for_deletion = True
        elif topic in zookeeper.delete_topics:
            context = controller.topics[topic]
            context.to_be_deleted = True
            is_partly_down = context.has_replica_on(frozenset(BROKERS) - controller.live_brokers)
            context.ineligible_for_deletion = is_partly_down or context.is_being_reassigned


@action(
    by=CONTROLLER,
    group="deletion",
    description="completes a deletion: deletes the znodes of the topic's partitions",
    source="KafkaZkClient.deleteTopicZNode, deleteRecursive: children first, each under the controller epoch",
)
def complete_deletion_deletes_states(cluster: Cluster, broker: Broker) -> None:
    """The topic's watch is disarmed first. A client now reads a topic whose partitions never had a leader."""
    require(bool(DELETION) and bool(PIECEMEAL_REMOVAL))
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.REPLICAS_DELETED)
    controller.step = EventProgress.STATES_DELETED
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            cluster.zookeeper.watches[broker].topic[topic] = False
            check_controller_epoch(cluster, broker)
            remove_partition_states(cluster, topic)


@action(
    by=CONTROLLER,
    group="deletion",
    description="completes a deletion: deletes the topic's znodes",
    source="TopicDeletionManager.completeDeleteTopic; KafkaZkClient.deleteTopicZNode",
)
def complete_deletion_deletes_topic(cluster: Cluster, broker: Broker) -> None:
    """The topic's watch is disarmed. What is below goes with it, unless it was deleted in a step before."""
    require(DELETION)
    controller = cluster.controller_of(broker)
    require(controller.step is (EventProgress.STATES_DELETED if PIECEMEAL_REMOVAL else EventProgress.REPLICAS_DELETED))
    controller.step = EventProgress.TOPIC_DELETED
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            cluster.zookeeper.watches[broker].topic[topic] = False
            check_controller_epoch(cluster, broker)
            remove_topic_znode(cluster, topic)


@action(
    by=CONTROLLER,
    group="deletion",
    description="completes a deletion: deletes the topic's configuration",
    source="KafkaZkClient.deleteTopicConfigs",
)
def complete_deletion_deletes_config(cluster: Cluster, broker: Broker) -> None:
    """The second of three fenced deletions."""
    require(DELETION)
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.TOPIC_DELETED)
    controller.step = EventProgress.CONFIG_DELETED
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            check_controller_epoch(cluster, broker)
            remove_config(cluster, topic)


@action(
    by=CONTROLLER,
    group="deletion",
    description="completes a deletion: deletes the delete_topics znode and the context's topic, "
    "resumes other deletions",
    source="KafkaZkClient.deleteTopicDeletions; ControllerContext.removeTopic",
)
def complete_deletion_deletes_request(cluster: Cluster, broker: Broker) -> None:
    """The last of three fenced deletions."""
    require(DELETION)
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.CONFIG_DELETED)
    controller.step = EventProgress.IDLE
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            check_controller_epoch(cluster, broker)
            remove_delete_topics_znode(cluster, topic)
            controller.topics[topic].remove(completed=may_change_replicas(cluster, broker))
    resume_deletions(cluster, broker)


def fail_deletion(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, replica: int) -> None:
    """Make replicas ReplicaDeletionIneligible, and their topic ineligible.

    Kafka: TopicDeletionManager.failReplicaDeletion.
    """
    context = cluster.controller_of(broker).topics[topic]
    for partition in sorted(partitions):
        if may_change_replicas(cluster, broker):
            context.move_replica(partition, replica, ReplicaState.DELETION_INELIGIBLE)
    if partitions:
        context.ineligible_for_deletion = True
        resume_deletions(cluster, broker)
