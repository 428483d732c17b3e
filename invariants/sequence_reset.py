"""Properties of a producer whose records are deleted, or whose partition is created as it sends."""

from __future__ import annotations

from kwalk.model.kafka.storage.sequence_reset import ForgottenProducer, NewPartition, ProducerIs, SentBatch
from kwalk.model.kafka.storage.versions.producers import PRODUCERS_OUTLIVE_RECORDS
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="a transactional producer ends with OutOfOrderSequenceException, after records were deleted",
    log="OUT_OF_ORDER_SEQUENCE_NUMBER in responses to Produce",
)
def producer_outlives_a_deletion(log: ForgottenProducer) -> bool:
    """A producer whose records were deleted goes on."""
    return not log.has_ended


@step(symptom="a batch is appended that is not in sequence", log="none")
def batch_is_appended_in_a_transaction(before: ForgottenProducer, after: ForgottenProducer) -> bool:
    """A batch that is appended is of an open transaction, and its sequence number is known then."""
    premise(after.has_sent and (before.has_sent != after.has_sent or before.has_records < after.has_records))
    return after.is_open and after.has_records and after.producer is ProducerIs.NUMBERED


@step(symptom="a log is wrong about a producer, after its records were deleted", log="none")
def deletion_is_of_what_a_log_keeps(before: ForgottenProducer, after: ForgottenProducer) -> bool:
    """A deletion takes what is known of the producer, too, up to 2.3."""
    premise(before.has_records and not after.has_records)
    return after.producer is (before.producer if PRODUCERS_OUTLIVE_RECORDS else ProducerIs.UNKNOWN)


@step(symptom="a transaction ends unasked, or twice", log="none")
def marker_ends_a_transaction(before: ForgottenProducer, after: ForgottenProducer) -> bool:
    """A marker ends an open transaction, and is known if nothing else is."""
    premise(before.is_open and not after.is_open)
    return after.producer is not ProducerIs.UNKNOWN and after.has_records == before.has_records


@step(symptom="a log knows a producer of which it has got nothing", log="none")
def producer_is_known_by_what_it_sent(before: ForgottenProducer, after: ForgottenProducer) -> bool:
    """A log knows a marker once the transaction has ended, and a number once a batch was appended."""
    premise(before.producer is not after.producer)
    if after.producer is ProducerIs.MARKED:
        return before.is_open and not after.is_open and before.producer is ProducerIs.UNKNOWN
    return after.has_records == (after.producer is ProducerIs.NUMBERED)


@reachable()
def transaction_ends_without_records(log: ForgottenProducer) -> bool:
    """A transaction has ended whose records were deleted."""
    return log.has_sent and not log.has_records and not log.is_open


@always(
    symptom="an idempotent producer's first records to a new topic are lost: they time out, though it sends them again",
    log="Out of order sequence number for producer … at offset … in partition …: … (incoming seq. number), …",
)
def no_batch_is_passed(partition: NewPartition) -> bool:
    """No batch is appended before the one that the producer has sent first."""
    return partition.second is not SentBatch.APPENDED or partition.first is SentBatch.APPENDED


@step(symptom="a producer is told that a batch was appended, and it is not", log="none")
def answered_batch_was_sent(before: NewPartition, after: NewPartition) -> bool:
    """A batch that is answered was on its way; it is appended to a partition only, and stays there."""
    premise(before.first is not after.first)
    if after.first is SentBatch.SENT:
        return before.first is not SentBatch.APPENDED
    is_appended = before.is_created and before.second is not SentBatch.APPENDED
    return before.first is SentBatch.SENT and (after.first is SentBatch.APPENDED) == is_appended


@step(symptom="a producer's second batch is appended out of turn, or refused", log="none")
def second_batch_was_sent(before: NewPartition, after: NewPartition) -> bool:
    """The same of the second batch: it is handled after the first one, and sent again behind it."""
    premise(before.second is not after.second)
    is_behind = before.first is SentBatch.APPENDED
    if after.second is SentBatch.SENT:
        is_next = is_behind or (before.second is SentBatch.UNSENT and before.first is SentBatch.SENT)
        return is_next and before.second is not SentBatch.APPENDED
    is_refused = not before.is_created or not is_behind
    is_next = before.second is SentBatch.SENT and before.first is not SentBatch.SENT
    return is_next and (after.second is not SentBatch.REFUSED or is_refused) and after.second is not SentBatch.UNSENT


@step(symptom="a partition that was created does not stay", log="none")
def partition_is_hosted_by_itself(before: NewPartition, after: NewPartition) -> bool:
    """A partition that its leader hosts stays, and has no batch by that."""
    premise(before.is_created != after.is_created)
    return after.is_created and before.first is after.first and before.second is after.second


@reachable()
def both_batches_are_appended(partition: NewPartition) -> bool:
    """A producer has got both batches into the partition."""
    return partition.first is SentBatch.APPENDED and partition.second is SentBatch.APPENDED


@reachable()
def both_batches_are_on_their_way(partition: NewPartition) -> bool:
    """A producer has sent a batch before it got an answer to the one before."""
    return partition.first is SentBatch.SENT and partition.second is SentBatch.SENT
