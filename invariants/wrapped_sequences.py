"""Properties of a log whose producer begins again with sequence number 0."""

from __future__ import annotations

from kwalk.model.kafka.storage.wrapped_sequences import MAX_SEQUENCE, RECORDS, SequencedLog
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="consumers with isolation.level=read_committed get records of a transaction that is open",
    log="none: kafka-transactions.sh describe-producers shows a CurrentTransactionStartOffset behind the last offset",
)
def transaction_is_read_when_it_has_ended(log: SequencedLog) -> bool:
    """What is read with read_committed ends where the open transaction begins."""
    premise(log.is_open)
    return min(log.high_watermark, log.known_start) == min(log.high_watermark, log.start)


@step(symptom="an idempotent producer ends with OutOfOrderSequenceException", log="none")
def sequence_numbers_follow_each_other(before: SequencedLog, after: SequencedLog) -> bool:
    """The records of a batch have the next sequence numbers, of which 0 follows the largest one."""
    premise(before.next_sequence != after.next_sequence)
    added = after.next_sequence - before.next_sequence
    return after.end - before.end in (added, added + MAX_SEQUENCE + 1)


@step(symptom="a transaction begins before its records, or has no end", log="none")
def transaction_begins_at_its_first_record(before: SequencedLog, after: SequencedLog) -> bool:
    """A transaction begins with a batch, and ends with a marker, which has one offset."""
    premise(before.is_open != after.is_open or before.end != after.end)
    begins = after.is_open and not before.is_open
    is_marker = before.is_open and after.end == before.end + 1
    return (
        after.end == before.end + RECORDS and after.start == (before.end if begins else before.start)
        if after.is_open
        else is_marker
    )


@step(symptom="a record counts as replicated that is not", log="none")
def replicas_have_all_records(before: SequencedLog, after: SequencedLog) -> bool:
    """The high watermark rises to the end of the log."""
    premise(before.high_watermark != after.high_watermark)
    return before.high_watermark < after.high_watermark == before.end


@reachable()
def number_begins_again_amid_a_batch(log: SequencedLog) -> bool:
    """The sequence numbers have begun again, with the second record of a batch."""
    return log.is_open and log.next_sequence == 1
