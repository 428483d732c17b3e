"""Properties of appends in transactions amid an upgrade."""

from __future__ import annotations

from kwalk.model.kafka.server.transaction_verification import (
    FencedTransaction,
    LastBatch,
    NextTransaction,
    VerifiedAppend,
)
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


@always(
    symptom="consumers with read_committed get a part of a transaction, whose producer then gets INVALID_TXN_STATE",
    log="none: the coordinator commits the transaction as it is asked to",
)
def producer_commits_what_is_read(producer: NextTransaction) -> bool:
    """Records of a transaction are read once its producer has committed it."""
    return not producer.is_read_early


@step(symptom="a transaction is open that has ended, or the other way round", log="none")
def transaction_ends_by_a_request(before: NextTransaction, after: NextTransaction) -> bool:
    """A transaction that ends was committed by its producer, or aborted, or a late request has ended it."""
    premise(before.is_open != after.is_open)
    if after.is_open:
        return before.is_second == after.is_second and before.has_late_copy == after.has_late_copy
    is_late = before.has_late_copy and not after.has_late_copy and after.is_read_early
    is_abort = before.has_late_copy == after.has_late_copy and before.is_read_early == after.is_read_early
    return before.is_second != after.is_second or is_late or is_abort


@step(symptom="a transaction is committed that has no records", log="none")
def first_transaction_is_committed_once(before: NextTransaction, after: NextTransaction) -> bool:
    """The first transaction is committed while it is open, once; a copy of the request is late by that only."""
    premise(before.is_second != after.is_second or before.has_late_copy < after.has_late_copy)
    return before.is_open and after.is_second and not before.is_second and not after.is_open


@step(symptom="records are read of a transaction that goes on", log="none")
def early_read_ends_a_transaction(before: NextTransaction, after: NextTransaction) -> bool:
    """Records that are read early are of a transaction that was open, and is no more."""
    premise(before.is_read_early != after.is_read_early)
    return before.is_open and not after.is_open


@step(symptom="a late request is handled again and again", log="none")
def late_copy_comes_once(before: NextTransaction, after: NextTransaction) -> bool:
    """A late copy comes in the second transaction, and may have been of one that is not open."""
    premise(before.has_late_copy and not after.has_late_copy)
    return before.is_second and after.is_second and (after.is_read_early or before.is_open == after.is_open)


@reachable()
def late_copy_meets_a_transaction(producer: NextTransaction) -> bool:
    """The next transaction is open while a request of the one before is late."""
    return producer.is_open and producer.has_late_copy


@reachable()
def late_copy_meets_none(producer: NextTransaction) -> bool:
    """A late request has come, and the next transaction goes on."""
    return producer.is_open and producer.is_second and not producer.has_late_copy
