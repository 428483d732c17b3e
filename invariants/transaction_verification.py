"""Properties of appends in transactions amid an upgrade."""

from __future__ import annotations

from kwalk.model.kafka.server.transaction_verification import FencedTransaction, LastBatch, VerifiedAppend
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="transactional producers fail, until all brokers are upgraded",
    log="INVALID_REQUEST in responses to AddPartitionsToTxn",
)
def transaction_outlives_an_upgrade(verified: VerifiedAppend) -> bool:
    """A record in a transaction is appended, whichever brokers are upgraded."""
    return not verified.is_refused


@step(symptom="an append has no end, or two", log="none")
def append_has_one_end(before: VerifiedAppend, after: VerifiedAppend) -> bool:
    """An append is done or refused, and brokers stay as they are; an upgrade appends nothing."""
    is_leader = before.is_leader_new != after.is_leader_new
    is_coordinator = before.is_coordinator_new != after.is_coordinator_new
    if is_leader or is_coordinator:
        is_one = is_leader != is_coordinator and before.is_leader_new <= after.is_leader_new
        is_none = not after.is_appended and not after.is_refused
        return is_one and is_none and before.is_coordinator_new <= after.is_coordinator_new
    return after.is_appended != after.is_refused


@reachable()
def leader_is_upgraded_first(verified: VerifiedAppend) -> bool:
    """A record is to be appended by a leader that is upgraded, and whose coordinator is not."""
    is_amid = verified.is_leader_new and not verified.is_coordinator_new
    return is_amid and (verified.is_appended or verified.is_refused)


@reachable()
def all_are_upgraded(verified: VerifiedAppend) -> bool:
    """Both brokers are upgraded."""
    return verified.is_leader_new and verified.is_coordinator_new and verified.is_appended


@always(
    symptom="a transactional producer, such as one of Kafka Streams, ends with InvalidTxnStateException after a stall",
    log="none: INVALID_TXN_STATE in responses to Produce",
)
def fenced_producer_is_told_so(producer: FencedTransaction) -> bool:
    """A batch that comes after its transaction was aborted is refused for its epoch."""
    return producer.batch is not LastBatch.FATAL


@step(symptom="a batch is appended to a transaction that has ended", log="none")
def batch_belongs_to_its_transaction(before: FencedTransaction, after: FencedTransaction) -> bool:
    """A batch is sent in an open transaction, appended to one, and refused to a producer that is fenced."""
    premise(before.batch is not after.batch)
    is_same = before.is_open == after.is_open and before.is_fenced == after.is_fenced
    if after.batch in (LastBatch.SENT, LastBatch.APPENDED):
        return is_same and before.is_open and (before.batch is LastBatch.SENT) == (after.batch is LastBatch.APPENDED)
    return is_same and before.batch is LastBatch.SENT and before.is_fenced and not before.is_open


@step(symptom="a transaction begins again, or goes on after an abort", log="none")
def transaction_is_aborted_once(before: FencedTransaction, after: FencedTransaction) -> bool:
    """A transaction begins, and is aborted with the next epoch; no batch is answered by that."""
    premise(before.is_open != after.is_open or before.is_fenced != after.is_fenced)
    is_abort = before.is_open and not after.is_open and after.is_fenced and not before.is_fenced
    is_begin = after.is_open and not before.is_open and not after.is_fenced and not before.is_fenced
    return (is_abort or is_begin) and before.batch is after.batch


@reachable()
def batch_is_late(producer: FencedTransaction) -> bool:
    """A batch is on its way whose transaction was aborted."""
    return producer.batch is LastBatch.SENT and producer.is_fenced


@reachable()
def batch_is_appended_in_time(producer: FencedTransaction) -> bool:
    """A batch is appended to its transaction."""
    return producer.batch is LastBatch.APPENDED


@reachable()
def late_batch_is_refused(producer: FencedTransaction) -> bool:
    """A batch is refused whose transaction was aborted."""
    return producer.batch in (LastBatch.FENCED, LastBatch.FATAL)
