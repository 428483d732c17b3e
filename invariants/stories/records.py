"""Stories about records: one partition and its leaders, with just enough records to show loss and divergence."""

from __future__ import annotations

from kwalk.invariants import partitions, records, witnesses
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker.log import Commit, Record
from kwalk.model.kafka.clients import faults, operator
from kwalk.model.kafka.domains import BROKERS, Broker
from kwalk.model.kafka.initial_states import cluster_with_topic, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.records import TOPICS_HAVE_IDS

RECORDS = (
    records.committed_survives,
    records.no_divergence,
    records.no_resurrection,
    records.records_have_a_topic_id,
    records.log_keeps_its_topic_id,
    records.records_are_committed,
    partitions.partition_servable,
    partitions.replicas_converge,
    partitions.leader_in_assignment,
    witnesses.record_is_committed,
    witnesses.record_is_replicated,
)
LOGS = (records.common_records_are_kept, records.open_log_has_the_id_of_its_file, partitions.leader_has_a_log)

RECORDS_THROUGH_FAILOVER = RUNNING_CLUSTER.varied(
    name="records-through-failover",
    story=(
        "A producer writes records with acks=all while brokers stop and crash, leaders change and followers truncate; "
        "the topic is created once and keeps its id."
    ),
    actions=(*RUNNING_CLUSTER.actions, *actions.RECORDS),
    properties=(*RECORDS, *LOGS, witnesses.logs_diverge),
    bounds={"brokers": 2, "partitions": 1, "topic_ids": 1, "records": 1, "new_creations": 1, "restarts": 2},
    flags={"isr_changes": "any time"},
    source="KIP-101, KIP-279: truncation by leader epoch; Partition.maybeIncrementLeaderHW",
)

LEADERS_IN_SUCCESSION = RECORDS_THROUGH_FAILOVER.varied(
    name="leaders-in-succession",
    story=(
        "Three replicas; each leader crashes before its followers know the high watermark; the ISR "
        "loses only brokers that are gone."
    ),
    initial=cluster_with_topic,
    actions=(faults.crash, *actions.CONTROLLER, *actions.BROKER, *actions.RECORDS),
    properties=(*RECORDS, *LOGS, records.followers_catch_up),
    bounds={"brokers": 3, "new_creations": 0},
    flags={"isr_changes": "never"},
    source="KIP-101, scenario 1: high watermark truncation followed by immediate leader election",
)


def cluster_with_lagging_replica(cluster: Cluster) -> None:
    """The last broker leads and has two committed records, as broker 0, the preferred one; others lag behind."""
    cluster_with_topic(cluster)
    last = len(BROKERS) - 1
    isr, state, leadership = frozenset({0, last}), cluster.zookeeper.state_of(0, 0), cluster.controller_of(0).topics[0]
    state.leader = leadership.leadership[0].leader = last
    state.isr = leadership.leadership[0].isr = isr
    for broker in BROKERS:
        replica = cluster.replica_of(broker, 0, 0)
        replica.is_leader = broker == last
        replica.replication.forget()
        if broker != last:
            replica.replication.leader = last
    leader = cluster.replica_of(last, 0, 0)
    for record in (Record(0, 0, 0), Record(1, 0, 0)):
        cluster.commits[0][0].push(Commit(record, 0))
        leader.log.records.push(record)
        cluster.replica_of(0, 0, 0).log.records.push(record)
    leader.log.high_watermark = leader.replication.remote_ends[0] = 2
    leader.replication.isr = isr


REPLICA_JOINS_NEW_LEADER = LEADERS_IN_SUCCESSION.varied(
    name="replica-joins-new-leader",
    story=(
        "A replica that has fallen behind by two records catches up, while the leader moves to the preferred replica, "
        "which does not know yet that they are committed; then a broker crashes."
    ),
    initial=cluster_with_lagging_replica,
    bounds={"records": 2, "restarts": 1},
    flags={"isr_changes": "any time", "preferred_election": True},
    source="Partition.isFollowerInSync, maybeExpandIsr; KAFKA-7128",
)

RECREATED_TOPIC_RECORDS = RECORDS_THROUGH_FAILOVER.varied(
    name="recreated-topic-records",
    story=(
        "An operator removes a topic's znodes by hand while brokers are down, so that their logs stay; then a client "
        "creates the topic again, and the brokers start and find logs of its name."
    ),
    actions=(*RECORDS_THROUGH_FAILOVER.actions, operator.remove_topic_by_hand),
    properties=(
        *(prop for prop in RECORDS if prop is not records.committed_survives),
        records.elected_log_is_of_its_topic,
        witnesses.recreated_topic_has_a_record,
    ),
    bounds={"topic_ids": 2, "incarnations": 1, "hand_removals": 1},
    flags={"stop_replica": True, "deletion": True},
    source="logs are loaded whatever topics there are by then: LogManager.loadLogs; KIP-516 for stray logs",
)


def leave_log_behind(cluster: Cluster, broker: int) -> None:
    """A topic was deleted while the broker was down: its log has a record, and is loaded at each start."""
    running_cluster(cluster)
    cluster.zookeeper.topics[0].incarnation = 1
    log = cluster.replica_of(broker, 0, 0).log
    log.records.push(Record(0, 0, 0))
    log.high_watermark = log.checkpoint = 1


def cluster_with_stray_log(cluster: Cluster, broker: Broker) -> None:
    """There is no topic, and one broker has a log of that name; since 2.8 with the deleted topic's id in its file."""
    leave_log_behind(cluster, broker)
    topic_id, replica = cluster.topic_ids.take(), cluster.replica_of(broker, 0, 0)
    if TOPICS_HAVE_IDS:
        replica.topic_id = replica.file_topic_id = topic_id


def cluster_with_nameless_log(cluster: Cluster, broker: Broker) -> None:
    """The same with a log that has no partition.metadata, as 2.8 may leave it: `records_have_a_topic_id`."""
    leave_log_behind(cluster, broker)


STRAY_LOG = RECORDS_THROUGH_FAILOVER.varied(
    name="stray-log",
    story=(
        "A topic was deleted while a broker was down, and its log is still there when a client creates a topic of the "
        "same name; producers write to it while brokers stop and crash."
    ),
    initial=cluster_with_stray_log,
    properties=(*RECORDS, records.request_for_another_log_is_refused, witnesses.recreated_topic_has_a_record),
    bounds={"topic_ids": 2, "incarnations": 1, "restarts": 1},
    source="LogManager.loadLogs; KIP-516: a log of another topic id is not the topic's",
)

STRAY_LOG_WITHOUT_ID = STRAY_LOG.varied(
    name="stray-log-without-id",
    story="The same with a log that cannot be identified, as its directory has no partition.metadata.",
    initial=cluster_with_nameless_log,
)
