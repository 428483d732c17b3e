"""Logs of a partition: worked examples, what releases break by the shortest way, and what holds in every state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from attrs import evolve

from kwalk.invariants.stories import server, storage
from kwalk.invariants.stories.log_segments import LOOKUP
from kwalk.model.kafka.server import versions as server_versions
from kwalk.model.kafka.server.config_keys import TOPIC_CONFIG_SYNONYMS, UpdateMode, update_mode
from kwalk.model.kafka.storage import log as log_module
from kwalk.model.kafka.storage import log_cleaner, log_loading, log_segment
from kwalk.model.kafka.storage import versions as storage_versions
from kwalk.model.kafka.storage.indexes import lookup_offset, lookup_timestamp
from kwalk.model.kafka.storage.log import (
    append_to_log,
    fetch_offset_by_timestamp,
    file_name,
    read_from_log,
    start_offset_breached,
    time_passes,
)
from kwalk.model.kafka.storage.log_segment import open_segment
from kwalk.model.kafka.storage.state import Batch, LogSegment, OffsetPosition, PartitionLog, TimestampOffset
from kwalk.model.language import Kind, Model
from kwalk.model.language.state import shape_of
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken, is_broken_at_the_end, judged, read_behaviours
from tests.kafka.outcomes import outcome_of, pinned

LOG_SCENARIOS = (*storage.SCENARIOS, *server.SCENARIOS)
STORIES = {scenario.name: scenario for scenario in LOG_SCENARIOS}
LARGE = {
    "offsets": 1_000,
    "times": 1_000,
    "segments": 6,
    "batches": 100,
    "batch_bytes": 1_000,
    "batch_records": 100,
    "segment_bytes": 100_000,
    "segment_ms": 1_000,
    "index_interval_bytes": 300,
    "index_entries": 50,
    "time_index_entries": 50,
    "max_relative_offset": 1_000,
    "retention_bytes": 600_000,
}
"""Bounds in which the numbers of the examples fit."""
CLEANED = "write_cleaned() rename_to_swap() rename_old() finish_swap()"
BROKEN, NEVER_FIXED = read_behaviours("broken_logs.toml")
SEARCHED = (
    ("log-lookup", "2.8.2"),
    ("log-roll", "2.8.2"),
    ("log-retention", "2.8.2"),
    ("log-retention", "0.10.0"),
    ("log-compaction", "3.9.0"),
    ("log-compacted-transactions", "3.9.0"),
    ("log-transactions-in-groups", "3.9.0"),
    ("log-deleted-records", "3.9.0"),
    ("log-full-truncation", "3.9.0"),
    ("log-large-batches", "3.9.0"),
    ("log-small-map", "3.9.0"),
    ("leader-epochs", "3.9.0"),
    ("leader-epochs-lost", "3.9.0"),
    ("leader-epochs-torn", "3.9.0"),
    ("leader-epochs-late-answer", "3.9.0"),
    ("leader-epochs-stale-answer", "3.9.1"),
    ("leader-epochs-late-bytes", "3.9.1"),
    ("leader-epochs-missed-election", "3.9.0"),
    ("leader-epochs-deleted-records", "3.9.0"),
    ("leader-epochs-end-lookups", "3.9.0"),
    ("leader-epochs-lost-tail", "0.10.0"),
    ("leader-epochs-last-member", "3.9.0"),
    ("leader-epochs-moved-log", "3.9.0"),
    ("leader-epochs-zombie-follower", "2.1.0"),
    ("isr-changes", "3.9.0"),
    ("isr-changes-replaced-disk", "3.9.0"),
    ("replica-lag", "3.9.0"),
    ("replica-lag-oversized", "3.9.0"),
    ("replica-lag-beside-a-reassignment", "3.9.0"),
    ("log-empty-batches", "3.9.0"),
    ("log-deleted-key", "3.9.0"),
    ("log-write-errors", "3.9.0"),
    ("log-move-late-update", "3.9.0"),
    ("log-committed-reads", "3.9.0"),
    ("log-shared-with-the-cleaner", "3.9.0"),
    ("log-deletion", "3.9.0"),
    ("log-deletion-after-a-move", "3.9.0"),
    ("log-recovery-full-disk", "3.9.0"),
    ("log-recovery-below-the-start", "3.9.0"),
    ("log-untrimmed-indexes", "3.9.0"),
    ("log-lost-names", "3.9.0"),
    ("log-full-truncation-elected", "3.9.0"),
    ("log-segment-limits", "3.9.0"),
    ("log-recovery-failed-start", "3.9.0"),
    ("log-committed-lookups", "3.9.0"),
    ("leader-epochs-old-format", "2.8.2"),
    ("leader-epochs-mixed-formats", "2.8.2"),
    ("leader-epochs-early-leader", "2.2.0"),
    ("log-created-amid-a-change", "3.9.0"),
    ("dynamic-configuration", "3.9.0"),
    ("dynamic-configuration", "2.8.2"),
    ("log-producer-state", "3.9.0"),
    ("log-copied-producer", "3.9.0"),
    ("log-late-batches", "3.9.0"),
    ("log-late-copies", "3.9.0"),
    ("log-recovered-transactions", "3.9.0"),
    ("log-largest-timestamp", "3.9.0"),
    ("log-largest-timestamp-uncompressed", "3.9.0"),
    ("log-move", "3.9.0"),
    ("log-move-compacted", "3.9.0"),
    ("log-move-diverged", "3.9.0"),
    ("log-copy", "3.9.0"),
    ("log-copy-damaged", "3.9.0"),
    ("log-future-timestamps", "3.9.0"),
    ("log-created-again", "3.9.0"),
    ("log-created-again-unflushed", "3.9.0"),
    ("log-grown-batches", "3.9.0"),
    ("log-uncleanable", "3.9.0"),
    ("log-unreadable-checkpoint", "3.9.0"),
    ("dynamic-cleaner-rate", "3.9.0"),
    ("orderly-stop", "3.9.0"),
    ("appends-amid-changes", "3.9.0"),
    ("stop-that-asks-the-controller", "3.9.0"),
    ("fetcher-without-partitions", "3.9.0"),
    ("requests-that-wait", "3.9.0"),
    ("consumer-of-followers", "3.9.0"),
    ("fetch-of-two-partitions", "3.9.0"),
    ("fetch-with-an-old-epoch", "3.9.0"),
    ("fetch-of-a-lost-replica", "3.9.0"),
    ("append-in-another-thread", "3.9.0"),
    ("log-move-asked-for-again", "3.9.0"),
    ("fetcher-of-a-moved-leader", "3.9.0"),
    ("request-and-a-clock", "3.9.0"),
    ("log-cleaned-formats", "0.10.2"),
    ("partition-and-its-clients", "3.9.0"),
    ("requests-about-a-topic", "3.9.0"),
    ("features-amid-a-session", "3.9.0"),
    ("start-that-fails", "3.9.0"),
    ("dynamic-producer-expiration", "3.9.0"),
    ("fetch-of-a-throttled-follower", "3.9.0"),
    ("consumer-under-a-quota", "3.9.0"),
    ("cache-of-fetch-sessions", "3.9.0"),
    ("fetchers-of-another-number", "3.9.0"),
    ("log-stop-of-two-directories", "3.9.0"),
    ("log-and-its-task", "3.9.0"),
    ("log-received-batches", "3.9.0"),
    ("log-file-that-is-read", "3.9.0"),
    ("log-full-map", "3.9.0"),
    ("log-converted-batches", "3.9.0"),
    ("channel-to-the-controller", "3.9.0"),
    ("quota-that-changes", "3.9.0"),
    ("epochs-of-fetches", "3.9.0"),
    ("tools-and-the-controller", "3.9.0"),
    ("reassignments-added", "1.0"),
    ("log-cleaner-checkpoint", "3.9.0"),
    ("log-added-time-indexes", "3.9.0"),
    ("transactions-amid-an-upgrade", "3.9.0"),
    ("fetch-to-debug-a-replica", "3.9.0"),
    ("generated-broker-ids", "3.9.0"),
    ("generated-ids-in-a-migration", "3.9.0"),
    ("full-requests-of-kraft", "3.9.0"),
    ("kraft-topic-created-again", "3.9.0"),
    ("kraft-failed-directory", "3.9.0"),
    ("kraft-move-from-a-failed-directory", "3.9.0"),
    ("log-forgotten-producer", "3.9.0"),
    ("log-fetch-amid-an-append", "3.9.0"),
    ("log-lookup-amid-changes", "3.9.0"),
    ("log-fetch-from-a-new-leader", "3.9.0"),
    ("log-index-of-two-readers", "3.9.0"),
    ("log-above-two-gib", "3.9.0"),
    ("log-above-two-gib-compacted", "3.9.0"),
    ("log-wrapped-sequences", "3.9.0"),
    ("log-start-after-a-crash", "3.9.0"),
    ("log-start-amid-a-swap", "3.9.0"),
    ("log-start-after-an-upgrade", "3.9.0"),
    ("log-deletion-of-a-name-with-periods", "3.9.0"),
    ("log-deletion-of-a-long-name", "3.9.0"),
    ("log-deletion-beside-a-failed-disk", "3.9.0"),
    ("log-deletion-amid-retention", "3.9.0"),
    ("log-tiered", "3.9.0"),
    ("log-move-amid-a-flush", "3.9.0"),
    ("log-move-before-an-election", "3.9.0"),
    ("log-damaged-message", "3.9.0"),
    ("log-largest-time-of-two-readers", "2.0"),
    ("log-move-amid-a-failover", "3.9.0"),
    ("log-move-replaced", "2.0"),
    ("log-move-cancelled", "3.9.0"),
    ("log-move-that-fails", "3.9.0"),
    ("log-copy-above-segments", "3.9.0"),
    ("log-snapshot-after-a-move", "2.8.2"),
    ("log-grown-segment", "3.9.0"),
    ("log-of-a-new-partition", "2.3.1"),
    ("transaction-after-a-late-commit", "3.9.0"),
    ("transactional-id", "3.9.0"),
    ("transactions-of-a-moved-coordinator", "3.9.0"),
    ("transactions-loaded-amid-a-session", "3.9.0"),
    ("fences-that-fail", "3.9.0"),
    ("transaction-that-times-out", "3.9.0"),
    ("producer-ids-from-the-controller", "3.9.0"),
    ("many-transactional-ids", "3.9.0"),
    ("log-records-without-time", "0.10.0"),
    ("log-starts-amid-a-truncation", "3.9.0"),
    ("consumer-with-old-metadata", "2.3.1"),
    ("replica-joins-a-small-isr", "2.8.2"),
    ("log-stop-with-a-full-disk", "3.9.0"),
    ("requests-beside-a-failed-fetch", "3.9.0"),
    ("transaction-aborted-amid-an-append", "2.8.2"),
    ("replica-lag-with-failing-reads", "3.9.0"),
    ("fetches-from-a-follower", "3.9.0"),
    ("fetcher-of-two-partitions", "3.9.0"),
    ("orderly-stop-without-a-delete-delay", "3.9.0"),
)
MANY_STATES = (
    ("log-recovery", "2.8.2"),
    ("log-recovery", "2.7"),
    ("log-compaction", "2.8.2"),
    ("log-tombstones", "3.9.0"),
    ("log-policy-change", "3.9.0"),
    ("log-preallocated", "3.9.0"),
    ("log-compacted-copy", "3.9.0"),
)
"""Stories and releases of which every state is searched; the large ones only in thorough tests."""


class Entry(NamedTuple):
    """An entry of either index, with numbers beyond any bound."""

    offset: int
    position: int = 0
    timestamp: int = 0


INDEX_OF_001 = (Entry(0, 0), Entry(20, 320), Entry(43, 1220))
"""The offset index that document 001 prints (docs/reference/sources.md)."""


@contextmanager
def large_log(**bounds: int) -> Iterator[PartitionLog]:
    """An empty log in a model with large bounds, whose one action has no parameters."""
    model = Model(evolve(LOOKUP, actions=(time_passes,)), "2.8.2", {**LARGE, **bounds})
    with model.active():
        yield model.state(model.initial[0])


def fill(log: PartitionLog, *batches: tuple[int, int, int]) -> None:
    """Append batches, each given by its number of records, its timestamp and its size."""
    for records, timestamp, size in batches:
        last = log.end_offset + records - 1
        append_to_log(log, Batch(last_offset=last, records=records, timestamp=timestamp, size=size))


def log_after(story: str, variant: str, steps: str, **bounds: int) -> tuple[Model, PartitionLog]:
    """The log of a story after some steps."""
    model = Model(STORIES[story], variant, bounds)
    state = model.initial[0]
    for key in steps.split():
        after = model.attempt(model.instance(key.replace(",", ", ")), state).after
        assert after is not None, key
        state = after
    return model, model.state(state)


def test_a_cleaning_passes_a_gap_before_a_segment_of_which_its_map_has_nothing():
    records = "append_keyed(0,0,0,0) append_keyed(1,0,0,0) append_keyed(1,0,0,2) append_keyed(1,0,0,0)"
    steps = f"{records} append_keyed(0,0,0,0) replicate() begin_cleaning()"
    _, log = log_after("log-small-map", "3.9.0", steps, gaps=2, offsets=8, map_keys=2)
    assert (log.segments[1].base_offset, log.cleaning_to) == (4, 4)


def test_a_tombstone_behind_the_end_of_a_cleaning_is_kept():
    steps = "append_keyed(0,0,0,0) append_keyed(1,0,1,0) append_keyed(0,0,0,0) replicate() begin_cleaning()"
    model, log = log_after("log-tombstones", "2.8.2", steps, map_keys=1, segment_bytes=2, batches=2)
    with model.active():
        log.horizon = 1
        assert log.cleaning_to == 1
        assert log_cleaner.is_retained(log, log.segments[0], log.segments[0].batches[1])


@pytest.mark.parametrize(("entries", "number"), [(1, 1), (2, 2)])
def test_segments_are_cleaned_into_one_whose_index_has_room_for_their_entries(entries, number):
    model, log = log_after("log-compaction", "3.9.0", "", time_index_entries=entries)
    with model.active():
        for slot in range(3):
            open_segment(log.segments[slot], slot, 0)
        for slot in range(2):
            log_segment.append_batch(log.segments[slot], Batch(last_offset=slot), 0)
            log.segments[slot].time_index.push(TimestampOffset(timestamp=0, offset=slot))
        log.count, log.cleaning_to = 3, 2
        assert log_cleaner.group_size(log, 0) == number


def test_a_tombstone_remembers_when_the_cleaning_began_that_has_first_seen_it():
    steps = "append_keyed(0,0,1,0) append_keyed(1,0,0,0) replicate() begin_cleaning() time_passes() write_cleaned()"
    _, log = log_after("log-tombstones", "3.9.0", steps)
    assert log.clock == 1 and log.cleaned[0].cleaned == 0


def test_a_segment_is_named_by_its_base_offset_in_20_digits():
    assert file_name(121, ".log") == "00000000000000000121.log"
    assert file_name(0, ".timeindex") == "00000000000000000000.timeindex"


def test_offset_23_is_searched_from_position_320():
    with large_log():
        found = [lookup_offset(INDEX_OF_001, 0, offset) for offset in (20, 23, 42, 43, 1_000)]
    assert found == [Entry(20, 320), Entry(20, 320), Entry(20, 320), Entry(43, 1220), Entry(43, 1220)]


def test_before_its_first_entry_an_offset_index_leads_to_the_beginning_of_the_segment():
    with large_log():
        assert lookup_offset((Entry(20, 320),), 7, 19) == OffsetPosition(offset=7, position=0)


@pytest.mark.parametrize(
    ("last", "position"),
    [
        pytest.param(Entry(43, 1220), 1220, id="the index that document 001 prints"),
        pytest.param(Entry(431, 1220), 320, id="an index of which its answer, (20, 320), is true"),
    ],
)
def test_timestamp_1557554753430_leads_by_offset_430_to_the_position_that_the_last_entry_decides(last, position):
    # Of the time index the document prints the entry of offset 430 only; the two others are made up.
    times = [Entry(offset, timestamp=1557554753000 + ms) for offset, ms in ((380, 370), (430, 420), (501, 440))]
    with large_log():
        entry = lookup_timestamp(times, 1557554753430)
        found = lookup_offset((*INDEX_OF_001[:2], last), 0, entry.offset)
        earlier = lookup_timestamp(times, 1557554753369)
    assert (entry, found.position, earlier) == (Entry(430, timestamp=1557554753420), position, None)


@pytest.mark.parametrize(
    ("story", "text"),
    [
        ("log-largest-timestamp", "Batch(last offset 1, records 2, timestamp 0, largest is first no)"),
        ("log-tombstones", "Batch(last offset 1, timestamp 0, key 0, is tombstone no, appended 0, cleaned none)"),
    ],
)
def test_a_batch_is_printed_without_what_is_always_the_same_in_the_story(story, text):
    model = Model(STORIES[story], "3.9.0")
    with model.active():
        records = 2 if story == "log-largest-timestamp" else 1
        assert shape_of(Batch).text(Batch(last_offset=1, records=records)) == text


def test_appending_batches_writes_the_entries_of_that_index_but_the_first():
    with large_log() as log:
        fill(log, (20, 6, 320), (1, 5, 900), (23, 9, 900), (10, 7, 100))
        segment = log.segments[0]
        assert [(entry.offset, entry.position) for entry in segment.offset_index] == [(20, 320), (43, 1220), (53, 2120)]
        assert list(segment.time_index) == [
            TimestampOffset(timestamp=6, offset=19),
            TimestampOffset(timestamp=9, offset=43),
        ]
        assert [read_from_log(log, offset).first_offset for offset in (0, 20, 23, 43, 44)] == [0, 20, 21, 21, 44]
        assert fetch_offset_by_timestamp(log, 7).first_offset == 21
        assert fetch_offset_by_timestamp(log, 10) is None


def test_a_start_offset_between_23_and_30_deletes_the_two_segments_before_23():
    with large_log(segment_bytes=1) as log:
        fill(log, (11, 0, 1), (12, 0, 1), (7, 0, 1), (5, 0, 1))
        assert [segment.base_offset for segment in log.segments][: log.count] == [0, 11, 23, 30]
        log.high_watermark, deleted = 35, {}
        for start in (10, 11, 22, 23, 25, 29, 30):
            log.start_offset = start
            deleted[start] = start_offset_breached(log)
    assert deleted == {10: 0, 11: 1, 22: 1, 23: 2, 25: 2, 29: 2, 30: 3}


@pytest.mark.parametrize(
    ("bounds", "batches", "bases"),
    [
        ({"segment_bytes": 10}, [(1, 0, 5), (1, 0, 5), (1, 0, 1)], [0, 2]),
        ({"segment_ms": 3}, [(1, 0, 1), (1, 3, 1), (1, 4, 1), (1, 1, 1)], [0, 2]),
        ({"index_interval_bytes": 0, "index_entries": 1}, [(1, 0, 1), (1, 0, 1), (1, 0, 1)], [0, 2]),
        ({"max_relative_offset": 9}, [(10, 0, 1), (1, 0, 1)], [0, 10]),
    ],
    ids=["size", "time", "index", "relative offset"],
)
def test_each_rule_rolls_a_segment(bounds, batches, bases):
    with large_log(**bounds) as log:
        fill(log, *batches)
        assert [segment.base_offset for segment in log.segments][: log.count] == bases


def test_a_segment_that_is_rolled_ends_its_time_index_with_its_largest_timestamp():
    with large_log(segment_bytes=10) as log:
        fill(log, (1, 3, 5), (1, 8, 5), (1, 2, 5))
        assert list(log.segments[0].time_index) == [TimestampOffset(timestamp=8, offset=1)]
        assert log.segments[1].time_index.is_empty


@pytest.mark.parametrize(
    ("key", "mode"),
    [
        ("log.retention.ms", UpdateMode.CLUSTER_WIDE),
        ("log.cleaner.threads", UpdateMode.CLUSTER_WIDE),
        ("num.io.threads", UpdateMode.CLUSTER_WIDE),
        ("max.connections.per.ip.overrides", UpdateMode.CLUSTER_WIDE),
        ("advertised.listeners", UpdateMode.PER_BROKER),
        ("ssl.keystore.password", UpdateMode.PER_BROKER),
        ("log.retention.hours", UpdateMode.READ_ONLY),
        ("log.message.format.version", UpdateMode.READ_ONLY),
        ("delete.topic.enable", UpdateMode.READ_ONLY),
        ("num.partitions", UpdateMode.READ_ONLY),
    ],
)
def test_a_configuration_of_brokers_can_change_at_run_time_or_not(key, mode):
    assert update_mode(key) is mode


def test_the_keys_of_topics_that_the_tool_lists_have_a_synonym_of_brokers():
    listed = """
        cleanup.policy compression.type delete.retention.ms file.delete.delay.ms flush.messages flush.ms
        index.interval.bytes max.compaction.lag.ms max.message.bytes message.downconversion.enable
        message.format.version message.timestamp.difference.max.ms message.timestamp.type min.cleanable.dirty.ratio
        min.compaction.lag.ms min.insync.replicas preallocate retention.bytes retention.ms segment.bytes
        segment.index.bytes segment.jitter.ms segment.ms unclean.leader.election.enable
    """
    assert set(listed.split()) == TOPIC_CONFIG_SYNONYMS.keys()


@pytest.mark.parametrize(("broken", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_breaks_a_later_one_does_not(broken, later):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)
    assert not any(judged(broken, STORIES[broken.story], later))


@pytest.mark.parametrize("broken", NEVER_FIXED, ids=lambda broken: broken.invariant)
def test_what_no_release_fixes_is_broken_by_the_last_step_of_a_behaviour(broken):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)


def test_a_broker_that_has_corrected_the_assignment_loses_no_record_by_a_crash():
    steps = "move_replica(1) assign_directory(1) correct_assignment() write_record() crash() start_broker()"
    kept = Broken("served_log_has_what_was_written()", "kraft-move-from-a-failed-directory", "3.9.0", steps)
    assert judged(kept, STORIES[kept.story], kept.variant) == [False] * 7


def reads_the_end(segment: LogSegment, offset: int) -> int:
    """A lookup takes the last entry, whatever its offset."""
    return 0 if segment.offset_index.is_empty else segment.offset_index[-1].position


def appends_the_beginning(segment: LogSegment, offset: int, position: int) -> None:
    """An entry leads to the beginning of the segment."""
    segment.offset_index.push(OffsetPosition(offset=offset, position=0))


def rolls_by(shift: int) -> Callable[[PartitionLog, int], None]:
    """A new segment has a base offset that is not the end offset."""

    def mistaken(log: PartitionLog, next_offset: int) -> None:
        log.count += 1
        open_segment(log.segments[log.count - 1], log.end_offset + shift, log.clock)

    return mistaken


def recovers_nothing(segment: LogSegment) -> None:
    """A recovery throws the segment's batches away."""
    segment.batches.clear()
    RECOVER_SEGMENT(segment)


