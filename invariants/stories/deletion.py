"""Stories about deleted topics: by a client, again under the same name, and by an operator who removes the znodes."""

from __future__ import annotations

from kwalk.invariants import controllers, deletion, partitions, recovery, sessions, topic_ids, witnesses
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import kafka_server
from kwalk.model.kafka.broker.log_manager import clear_memory
from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.controller import kafka_controller
from kwalk.model.kafka.controller.controller_context import PartitionState, ReplicaState
from kwalk.model.kafka.domains import Broker
from kwalk.model.kafka.initial_states import create_topic, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.records import TOPICS_HAVE_IDS

DELETION = (
    deletion.deletion_targets_intent,
    deletion.deleted_logs_were_unused,
    deletion.deletion_terminates,
    deletion.no_stray,
    deletion.no_unrequested_topic,
    deletion.partition_gets_a_leader,
    topic_ids.replica_id_matches_zookeeper,
    controllers.context_agrees,
    deletion.topic_is_deleted,
)
REQUESTED_DELETION = (
    *DELETION,
    deletion.deletion_is_not_dropped,
    deletion.waiting_deletion_is_ineligible,
    deletion.topic_has_its_configuration,
    topic_ids.incarnation_keeps_its_id,
    controllers.states_agree,
    partitions.leader_has_a_log,
    sessions.resigned_controller_has_no_context,
    sessions.ready_controller_takes_lost_brokers_out,
)
RECOVERY = (
    recovery.partition_is_eventually_served,
    recovery.deletion_eventually_ends,
    recovery.failover_eventually_ends,
)

TOPIC_DELETION = RUNNING_CLUSTER.varied(
    name="topic-deletion",
    story="A client deletes a topic while brokers stop and crash and the controller moves; the name is not used again.",
    actions=(*RUNNING_CLUSTER.actions, *actions.DELETION),
    properties=(*REQUESTED_DELETION, *RECOVERY),
    bounds={
        "brokers": 2,
        "partitions": 1,
        "topic_ids": 2,
        "new_creations": 1,
        "restarts": 1,
        "deletions": 1,
        "requests": 6,
        "leader_epochs": 12,
    },
    flags={"stop_replica": True, "deletion": True},
    source="TopicDeletionManager; KAFKA-6612, KAFKA-6650",
)


def cluster_with_stray_log(cluster: Cluster, broker: Broker) -> None:
    """There is no topic, and one broker has loaded the log of an earlier one; since 2.8 with its id in the file."""
    running_cluster(cluster)
    cluster.zookeeper.topics[0].incarnation = 1
    topic_id, replica = cluster.topic_ids.take(), cluster.replica_of(broker, 0, 0)
    replica.on_disk = True
    if TOPICS_HAVE_IDS:
        replica.topic_id = replica.file_topic_id = topic_id


TOPIC_DELETION_WITH_STRAY_LOG = TOPIC_DELETION.varied(
    name="topic-deletion-with-stray-log",
    story=(
        "A topic was deleted while a broker was down, and its log is still there when a client creates a topic of the "
        "same name; another client deletes that."
    ),
    initial=cluster_with_stray_log,
    properties=(*DELETION, *RECOVERY),
    bounds={"incarnations": 1, "restarts": 0},
    flags={"offline_logs": True},
    source="ReplicaManager.becomeLeaderOrFollower: markPartitionOffline for what has no log afterwards",
)

DELETE_AND_RECREATE = TOPIC_DELETION.varied(
    name="delete-and-recreate",
    story="A client deletes a topic and another one creates it again, perhaps while the deletion is still under way.",
    properties=(*REQUESTED_DELETION, deletion.topic_is_created_again),
    bounds={"incarnations": 1, "restarts": 0, "failovers": 1},
    source="KafkaZkClient.deleteTopicZNode, deleteTopicConfigs, deleteTopicDeletions: three writes",
)

