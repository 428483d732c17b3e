"""Stories about records: one partition and its leaders, with just enough records to show loss and divergence."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.broker import partition, replica_fetcher_thread
from kwalk.model.kafka.broker.log import Record
from kwalk.model.kafka.clients import faults, operator
from kwalk.model.kafka.domains import Broker
from kwalk.model.kafka.scenarios import BROKER, CONTROLLER, OLD_CLIENT_EXPANSION, running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.stories.existing_topic import cluster_with_topic
from kwalk.model.kafka.versions import TOPICS_HAVE_IDS

RECORDS = (partition.produce, replica_fetcher_thread.fetch)

RECORDS_THROUGH_FAILOVER = evolve(
    OLD_CLIENT_EXPANSION,
    name="records-through-failover",
    story=(
        "A producer writes records with acks=all while brokers stop and crash, leaders change and followers truncate; "
        "the topic is created once and keeps its id."
    ),
    actions=(*OLD_CLIENT_EXPANSION.actions, *RECORDS),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "brokers": 2,
        "partitions": 1,
        "topic_ids": 1,
        "records": 1,
        "old_creations": 0,
        "new_creations": 1,
        "expansions": 0,
        "failovers": 0,
        "restarts": 2,
    },
    flags={**OLD_CLIENT_EXPANSION.flags, "isr_changes": "any time"},
    source="KIP-101, KIP-279: truncation by leader epoch; Partition.maybeIncrementLeaderHW",
)

LEADERS_IN_SUCCESSION = evolve(
    RECORDS_THROUGH_FAILOVER,
    name="leaders-in-succession",
    story=(
        "Three replicas; each leader crashes before its followers know the high watermark; the ISR "
        "loses only brokers that are gone."
    ),
    initial=cluster_with_topic,
    actions=(faults.crash, *CONTROLLER, *BROKER, *RECORDS),
    bounds={**RECORDS_THROUGH_FAILOVER.bounds, "brokers": 3, "new_creations": 0},
    flags={**RECORDS_THROUGH_FAILOVER.flags, "isr_changes": "never"},
    source="KIP-101, scenario 1: high watermark truncation followed by immediate leader election",
)

RECREATED_TOPIC_RECORDS = evolve(
    RECORDS_THROUGH_FAILOVER,
    name="recreated-topic-records",
    story=(
        "An operator removes a topic's znodes by hand while brokers are down, so that their logs stay; then a client "
        "creates the topic again, and the brokers start and find logs of its name."
    ),
    actions=(*RECORDS_THROUGH_FAILOVER.actions, operator.remove_topic_by_hand),
    bounds={**RECORDS_THROUGH_FAILOVER.bounds, "topic_ids": 2, "incarnations": 1, "hand_removals": 1},
    flags={**RECORDS_THROUGH_FAILOVER.flags, "stop_replica": True, "deletion": True},
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


STRAY_LOG = evolve(
    RECORDS_THROUGH_FAILOVER,
    name="stray-log",
    story=(
        "A topic was deleted while a broker was down, and its log is still there when a client creates a topic of the "
        "same name; producers write to it while brokers stop and crash."
    ),
    initial=cluster_with_stray_log,
    bounds={**RECORDS_THROUGH_FAILOVER.bounds, "topic_ids": 2, "incarnations": 1, "restarts": 1},
    source="LogManager.loadLogs; KIP-516: a log of another topic id is not the topic's",
)

STRAY_LOG_WITHOUT_ID = evolve(
    STRAY_LOG,
    name="stray-log-without-id",
    story="The same with a log that cannot be identified, as its directory has no partition.metadata.",
    initial=cluster_with_nameless_log,
)
