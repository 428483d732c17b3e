"""Stories about topic ids: two admins, brokers of mixed protocols, and repairs of a topic with two ids.

Words: a *broken* cluster is one in which the old client's expansion and a failover have left a topic with a second id
(B) in ZooKeeper, and replicas that know the first one (A).
"""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.clients import admin_clients, operator
from kwalk.model.kafka.domains import PARTITIONS
from kwalk.model.kafka.scenarios import BROKER, CONTROLLER, FAULTS, OLD_CLIENT_EXPANSION, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.stories.existing_topic import cluster_with_topic, create_topic
from kwalk.model.kafka.stories.records import RECORDS
from kwalk.model.kafka.zookeeper import kafka_zk_client

ADMINS = (admin_clients.admin_reads_topic, admin_clients.admin_writes_topic)


def broken_cluster(cluster: Cluster) -> None:
    """The topic has id B in ZooKeeper and in the controller's context, and A in every replica, in memory and file."""
    running_cluster(cluster)
    create_topic(cluster, len(PARTITIONS), topic_id=cluster.topic_ids.take())
    second = cluster.topic_ids.take()
    cluster.zookeeper.topics[0].topic_id = cluster.zookeeper.topics[0].first_topic_id = second
    cluster.controller_of(0).topics[0].topic_id = second


TWO_ADMINS = evolve(
    OLD_CLIENT_EXPANSION,
    name="two-admins",
    story=(
        "Two clients, old or new, add partitions to a topic at the same time: each writes what it has read, "
        "and the later one removes the other's partitions."
    ),
    initial=cluster_with_topic,
    actions=(*ADMINS, *FAULTS, *CONTROLLER, *BROKER, kafka_zk_client.deliver_notification),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "brokers": 2,
        "partitions": 3,
        "old_creations": 0,
        "expansions": 2,
        "admins": 2,
        "old_admins": 0,
        "failovers": 1,
        "restarts": 0,
    },
    flags={**OLD_CLIENT_EXPANSION.flags, "two_step_admin": True},
    source="AdminZkClient.writeTopicPartitionAssignment: setTopicAssignment with MatchAnyVersion",
)

REPAIR_BY_REMOVING_FILES = evolve(
    OLD_CLIENT_EXPANSION,
    name="repair-by-removing-files",
    story=(
        "A topic has one id in ZooKeeper and another one in its replicas. The operator removes partition.metadata from "
        "brokers and restarts them, in any order."
    ),
    initial=broken_cluster,
    actions=(*OLD_CLIENT_EXPANSION.actions, operator.remove_metadata_files),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "brokers": 2,
        "partitions": 1,
        "old_creations": 0,
        "expansions": 0,
        "failovers": 0,
        "restarts": 2,
        "repairs": 2,
        "requests": 5,
        "topic_ids": 2,
        "leader_epochs": 9,
    },
    flags={**OLD_CLIENT_EXPANSION.flags, "metadata_file_removal": True, "isr_changes": "between requests"},
    source="the repair of an operator who met KAFKA-14190: remove the files, restart all, the controller last",
)

REPAIR_WITH_RECORDS = evolve(
    REPAIR_BY_REMOVING_FILES,
    name="repair-with-records",
    story=(
        "The same while producers write: the logs stay when partition.metadata is removed, and brokers stop and "
        "crash meanwhile."
    ),
    actions=(
        *FAULTS,
        *CONTROLLER,
        *BROKER,
        *RECORDS,
        operator.remove_metadata_files,
    ),
    bounds={**REPAIR_BY_REMOVING_FILES.bounds, "records": 1},
    source="the same operator's statement that the repair interrupts service, and that data are safe",
)

REPAIR_BY_WRITING_THE_ID_BACK = evolve(
    REPAIR_BY_REMOVING_FILES,
    name="repair-by-writing-the-id-back",
    story=(
        "A topic has one id in ZooKeeper and another one in its replicas. The operator writes an id into the znode by "
        "hand and lets the controller move; handlers of the znode's watch do not read ids."
    ),
    actions=(*OLD_CLIENT_EXPANSION.actions, operator.write_topic_id),
    bounds={**REPAIR_BY_REMOVING_FILES.bounds, "failovers": 1, "restarts": 1, "repairs": 1},
    flags={**OLD_CLIENT_EXPANSION.flags, "isr_changes": "between requests"},
)

MIXED_INTER_BROKER_PROTOCOL = evolve(
    OLD_CLIENT_EXPANSION,
    name="mixed-inter-broker-protocol",
    story=(
        "During an upgrade one broker still has an inter-broker protocol below 2.8: as controller it mints no ids, "
        "as broker it stores none. Clients create a topic and add partitions while the controller moves."
    ),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "brokers": 2,
        "old_protocol_brokers": 1,
        "old_creations": 0,
        "new_creations": 1,
        "expansions": 0,
        "new_expansions": 1,
    },
    source="KAFKA-12835; KafkaConfig.usesTopicId",
)

FULL_ISR = evolve(
    OLD_CLIENT_EXPANSION,
    name="full-isr",
    story=(
        "An old client erases a topic's id, and the next controller mints another one. Connections between brokers "
        "fail and are made again; no broker restarts."
    ),
    bounds={**OLD_CLIENT_EXPANSION.bounds, "brokers": 2, "restarts": 0},
    flags={**OLD_CLIENT_EXPANSION.flags, "isr_changes": "between requests", "fetch_sessions_end": True},
    source="random histories of 3.9.0; KafkaApis.handleFetchRequest; KafkaController.tryProcessAlterPartition",
)
