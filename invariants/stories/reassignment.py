"""Stories about reassignment: three brokers, two replicas of each partition, and one replica that moves."""

from __future__ import annotations

from kwalk.invariants import controllers, deletion, partitions, records, recovery, sessions, witnesses
from kwalk.invariants.stories import deletion as deletion_stories
from kwalk.invariants.stories.expansion import EVERYWHERE
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import kafka_server, metadata_cache, partition, replica_manager
from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.controller import kafka_controller, reassignment
from kwalk.model.kafka.domains import BROKERS
from kwalk.model.kafka.initial_states import cluster_with_topic, create_topic, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import action_constraint

MOVED = (witnesses.replica_is_moved, witnesses.reassignment_is_cancelled)
REPLICAS_MOVE = (
    *actions.REASSIGNMENT,
    kafka_controller.partition_modifications,
    replica_manager.handle_leader_and_isr,
    replica_manager.handle_stop_replica,
    partition.shrink_isr,
    partition.expand_isr,
)
"""The actions of a reassignment while no broker stops and the controller stays."""
ONE_REPLICA = {"new_creations": 0, "brokers": 2, "replication_factor": 1}
"""The smallest reassignment; the topic exists at the beginning."""

REASSIGNMENT = RUNNING_CLUSTER.varied(
    name="reassignment",
    story=(
        "A client moves a replica of a partition to another broker, and may cancel that while it is under way; "
        "the controller may move meanwhile."
    ),
    actions=(*RUNNING_CLUSTER.actions, *actions.REASSIGNMENT),
    properties=(
        *EVERYWHERE,
        deletion.no_stray,
        partitions.leader_has_a_log,
        sessions.resigned_controller_has_no_context,
        sessions.controller_does_not_give_up,
        controllers.idle_controller_is_done_with_reassignments,
        *MOVED,
    ),
    bounds={
        "partitions": 1,
        "topic_ids": 2,
        "new_creations": 1,
        "replication_factor": 2,
        "reassignments": 1,
        "cancellations": 1,
        "requests": 4,
    },
    flags={"reassignment": True, "stop_replica": True, "isr_changes": "between requests"},
    source="KIP-455; KafkaController.onPartitionReassignment; KAFKA-13972, KAFKA-9212",
)

REASSIGNMENT_WITH_EXPANSION = REASSIGNMENT.varied(
    name="reassignment-with-expansion",
    story=(
        "A client adds partitions in ZooKeeper, and before the controller reads them a step of a reassignment writes "
        "the topic back from the controller's context."
    ),
    properties=(*EVERYWHERE, deletion.no_stray, witnesses.expansion_is_registered),
    bounds={"partitions": 2, "expansions": 1, "cancellations": 0, "requests": 3},
    flags={"isr_changes": "never"},
    source="KafkaController.updateReplicaAssignmentForPartition; KAFKA-14190",
)

EXPANSION_DURING_REASSIGNMENT = REASSIGNMENT.varied(
    name="expansion-during-reassignment",
    story=(
        "A client that adds partitions reads a topic, whose only replica moves to another broker or is to; then the "
        "client writes what it has read, with more partitions."
    ),
    initial=cluster_with_topic,
    actions=(*REPLICAS_MOVE, *actions.TWO_STEP_ADMINS),
    properties=(*EVERYWHERE, deletion.no_stray, witnesses.replica_is_moved, witnesses.expansion_is_registered),
    bounds={**ONE_REPLICA, "partitions": 2, "expansions": 1, "cancellations": 0, "requests": 6},
    flags={"two_step_admin": True},
    source="AdminZkClient.addPartitions, writeTopicPartitionAssignment; KAFKA-12493",
)

