"""The properties that cannot fail within the bounds of a scenario, and why."""

from __future__ import annotations

from kwalk.invariants import (
    compacted_transactions,
    groups,
    network_stop,
    partition_locks,
    partitions,
    producer_state,
    records,
    storage,
    topic_ids,
    write_errors,
)
from kwalk.model.language import Property, Scenario

CANNOT_FAIL: tuple[tuple[Property, dict[str, int], str], ...] = (
    (partitions.no_partition_lost, {"partitions": 1}, "a topic has one partition from the start"),
    (records.no_resurrection, {"incarnations": 0}, "the topic's name is not used again"),
    (groups.members_have_one_protocol, {"other_protocols": 0}, "all consumers support one protocol"),
    (groups.one_owner_per_generation, {"consumers": 1}, "the group has one consumer"),
    (
        storage.segments_are_not_larger_than_allowed,
        {"batches": 1},
        "a segment has room for one batch of one byte",
    ),
    (topic_ids.topic_has_an_id, {}, "before 2.8 topics have no ids"),
    (groups.offset_belongs_to_a_group, {}, "in 0.10.0 an empty group goes and its offsets stay"),
    (groups.offset_is_kept_from_empty_on, {}, "up to 2.0 offsets expire by their commit's age (KIP-211)"),
    (storage.timestamp_lookup_finds_the_first_record, {}, "before KIP-33 segments have no time index"),
    (storage.new_segment_begins_with_its_first_batch, {}, "before KAFKA-4451 it need not"),
    (storage.cleaning_covers_what_is_replicated, {}, "before KAFKA-8764 a cleaning ends before a gap"),
    (storage.due_tombstone_is_not_written, {}, "in 0.10.1.0 a tombstone's time is not its file's (KAFKA-4529)"),
    (storage.cleaning_fills_its_map, {}, "before KAFKA-3894 a cleaning ends with a segment"),
    (compacted_transactions.needless_markers_go, {}, "before KAFKA-14055 a marker goes with a record of its key"),
    (producer_state.replication_continues, {}, "since KAFKA-6003 a follower appends what its leader has"),
    (write_errors.end_offset_is_that_of_the_file, {}, "before KAFKA-10778 appends follow a write that has failed"),
    (network_stop.broker_knows_whom_to_ask, {}, "since KAFKA-9189 a broker has been told which one is the controller"),
    (partition_locks.appends_end, {}, "but in 2.1.0 a thread has the lock of one partition at a time (KAFKA-7697)"),
    (storage.append_does_not_fail, {}, "in this release a roll replaces an empty active segment (KAFKA-6388)"),
)
"""Properties that cannot fail where bounds have these values (with none: in some releases), and why that is so."""


def with_reasons(scenario: Scenario) -> Scenario:
    """Return the scenario with the reasons why properties cannot fail within its bounds."""
    reasons = {
        prop.name: reason
        for prop, bounds, reason in CANNOT_FAIL
        if prop in scenario.properties and bounds.items() <= scenario.bounds.items()
    }
    return scenario.varied(cannot_fail=reasons) if reasons else scenario
