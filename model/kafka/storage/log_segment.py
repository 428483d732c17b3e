"""LogSegment: when it is full, what is appended to it and its indexes, and how a record is found in it."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    INDEX_INTERVAL_BYTES,
    LOSSES,
    MAX_RELATIVE_OFFSET,
    SEGMENT_BYTES,
    SEGMENT_MS,
)
from kwalk.model.kafka.storage.indexes import (
    append_offset,
    is_full,
    lookup_offset,
    lookup_timestamp,
    maybe_append_time,
    truncate_indexes,
)
from kwalk.model.kafka.storage.state import NO_TIMESTAMP, Batch, LogSegment
from kwalk.model.kafka.storage.versions.segments import ROLLS_BEFORE_OVERFLOW, TIME_INDEX, TRUNCATION_MAKES_ROOM


def open_segment(segment: LogSegment, base_offset: int, now: int) -> None:
    """Make an empty segment (Kafka: LogSegment.open)."""
    segment.clear()
    segment.base_offset = base_offset
    segment.created = segment.last_modified = now


def should_roll(segment: LogSegment, batch: Batch, now: int) -> bool:
    """Whether the batch goes to a new segment: this one is full, old or indexed up to its limit, or too far below.

    Kafka: LogSegment.shouldRoll.
    """
    return (
        segment.size > SEGMENT_BYTES - batch.size
        or (not segment.batches.is_empty and time_waited_for_roll(segment, batch.timestamp, now) > SEGMENT_MS)
        or is_full(segment)
        or (bool(ROLLS_BEFORE_OVERFLOW) and not can_convert_to_relative_offset(segment, batch.last_offset))
    )


def time_waited_for_roll(segment: LogSegment, timestamp: int, now: int) -> int:
    """Return how far a timestamp is above that of the first batch, or how old the segment is if that has none.

    Kafka: LogSegment.timeWaitedForRoll.
    """
    first = segment.batches.head.timestamp if not segment.batches.is_empty else NO_TIMESTAMP
    return timestamp - first if TIME_INDEX and first >= 0 else now - segment.created


def can_convert_to_relative_offset(segment: LogSegment, offset: int) -> bool:
    """Whether an index has room for the offset in its four bytes (Kafka: LogSegment.canConvertToRelativeOffset)."""
    return offset - segment.base_offset <= MAX_RELATIVE_OFFSET


def append_batch(segment: LogSegment, batch: Batch, now: int) -> None:
    """Append a batch, with an entry in each index if enough bytes have come since the last one.

    Kafka: LogSegment.append.
    """
    assert can_convert_to_relative_offset(segment, batch.last_offset) or not ROLLS_BEFORE_OVERFLOW
    position = segment.size
    segment.batches.push(batch)
    segment.last_modified = now
    if batch.timestamp > segment.max_timestamp:
        segment.max_timestamp, segment.max_timestamp_offset = batch.timestamp, batch.last_offset
    if segment.unindexed > INDEX_INTERVAL_BYTES:
        append_offset(segment, batch.last_offset, position)
        maybe_append_time(segment)
        segment.unindexed = 0
    segment.unindexed = min(segment.unindexed + batch.size, INDEX_INTERVAL_BYTES + 1)


def on_become_inactive(segment: LogSegment) -> None:
    """Close a segment that is no longer active: its time index ends with its largest timestamp.

    Kafka: LogSegment.onBecomeInactiveSegment.
    """
    if not segment.is_padded:
        maybe_append_time(segment)
    segment.unindexed = segment.created = 0
    segment.is_trimmed = False


def flush_segment(segment: LogSegment) -> None:
    """Have the log file on disk (Kafka: LogSegment.flush)."""
    if LOSSES > 0 and not segment.batches.is_empty:
        segment.flushed = segment.batches[-1].last_offset + 1


def largest_timestamp(segment: LogSegment) -> int:
    """Return the segment's largest timestamp, or the modification time of its file if it has none.

    Kafka: LogSegment.largestTimestamp.
    """
    if TIME_INDEX and segment.max_timestamp >= 0:
        return segment.max_timestamp
    return segment.last_modified


def lookup(segment: LogSegment, offset: int) -> int:
    """Return the position from which an offset is searched; zeros behind the entries lead to the beginning."""
    if segment.is_padded:
        return 0
    return lookup_offset(segment.offset_index, segment.base_offset, offset).position


def search_for_offset(segment: LogSegment, offset: int, position: int) -> Batch | None:
    """Return the first batch at or after a position whose last offset is at least the given one.

    Kafka: LogSegment.translateOffset, FileRecords.searchForOffsetWithSize.
    """
    at = 0
    found: Batch | None = None
    for batch in segment.batches:
        if found is None and at >= position and batch.last_offset >= offset:
            found = batch
        at = at + batch.size
    return found


def read(segment: LogSegment, offset: int) -> Batch | None:
    """Return the first batch that has an offset at or above the given one (Kafka: LogSegment.read)."""
    return search_for_offset(segment, offset, lookup(segment, offset))


def find_offset_by_timestamp(segment: LogSegment, timestamp: int, start_offset: int) -> Batch | None:
    """Return the first batch at or above the start offset whose timestamp is at least the given one.

    Kafka: LogSegment.findOffsetByTimestamp, FileRecords.searchForTimestamp.
    """
    entry = lookup_timestamp(segment.time_index, timestamp)
    offset = max(segment.base_offset if entry is None else entry.offset, start_offset)
    position = lookup(segment, offset)
    at = 0
    found: Batch | None = None
    for batch in segment.batches:
        if found is None and at >= position and batch.timestamp >= timestamp and batch.last_offset >= start_offset:
            found = batch
        at = at + batch.size
    return found


def truncate_segment(segment: LogSegment, offset: int, now: int, *, was_closed: bool) -> None:
    """Remove the batches and entries at and above an offset; the segment is the active one from now on.

    Kafka: LogSegment.truncateTo.
    """
    if not TRUNCATION_MAKES_ROOM and all(batch.last_offset < offset for batch in segment.batches):
        segment.is_trimmed = segment.is_trimmed or was_closed
    else:
        segment.is_trimmed = False
    if any(batch.last_offset >= offset for batch in segment.batches):
        segment.last_modified = now
    segment.batches = [batch for batch in segment.batches if batch.last_offset < offset]
    if segment.batches.is_empty:
        segment.created = now
    if LOSSES > 0:
        segment.flushed = min(segment.flushed, offset)
    truncate_indexes(segment, offset)
    segment.unindexed = 0
    load_largest_timestamp(segment)


def load_largest_timestamp(segment: LogSegment) -> None:
    """Set the largest timestamp to that of the time index, or of a batch after its last entry.

    Kafka: LogSegment.loadLargestTimestamp.
    """
    segment.max_timestamp, segment.max_timestamp_offset = NO_TIMESTAMP, segment.base_offset
    for entry in segment.time_index:
        segment.max_timestamp, segment.max_timestamp_offset = entry.timestamp, entry.offset
    position = lookup(segment, segment.max_timestamp_offset)
    at = 0
    for batch in segment.batches:
        if at >= position and batch.timestamp > segment.max_timestamp:
            segment.max_timestamp, segment.max_timestamp_offset = batch.timestamp, batch.last_offset
        at = at + batch.size
