"""Properties of a cleaning whose buffer is too small for what it keeps."""

from __future__ import annotations

from kwalk.model.kafka.storage.cleaner_buffers import BUFFER_BYTES, SEGMENT_ROOM, BufferedCleaning
from kwalk.model.language import always, premise, reachable, step


def is_cleaned(log: BufferedCleaning) -> bool:
    """Whether the segment was cleaned as a whole, so that the cleaned one is swapped in."""
    return 0 < len(log.batches) == log.read


@always(
    symptom="records of a compacted topic with compression are gone: fetches fail at what is there instead of a batch",
    log="Record size is less than the minimum record overhead (14)",
)
def kept_batch_is_whole(log: BufferedCleaning) -> bool:
    """A cleaned segment has whole batches."""
    premise(is_cleaned(log))
    return not any(batch.is_part for batch in log.written)


@always(
    symptom="disk space: no compacted log of the broker is cleaned any more: a batch is larger after a cleaning",
    log="[kafka-log-cleaner-thread-…]: Error due to java.nio.BufferOverflowException",
)
def cleaner_outlives_grown_batches(log: BufferedCleaning) -> bool:
    """A batch for which there is no room does not end the cleaner's thread."""
    return not log.is_cleaner_dead


@step(
    symptom="disk space: no compacted log of the broker is cleaned any more: nothing is left of the last set "
    "that the cleaner has read",
    log="[kafka-log-cleaner-thread-…]: Error due to … (Attempt to append an offset (-1) to slot)",
)
def cleaner_stops_at_grown_batches_only(before: BufferedCleaning, after: BufferedCleaning) -> bool:
    """Batches that have room, or of which nothing is kept, do not end the cleaner's thread."""
    premise(after.is_cleaner_dead and not before.is_cleaner_dead)
    return sum(batch.kept for at, batch in enumerate(before.batches) if before.read <= at) > BUFFER_BYTES


@always(
    symptom="disk space: a compacted topic whose batches are larger after a cleaning is not cleaned any more",
    log="Unexpected exception thrown when cleaning log …. Marking its partition (…) as uncleanable",
)
def grown_segment_is_cleaned(log: BufferedCleaning) -> bool:
    """A cleaning does not end where what it keeps has no room in one segment."""
    return not log.has_outgrown_its_segment


@reachable()
def cleaned_batches_outgrow_a_segment(log: BufferedCleaning) -> bool:
    """A cleaning keeps more bytes than a segment has room for."""
    kept = sum(batch.kept for batch in log.batches)
    return log.has_outgrown_its_segment or (is_cleaned(log) and kept > SEGMENT_ROOM)


@always(
    symptom="the last values of keys are gone from a compacted topic",
    log="none: kafka-dump-log.sh shows gaps",
)
def kept_batches_are_written(log: BufferedCleaning) -> bool:
    """What was read is written, in order, but batches of which nothing is kept."""
    kept = sum(batch.kept > 0 for at, batch in enumerate(log.batches) if at < log.read)
    is_kept = all(log.batches[batch.number].kept > 0 and batch.number < log.read for batch in log.written)
    is_sorted = all(log.written[at - 1].number < log.written[at].number for at in range(1, len(log.written)))
    return len(log.written) == kept and is_kept and is_sorted


@step(
    symptom="the cleaner reads more than its buffer has room for, or nothing at all, again and again",
    log="none",
)
def chunk_fits_the_buffer(before: BufferedCleaning, after: BufferedCleaning) -> bool:
    """A chunk has a batch, and no more bytes than the buffer; it ends where the next, or what is kept, is too large.

    Nothing is written behind what has outgrown the buffer. A cleaner that has stopped leaves the segment as it was.
    """
    premise(before.read != after.read or before.is_cleaner_dead != after.is_cleaner_dead)
    if after.is_cleaner_dead:
        return after.read == 0 == len(after.written) and before.batches == after.batches
    sizes = [batch.size for at, batch in enumerate(before.batches) if before.read <= at < after.read]
    kept = [batch.kept for at, batch in enumerate(before.batches) if before.read <= at < after.read]
    has_room = all(
        batch.kept == 0 or sum(b.kept for n, b in enumerate(before.batches) if before.read <= n < at) <= BUFFER_BYTES
        for at, batch in enumerate(before.batches)
        if at < after.read
    )
    is_full = after.read == len(after.batches) or sum(sizes) + before.batches[after.read].size > BUFFER_BYTES
    is_within = before.read < after.read and sum(sizes) <= BUFFER_BYTES and before.batches == after.batches
    return is_within and has_room and (is_full or sum(kept) > BUFFER_BYTES)


@step(
    symptom="records of a compacted topic that were appended during its cleaning are gone",
    log="none: kafka-dump-log.sh shows gaps",
)
def segment_is_closed_while_it_is_cleaned(before: BufferedCleaning, after: BufferedCleaning) -> bool:
    """Nothing is appended to a segment that is being cleaned."""
    premise(before.read > 0)
    return after.batches == before.batches


@reachable()
def batch_outgrows_the_buffer(log: BufferedCleaning) -> bool:
    """What is kept of the first chunk has more bytes than the buffer, and the cleaner was there."""
    is_one = sum(batch.size for batch in log.batches) <= BUFFER_BYTES
    is_over = is_cleaned(log) or log.is_cleaner_dead
    return is_one and is_over and sum(batch.kept for batch in log.batches) > BUFFER_BYTES
