"""RecordAccumulator, ProducerBatch: the batches that a producer has, until its sender's thread sends them.

Any number of the application's threads send records; the sender's thread takes batches for a request to each broker.
Releases are those of the producers' library, with brokers of the same release.

What the model leaves out, and why its stories lose nothing by it: retries, in which a batch is what it was; and
partitions without records, which are passed over.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.clients.transaction_manager import APPLICATION, BROKER, SENDER
from kwalk.model.kafka.server.versions import (
    DRAIN_INDEX,
    GETS_KEEP_THEIR_UNIT,
    HEADERS_OUTLIVE_SPLITS,
    SENDS_END_BEFORE_THE_SENDER,
    SENDS_END_WITHOUT_MEMORY,
    SENDS_END_WITHOUT_METADATA,
)
from kwalk.model.kafka.storage.domains import PRODUCER
from kwalk.model.language import Actor, Array, Domain, action, array, choice, flag, number, require, state

CLOSER = Actor("application's other thread", system=False)
CLOCK = Actor("clock", system=False)
DRAINED = Domain("drained_partitions", "partitions of one broker whose batches are full", default=2)
Drained = Annotated[int, DRAINED]


class SendStep(Enum):
    """How far a send of a record is."""

    NONE = "not called"
    METADATA = "waits for metadata of its topic"
    MEMORY = "waits for memory"
    READY = "is about to append the record to a batch"
    BUFFERED = "has returned; the record is in a batch"
    ANSWERED = "has returned; its future is done"
    REFUSED = "has ended with an exception"


@state
class SendAmidAClose:
    """A producer that one thread closes while another one sends.

    Attributes:
        is_closing: whether the sender's thread is to end when nothing is left.
        is_full: whether no more records are taken.
        has_ended: whether the sender's thread has ended.
    """

    send: SendStep = choice(SendStep)
    is_closing: bool = flag()
    is_full: bool = flag()
    has_ended: bool = flag()


AT_REST = (SendStep.NONE, SendStep.ANSWERED)


@action(by=APPLICATION, description="sends a record", source="KafkaProducer.doSend: waitOnMetadata")
def begin_send(sends: SendAmidAClose) -> None:
    """Since KAFKA-6897 not of a producer that has been closed."""
    require(sends.send in AT_REST and not (sends.has_ended and SENDS_END_WITHOUT_METADATA))
    sends.send = SendStep.METADATA


@action(by=SENDER, description="gets metadata", source="Metadata.update")
def get_metadata(sends: SendAmidAClose) -> None:
    """The send goes on, and waits for memory."""
    require(sends.send is SendStep.METADATA and not sends.has_ended)
    sends.send = SendStep.MEMORY


@action(by=SENDER, description="gives memory back", source="BufferPool.deallocate")
def get_memory(sends: SendAmidAClose) -> None:
    """That of batches which are answered. There may be some all the time."""
    require(sends.send is SendStep.MEMORY and not sends.has_ended)
    sends.send = SendStep.READY


@action(by=APPLICATION, description="appends the record to a batch", source="RecordAccumulator.append")
def append_to_batch(sends: SendAmidAClose) -> None:
    """Or is refused, as the producer is closed."""
    require(sends.send is SendStep.READY)
    sends.send = SendStep.REFUSED if sends.is_full else SendStep.BUFFERED


@action(by=SENDER, description="sends the batch, and gets the answer", source="ProducerBatch.done")
def complete_send(sends: SendAmidAClose) -> None:
    """The future is done, and the callback is called."""
    require(sends.send is SendStep.BUFFERED and not sends.has_ended)
    sends.send = SendStep.ANSWERED


@action(by=CLOSER, description="closes the producer", source="Sender.initiateClose")
def begin_to_close(sends: SendAmidAClose) -> None:
    """Until KAFKA-4235 the sender's thread was told first, and only then were no more records taken."""
    if SENDS_END_BEFORE_THE_SENDER:
        sends.is_full = True
    else:
        sends.is_closing = True


@action(by=CLOSER, description="goes on to close the producer", source="Sender.initiateClose; RecordAccumulator.close")
def go_on_to_close(sends: SendAmidAClose) -> None:
    """The second half."""
    require(sends.is_closing != sends.is_full)
    sends.is_closing = sends.is_full = True


@action(by=SENDER, description="ends, as nothing is left to send", source="Sender.run; NetworkClient.close")
def end_of_sender(sends: SendAmidAClose) -> None:
    """Sends that wait are woken: since KAFKA-6897 for metadata, since KAFKA-9449 for memory."""
    require(sends.is_closing and sends.send is not SendStep.BUFFERED)
    sends.has_ended = True
    is_woken = (sends.send is SendStep.METADATA and bool(SENDS_END_WITHOUT_METADATA)) or (
        sends.send is SendStep.MEMORY and bool(SENDS_END_WITHOUT_MEMORY)
    )
    if is_woken:
        sends.send = SendStep.REFUSED