REASSIGNMENT_ACROSS_FAILOVERS = REASSIGNMENT.varied(
    name="reassignment-across-failovers",
    story=(
        "A client moves the only replica of a partition to another broker, which takes long, and may cancel that; the "
        "controller moves away and back."
    ),
    initial=cluster_with_topic,
    actions=(
        operator.delete_controller,
        faults.crash,
        *actions.CONTROLLER,
        *(step for step in actions.BROKER if step not in (partition.shrink_isr, partition.expand_isr)),
        *actions.REASSIGNMENT,
    ),
    properties=(
        controllers.reassignment_reaches_its_target,
        controllers.reassignment_is_requested,
        sessions.resigned_controller_has_no_context,
        witnesses.reassignment_is_cancelled,
    ),
    bounds={**ONE_REPLICA, "failovers": 2, "requests": 8, "leader_epochs": 9},
    flags={"isr_changes": "never"},
    source="KafkaController.onControllerFailover: maybeTriggerPartitionReassignment; KAFKA-4214, KAFKA-5310",
)

REASSIGNMENT_AS_CLIENTS_SEE_IT = REASSIGNMENT.varied(
    name="reassignment-as-clients-see-it",
    story=(
        "A client moves the only replica of a partition to another broker, and may cancel that; brokers answer clients "
        "from what UpdateMetadata requests have brought."
    ),
    initial=cluster_with_topic,
    actions=(*REPLICAS_MOVE, metadata_cache.handle_update_metadata),
    properties=(*EVERYWHERE, deletion.no_stray, partitions.metadata_converges, *MOVED),
    bounds={**ONE_REPLICA, "requests": 8},
    flags={"metadata_caches": True},
    source="ControllerBrokerRequestBatch.updateMetadataRequestPartitionInfo; KAFKA-9212",
)

REASSIGNMENT_THERE_AND_BACK = REASSIGNMENT.varied(
    name="reassignment-there-and-back",
    story=(
        "A client moves the only replica of a partition to another broker and back, and a copy of a request arrives "
        "after later requests, as the connection broke when it was first sent."
    ),
    initial=cluster_with_topic,
    actions=(*REPLICAS_MOVE, faults.break_connection, faults.receive_late_copy),
    properties=(
        *EVERYWHERE,
        deletion.no_stray,
        deletion.deleted_logs_were_unused,
        witnesses.replica_is_moved,
        witnesses.replica_is_moved_back,
    ),
    bounds={
        **ONE_REPLICA,
        "reassignments": 2,
        "cancellations": 0,
        "late_copies": 1,
        "requests": 6,
        "leader_epochs": 9,
    },
    source="KAFKA-9539: StopReplica requests had no leader epoch, and could be handled out of order",
)

REASSIGNMENT_REPLACED = REASSIGNMENT.varied(
    name="reassignment-replaced",
    story=(
        "A client reassigns the only replica of a partition to a list of its own, and replaces that by another list "
        "while it is under way; leaders move to preferred replicas."
    ),
    initial=cluster_with_topic,
    actions=(*REPLICAS_MOVE, kafka_controller.auto_preferred_election),
    properties=(*EVERYWHERE, deletion.no_stray, partitions.leader_has_a_log, witnesses.replica_is_moved),
    bounds={
        "new_creations": 0,
        "replication_factor": 1,
        "reassignments": 2,
        "cancellations": 0,
        "requests": 6,
        "leader_epochs": 12,
    },
    flags={"replica_lists": True, "preferred_election": True},
    source="KAFKA-14808, KAFKA-10149",
)


@action_constraint()
def controller_stays(before: Cluster, after: Cluster) -> bool:
    """The first broker is the controller all the time."""
    return after.zookeeper.controller == 0


def replica_beside_the_controller(cluster: Cluster) -> None:
    """A topic has one replica, on a broker that is not the controller."""
    running_cluster(cluster)
    create_topic(cluster, 1, topic_id=cluster.topic_ids.take(), replicas=frozenset({1}))


REASSIGNMENT_CANCELLED_WITHOUT_ITS_REPLICAS = REASSIGNMENT.varied(
    name="reassignment-cancelled-without-its-replicas",
    story=(
        "A client reassigns the only replica of a partition to a list of its own, and cancels that; the broker that "
        "had the replica is down meanwhile."
    ),
    initial=replica_beside_the_controller,
    properties=(
        deletion.isr_member_keeps_its_log,
        partitions.partition_servable,
        partitions.leader_has_a_log,
        witnesses.replica_is_moved,
        witnesses.reassignment_is_cancelled,
    ),
    bounds={"new_creations": 0, "replication_factor": 1, "restarts": 1, "requests": 8, "leader_epochs": 12},
    flags={"replica_lists": True},
    source="KafkaController.processApiPartitionReassignment, ReplicaStateMachine.doRemoveReplicasFromIsr; KAFKA-14424",
    constraints=(controller_stays,),
)


