"""Properties of batches that a leader appends or refuses."""

from __future__ import annotations

from kwalk.model.kafka.storage.received_batches import Fault, Received, ReceivingLog
from kwalk.model.language import always, premise, reachable, step


@always(symptom="consumers wait for records that are not there, behind a batch of a client with an error", log="none")
def batch_has_a_record_for_each_offset(log: ReceivingLog) -> bool:
    """A batch that is appended has as many records as offsets."""
    return not log.has_hole


@always(
    symptom="consumers stop at a record: it is corrupt, on all replicas",
    log="none: Record is corrupt (stored crc = …, computed crc = …) in consumers",
)
def appended_messages_are_sound(log: ReceivingLog) -> bool:
    """A set with a damaged message is refused."""
    premise(log.fault is Fault.CHECKSUM)
    return log.received is Received.REFUSED


@reachable()
def damaged_message_is_sent(log: ReceivingLog) -> bool:
    """A producer has sent a damaged message."""
    return log.fault is Fault.CHECKSUM


@always(
    symptom="an earlier producer cannot write compressed batches any more, after brokers were upgraded",
    log="INVALID_RECORD in responses to Produce",
)
def earlier_batch_is_accepted(log: ReceivingLog) -> bool:
    """A batch of an earlier format may have gaps among its offsets, as some clients send them."""
    premise(log.fault is Fault.GAPS)
    return log.received is Received.APPENDED


@step(
    symptom="partitions are under-replicated amid an upgrade, as a producer uses zstd",
    log="UNSUPPORTED_COMPRESSION_TYPE in responses to Fetch",
)
def followers_know_the_compression(before: ReceivingLog, after: ReceivingLog) -> bool:
    """A batch is appended in a compression that all brokers know."""
    premise(not before.has_zstd and after.has_zstd)
    return before.is_upgraded


@always(symptom="a producer loses its connection again and again, and sees no error", log="none")
def refused_producer_is_answered(log: ReceivingLog) -> bool:
    """A producer whose batch is refused gets an error."""
    return log.received is not Received.CLOSED


@always(symptom="a sound batch is refused, or another one is appended", log="none")
def sound_batch_is_appended(log: ReceivingLog) -> bool:
    """A batch without a fault is appended, and zstd if the protocol allows it."""
    premise(log.fault is Fault.NONE or (log.fault is Fault.ZSTD and log.is_upgraded))
    return log.received in (Received.APPENDED, Received.NONE)


@always(symptom="a client is told that a batch is appended, which is not", log="none")
def appended_batch_is_there(log: ReceivingLog) -> bool:
    """A batch in zstd that was appended is there, and none is appended in an earlier request."""
    premise(log.received is Received.APPENDED)
    return (log.fault is not Fault.ZSTD or log.has_zstd) and log.fault is not Fault.OLD_ZSTD


@step(symptom="the inter-broker protocol is lowered", log="none")
def protocol_is_raised(before: ReceivingLog, after: ReceivingLog) -> bool:
    """The inter-broker protocol is raised, and never lowered; no batch is sent since."""
    premise(before.is_upgraded != after.is_upgraded)
    return after.is_upgraded and after.received is Received.NONE


@step(symptom="records that were deleted are still there", log="none")
def forgotten_batches_are_gone(before: ReceivingLog, after: ReceivingLog) -> bool:
    """A log whose records were deleted has none that are special."""
    premise(before.received is not Received.NONE and after.received is Received.NONE)
    premise(before.is_upgraded == after.is_upgraded)
    return not after.has_zstd and not after.has_hole


@reachable()
def zstd_is_appended(log: ReceivingLog) -> bool:
    """A batch in zstd is appended."""
    return log.has_zstd and log.fault is Fault.ZSTD


@reachable()
def zstd_is_forgotten(log: ReceivingLog) -> bool:
    """The log has no zstd any more, and nothing was sent since."""
    return log.is_upgraded and not log.has_zstd and log.received is Received.NONE


@reachable()
def zstd_is_early(log: ReceivingLog) -> bool:
    """A batch in zstd is sent before the protocol is raised."""
    return log.fault is Fault.ZSTD and not log.is_upgraded


@reachable()
def wrong_count_is_sent(log: ReceivingLog) -> bool:
    """A batch with a wrong count is sent."""
    return log.fault is Fault.COUNT


@reachable()
def gaps_are_sent(log: ReceivingLog) -> bool:
    """A batch with gaps is sent."""
    return log.fault is Fault.GAPS
