"""Properties of an index that is opened when it is needed."""

from __future__ import annotations

from kwalk.model.kafka.storage.lazy_index import Append, Index, LazyIndex, Reader
from kwalk.model.language import always, premise, step


@always(
    symptom="nothing can be appended to a partition, by producers or as a replica, until its broker is restarted",
    log="none: a java.nio.BufferOverflowException with each append",
)
def append_to_a_new_segment_succeeds(segment: LazyIndex) -> bool:
    """A new segment can be appended to, whoever reads it."""
    return segment.append is not Append.FAILED


@step(symptom="an index is opened for no thread, or has entries that it lacks", log="none")
def index_is_opened_for_a_thread(before: LazyIndex, after: LazyIndex) -> bool:
    """An index is opened once, with room, or for a thread that had found none."""
    premise(before.index is not after.index)
    is_first = before.index is Index.NONE and after.index is Index.OPEN
    return after.has_file and (is_first or sum(before.opens) > sum(after.opens))


@step(symptom="a thread opens an index that is open", log="none")
def thread_opens_what_is_not_open(before: LazyIndex, after: LazyIndex, reader: Reader) -> bool:
    """A thread that is to open an index has found none; it opens it, and is done."""
    premise(before.opens[reader] != after.opens[reader])
    return before.index is Index.NONE if after.opens[reader] else after.index is not Index.NONE


@step(symptom="a batch is appended without an index", log="none")
def batch_is_appended_with_an_index(before: LazyIndex, after: LazyIndex) -> bool:
    """An append needs the index."""
    premise(before.append is not after.append)
    return before.index is not Index.NONE
