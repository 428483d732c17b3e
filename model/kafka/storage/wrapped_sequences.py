"""ProducerAppendInfo: where a transaction begins whose first batch has sequence numbers that begin again at 0.

A batch has the sequence number of its first record, and the number of its records. Behind 2,147,483,647 comes 0. Reads
with read_committed end where the first open transaction begins.

What the model leaves out, and why its story loses nothing by it: other producers, whose records are between those of
this one; and batches of one record, which begin and end with one number.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import OFFSETS, PRODUCER, REPLICAS
from kwalk.model.kafka.storage.versions.producers import TRANSACTIONS_BEGIN_AT_OFFSETS
from kwalk.model.language import Bound, action, flag, number, require, state

MAX_SEQUENCE = Bound("max_sequence", "the largest sequence number: Integer.MAX_VALUE, scaled", minimum=1)
RECORDS = 2
"""Records of a batch."""


@state
class SequencedLog:
    """A log that ends at `end`, and its producer, whose next batch begins with `next_sequence`.

    Its transaction `is_open`; the log takes it to begin at `known_start`, and history has that it begins at `start`.
    """

    end: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    next_sequence: int = number(0, MAX_SEQUENCE)
    is_open: bool = flag()
    start: int = number(0, OFFSETS)
    known_start: int = number(0, OFFSETS + MAX_SEQUENCE)


def later(sequence: int, count: int) -> int:
    """Return the sequence number that is `count` later (Kafka: DefaultRecordBatch.incrementSequence)."""
    return sequence + count if sequence + count <= MAX_SEQUENCE else sequence + count - MAX_SEQUENCE - 1


@action(by=PRODUCER, description="sends a batch of its transaction", source="ProducerAppendInfo.append")
def produce(log: SequencedLog) -> None:
    """Append a batch, which may begin a transaction.

    Until KAFKA-7692 its begin was counted from the last offset of the batch back, by its sequence numbers.
    """
    last_offset, last_sequence = log.end + RECORDS - 1, later(log.next_sequence, RECORDS - 1)
    if not log.is_open:
        log.start = log.end
        is_counted = not TRANSACTIONS_BEGIN_AT_OFFSETS
        log.known_start = last_offset - (last_sequence - log.next_sequence) if is_counted else log.end
    log.is_open, log.end, log.next_sequence = True, last_offset + 1, later(last_sequence, 1)


@action(by=REPLICAS, description="have all records", source="Partition.maybeIncrementLeaderHW")
def replicate(log: SequencedLog) -> None:
    """Raise the high watermark to the end of the log."""
    log.high_watermark = log.end


@action(by=PRODUCER, description="ends its transaction", source="ProducerAppendInfo.appendEndTxnMarker")
def commit(log: SequencedLog) -> None:
    """Append a marker, which has no sequence number."""
    require(log.is_open)
    log.is_open, log.end = False, log.end + 1
