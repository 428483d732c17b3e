"""Stories about topic ids: two admins, brokers of mixed protocols, and repairs of a topic with two ids.

Words: a *broken* cluster is one in which the old client's expansion and a failover have left a topic with a second id
(B) in ZooKeeper, and replicas that know the first one (A).
"""

from __future__ import annotations

from kwalk.invariants import partitions, records, sessions, topic_creation, topic_ids, witnesses
from kwalk.invariants.stories.expansion import EVERYWHERE, WITNESSES
from kwalk.invariants.stories.records import RECORDS
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.clients import operator
from kwalk.model.kafka.clients import topic_creation as creation_steps
from kwalk.model.kafka.domains import PARTITIONS
from kwalk.model.kafka.initial_states import cluster_with_topic, create_topic, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions import VARIANTS
from kwalk.model.kafka.zookeeper import kafka_zk_client
from kwalk.model.language import Scenario, actions_of

REPAIR = (*EVERYWHERE, topic_ids.repaired_partition_serves, witnesses.one_topic_id_everywhere)


def broken_cluster(cluster: Cluster) -> None:
    """The topic has id B in ZooKeeper and in the controller's context, and A in every replica, in memory and file."""
    running_cluster(cluster)
    create_topic(cluster, len(PARTITIONS), topic_id=cluster.topic_ids.take())
    second = cluster.topic_ids.take()
    cluster.zookeeper.topics[0].topic_id = cluster.zookeeper.topics[0].first_topic_id = second
    cluster.controller_of(0).topics[0].topic_id = second


TWO_ADMINS = RUNNING_CLUSTER.varied(
    name="two-admins",
    story=(
        "Two clients, old or new, add partitions to a topic at the same time: each writes what it has read, "
        "and the later one removes the other's partitions."
    ),
    initial=cluster_with_topic,
    actions=(
        *actions.TWO_STEP_ADMINS,
        *actions.FAULTS,
        *actions.CONTROLLER,
        *actions.BROKER,
        kafka_zk_client.deliver_notification,
    ),
    properties=(*EVERYWHERE, witnesses.admins_overlap),
    bounds={"brokers": 2, "partitions": 3, "expansions": 2, "admins": 2, "failovers": 1},
    flags={"two_step_admin": True},
    source="AdminZkClient.writeTopicPartitionAssignment: setTopicAssignment with MatchAnyVersion",
)

TWO_CREATIONS = Scenario(
    name="two-creations",
    story="Two clients create a topic at a time, each with another configuration.",
    state=creation_steps.CreatedTopic,
    actions=tuple(step for step in actions_of(creation_steps) if step is not creation_steps.compare_names),
    properties=(
        topic_creation.creation_is_accepted_or_refused,
        topic_creation.topic_has_the_configuration_of_its_creation,
        topic_creation.answers_are_of_the_topic,
        topic_creation.configuration_is_written_by_a_creation,
        topic_creation.second_creation_is_refused,
    ),
    bounds={"creators": 2},
    variants=VARIANTS,
    source="AdminZkClient.createTopicWithAssignment; KAFKA-7082",
)

TWO_CREATIONS_WITH_A_PERIOD = TWO_CREATIONS.varied(
    name="two-creations-with-a-period",
    story="The same, of a topic with a period in its name, which is compared with those of other topics.",
    actions=actions_of(creation_steps),
    source="AdminUtils.createTopic; KAFKA-4687",
)

MIXED_INTER_BROKER_PROTOCOL = RUNNING_CLUSTER.varied(
    name="mixed-inter-broker-protocol",
    story=(
        "During an upgrade one broker still has an inter-broker protocol below 2.8: as controller it mints no ids, "
        "as broker it stores none. Clients create a topic and add partitions while the controller moves."
    ),
    properties=(
        *EVERYWHERE,
        topic_ids.topic_has_an_id,
        topic_ids.ids_follow_the_protocol,
        witnesses.old_protocol_controller_serves,
    ),
    bounds={
        "brokers": 2,
        "old_protocol_brokers": 1,
        "new_creations": 1,
        "new_expansions": 1,
        "failovers": 1,
        "restarts": 1,
    },
    source="KAFKA-12835; KafkaConfig.usesTopicId",
)

REPAIR_BY_REMOVING_FILES = RUNNING_CLUSTER.varied(
    name="repair-by-removing-files",
    story=(
        "A topic has one id in ZooKeeper and another one in its replicas. The operator removes partition.metadata from "
        "brokers and restarts them, in any order."
    ),
    initial=broken_cluster,
    actions=(*RUNNING_CLUSTER.actions, *actions.REPAIRS),
    properties=REPAIR,
    bounds={
        "brokers": 2,
        "partitions": 1,
        "restarts": 2,
        "repairs": 2,
        "requests": 5,
        "topic_ids": 2,
        "leader_epochs": 9,
    },
    flags={"metadata_file_removal": True, "isr_changes": "between requests"},
    source="the repair of an operator who met KAFKA-14190: remove the files, restart all, the controller last",
)

REPAIR_BY_WRITING_THE_ID_BACK = REPAIR_BY_REMOVING_FILES.varied(
    name="repair-by-writing-the-id-back",
    story=(
        "A topic has one id in ZooKeeper and another one in its replicas. The operator writes an id into the znode by "
        "hand and lets the controller move; handlers of the znode's watch do not read ids."
    ),
    actions=(*RUNNING_CLUSTER.actions, operator.write_topic_id),
    properties=(*REPAIR, sessions.controller_does_not_give_up),
    bounds={"failovers": 1, "restarts": 1, "repairs": 1},
    flags={"metadata_file_removal": False},
)

FULL_ISR = RUNNING_CLUSTER.varied(
    name="full-isr",
    story=(
        "An old client erases a topic's id, and the next controller mints another one. Connections between brokers "
        "fail and are made again; no broker restarts."
    ),
    properties=(*EVERYWHERE, partitions.isr_members_fetch, *WITNESSES),
    bounds={"brokers": 2, "old_creations": 1, "expansions": 1, "failovers": 1},
    flags={"isr_changes": "between requests", "fetch_sessions_end": True},
    source="random histories of 3.9.0; KafkaApis.handleFetchRequest; KafkaController.tryProcessAlterPartition",
)

REPAIR_WITH_RECORDS = REPAIR_BY_REMOVING_FILES.varied(
    name="repair-with-records",
    story=(
        "The same while producers write: the logs stay when partition.metadata is removed, and brokers stop and "
        "crash meanwhile."
    ),
    actions=(*actions.FAULTS, *actions.CONTROLLER, *actions.BROKER, *actions.RECORDS, *actions.REPAIRS),
    properties=(
        *(prop for prop in RECORDS if prop is not records.log_keeps_its_topic_id),
        topic_ids.repaired_partition_serves,
        witnesses.one_topic_id_everywhere,
    ),
    bounds={"records": 1},
    source="the same operator's statement that the repair interrupts service, and that data are safe",
)
