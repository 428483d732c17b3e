"""ProducerAppendInfo.checkSequence: a transactional producer goes on whose records clients have deleted.

A log forgets a producer whose records are deleted, up to 2.3. Its next batch is refused with UNKNOWN_PRODUCER_ID, and
the producer begins again with sequence number 0, as the log's start offset is above its records. A marker that came in
between is all that the log knows of the producer then.

What the model leaves out, and why its story loses nothing by it: the epoch of the producer, which stays; and records of
others.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import CLIENT, PRODUCER
from kwalk.model.kafka.storage.versions import PRODUCERS_OUTLIVE_RECORDS, UNKNOWN_SEQUENCES_ARE_RESET
from kwalk.model.language import Actor, action, choice, flag, require, state

COORDINATOR = Actor("transaction coordinator", system=False)


class ProducerIs(Enum):
    """What a log knows of a producer."""

    UNKNOWN = "nothing"
    MARKED = "a marker"
    NUMBERED = "the last sequence number"


@state
class ForgottenProducer:
    """A producer that `has_sent` a batch, and whether the log `has_records` of it.

    Its transaction `is_open`; it `has_ended` with an error.
    """

    producer: ProducerIs = choice(ProducerIs)
    has_sent: bool = flag()
    has_records: bool = flag()
    is_open: bool = flag()
    has_ended: bool = flag()


@action(by=PRODUCER, description="sends a batch of its transaction", source="ProducerAppendInfo.checkSequence")
def produce(log: ForgottenProducer) -> None:
    """Append the batch, perhaps once its sequence number is 0 again.

    Until KAFKA-7298 a log that knew a marker only answered OUT_OF_ORDER_SEQUENCE_NUMBER, at which a producer ends.
    """
    require(not log.has_ended)
    is_reset = log.producer is not ProducerIs.MARKED or bool(UNKNOWN_SEQUENCES_ARE_RESET)
    log.has_ended = log.has_sent and not is_reset
    if not log.has_ended:
        log.producer = ProducerIs.NUMBERED
        log.has_sent = log.has_records = log.is_open = True


@action(by=CLIENT, description="deletes all records", source="Log.maybeIncrementLogStartOffset; truncateHead")
def delete_records(log: ForgottenProducer) -> None:
    """Forget the producer; since KAFKA-7190 its last sequence number stays known."""
    log.has_records = False
    if not PRODUCERS_OUTLIVE_RECORDS:
        log.producer = ProducerIs.UNKNOWN


@action(by=COORDINATOR, description="ends the transaction", source="ProducerAppendInfo.appendEndTxnMarker")
def end_transaction(log: ForgottenProducer) -> None:
    """Append a marker, which has no sequence number."""
    require(log.is_open)
    log.is_open = False
    if log.producer is ProducerIs.UNKNOWN:
        log.producer = ProducerIs.MARKED
