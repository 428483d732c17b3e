"""Stories about records: one partition, so few records that loss and divergence are still visible, and its leaders."""
from __future__ import annotations

from attrs import evolve

from model.kafka import replication
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
