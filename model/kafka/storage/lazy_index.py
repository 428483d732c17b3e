"""LazyIndex: the index of a new segment is opened by the thread that needs it first, or by two of them at a time.

Since 2.3.0 a segment has no index until a fetch looks up a position in it, or an append writes an entry. An index file
that is there is taken for a full one, as that of a segment which is not appended to any more.

What the model leaves out, and why its story loses nothing by it: which of the two indexes of a segment it is; other
segments, which do not share it; and how many entries an index has room for.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.storage.domains import PRODUCER
from kwalk.model.kafka.storage.versions import INDEXES_ARE_OPENED_ONCE
from kwalk.model.language import Actor, Array, Domain, action, array, choice, flag, require, state

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
