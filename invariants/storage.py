"""Properties of a partition's log: what users lose when one breaks, and what must be reachable."""
from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    MAX_RELATIVE_OFFSET,
    RETENTION_BYTES,
    RETENTION_MS,
    SEGMENT_BYTES,
    SEGMENTS,
    Offset,
    SegmentSlot,
    Timestamp,
)
from kwalk.model.kafka.storage.log import (
    fetch_offset_by_timestamp,
    next_base_offset,
    read_from_log,
)
from kwalk.model.kafka.storage.state import Batch, LogSegment, PartitionLog
from kwalk.model.kafka.storage.versions import TIME_INDEX
from kwalk.model.language import always, premise, reachable, step, when_quiescent


def first_batch(log: PartitionLog, offset: int, timestamp: int) -> Batch | None:
    """Return the first batch of the whole log at or above an offset that has a timestamp at or above the given one."""
    found: Batch | None = None
    for segment in log.segments:
        for batch in segment.batches:
            if found is None and batch.last_offset >= offset and batch.timestamp >= timestamp:
                found = batch
    return found


@always(
    symptom="a consumer skips records, or reads some again, although the log has what it asks for",
    log="none: the fetch is answered from another position",
)
def offset_lookup_finds_the_first_record(log: PartitionLog, offset: Offset) -> bool:
    """A fetch from an offset begins with the first batch at or above it, if the log has one."""
    premise(log.start_offset <= offset < log.end_offset)
    return read_from_log(log, offset) == first_batch(log, offset, -1)


@always(
    symptom="offsetsForTimes, or a reset of a group's offsets to a time, finds nothing, or skips records",
    log="none: the lookup is answered with offset -1, or with a later one",
)
def timestamp_lookup_finds_the_first_record(log: PartitionLog, timestamp: Timestamp) -> bool:
    """A lookup by timestamp finds the first batch with that timestamp or a later one, if the log has one."""
    wanted = first_batch(log, log.start_offset, timestamp)
    premise(bool(TIME_INDEX) and wanted is not None)
    return fetch_offset_by_timestamp(log, timestamp) == wanted


@always(
    symptom="a lookup scans the wrong part of a segment",
    log="Attempt to append an offset (…) to position … no larger than the last offset appended (…) to …",
)
def indexes_grow(log: PartitionLog, slot: SegmentSlot) -> bool:
    """Of two neighbours in an index, the later one has the larger offset and position, or timestamp and offset."""
    segment = log.segments[slot]
    return all(
        a.offset < b.offset and a.position < b.position
        for a, b in zip(segment.offset_index, segment.offset_index[1:], strict=False)
    ) and all(
        a.timestamp < b.timestamp and a.offset < b.offset
        for a, b in zip(segment.time_index, segment.time_index[1:], strict=False)
    )


@always(
    symptom="a lookup begins in the middle of a batch, or behind the end of a file",
    log="Found invalid messages in log segment … at byte offset …",
)
def indexes_point_to_batches(log: PartitionLog, slot: SegmentSlot) -> bool:
    """An entry of an offset index has the position of its batch; one of a time index, the largest timestamp so far."""
    segment = log.segments[slot]
    return all(points_to_a_batch(segment, entry.offset, entry.position) for entry in segment.offset_index) and all(
        entry.timestamp == largest_up_to(segment, entry.offset) for entry in segment.time_index
    )


def points_to_a_batch(segment: LogSegment, offset: int, position: int) -> bool:
    """Whether the batch with that last offset begins at that position."""
    at, found = 0, False
    for batch in segment.batches:
        if batch.last_offset == offset and at == position:
            found = True
        at = at + batch.size
    return found


def largest_up_to(segment: LogSegment, offset: int) -> int:
    """Return the largest timestamp of the batches up to an offset."""
    return max((batch.timestamp for batch in segment.batches if batch.last_offset <= offset), default=-1)


@always(
    symptom="two segments have the same offsets, or a segment cannot be indexed",
    log="Trying to roll a new log segment for topic partition … with start offset … while it already exists",
)
def segments_do_not_overlap(log: PartitionLog, slot: SegmentSlot) -> bool:
    """A segment has offsets from its base offset up to the next one's, and none that is relatively too high."""
    premise(slot < log.count)
    segment = log.segments[slot]
    upper = min(next_base_offset(log, slot), log.end_offset)
    return segment.base_offset <= log.end_offset and all(
        segment.base_offset <= batch.first_offset
        and batch.last_offset < upper
        and batch.last_offset - segment.base_offset <= MAX_RELATIVE_OFFSET
        for batch in segment.batches
    )


