"""OffsetIndex and TimeIndex: sparse indexes of a segment, what is appended to them, and how they are searched.

Both are sorted, so that Kafka's binary search finds the last entry that is not above its target, as the loops here do.
"""

from __future__ import annotations

from collections.abc import Iterable

from kwalk.model.kafka.storage.domains import INDEX_ENTRIES, TIME_INDEX_ENTRIES
from kwalk.model.kafka.storage.state import LogSegment, OffsetPosition, TimestampOffset


def lookup_offset(entries: Iterable[OffsetPosition], base_offset: int, target: int) -> OffsetPosition:
    """Return the last entry whose offset is at most the target; without one, the beginning of the segment.

    Kafka: OffsetIndex.lookup, AbstractIndex.largestLowerBoundSlotFor.
    """
    found = OffsetPosition(offset=base_offset, position=0)
    for entry in entries:
        if entry.offset <= target:
            found = entry
    return found


def lookup_timestamp(entries: Iterable[TimestampOffset], target: int) -> TimestampOffset | None:
    """Return the last entry whose timestamp is at most the target (Kafka: TimeIndex.lookup)."""
    found: TimestampOffset | None = None
    for entry in entries:
        if entry.timestamp <= target:
            found = entry
    return found


def is_full(segment: LogSegment) -> bool:
    """Whether one of the indexes has no room; the time index keeps its last entry for the moment of the roll.

    An index that was not trimmed is full of zeros; one that is still trimmed has no room at all.

    Kafka: AbstractIndex.isFull, TimeIndex.isFull.
    """
    if segment.is_padded or segment.is_trimmed:
        return True
    return len(segment.offset_index) >= INDEX_ENTRIES or len(segment.time_index) >= TIME_INDEX_ENTRIES - 1


def append_offset(segment: LogSegment, offset: int, position: int) -> None:
    """Append an entry, whose offset is above the last one (Kafka: OffsetIndex.append)."""
    assert segment.offset_index.is_empty or segment.offset_index[-1].offset < offset
    segment.offset_index.push(OffsetPosition(offset=offset, position=position))


def maybe_append_time(segment: LogSegment) -> None:
    """Append the largest timestamp so far, if it is above that of the last entry (Kafka: TimeIndex.maybeAppend)."""
    if segment.max_timestamp >= 0 and (
        segment.time_index.is_empty or segment.time_index[-1].timestamp < segment.max_timestamp
    ):
        entry = TimestampOffset(timestamp=segment.max_timestamp, offset=segment.max_timestamp_offset)
        segment.time_index.push(entry)


def truncate_indexes(segment: LogSegment, offset: int) -> None:
    """Remove the entries at and above an offset (Kafka: OffsetIndex.truncateTo, TimeIndex.truncateTo)."""
    segment.offset_index = [entry for entry in segment.offset_index if entry.offset < offset]
    segment.time_index = [entry for entry in segment.time_index if entry.offset < offset]
