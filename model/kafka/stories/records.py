"""Stories about records: one partition, so few records that loss and divergence are still visible, and its leaders."""
from __future__ import annotations

from attrs import evolve

from model.kafka import operator, replication
from model.kafka.scenarios import OLD_CLIENT_EXPANSION

RECORDS = (replication.produce, replication.fetch)

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

RECREATED_TOPIC_RECORDS = evolve(
    RECORDS_THROUGH_FAILOVER,
    name="recreated-topic-records",
    story=(
        "An operator removes a topic's znodes by hand while brokers are down, so that their logs stay; then a client "
        "creates the topic again, and the brokers come back and find logs of its name."
    ),
    actions=(*RECORDS_THROUGH_FAILOVER.actions, operator.remove_topic_by_hand),
    bounds={**RECORDS_THROUGH_FAILOVER.bounds, "topic_ids": 2, "incarnations": 1, "hand_removals": 1},
    flags={**RECORDS_THROUGH_FAILOVER.flags, "stop_replica": True, "deletion": True},
    source="logs are loaded whatever topics there are by then: LogManager.loadLogs; KIP-516 for stray logs",
)