def leader_that_has_moved(cluster: Cluster) -> None:
    """Two partitions of two replicas each; the second replica of the first partition leads, as after a restart."""
    running_cluster(cluster)
    create_topic(cluster, 2, topic_id=cluster.topic_ids.take())
    move_leader(cluster, 0)


def move_leader(cluster: Cluster, topic: int) -> None:
    """The second replica of the topic's first partition leads."""
    state, former = cluster.zookeeper.state_of(topic, 0), cluster.replica_of(0, topic, 0)
    for number, broker in enumerate(cluster.brokers):
        if number in state.isr and number != state.leader:
            broker.replicas[topic][0].is_leader, broker.replicas[topic][0].assigned = True, state.isr
            cluster.controller_of(0).topics[topic].leadership[0].leader = number
    state.leader = cluster.controller_of(0).topics[topic].leadership[0].leader
    former.is_leader, former.assigned = False, frozenset()


def two_topics(cluster: Cluster) -> None:
    """A topic has one replica; the second replica of another one leads, as after a restart."""
    running_cluster(cluster)
    for topic, replicas in enumerate((frozenset({0}), frozenset({0, 1}))):
        create_topic(cluster, 1, topic_id=cluster.topic_ids.take(), topic=topic, replicas=replicas)
        deletion_stories.bring_online(cluster, topic)
    move_leader(cluster, 1)


PREFERRED_LEADERS_DURING_REASSIGNMENT = REASSIGNMENT.varied(
    name="preferred-leaders-during-reassignment",
    story=(
        "A broker has started again, and no longer leads a partition; a client moves a replica of another partition, "
        "which takes long."
    ),
    initial=leader_that_has_moved,
    actions=(
        *actions.REASSIGNMENT,
        kafka_controller.partition_modifications,
        replica_manager.handle_leader_and_isr,
        replica_manager.handle_stop_replica,
        kafka_controller.auto_preferred_election,
    ),
    properties=(
        *EVERYWHERE,
        partitions.preferred_replica_leads,
        partitions.leader_has_a_log,
    ),
    bounds={"new_creations": 0, "partitions": 2, "cancellations": 1, "requests": 6, "leader_epochs": 12},
    flags={"isr_changes": "never", "preferred_election": True},
    source="KafkaController.checkAndTriggerAutoLeaderRebalance; KAFKA-10149",
)

PREFERRED_LEADERS_AFTER_A_DELETION = PREFERRED_LEADERS_DURING_REASSIGNMENT.varied(
    name="preferred-leaders-after-a-deletion",
    story=(
        "A broker has started again, and no longer leads a partition; a client moves the only replica of another "
        "topic, and deletes that topic meanwhile."
    ),
    initial=two_topics,
    actions=(*PREFERRED_LEADERS_DURING_REASSIGNMENT.actions, *actions.DELETION),
    properties=(
        partitions.preferred_replica_leads_at_rest,
        deletion.topic_is_deleted,
    ),
    bounds={"brokers": 2, "topics": 2, "partitions": 1, "topic_ids": 3, "cancellations": 0, "deletions": 1},
    flags={"deletion": True, "left_reassignments": True},
    source="TopicDeletionManager.completeDeleteTopic, ControllerContext.removeTopic; KAFKA-8249",
)

DELETION_DURING_REASSIGNMENT = REASSIGNMENT.varied(
    name="deletion-during-reassignment",
    story=(
        "A client moves the only replica of a partition to another broker, and another client deletes the topic; a "
        "broker stops or crashes, and starts again."
    ),
    initial=deletion_stories.cluster_with_topic,
    actions=(*REASSIGNMENT.actions, *actions.DELETION),
    properties=(
        deletion.deletion_targets_intent,
        deletion.deleted_logs_were_unused,
        deletion.deletion_terminates,
        controllers.context_agrees,
        controllers.idle_controller_is_done_with_reassignments,
        deletion.topic_is_deleted,
        deletion.deletion_is_not_dropped,
        deletion.deleted_replica_has_no_log,
        partitions.leader_has_a_log,
        recovery.deletion_eventually_ends,
        witnesses.replica_is_moved,
    ),
    bounds={
        **ONE_REPLICA,
        "cancellations": 0,
        "restarts": 1,
        "deletions": 1,
        "requests": 6,
        "leader_epochs": 12,
    },
    flags={"deletion": True},
    source="KafkaController.processTopicDeletion, TopicDeletionManager.markTopicIneligibleForDeletion",
)

