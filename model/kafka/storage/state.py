"""The state of one partition's log: its segments with their indexes, and the offsets that the broker keeps for it.

Words: a *segment* is the files of one base offset: the log file and its indexes. The last segment is the *active*
one: only it is appended to. A *position* is the number of bytes before a batch in its log file. The *start offset* is
the first offset that clients may read, the *end offset* the next one to be assigned.

What no action can observe is reset to its default, so that equivalent logs are equal states.
"""
from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    BATCH_BYTES,
    BATCH_RECORDS,
    BATCHES,
    INDEX_ENTRIES,
    INDEX_INTERVAL_BYTES,
    OFFSETS,
    SEGMENT_BYTES,
    SEGMENTS,
    TIMES,
    TOUCHES,
    TRUNCATIONS,
    UNTIMED,
)
from kwalk.model.language import Array, Fifo, array, fifo, number, state, value

NO_TIMESTAMP = -1
"""The timestamp of a batch without one (Kafka: RecordBatch.NO_TIMESTAMP)."""


@value
class Batch:
    """A record batch (Kafka: RecordBatch): its last offset, its number of records, its largest timestamp, its size."""

    last_offset: int = number(0, OFFSETS)
    records: int = number(1, BATCH_RECORDS)
    timestamp: int = number(-UNTIMED, TIMES, default=0)
    size: int = number(1, BATCH_BYTES)

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
    """

    base_offset: int = number(0, OFFSETS)
    batches: Fifo[Batch] = fifo(Batch, BATCHES)
    offset_index: Fifo[OffsetPosition] = fifo(OffsetPosition, INDEX_ENTRIES)
    time_index: Fifo[TimestampOffset] = fifo(TimestampOffset, INDEX_ENTRIES)
    unindexed: int = number(0, INDEX_INTERVAL_BYTES + 1)
    max_timestamp: int = number(NO_TIMESTAMP, TIMES)
    max_timestamp_offset: int = number(0, OFFSETS)
    created: int = number(0, TIMES)
    last_modified: int = number(0, TIMES)

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


@value
class DeletedFiles:
    """The files of a segment that were renamed to `.deleted`, and when."""

    base_offset: int = number(0, OFFSETS)
    since: int = number(0, TIMES)


@state
class PartitionLog:
    """The log of a partition (Kafka: Log): the first `count` slots of `segments` have its segments, in order.

    `end_offset` is nextOffsetMetadata. `deleted` are the files that wait for file.delete.delay.ms.
    """

    segments: Array[LogSegment] = array(SEGMENTS, LogSegment)
    count: int = number(1, SEGMENTS.bound)
    start_offset: int = number(0, OFFSETS)
    end_offset: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    clock: int = number(0, TIMES)
    deleted: Fifo[DeletedFiles] = fifo(DeletedFiles, SEGMENTS.bound)
    truncations: int = number(0, TRUNCATIONS)
    touches: int = number(0, TOUCHES)
