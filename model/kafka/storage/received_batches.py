"""LogValidator, ProduceRequest: which batches of producers a leader appends, and which it refuses.

What the model leaves out, and why its story loses nothing by it: records of a batch but for their offsets; and what is
converted, which `cleaner_formats` has for the cleaner.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import CONSUMER, OPERATOR, PRODUCER
from kwalk.model.kafka.storage.versions.batches import (
    DAMAGED_MESSAGES_ARE_REFUSED,
    OFFSETS_OF_A_BATCH_ARE_COUNTED,
    OLD_BATCHES_MAY_HAVE_GAPS,
    OLD_ZSTD_IS_ANSWERED,
    ZSTD_WAITS_FOR_THE_PROTOCOL,
)
from kwalk.model.language import Actor, action, choice, flag, require, state

REPLICA = Actor("follower")


class Received(Enum):
    """What a producer has got."""

    NONE = "nothing was sent"
    APPENDED = "that the batch is appended"
    REFUSED = "an error"
    CLOSED = "a closed connection, and no answer"


class Fault(Enum):
    """What is special about the batch that was sent last."""

    NONE = "nothing"
    COUNT = "its records are not as many as its offsets, by an error of the client"
    GAPS = "it has message format v1, and offsets that do not follow each other"
    ZSTD = "it is compressed with zstd"
    OLD_ZSTD = "the same, in a request of before zstd"
    CHECKSUM = "a message in it is not that of its checksum, and offsets are those of another log"


@state
class ReceivingLog:
    """A leader's log, the last batch, and what its producer has got.

    Attributes:
        is_upgraded: whether inter.broker.protocol.version is 2.1 or later, as all brokers are.
        has_zstd: whether the log has a batch in zstd, which followers of before 2.1 cannot fetch.
        has_hole: whether it has a batch whose records are not as many as its offsets.
    """

    is_upgraded: bool = flag()
    has_zstd: bool = flag()
    has_hole: bool = flag()
    fault: Fault = choice(Fault)
    received: Received = choice(Received)


def receive(log: ReceivingLog, fault: Fault, received: Received) -> None:
    """Note a batch and its answer."""
    log.fault = fault
    log.received = received


@action(
    by=OPERATOR,
    description="sets inter.broker.protocol.version to 2.1",
    source="KafkaConfig.interBrokerProtocolVersion",
)
def raise_protocol(log: ReceivingLog) -> None:
    """All brokers are of 2.1 or later by then."""
    require(not log.is_upgraded)
    log.is_upgraded = True
    receive(log, Fault.NONE, Received.NONE)


@action(by=PRODUCER, description="sends a batch", source="LogValidator.validateMessagesAndAssignOffsets")
def send_sound(log: ReceivingLog) -> None:
    """It is appended."""
    receive(log, Fault.NONE, Received.APPENDED)


@action(by=PRODUCER, description="sends a batch with a wrong count", source="LogValidator.validateBatch")
def send_wrong_count(log: ReceivingLog) -> None:
    """Up to 1.0 it was appended, and the end offset of the log is above its records."""
    if OFFSETS_OF_A_BATCH_ARE_COUNTED:
        receive(log, Fault.COUNT, Received.REFUSED)
    else:
        log.has_hole = True
        receive(log, Fault.COUNT, Received.APPENDED)


@action(by=PRODUCER, description="sends an earlier batch with gaps", source="LogValidator.validateOffset")
def send_with_gaps(log: ReceivingLog) -> None:
    """The leader assigns offsets; in 2.4 and 2.5.0 it refused the batch."""
    receive(log, Fault.GAPS, Received.APPENDED if OLD_BATCHES_MAY_HAVE_GAPS else Received.REFUSED)


@action(
    by=PRODUCER, description="sends a batch in zstd", source="LogValidator.validateMessagesAndAssignOffsetsCompressed"
)
def send_zstd(log: ReceivingLog) -> None:
    """Since 2.2 it is refused until the inter-broker protocol says that followers know zstd."""
    if log.is_upgraded or not ZSTD_WAITS_FOR_THE_PROTOCOL:
        log.has_zstd = True
        receive(log, Fault.ZSTD, Received.APPENDED)
    else:
        receive(log, Fault.ZSTD, Received.REFUSED)


@action(by=PRODUCER, description="sends a batch in zstd in an earlier request", source="ProduceRequest.validateRecords")
def send_old_zstd(log: ReceivingLog) -> None:
    """In 2.1.0 the request could not be read."""
    receive(log, Fault.OLD_ZSTD, Received.REFUSED if OLD_ZSTD_IS_ANSWERED else Received.CLOSED)


@action(
    by=PRODUCER,
    description="sends a compressed set with a damaged message, as it was fetched from another log",
    source="LogValidator.validateMessagesAndAssignOffsetsCompressed: inPlaceAssignment",
)
def send_damaged(log: ReceivingLog) -> None:
    """Such a set is compressed again; up to 0.10.2 with the message, and a new checksum around it."""
    receive(log, Fault.CHECKSUM, Received.REFUSED if DAMAGED_MESSAGES_ARE_REFUSED else Received.APPENDED)


@action(by=CONSUMER, description="begins again behind what is there", source="DeleteRecords; retention")
def forget_batches(log: ReceivingLog) -> None:
    """Batches that are special have gone."""
    log.has_zstd = log.has_hole = False
    receive(log, Fault.NONE, Received.NONE)
