"""Stories about deleted topics: by a client, again under the same name, and by an operator who removes the znodes."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.broker import kafka_server
from kwalk.model.kafka.clients import admin_clients, operator
from kwalk.model.kafka.controller import kafka_controller, topic_deletion_manager
from kwalk.model.kafka.controller.controller_context import PartitionState, ReplicaState
from kwalk.model.kafka.domains import Broker
from kwalk.model.kafka.scenarios import OLD_CLIENT_EXPANSION, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.stories.existing_topic import create_topic
from kwalk.model.kafka.versions import TOPICS_HAVE_IDS

DELETION = (
    admin_clients.client_deletes_topic,
    topic_deletion_manager.topic_deletion,
    topic_deletion_manager.stop_replica_response,
    topic_deletion_manager.complete_deletion_deletes_states,
    topic_deletion_manager.complete_deletion_deletes_topic,
    topic_deletion_manager.complete_deletion_deletes_config,
    topic_deletion_manager.complete_deletion_deletes_request,
    kafka_server.start_with_offline_logs,
    kafka_controller.storage_error,
)
BY_HAND = (
    operator.remove_partition_states_by_hand,
    operator.remove_topic_by_hand,
    operator.remove_deletion_request_by_hand,
)

TOPIC_DELETION = evolve(
    OLD_CLIENT_EXPANSION,
    name="topic-deletion",
    story="A client deletes a topic while brokers stop and crash and the controller moves; the name is not used again.",
    actions=(*OLD_CLIENT_EXPANSION.actions, *DELETION),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "brokers": 2,
        "partitions": 1,
        "topic_ids": 2,
        "old_creations": 0,
        "new_creations": 1,
        "expansions": 0,
        "failovers": 0,
        "restarts": 1,
        "deletions": 1,
        "requests": 6,
        "leader_epochs": 12,
    },
    flags={**OLD_CLIENT_EXPANSION.flags, "stop_replica": True, "deletion": True},
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


TOPIC_DELETION_WITH_STRAY_LOG = evolve(
    TOPIC_DELETION,
    name="topic-deletion-with-stray-log",
    story=(
        "A topic was deleted while a broker was down, and its log is still there when a client creates a topic of the "
        "same name; another client deletes that."
    ),
    initial=cluster_with_stray_log,
    bounds={**TOPIC_DELETION.bounds, "topic_ids": 2, "incarnations": 1, "restarts": 0},
    flags={**TOPIC_DELETION.flags, "offline_logs": True},
    source="ReplicaManager.becomeLeaderOrFollower: markPartitionOffline for what has no log afterwards",
)

DELETE_AND_RECREATE = evolve(
    TOPIC_DELETION,
    name="delete-and-recreate",
    story="A client deletes a topic and another one creates it again, perhaps while the deletion is still under way.",
    bounds={**TOPIC_DELETION.bounds, "topic_ids": 2, "incarnations": 1, "restarts": 0, "failovers": 1},
    source="KafkaZkClient.deleteTopicZNode, deleteTopicConfigs, deleteTopicDeletions: three writes",
)

THROUGH_BROKERS = evolve(
    DELETE_AND_RECREATE,
    name="delete-and-recreate-through-brokers",
    story=(
        "A client deletes a topic, another one creates it again, and it is deleted once more; all of them ask brokers, "
        "which look at their metadata caches first."
    ),
    bounds={**DELETE_AND_RECREATE.bounds, "deletions": 2, "failovers": 0},
    flags={**DELETE_AND_RECREATE.flags, "broker_checks": True},
    source="KafkaApis.handleCreateTopicsRequest, handleDeleteTopicsRequest; KAFKA-8875",
)

DELETE_BY_HAND = evolve(
    DELETE_AND_RECREATE,
    name="delete-by-hand",
    story=(
        "An operator removes a topic's znodes in ZooKeeper, perhaps after a client's request whose deletion hangs; "
        "later the topic is created again."
    ),
    actions=(*DELETE_AND_RECREATE.actions, *BY_HAND),
    bounds={**DELETE_AND_RECREATE.bounds, "restarts": 1, "failovers": 0, "hand_removals": 2},
    source="an operator's question of what happens if /brokers/topics/T is deleted directly",
)


def cluster_with_topic(cluster: Cluster) -> None:
    """All brokers are up, and there is a topic with one partition that the controller has brought online."""
    running_cluster(cluster)
    create_topic(cluster, 1, topic_id=cluster.topic_ids.take() if TOPICS_HAVE_IDS else None)
    znode, context = cluster.zookeeper.topics[0], cluster.controller_of(0).topics[0]
    znode.was_created = znode.has_config = True
    context.partition_states[0] = PartitionState.ONLINE
    for replica in sorted(context.assignments[0].replicas):
        context.replica_states[0][replica] = ReplicaState.ONLINE


DELETION_DISABLED = evolve(
    TOPIC_DELETION,
    name="deletion-disabled",
    story=(
        "A client marks a topic for deletion in ZooKeeper while delete.topic.enable is false on all brokers; brokers "
        "stop and crash, and the controller moves."
    ),
    initial=cluster_with_topic,
    bounds={**TOPIC_DELETION.bounds, "new_creations": 0, "failovers": 1, "deletions": 2},
    flags={**TOPIC_DELETION.flags, "delete_topic_enable": False},
    source="KafkaController.processTopicDeletion, TopicDeletionManager.init; KAFKA-3175",
)

EXPANSION_DURING_DELETION = evolve(
    TOPIC_DELETION,
    name="expansion-during-deletion",
    story=(
        "A client older than 2.8 reads a topic and writes it with more partitions, while another client deletes the "
        "topic and the controller may move."
    ),
    initial=cluster_with_topic,
    actions=(
        *(action for action in TOPIC_DELETION.actions if action is not admin_clients.old_client_adds_partitions),
        admin_clients.admin_reads_topic,
        admin_clients.admin_writes_topic,
    ),
    bounds={
        **TOPIC_DELETION.bounds,
        "brokers": 1,
        "partitions": 2,
        "topic_ids": 2,
        "new_creations": 0,
        "expansions": 1,
        "admins": 1,
        "old_admins": 1,
        "failovers": 1,
        "restarts": 0,
        "events": 7,
    },
    flags={**TOPIC_DELETION.flags, "two_step_admin": True},
    source="KAFKA-6612, KAFKA-6650; ZkUtils.updatePersistentPath of 1.0.x",
)

EXPANSION_DURING_HALTED_DELETION = evolve(
    EXPANSION_DURING_DELETION,
    name="expansion-during-halted-deletion",
    story="A broker crashes for good, so that a topic's deletion halts; then a client adds partitions to the topic.",
    actions=tuple(action for action in EXPANSION_DURING_DELETION.actions if action is not kafka_server.restart),
    bounds={**EXPANSION_DURING_DELETION.bounds, "brokers": 2, "failovers": 0, "restarts": 1, "events": 5},
    source="KAFKA-6612",
)
