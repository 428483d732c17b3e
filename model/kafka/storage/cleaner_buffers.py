"""Cleaner.cleanInto: the cleaner reads a chunk into a buffer, and writes what it keeps of it to another of that size.

A compressed batch of which a record goes is compressed again, and can be larger then: the codec has less to work with,
or another compressor than that of the producer.

What the model leaves out, and why its story loses nothing by it:

* Records, and which of them are kept: a batch has the size of what is kept of it. Later ones have later timestamps.
* Buffers that grow to the size of a batch, which `log_cleaner` has.
* How much of a batch is written before the buffer ends: here all that there is room for. Kafka 0.10.2 can leave some
  room, in which later batches may be.
* The bytes before that part, which the buffer had before. Where the part is the first of its chunk, Kafka 0.10.2 reads
  them as a batch; here that always fails.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import BATCH_BYTES, LOG_CLEANER, OFFSETS, PRODUCER, Size
from kwalk.model.kafka.storage.versions.compaction import (
    CLEANED_SEGMENTS_ROLL,
    CLEANED_TIMES_HAVE_THEIR_OFFSET,
    GROWN_BATCHES,
)
from kwalk.model.language import Bound, Fifo, action, fifo, flag, number, require, state, value

BUFFER_BYTES = Bound("buffer_bytes", "the size of each of the two buffers (log.cleaner.io.buffer.size)", minimum=1)
SEGMENT_ROOM = Bound("segment_room", "the largest size of a segment (2 GiB); 0: no segment gets there", default=0)
Kept = Annotated[int, number(0, BATCH_BYTES + 1)]


@value
class CompressedBatch:
    """A batch, its size, and the size of what a cleaning keeps of it."""

    size: int = number(1, BATCH_BYTES)
    kept: int = number(0, BATCH_BYTES + 1)


@value
class KeptBatch:
    """What the cleaned segment has of a batch; only a part of it may be there, behind bytes of an earlier chunk."""

    number: int = number(0, OFFSETS)
    is_part: bool = flag()


@state
class BufferedCleaning:
    """The batches of a segment, how many of them were `read`, and what is `written` to the cleaned segment.

    A cleaning that `has_outgrown_its_segment` has failed, and leaves the segment as it was.
    """

    batches: Fifo[CompressedBatch] = fifo(CompressedBatch, OFFSETS)
    read: int = number(0, OFFSETS)
    written: Fifo[KeptBatch] = fifo(KeptBatch, OFFSETS)
    is_cleaner_dead: bool = flag()
    has_outgrown_its_segment: bool = flag(when=SEGMENT_ROOM)


@action(
    by=PRODUCER,
    description="appends a batch of {size} bytes, of which a cleaning keeps {kept}",
    source="Log.append",
)
def append_batch(log: BufferedCleaning, size: Size, kept: Kept) -> None:
    """It fits the buffers. More than its size are kept only where a record goes."""
    require(log.read == 0 and not log.is_cleaner_dead and size <= BUFFER_BYTES)
    if SEGMENT_ROOM > 0:
        require(sum(batch.size for batch in log.batches) + size <= SEGMENT_ROOM and not log.has_outgrown_its_segment)
    log.batches.push(CompressedBatch(size=size, kept=kept))


def is_segment_full(log: BufferedCleaning) -> bool:
    """Whether what was written has no room in one segment (Kafka: FileRecords.append)."""
    return sum(batch.kept for at, batch in enumerate(log.batches) if at < log.read) > SEGMENT_ROOM


@action(
    by=LOG_CLEANER,
    description="reads a chunk, and writes what it keeps of that",
    source="Cleaner.cleanInto; MemoryRecords.filterTo, ByteBufferOutputStream.expandBuffer; LogSegment.append",
)
def clean_chunk(log: BufferedCleaning) -> None:
    """Since KAFKA-5316 a chunk ends with a batch for which there is no room, and a larger buffer is written.

    Up to 0.10.1 that was an exception. In 0.10.2 the batch went on in a buffer that was thrown away; an exception comes
    only where the part is the first of its chunk, or what follows has no room.

    In 0.10.1.0 the offset in the time index is that of the last batch: none, an exception in any entry but the first.
    Until KAFKA-20036 what outgrows a segment was an exception, too, which ends the cleaning.
    """
    require(log.read < len(log.batches) and not log.is_cleaner_dead)
    require(SEGMENT_ROOM == 0 or not log.has_outgrown_its_segment)
    first = log.read
    taken, used = 0, 0
    is_open, is_dead = True, False
    for at, batch in enumerate(log.batches):
        is_open = is_open and (at < first or taken + batch.size <= BUFFER_BYTES)
        if at >= first and is_open:
            taken = taken + batch.size
            log.read += 1
            is_outgrown = used + batch.kept > BUFFER_BYTES
            is_part = is_outgrown and GROWN_BATCHES == "a part is written"
            is_written = GROWN_BATCHES == "are written" or (batch.kept != batch.size and 0 < used < BUFFER_BYTES)
            if is_outgrown and (GROWN_BATCHES == "the cleaner stops" or not is_written):
                is_dead = True
            if batch.kept > 0:
                log.written.push(KeptBatch(number=at, is_part=is_part))
            used = min(used + batch.kept, BUFFER_BYTES)
            is_open = not (is_outgrown and GROWN_BATCHES == "are written")
    keeps_some = any(first <= batch.number for batch in log.written)
    has_entry = any(batch.number < first for batch in log.written)
    lacks_last = log.batches[log.read - 1].kept == 0
    if is_dead or (keeps_some and has_entry and lacks_last and not CLEANED_TIMES_HAVE_THEIR_OFFSET):
        log.is_cleaner_dead = True
        log.read = 0
        log.written.clear()
    elif SEGMENT_ROOM > 0 and is_segment_full(log) and not CLEANED_SEGMENTS_ROLL:
        log.has_outgrown_its_segment = True
        log.read = 0
        log.written.clear()
