"""LazyIndex: the index of a new segment is opened by the thread that needs it first, or by two of them at a time.

Since 2.3.0 a segment has no index until a fetch looks up a position in it, or an append writes an entry. An index file
that is there is taken for a full one, as that of a segment which is not appended to any more. Its largest timestamp is
read from the time index in the same way: by an append, or by a lookup of a timestamp, which has no lock.

What the model leaves out, and why its story loses nothing by it: which of the two indexes of a segment it is; other
segments, which do not share it; and how many entries an index has room for.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.storage.domains import CONSUMER, PRODUCER, TIMES, Timestamp
from kwalk.model.kafka.storage.versions.segments import INDEXES_ARE_OPENED_ONCE, LARGEST_TIMES_ARE_READ_ONCE
from kwalk.model.language import Actor, Array, Domain, action, array, choice, flag, number, optional, require, state

READERS = Domain("readers", "threads of a broker that use the index of a segment", default=2)

Reader = Annotated[int, READERS]

THREAD = Actor("request handler", of=READERS)


class Index(Enum):
    """What the segment has in memory."""

    NONE = "no index"
    OPEN = "an index with room"
    FULL = "an index without room"


class Append(Enum):
    """What became of an append."""

    NONE = "not sent"
    DONE = "appended"
    FAILED = "failed"


@state
class LazyIndex:
    """The index of a new segment, and the threads that have found none, and are to open it."""

    index: Index = choice(Index)
    has_file: bool = flag()
    opens: Array[bool] = array(READERS, flag())
    append: Append = choice(Append)


def open_index(segment: LazyIndex) -> None:
    """Open the file, or create it; the position behind the last entry is the end of a file that was there."""
    segment.index = Index.FULL if segment.has_file else Index.OPEN
    segment.has_file = True


@action(by=THREAD, description="needs the index, and finds none", source="LazyOffsetIndex.get: isEmpty")
def look(segment: LazyIndex, reader: Reader) -> None:
    """Have the thread open the index. Since KAFKA-9156 it does so with a lock."""
    require(segment.index is Index.NONE and not segment.opens[reader])
    if INDEXES_ARE_OPENED_ONCE:
        open_index(segment)
    else:
        segment.opens[reader] = True


@action(by=THREAD, description="opens the index", source="LazyOffsetIndex.get; AbstractIndex.mmap")
def open_file(segment: LazyIndex, reader: Reader) -> None:
    """Keep the index, in place of one that another thread has opened since."""
    require(segment.opens[reader])
    segment.opens[reader] = False
    open_index(segment)


@action(by=PRODUCER, description="has a batch appended", source="Log.append, Log.roll; TimeIndex.maybeAppend")
def append(segment: LazyIndex) -> None:
    """Append the batch. A full index has the log roll, which adds a last entry, for which the buffer has no room."""
    require(segment.index is not Index.NONE)
    segment.append = Append.FAILED if segment.index is Index.FULL else Append.DONE


@state
class LargestTime:
    """The largest timestamp of a new segment, which nobody has read yet; 0 is the time of an index without entries.

    Attributes:
        largest: what the segment has in memory, once a thread has read it.
        indexed: the timestamp of the last entry of the time index.
        read: what a lookup has read of the index, and is to keep as the largest timestamp.
        has_batch: whether a batch was appended, so that the next one adds an entry.
        append: what became of the last append.
    """

    largest: int | None = optional(number(0, TIMES))
    indexed: int = number(0, TIMES)
    read: int | None = optional(number(0, TIMES))
    has_batch: bool = flag()
    append: Append = choice(Append)


@action(
    by=CONSUMER,
    description="looks up a timestamp: the time index is read",
    source="Log.fetchOffsetByTimestamp; LogSegment.maxTimestampSoFar",
)
def read_last_entry(segment: LargestTime) -> None:
    """Find that the segment has no largest timestamp yet."""
    require(segment.largest is None and segment.read is None)
    segment.read = segment.indexed


@action(by=CONSUMER, description="keeps what was read", source="LogSegment.maxTimestampSoFar")
def keep_last_entry(segment: LargestTime) -> None:
    """Put it in place of what an append may have set since."""
    require(segment.read is not None)
    segment.largest, segment.read = segment.read, None


@action(
    by=PRODUCER,
    description="has a batch appended, with timestamp {time}",
    source="LogSegment.append; TimeIndex.maybeAppend",
)
def append_with_time(segment: LargestTime, time: Timestamp) -> None:
    """Add an entry with the largest timestamp for each batch but the first; it cannot be below that of the last one.

    Since KAFKA-19407 an append waits while a lookup reads the index.
    """
    require(segment.read is None or not LARGEST_TIMES_ARE_READ_ONCE)
    known = segment.indexed if segment.largest is None else segment.largest
    segment.largest = max(known, time)
    segment.append = Append.FAILED if segment.has_batch and segment.largest < segment.indexed else Append.DONE
    if segment.has_batch and segment.largest > segment.indexed:
        segment.indexed = segment.largest
    segment.has_batch = True
