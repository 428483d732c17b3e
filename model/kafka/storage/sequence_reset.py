"""ProducerAppendInfo.checkSequence: a transactional producer goes on whose records clients have deleted.

A log forgets a producer whose records are deleted, up to 2.3. Its next batch is refused with UNKNOWN_PRODUCER_ID, and
the producer begins again with sequence number 0, as the log's start offset is above its records. A marker that came in
between is all that the log knows of the producer then.

Since 2.5 a log appends whatever batch of an unknown producer comes first. One that has several requests on their way
while a partition is created loses the batches before that one: they are refused as long as they are sent again.

What the model leaves out, and why its stories lose nothing by it: the epoch of the producer, which stays; and records
of others.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import CLIENT, LOG, PRODUCER
from kwalk.model.kafka.storage.leader_epochs import CONTROLLER
from kwalk.model.kafka.storage.versions.producers import (
    NEW_LOGS_BEGIN_WITH_THE_FIRST,
    PRODUCERS_OUTLIVE_RECORDS,
    UNKNOWN_SEQUENCES_ARE_RESET,
)
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


class SentBatch(Enum):
    """How far a batch of a producer is."""

    UNSENT = "not sent"
    SENT = "on its way"
    REFUSED = "refused"
    APPENDED = "appended"


@state
class NewPartition:
    """A partition that its leader learns of, once it `is_created`; the `first` and the `second` batch of a producer."""

    is_created: bool = flag()
    first: SentBatch = choice(SentBatch)
    second: SentBatch = choice(SentBatch)


@action(by=CONTROLLER, description="has the leader host the new partition", source="ReplicaManager.makeLeaders")
def host_partition(partition: NewPartition) -> None:
    """Send LeaderAndIsr. Clients may know of the partition, and of its leader, before."""
    require(not partition.is_created)
    partition.is_created = True


@action(by=PRODUCER, description="sends its first batch, or sends it again", source="Sender.sendProduceRequests")
def send_first(partition: NewPartition) -> None:
    """A refused batch is sent until delivery.timeout.ms has passed."""
    require(partition.first in (SentBatch.UNSENT, SentBatch.REFUSED))
    partition.first = SentBatch.SENT


@action(
    by=PRODUCER,
    description="sends its second batch, or sends it again",
    source="RecordAccumulator.shouldStopDrainBatchesForPartition",
)
def send_second(partition: NewPartition) -> None:
    """Several requests may be on their way; behind a batch that is sent again, one that was refused waits."""
    is_new = partition.second is SentBatch.UNSENT
    require(is_new or partition.second is SentBatch.REFUSED)
    require(partition.first is SentBatch.APPENDED or (is_new and partition.first is SentBatch.SENT))
    partition.second = SentBatch.SENT


@action(by=LOG, description="handles the first batch", source="ProducerAppendInfo.checkSequence")
def handle_first(partition: NewPartition) -> None:
    """Append it, unless the partition is not there yet, or the log knows a later sequence number."""
    require(partition.first is SentBatch.SENT)
    is_next = partition.is_created and partition.second is not SentBatch.APPENDED
    partition.first = SentBatch.APPENDED if is_next else SentBatch.REFUSED


@action(by=LOG, description="handles the second batch", source="ProducerAppendInfo.checkSequence")
def handle_second(partition: NewPartition) -> None:
    """Requests of a connection are handled in turn. The producer is not known if its first batch was refused.

    Since KIP-360 a batch of it is appended all the same; since KAFKA-15591 not if the log never had a record.
    """
    require(partition.second is SentBatch.SENT and partition.first is not SentBatch.SENT)
    is_next = partition.first is SentBatch.APPENDED or not NEW_LOGS_BEGIN_WITH_THE_FIRST
    partition.second = SentBatch.APPENDED if partition.is_created and is_next else SentBatch.REFUSED
