"""Properties of empty batches in a compacted log: what stops at them, how many there are, and what they replace."""

from __future__ import annotations

from kwalk.model.kafka.storage.empty_batches import REUSES, CompactedBatches, has_records, is_aborted
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="compacted topics grow without bound: the log cleaner does nothing any more",
    log="java.lang.IllegalArgumentException: … or java.util.NoSuchElementException in log-cleaner.log",
)
def cleaner_outlives_empty_batches(log: CompactedBatches) -> bool:
    """The cleaner lives, whatever batches are empty."""
    return not log.is_cleaner_dead


@always(
    symptom="consumer groups cannot be used after their coordinator has moved: it does not end to load them",
    log="Error loading offsets from …, with java.util.NoSuchElementException",
)
def empty_marker_can_be_loaded(log: CompactedBatches) -> bool:
    """A coordinator loads a log with a marker that is empty."""
    return not log.load_fails


@step(
    symptom="__consumer_offsets grows, and groups load more slowly, with offsets that are committed in transactions",
    log="none: kafka-dump-log.sh shows batches with count: 0",
)
def one_batch_is_left_empty(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A cleaning leaves one batch of the producer empty at most; of markers of its last epoch, some."""
    premise(after.cleanings > before.cleanings)
    return sum(batch.is_empty and not batch.is_marker for batch in after.batches) <= 1


@step(
    symptom="an idempotent producer gets OUT_OF_ORDER_SEQUENCE_NUMBER, or is not fenced, after a restart of the broker",
    log="none: kafka-dump-log.sh shows no batch of the producer",
)
def producer_is_known_from_the_log(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A cleaning leaves the producer's last batch, or, without one in its epoch, a marker of that epoch."""
    premise(after.cleanings > before.cleanings and not after.is_cleaner_dead)
    if after.last_sequence is None:
        return any(batch.is_marker and batch.epoch == after.epoch for batch in after.batches)
    return any(batch.offset == after.last_offset for batch in after.batches)


@step(
    symptom="the current value of a key is gone from a compacted topic",
    log="none: kafka-dump-log.sh shows an empty batch at its offset",
)
def last_record_is_kept(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A cleaning keeps the record that no later one of a committed transaction supersedes."""
    premise(after.cleanings > before.cleanings)
    last = last_record(before)
    premise(any(batch.offset == last and not batch.is_tombstone for batch in before.batches))
    return any(batch.offset == last and not batch.is_empty for batch in after.batches)


def last_record(log: CompactedBatches) -> int:
    """Return the offset of the key's last record, or -1: what readers of committed records take for its value."""
    return max(
        (
            batch.offset
            for batch in log.batches
            if not batch.is_marker
            and not batch.is_empty
            and batch.transaction != log.ongoing
            and not is_aborted(log, batch)
        ),
        default=-1,
    )


@step(
    symptom="a key that was deleted from a compacted topic is there again, with its value of before",
    log="none: kafka-dump-log.sh shows the record, and no tombstone behind it",
)
def deleted_key_stays_deleted(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A cleaning that removes a tombstone has removed the records that are earlier."""
    last, left = last_record(before), last_record(after)
    premise(after.cleanings > before.cleanings)
    premise(any(batch.offset == last and batch.is_tombstone for batch in before.batches))
    return left < 0 or any(batch.offset == left and batch.is_tombstone for batch in after.batches)


@step(
    symptom="consumers with isolation.level=read_committed stop at a transaction that was ended",
    log="none: kafka-transactions.sh find-hanging shows the transaction",
)
def marker_outlives_its_transaction(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A marker is kept while there are records of its transaction."""
    premise(after.cleanings > before.cleanings)
    return all(
        not batch.is_marker
        or not has_records(before, batch)
        or any(kept.offset == batch.offset and not kept.is_empty for kept in after.batches)
        for batch in before.batches
    )


@step(
    symptom="a compacted topic grows as if it were not compacted",
    log="Log cleaner thread … cleaned log … (dirty section = […, …])",
)
def cleaned_log_has_one_record(before: CompactedBatches, after: CompactedBatches) -> bool:
    """After a cleaning a key has one record at most, but for those of an open transaction."""
    premise(after.cleanings > before.cleanings and not after.is_cleaner_dead)
    closed = [batch for batch in after.batches if batch.transaction != after.ongoing and not batch.is_marker]
    return sum(not batch.is_empty for batch in closed) <= 1


@step(
    symptom="the lag of consumers counts records that are not there",
    log="none: kafka-dump-log.sh shows the offsets",
)
def appended_batch_is_the_last(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A batch that is appended gets the next offset, and belongs to the open transaction."""
    premise(after.end_offset > before.end_offset)
    last = after.batches[-1]
    begun = before.ongoing if before.ongoing is not None else before.end_offset
    return last.offset == before.end_offset == after.end_offset - 1 and last.transaction == begun


@step(
    symptom="an idempotent producer ends with OUT_OF_ORDER_SEQUENCE_NUMBER",
    log="none: kafka-dump-log.sh shows the sequence numbers",
)
def sequence_numbers_are_in_order(before: CompactedBatches, after: CompactedBatches) -> bool:
    """A record has the next sequence number of its epoch, or 0 of a group coordinator; a marker may begin an epoch."""
    premise(after.end_offset > before.end_offset)
    last = after.batches[-1]
    if last.is_marker:
        is_fenced = last.epoch == before.epoch + 1 and last.aborts and after.last_sequence is None
        return after.ongoing is None and last.epoch == after.epoch and (last.epoch == before.epoch or is_fenced)
    first = before.last_sequence is None or REUSES > 0
    expected = 0 if first or before.last_sequence is None else before.last_sequence + 1
    return last.sequence == expected == after.last_sequence and last.epoch == before.epoch == after.epoch


@reachable()
def batch_is_emptied(log: CompactedBatches) -> bool:
    """The last record of the producer was aborted, or superseded, and its batch is empty."""
    return any(batch.is_empty and not batch.is_marker for batch in log.batches)


@reachable()
def marker_is_emptied(log: CompactedBatches) -> bool:
    """A marker by which the producer is known is empty."""
    return any(batch.is_empty and batch.is_marker for batch in log.batches)
