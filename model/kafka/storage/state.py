"""The state of one partition's log: its segments with their indexes, and the offsets that the broker keeps for it.

Words: a *segment* is the files of one base offset: the log file and its indexes. The last segment is the *active*
one: only it is appended to. A *position* is the number of bytes before a batch in its log file. The *start offset* is
the first offset that clients may read, the *end offset* the next one to be assigned.

What no action can observe is reset to its default, so that equivalent logs are equal states.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import (
    BATCH_BYTES,
    BATCH_RECORDS,
    BATCHES,
    CLEANED_BATCHES,
    CLEANINGS,
    CRASHES,
    DAMAGES,
    FAILED_STARTS,
    FULL_DISKS,
    INDEX_ENTRIES,
    INDEX_INTERVAL_BYTES,
    KEYS,
    LEADER_DELETIONS,
    LEADERSHIPS,
    LIMIT_CHANGES,
    LOSSES,
    OFFSETS,
    POLICY_CHANGES,
    PREALLOCATES,
    RECORD_TIMES,
    RECREATIONS,
    SEGMENT_BYTES,
    SEGMENT_LIMITS,
    SEGMENTS,
    STOPS,
    TIME_INDEX_ENTRIES,
    TIMES,
    TOMBSTONES,
    TOUCHES,
    TRUNCATIONS,
    UNALIGNED_STARTS,
)
from kwalk.model.language import (
    Array,
    Fifo,
    array,
    choice,
    fifo,
    flag,
    member,
    number,
    optional,
    state,
    value,
)

NO_TIMESTAMP = -1
"""The timestamp of a batch without one (Kafka: RecordBatch.NO_TIMESTAMP)."""


@value
class Batch:
    """A record batch (Kafka: RecordBatch): its last offset, its number of records, its largest timestamp, its size.

    With timestamps of its own for each record, the largest one is that of its first record, or of its last one.
    In a compacted log a batch has one record, with a key, and no value if it `is_tombstone`. It was `appended` then,
    and a tombstone was first `cleaned` then: since KIP-534 the batch keeps that time, as its delete horizon.
    """

    last_offset: int = number(0, OFFSETS)
    records: int = number(1, BATCH_RECORDS)
    timestamp: int = number(0, TIMES)
    size: int = number(1, BATCH_BYTES)
    largest_is_first: bool = flag(when=RECORD_TIMES)
    key: int = member(KEYS, when=CLEANINGS)
    is_tombstone: bool = flag(when=TOMBSTONES)
    appended: int = number(0, TIMES, when=TOMBSTONES)
    cleaned: int | None = optional(number(0, TIMES), when=TOMBSTONES)

    @property
    def first_offset(self) -> int:
        """The offset of its first record (Kafka: RecordBatch.baseOffset)."""
        return self.last_offset - self.records + 1


@value
class OffsetPosition:
    """An entry of an offset index (Kafka: OffsetPosition): the last offset of a batch, and where the batch begins."""

    offset: int = number(0, OFFSETS)
    position: int = number(0, SEGMENT_BYTES)


@value
class TimestampOffset:
    """An entry of a time index (Kafka: TimestampOffset): the largest timestamp so far, and the offset that has it."""

    timestamp: int = number(0, TIMES)
    offset: int = number(0, OFFSETS)


@state
class LogSegment:
    """A segment (Kafka: LogSegment).

    `unindexed` is bytesSinceLastIndexEntry, as far as index.interval.bytes can tell it. `max_timestamp` is
    maxTimestampSoFar, and `max_timestamp_offset` the offset of it. Before KIP-33, and where the first batch has no
    timestamp, `created` decides when the segment is old; `last_modified` is the log file's modification time.
    `is_padded` means that the index files still have the zeros behind their entries that an active segment has, as
    they were not trimmed; `is_trimmed`, of an active segment, that they were when it was closed, and have no room.
    The disk has the log file up to the offset `flushed`, if that is not 0, whatever crashes.
    It `is_small` if its topic had the lower segment.bytes when it was opened.
    `has_zeros` means that its preallocated log file was not trimmed, which a broker sees when it has loaded it.
    """

    base_offset: int = number(0, OFFSETS)
    batches: Fifo[Batch] = fifo(Batch, BATCHES)
    offset_index: Fifo[OffsetPosition] = fifo(OffsetPosition, INDEX_ENTRIES)
    time_index: Fifo[TimestampOffset] = fifo(TimestampOffset, TIME_INDEX_ENTRIES)
    unindexed: int = number(0, INDEX_INTERVAL_BYTES + 1)
    max_timestamp: int = number(NO_TIMESTAMP, TIMES)
    max_timestamp_offset: int = number(0, OFFSETS)
    created: int = number(0, TIMES)
    last_modified: int = number(0, TIMES)
    is_padded: bool = flag(when=CRASHES)
    flushed: int = number(0, OFFSETS, when=LOSSES)
    is_trimmed: bool = flag(when=TRUNCATIONS)
    has_zeros: bool = flag(when=PREALLOCATES)
    is_small: bool = flag(when=SEGMENT_LIMITS)

    @property
    def size(self) -> int:
        """The bytes of its log file."""
        return sum(batch.size for batch in self.batches)

    def clear(self) -> None:
        """Reset a slot that has no segment."""
        self.base_offset = 0
        self.batches.clear()
        self.offset_index.clear()
        self.time_index.clear()
        self.unindexed, self.max_timestamp, self.max_timestamp_offset = 0, NO_TIMESTAMP, 0
        self.created = self.last_modified = 0
        self.is_padded = self.is_trimmed = self.has_zeros = False
        self.flushed = 0
        self.is_small = False


@value
class DeletedFiles:
    """The files of a segment that were renamed to `.deleted`, and when."""

    base_offset: int = number(0, OFFSETS)
    since: int = number(0, TIMES)


class LogPhase(Enum):
    """Whether the broker runs, is down, or has loaded this log and not yet all others."""

    RUNNING = "running"
    STOPPED = "stopped"
    LOADING = "loading"


class Suffix(Enum):
    """The suffix of the segment that the cleaner has written, if any."""

    NONE = ""
    CLEANED = ".cleaned"
    SWAP = ".swap"


@state
class PartitionLog:
    """The log of a partition (Kafka: Log): the first `count` slots of `segments` have its segments, in order.

    `end_offset` is nextOffsetMetadata. `deleted` are the files that wait for file.delete.delay.ms. A follower's log
    that has just begun again `begins_within` a batch of its leader, if that has its start offset there; its fetcher
    `has_ended` at an exception. A replica that is elected `has_failed_to_lead` at one.

    Across restarts: `recovery_point` and its checkpoint, the checkpoint of the start offset, the clean shutdown file,
    and whether it was there when the logs were loaded. `torn` is the base offset of the segment that ends with a part
    of a batch.

    Of a compaction: `dirty_offset` is the cleaner's checkpoint. The cleaner is at work up to `cleaning_to`, and has
    cleaned what is before `cleaned_to`. It replaces `replaced` segments by one with the batches `cleaned`, whose files
    have a suffix; `renamed` of the old ones have the suffix `.deleted` already. `horizon` is deleteHorizonMs, or since
    KIP-534 the moment at which the cleaning has begun.
    `committed` has, by key, the offset of its last record below the high watermark, unless that is a tombstone,
    or a client deleted it.

    Of a policy that changes: the log `is_compacted`, or has retention. It `lacks_old` if retention has deleted a
    segment that the cleaner is to replace; its directory `is_offline` once the cleaner has not found that.
    """

    segments: Array[LogSegment] = array(SEGMENTS, LogSegment)
    count: int = number(1, SEGMENTS.bound)
    start_offset: int = number(0, OFFSETS)
    end_offset: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    clock: int = number(0, TIMES)
    deleted: Fifo[DeletedFiles] = fifo(DeletedFiles, SEGMENTS.bound)
    begins_within: bool = flag(when=UNALIGNED_STARTS)
    has_ended: bool = flag(when=LEADER_DELETIONS)
    has_failed_to_lead: bool = flag(when=LEADERSHIPS)
    damages: int = number(0, DAMAGES)
    phase: LogPhase = choice(LogPhase, when=CRASHES)
    recovery_point: int = number(0, OFFSETS, when=CRASHES)
    recovery_point_checkpoint: int = number(0, OFFSETS, when=CRASHES)
    start_offset_checkpoint: int = number(0, OFFSETS, when=CRASHES)
    has_clean_shutdown_file: bool = flag(when=CRASHES)
    torn: int | None = optional(number(0, OFFSETS), when=CRASHES)
    dirty_offset: int = number(0, OFFSETS, when=CLEANINGS)
    cleaning_to: int = number(0, OFFSETS, when=CLEANINGS)
    cleaned_to: int = number(0, OFFSETS, when=CLEANINGS)
    suffix: Suffix = choice(Suffix, when=CLEANINGS)
    replaced: int = number(0, SEGMENTS.bound, when=CLEANINGS)
    renamed: int = number(0, SEGMENTS.bound, when=CLEANINGS)
    cleaned: Array[Batch | None] = array(CLEANED_BATCHES, optional(Batch), when=CLEANINGS)
    horizon: int = number(-1, TIMES, when=CLEANINGS, default=-1)
    committed: Array[int | None] = array(KEYS, optional(number(0, OFFSETS)), when=CLEANINGS)
    is_cleaner_dead: bool = flag(when=CLEANINGS)
    is_compacted: bool = flag(when=POLICY_CHANGES, default=True)
    lacks_old: bool = flag(when=POLICY_CHANGES)
    is_offline: bool = flag(when=POLICY_CHANGES)
    policy_changes: int = number(0, POLICY_CHANGES)
    leader_deletions: int = number(0, LEADER_DELETIONS)
    leaderships: int = number(0, LEADERSHIPS)
    limit_changes: int = number(0, LIMIT_CHANGES)
    segment_limits: int = number(0, SEGMENT_LIMITS)
    crashes: int = number(0, CRASHES)
    full_disks: int = number(0, FULL_DISKS)
    failed_starts: int = number(0, FAILED_STARTS)
    stops: int = number(0, STOPS)
    cleanings: int = number(0, CLEANINGS)
    truncations: int = number(0, TRUNCATIONS)
    touches: int = number(0, TOUCHES)
    recreations: int = number(0, RECREATIONS)