@always(symptom="a segment file is larger than log.segment.bytes", log="none")
def segments_are_not_larger_than_allowed(log: PartitionLog, slot: SegmentSlot) -> bool:
    """No segment has more than log.segment.bytes, as no batch is larger than that."""
    return log.segments[slot].size <= SEGMENT_BYTES


@always(
    symptom="followers that fetch records which are not replicated yet are told that their offset is out of range",
    log="Cannot increment the log start offset to … of partition … since it is larger than the high watermark …",
)
def start_offset_is_not_above_the_high_watermark(log: PartitionLog) -> bool:
    """Retention deletes no record that is not replicated."""
    return log.start_offset <= log.high_watermark


@step(symptom="records that were deleted can be read again", log="none")
def start_offset_does_not_move_back(before: PartitionLog, after: PartitionLog) -> bool:
    """The start offset only rises."""
    return after.start_offset >= before.start_offset


@always(symptom="appends fail: the partition has no segment", log="none")
def active_segment_is_there(log: PartitionLog) -> bool:
    """There is an active segment, and what is appended next belongs to it."""
    return log.count >= 1 and log.segments[log.count - 1].base_offset <= log.end_offset


def batch_at(log: PartitionLog, offset: int) -> Batch | None:
    """Return the batch that ends with an offset."""
    found: Batch | None = None
    for segment in log.segments:
        for batch in segment.batches:
            if batch.last_offset == offset:
                found = batch
    return found


def size_of(log: PartitionLog) -> int:
    """Return the bytes of all segments."""
    return sum(segment.size for segment in log.segments)


@step(
    symptom="records vanish before their retention time is over",
    log="Found deletable segments with base offsets […] due to retention time …ms breach",
)
def young_record_is_kept(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """Retention keeps a record that is neither too old nor more than the log may have, nor before the start offset."""
    batch = batch_at(before, offset)
    premise(batch is not None and before.clock - batch.timestamp <= RETENTION_MS)
    premise(size_of(before) <= RETENTION_BYTES and before.start_offset <= offset < after.end_offset)
    return batch_at(after, offset) == batch


@when_quiescent(
    symptom="a topic has records that are far older than retention.ms, for instance after a move of its replicas",
    log="none: no segment is found deletable",
)
def expired_segment_is_deleted(log: PartitionLog) -> bool:
    """The first segment is deleted once all of its records are replicated, and older than the retention time.

    A later one waits until those before it are deleted.
    """
    first = log.segments[0]
    premise(not first.batches.is_empty and log.high_watermark >= min(next_base_offset(log, 0), log.end_offset))
    return any(log.clock - batch.timestamp <= RETENTION_MS for batch in first.batches)


@when_quiescent(symptom="a partition has far more bytes than retention.bytes", log="none")
def excess_is_deleted(log: PartitionLog) -> bool:
    """While the first segment is replicated and not the active one, the log would be too small without it."""
    premise(log.count > 1 and log.high_watermark >= log.segments[1].base_offset)
    return size_of(log) - log.segments[0].size < RETENTION_BYTES


@when_quiescent(symptom="records that a client has deleted stay on disk", log="none")
def segment_before_the_start_is_deleted(log: PartitionLog) -> bool:
    """No segment ends at or below the start offset, but the active one."""
    premise(log.count > 1)
    return log.segments[1].base_offset > log.start_offset


@reachable()
def log_has_rolled(log: PartitionLog) -> bool:
    """All segments are in use, and each has a batch."""
    return log.count == len(SEGMENTS) and all(not segment.batches.is_empty for segment in log.segments)


@reachable()
def lookup_begins_at_an_entry(log: PartitionLog) -> bool:
    """A segment has an entry in each index that is not at its beginning."""
    return any(
        any(entry.position > 0 for entry in segment.offset_index) and not segment.time_index.is_empty
        for segment in log.segments
    )


@reachable()
def active_segment_is_deleted(log: PartitionLog) -> bool:
    """Retention has deleted all records: the log has a new active segment only."""
    return log.count == 1 and log.start_offset > 0 and log.segments[0].batches.is_empty


@reachable()
def truncated_log_is_indexed(log: PartitionLog) -> bool:
    """After a truncation a segment has entries in its index."""
    return log.truncations > 0 and any(not segment.offset_index.is_empty for segment in log.segments)
