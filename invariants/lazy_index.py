"""Properties of an index that is opened when it is needed."""

from __future__ import annotations

from kwalk.model.kafka.storage.lazy_index import Append, Index, LargestTime, LazyIndex, Reader
from kwalk.model.kafka.storage.versions.segments import LARGEST_TIMES_ARE_READ_ONCE
from kwalk.model.language import always, premise, reachable, step


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


@always(
    symptom="a replica does not catch up, or producers get errors, as a client looked up a timestamp in a new segment",
    log="Attempt to append a timestamp (…) to slot … no larger than the last timestamp appended (…) to …",
)
def append_to_a_time_index_succeeds(segment: LargestTime) -> bool:
    """A new segment can be appended to, whoever looks up timestamps."""
    return segment.append is not Append.FAILED


@step(symptom="a lookup finds no record, or another one", log="none")
def time_index_grows(before: LargestTime, after: LargestTime) -> bool:
    """An entry is that of the largest timestamp, and comes with an append behind another one."""
    premise(before.indexed != after.indexed)
    return before.has_batch and before.indexed < after.indexed == after.largest and before.read == after.read


@step(symptom="a segment has the timestamp of none of its records", log="none")
def lookup_reads_the_index(before: LargestTime, after: LargestTime) -> bool:
    """A lookup reads the last entry of a segment without a largest timestamp; it keeps that, and changes no index."""
    premise(before.read != after.read)
    if after.read is None:
        return after.largest == before.read and before.append is after.append
    return before.largest is None and after.read == before.indexed and after.largest is None


@step(symptom="a segment forgets that it has batches", log="none")
def largest_time_is_set_by_one(before: LargestTime, after: LargestTime) -> bool:
    """An append leaves a largest timestamp, which it does not lower, and a batch; since KAFKA-19407 no lookup reads."""
    premise(before.read == after.read)
    is_above = before.largest is None or (after.largest is not None and after.largest >= before.largest)
    is_alone = before.read is None or not LARGEST_TIMES_ARE_READ_ONCE
    return after.largest is not None and is_above and after.has_batch and is_alone


@reachable()
def append_passes_a_lookup(segment: LargestTime) -> bool:
    """A batch was appended as a lookup was to read the index, or has read it."""
    return segment.append is Append.DONE and segment.indexed > 0