def forgets_the_start(log: PartitionLog, *, had_clean_shutdown: bool) -> None:
    """A start does not read the checkpoint of the start offset."""
    log.start_offset_checkpoint = 0
    RECOVER_LOG(log, had_clean_shutdown=had_clean_shutdown)


RECOVER_SEGMENT, RECOVER_LOG = log_loading.recover_segment, log_loading.recover_log
TWO = "append(2,0,1,0) append(2,0,1,0)"
PLANTED = (
    (
        "offset_lookup_finds_the_first_record(0)",
        "log-lookup",
        log_segment,
        "lookup",
        reads_the_end,
        "append(1,0,1,0) append(1,0,1,0)",
    ),
    (
        "indexes_point_to_batches(0)",
        "log-lookup",
        log_segment,
        "append_offset",
        appends_the_beginning,
        "append(1,0,1,0) append(1,0,1,0)",
    ),
    (
        "indexes_grow(0)",
        "log-lookup",
        log_segment,
        "append_offset",
        appends_the_beginning,
        "append(1,0,1,0) append(1,0,1,0) append(1,0,1,0)",
    ),
    ("segments_do_not_overlap(0)", "log-lookup", log_module, "roll", rolls_by(-1), TWO),
    ("segments_are_not_larger_than_allowed(0)", "log-lookup", log_module, "should_roll", lambda *_: False, TWO),
    (
        "active_segment_is_there()",
        "log-retention",
        log_module,
        "roll",
        rolls_by(1),
        "append(1,0,1,0) raise_high_watermark(1) time_passes() delete_old()",
    ),
    (
        "excess_is_deleted()",
        "log-retention",
        log_module,
        "retention_size_breached",
        lambda _: 0,
        "append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) raise_high_watermark(4)",
    ),
    (
        "segment_before_the_start_is_deleted()",
        "log-lookup",
        log_module,
        "start_offset_breached",
        lambda _: 0,
        f"{TWO} raise_high_watermark(1) delete_records(1)",
    ),
    (
        "start_offset_survives_a_stop()",
        "log-recovery",
        log_loading,
        "recover_log",
        forgets_the_start,
        "append(1,0,1,0) raise_high_watermark(1) delete_records(1) shut_down() load()",
    ),
    (
        "flushed_records_survive(0)",
        "log-recovery",
        log_loading,
        "recover_segment",
        recovers_nothing,
        "append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) flush(2) crash(3,0) load()",
    ),
    (
        "deleted_files_are_kept_for_the_delay()",
        "log-retention",
        log_module,
        "is_delay_over",
        lambda _: True,
        "append(1,0,1,0) raise_high_watermark(1) time_passes() delete_old() delete_files()",
    ),
)
"""Mistakes that are planted in the model, for properties that no release breaks."""