class BatchStep(Enum):
    """How far a batch is."""

    BUFFERED = "buffered"
    SENT = "sent"
    APPENDED = "in the log"


class GetStep(Enum):
    """A call of get, with a timeout of seconds, on the future of a record."""

    NONE = "not called"
    WAITING = "waits"
    ENDED = "has ended with TimeoutException in time"
    ENDED_EARLY = "has ended with TimeoutException at once"


@state
class SplitBatch:
    """A compressed batch of records with headers, which may be larger than the producer had estimated.

    Attributes:
        is_split: whether the producer has split it.
        lacks_headers: whether its records have lost their headers.
    """

    step: BatchStep = choice(BatchStep)
    get: GetStep = choice(GetStep)
    is_split: bool = flag()
    lacks_headers: bool = flag()


@action(by=SENDER, description="sends the batch", source="Sender.sendProduceRequest")
def send_batch(batch: SplitBatch) -> None:
    """Or what it was split into."""
    require(batch.step is BatchStep.BUFFERED)
    batch.step = BatchStep.SENT


@action(by=SENDER, description="splits the batch: MESSAGE_TOO_LARGE", source="ProducerBatch.split (KIP-126)")
def split_batch(batch: SplitBatch) -> None:
    """Its records go to other batches, and futures to theirs.

    In 0.11.0.0 (KAFKA-5700) without their headers. A get that waits goes on with what is left of its timeout, until
    KAFKA-7518 as if that was of milliseconds.
    """
    require(batch.step is BatchStep.SENT and not batch.is_split)
    batch.step, batch.is_split, batch.lacks_headers = BatchStep.BUFFERED, True, not HEADERS_OUTLIVE_SPLITS
    if batch.get is GetStep.WAITING and not GETS_KEEP_THEIR_UNIT:
        batch.get = GetStep.ENDED_EARLY


@action(by=BROKER, description="appends the batch", source="Partition.appendRecordsToLeader")
def append_batch(batch: SplitBatch) -> None:
    """The future is done."""
    require(batch.step is BatchStep.SENT)
    batch.step = BatchStep.APPENDED
    if batch.get is GetStep.WAITING:
        batch.get = GetStep.NONE


@action(by=APPLICATION, description="calls get on the future of a record", source="FutureRecordMetadata.get")
def get_future(batch: SplitBatch) -> None:
    """For some seconds."""
    require(batch.get is GetStep.NONE and batch.step is not BatchStep.APPENDED)
    is_early = batch.is_split and not GETS_KEEP_THEIR_UNIT
    batch.get = GetStep.ENDED_EARLY if is_early else GetStep.WAITING


@action(by=CLOCK, description="passes the timeout of get", source="FutureRecordMetadata.get: TimeoutException")
def pass_timeout(batch: SplitBatch) -> None:
    """The record may be written nevertheless."""
    require(batch.get is GetStep.WAITING)
    batch.get = GetStep.ENDED


@state
class DrainedPartitions:
    """A broker that leads two partitions, and another one that leads one, all with full batches.

    A request has room for one batch.

    Attributes:
        index: at which partition of the first broker the sender's thread begins.
        passed_over: how many requests to that broker have been without a batch of each partition, up to two.
    """

    index: int = number(0, 1)
    passed_over: Array[int] = array(DRAINED, number(0, 2))


@action(
    by=PRODUCER,
    description="takes a batch for the broker with two partitions",
    source="RecordAccumulator.drainBatchesForOneNode: drainIndex",
)
def drain_two_partitions(drained: DrainedPartitions) -> None:
    """The batch of the next partition does not fit; from 2.1.0 to KAFKA-13834 that partition had had its turn then."""
    sent = drained.index
    for p in DRAINED:
        drained.passed_over[p] = 0 if p == sent else min(2, drained.passed_over[p] + 1)
    drained.index = sent if DRAIN_INDEX == "moved first" else 1 - sent


@action(
    by=PRODUCER,
    description="takes a batch for the broker with one partition",
    source="RecordAccumulator.drainBatchesForOneNode: drainIndex % parts.size()",
)
def drain_one_partition(drained: DrainedPartitions) -> None:
    """Until KAFKA-13834 with the same index, which is 0 then."""
    if DRAIN_INDEX != "of each broker":
        drained.index = 0