REASSIGNMENT_WITH_A_FAILED_DIRECTORY = DELETION_DURING_REASSIGNMENT.varied(
    name="reassignment-with-a-failed-directory",
    story=(
        "A client moves the only replica of a partition to another broker, and another client adds a partition; a log "
        "directory fails that has no logs yet."
    ),
    actions=(
        *REPLICAS_MOVE,
        admin_clients.new_client_adds_partitions,
        kafka_controller.storage_error,
        faults.fail_spare_directory,
        faults.notice_failed_directory,
    ),
    properties=(
        controllers.reassignment_ends,
        controllers.context_agrees,
        controllers.idle_controller_is_done_with_reassignments,
        partitions.replicas_converge,
        partitions.partition_servable,
        partitions.leader_has_a_log,
        deletion.partition_gets_a_leader,
        witnesses.replica_is_moved,
    ),
    bounds={"restarts": 0, "deletions": 0, "partitions": 2, "new_expansions": 1, "directory_failures": 1},
    flags={"offline_logs": True, "failed_directories": True},
    source="LogManager.getOrCreateLog: isNew; KAFKA-8526, KAFKA-10314",
)

DELETION_AND_RECORDS = DELETION_DURING_REASSIGNMENT.varied(
    name="deletion-during-reassignment-with-records",
    story=(
        "Producers write while a client moves the only replica of a partition, another client deletes the topic, and a "
        "third one creates it again; a broker stops or crashes, and starts again."
    ),
    actions=(*DELETION_DURING_REASSIGNMENT.actions, *actions.RECORDS),
    properties=(
        records.committed_survives,
        records.no_resurrection,
        records.records_have_a_topic_id,
        deletion.no_stray,
        deletion.deletion_targets_intent,
        deletion.deleted_logs_were_unused,
        deletion.topic_is_created_again,
        witnesses.replica_is_moved,
        witnesses.record_is_committed,
    ),
    bounds={"records": 1, "new_creations": 1, "incarnations": 1, "topic_ids": 2},
    source="the story before with what logs hold; KafkaController.processTopicDeletion",
)


@action_constraint()
def stopped_broker_has_no_replica(before: Cluster, after: Cluster) -> bool:
    """A broker is stopped when no partition has a replica on it, also not one that is being added or removed."""
    return after.stops == before.stops or not any(
        after.brokers[broker].is_stopping and broker in assignment.replicas
        for broker in BROKERS
        for znode in before.zookeeper.topics
        for assignment in znode.assignments
    )


RETIRE_BROKER = REASSIGNMENT.varied(
    name="retire-broker",
    story="A client moves a replica of a partition away from a broker, and a broker is stopped for good at any moment.",
    initial=cluster_with_topic,
    actions=tuple(
        action
        for action in REASSIGNMENT.actions
        if action not in (kafka_server.restart, faults.crash, reassignment.cancel_partition_reassignment)
    ),
    properties=(
        partitions.partition_servable,
        partitions.partition_has_a_live_isr_member,
        partitions.replicas_are_live,
        partitions.leader_in_assignment,
        deletion.no_stray,
        witnesses.replica_is_moved,
    ),
    bounds={"new_creations": 0, "restarts": 1, "cancellations": 0, "replication_factor": 1},
    flags={"stepwise_shutdown": True},
    source="KafkaServer.shutdown, controlledShutdown; KafkaController.onPartitionReassignment",
)
RETIRE_BROKER_WITHOUT_REPLICAS = RETIRE_BROKER.varied(
    name="retire-broker-without-replicas",
    story="The same, and the broker is stopped when no partition has a replica on it.",
    constraints=(stopped_broker_has_no_replica,),
)