@pytest.mark.parametrize(("prop", "story", "module", "name", "mistake", "steps"), PLANTED, ids=[p[0] for p in PLANTED])
def test_a_planted_mistake_breaks_a_property_of_a_log(prop, story, module, name, mistake, steps, monkeypatch):
    broken = Broken(prop, story, "2.8.2", steps)
    assert not any(judged(broken, STORIES[broken.story], "2.8.2"))
    monkeypatch.setattr(module, name, mistake)
    assert judged(broken, STORIES[broken.story], "2.8.2")[-1]


def test_every_property_says_what_users_and_operators_see():
    properties = {prop for scenario in LOG_SCENARIOS for prop in scenario.properties}
    for prop in properties - {prop for prop in properties if prop.kind is Kind.REACHABLE}:
        assert prop.about and prop.symptom and prop.log


@pytest.mark.parametrize("flags", [*storage_versions.PARTS, server_versions.FLAGS])
def test_every_version_flag_has_a_fix_or_says_why_it_is_none(flags):
    names = {fix.flag.name for fix in flags.fixes} | flags.repairing_nothing.keys()
    assert names == flags.variant_of("2.8.2").keys()


@pytest.mark.parametrize(
    ("name", "variant"), [*SEARCHED, *(pytest.param(*story, marks=pytest.mark.thorough) for story in MANY_STATES)]
)
def test_a_search_of_all_states_of_a_log_finds_what_is_broken_and_nothing_else(name, variant):
    model = Model(STORIES[name], variant)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