THROUGH_BROKERS = DELETE_AND_RECREATE.varied(
    name="delete-and-recreate-through-brokers",
    story=(
        "A client deletes a topic, another one creates it again, and it is deleted once more; all of them ask brokers, "
        "which look at their metadata caches first."
    ),
    bounds={"deletions": 2, "failovers": 0},
    flags={"broker_checks": True},
    source="KafkaApis.handleCreateTopicsRequest, handleDeleteTopicsRequest; KAFKA-8875",
)

DELETE_BY_HAND = DELETE_AND_RECREATE.varied(
    name="delete-by-hand",
    story=(
        "An operator removes a topic's znodes in ZooKeeper, perhaps after a client's request whose deletion hangs; "
        "later the topic is created again."
    ),
    actions=(*DELETE_AND_RECREATE.actions, *actions.BY_HAND),
    properties=(*DELETION, deletion.topic_is_created_again),
    bounds={"restarts": 1, "failovers": 0, "hand_removals": 2},
    source="an operator's question of what happens if /brokers/topics/T is deleted directly",
)


def cluster_with_topic(cluster: Cluster) -> None:
    """All brokers are up, and there is a topic with one partition that the controller has brought online."""
    running_cluster(cluster)
    create_topic(cluster, 1, topic_id=cluster.topic_ids.take() if TOPICS_HAVE_IDS else None)
    bring_online(cluster, 0)


def bring_online(cluster: Cluster, topic: int) -> None:
    """The topic has a configuration, and its first partition and the replicas of that are online."""
    znode, context = cluster.zookeeper.topics[topic], cluster.controller_of(0).topics[topic]
    znode.was_created = znode.has_config = True
    context.partition_states[0] = PartitionState.ONLINE
    for replica in sorted(context.assignments[0].replicas):
        context.replica_states[0][replica] = ReplicaState.ONLINE


DELETION_DISABLED = TOPIC_DELETION.varied(
    name="deletion-disabled",
    story=(
        "A client marks a topic for deletion in ZooKeeper while delete.topic.enable is false on all brokers; brokers "
        "stop and crash, and the controller moves."
    ),
    initial=cluster_with_topic,
    properties=(
        deletion.deletion_is_not_dropped,
        deletion.deletion_terminates,
        deletion.no_stray,
        partitions.partition_servable,
        controllers.context_agrees,
    ),
    bounds={"new_creations": 0, "failovers": 1, "deletions": 2},
    flags={"delete_topic_enable": False},
    source="KafkaController.processTopicDeletion, TopicDeletionManager.init; KAFKA-3175",
)

DELETION_DISABLED_AS_CLIENTS_SEE_IT = DELETION_DISABLED.varied(
    name="deletion-disabled-as-clients-see-it",
    story=(
        "A client marks a topic for deletion in ZooKeeper while delete.topic.enable is false on all brokers; a broker "
        "crashes, the controller moves, and brokers answer clients from what UpdateMetadata requests have brought."
    ),
    properties=(
        deletion.deletion_terminates,
        deletion.no_stray,
        partitions.metadata_converges,
        witnesses.failover_completes,
    ),
    bounds={"brokers": 2, "partitions": 1, "deletions": 1, "restarts": 1, "requests": 10},
    flags={"metadata_caches": True},
    source="ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers; KAFKA-3175",
)

DELETION_AS_CLIENTS_SEE_IT = TOPIC_DELETION.varied(
    name="deletion-as-clients-see-it",
    story=(
        "A client deletes a topic of which one broker has no replica, and another one creates it again; a "
        "broker's session expires, perhaps the controller's, and brokers answer clients from what UpdateMetadata has "
        "brought."
    ),
    initial=cluster_with_topic,
    actions=(
        admin_clients.new_client_creates_topic,
        operator.delete_controller,
        faults.lose_request,
        *actions.CONTROLLER,
        *actions.BROKER,
        *actions.DELETION,
        *actions.SESSIONS,
    ),
    properties=(
        deletion.free_name_can_be_created,
        partitions.metadata_converges,
        deletion.deletion_terminates,
        deletion.topic_is_created_again,
        witnesses.failover_completes,
    ),
    bounds={
        "incarnations": 1,
        "replication_factor": 1,
        "restarts": 0,
        "expirations": 1,
        "requests": 10,
        "events": 6,
    },
    flags={
        "reassignment": True,
        "metadata_caches": True,
        "cache_checks": True,
        "sessions": True,
        "lost_requests": True,
    },
    source="AdminManager.createTopics: metadataCache.contains; KafkaController.onBrokerStartup; KAFKA-8875",
)

DELETION_AMID_A_LISTING = DELETION_AS_CLIENTS_SEE_IT.varied(
    name="deletion-amid-a-listing",
    story="A client asks a broker for all topics, another one deletes a topic of which that broker has no replica.",
    actions=(
        admin_clients.list_topics,
        admin_clients.describe_listed_topics,
        *actions.CONTROLLER,
        *actions.BROKER,
        *actions.DELETION,
    ),
    properties=(deletion.no_unrequested_topic, deletion.deletion_is_not_dropped, deletion.topic_is_deleted),
    bounds={"expirations": 0, "new_creations": 0, "listings": 1},
    flags={"sessions": False, "lost_requests": False},
    source="KafkaApis.handleTopicMetadataRequest; KAFKA-10606",
)

EXPANSION_DURING_DELETION = TOPIC_DELETION.varied(
    name="expansion-during-deletion",
    story=(
        "A client older than 2.8 reads a topic and writes it with more partitions, while another client deletes the "
        "topic and the controller may move."
    ),
    initial=cluster_with_topic,
    actions=(
        *(one for one in TOPIC_DELETION.actions if one is not admin_clients.old_client_adds_partitions),
        *actions.TWO_STEP_ADMINS,
    ),
    properties=DELETION,
    bounds={
        "brokers": 1,
        "partitions": 2,
        "new_creations": 0,
        "expansions": 1,
        "old_admins": 1,
        "failovers": 1,
        "restarts": 0,
        "events": 7,
    },
    flags={"two_step_admin": True},
    source="KAFKA-6612, KAFKA-6650; ZkUtils.updatePersistentPath of 1.0.x",
)

EXPANSION_DURING_HALTED_DELETION = EXPANSION_DURING_DELETION.varied(
    name="expansion-during-halted-deletion",
    story="A broker crashes for good, so that a topic's deletion halts; then a client adds partitions to the topic.",
    actions=tuple(one for one in EXPANSION_DURING_DELETION.actions if one is not kafka_server.restart),
    properties=(
        *(prop for prop in DELETION if prop is not deletion.topic_is_deleted),
        deletion.expansion_meets_a_deletion,
    ),
    bounds={"brokers": 2, "failovers": 0, "restarts": 1, "events": 5},
    source="KAFKA-6612",
)


def cluster_with_failed_disk(cluster: Cluster) -> None:
    """The same, and broker 1 has started while the disk with its log has failed; the controller knows."""
    cluster_with_topic(cluster)
    state, context, leading = cluster.zookeeper.state_of(0, 0), cluster.controller_of(0).topics[0], frozenset({0})
    state.isr, state.leader_epoch, context.leadership[0].leader_epoch = leading, 1, 1
    context.offline[0], context.replica_states[0][1] = frozenset({1}), ReplicaState.OFFLINE
    cluster.replica_of(0, 0, 0).leader_epoch = 1
    clear_memory(cluster.replica_of(1, 0, 0))
    cluster.replica_of(1, 0, 0).offline = True


REPLACED_DISK = TOPIC_DELETION.varied(
    name="replaced-disk",
    story=(
        "The disk with a broker's log has failed; the controller moves there, and back as that broker stops and starts "
        "with a disk that works."
    ),
    initial=cluster_with_failed_disk,
    actions=(*RUNNING_CLUSTER.actions, kafka_controller.storage_error),
    properties=(
        partitions.replica_on_a_working_disk_is_hosted,
        partitions.partition_servable,
        witnesses.failover_completes,
    ),
    bounds={"new_creations": 0, "restarts": 1, "failovers": 1, "deletions": 0, "events": 7},
    flags={"offline_logs": True},
    source="KAFKA-6630; ControllerContext.replicasOnOfflineDirs",
)
