"""Properties of transactional ids at their coordinators."""

from __future__ import annotations

from kwalk.model.kafka.server.transaction_coordinator import (
    FencedId,
    IdAnswer,
    IdAppend,
    IdPhase,
    MarkerStep,
    MovedTransactions,
    NewProducer,
    TimedOutTransaction,
    TransactionalId,
)
from kwalk.model.language import always, premise, reachable, step

AT_REST = (IdPhase.UNKNOWN, IdPhase.EMPTY, IdPhase.COMPLETE)


@always(
    symptom="a transactional producer waits until max.block.ms, also after a restart, until its coordinator moves",
    log="none: CONCURRENT_TRANSACTIONS in responses to InitProducerId and AddPartitionsToTxn",
)
def transactional_id_can_be_used(identity: TransactionalId) -> bool:
    """A transition is pending only while its record is being appended."""
    return not identity.is_pending or identity.append is not IdAppend.NONE


@always(
    symptom="consumers with read_committed stop at a transaction, and its producer begins no other, until the "
    "coordinator moves",
    log="none: kafka-transactions.sh shows PrepareCommit or PrepareAbort",
)
def prepared_transaction_is_completed(identity: TransactionalId) -> bool:
    """A transaction that is to end has a marker on its way, or its completion is being appended."""
    is_marked = identity.marker is MarkerStep.QUEUED or identity.marker is MarkerStep.SENT
    return identity.phase is not IdPhase.PREPARED or is_marked or identity.append is IdAppend.COMPLETE


@always(
    symptom="transactional ids that are not used any more fill the memory of a broker and `__transaction_state`",
    log="server.log: Uncaught exception in scheduled task 'transactionalId-expiration'; or Failed to remove expired "
    "transactionalId: … from cache. Tombstone append error code: MESSAGE_TOO_LARGE",
)
def other_ids_expire(identity: TransactionalId) -> bool:
    """No id keeps others from expiring."""
    return not identity.keeps_others


@step(symptom="the state of a transactional id changes without a record", log="none")
def phase_follows_a_record(before: TransactionalId, after: TransactionalId) -> bool:
    """An id gets another state by the record that was appended, or is new."""
    premise(before.phase is not after.phase)
    if before.phase is IdPhase.UNKNOWN:
        return after.phase is IdPhase.EMPTY and not after.has_epoch and after.append is IdAppend.INIT
    by_record = (
        (before.append is IdAppend.INIT and after.phase is IdPhase.EMPTY and after.has_epoch)
        or (before.append is IdAppend.ADD and after.phase is IdPhase.ONGOING and not after.was_set_back)
        or (before.append is IdAppend.PREPARE and after.phase is IdPhase.PREPARED and before.phase is IdPhase.ONGOING)
        or (before.append is IdAppend.COMPLETE and after.phase is IdPhase.COMPLETE)
        or (before.append is IdAppend.TOMBSTONE and after.phase is IdPhase.UNKNOWN and not after.was_set_back)
    )
    return by_record and after.append is IdAppend.NONE and not after.is_pending


@step(symptom="a record is appended out of turn", log="none")
def record_is_appended_in_turn(before: TransactionalId, after: TransactionalId) -> bool:
    """A record is appended after the one before, in a state that it may follow, and its transition is pending."""
    premise(before.append is not after.append and after.append is not IdAppend.NONE)
    is_idle = before.phase in AT_REST and before.marker is MarkerStep.NONE
    if after.append is IdAppend.PREPARE:
        may_follow = before.phase is IdPhase.ONGOING
    elif after.append is IdAppend.COMPLETE:
        may_follow = before.phase is IdPhase.PREPARED and before.marker is MarkerStep.SENT
    elif after.append is IdAppend.ADD:
        may_follow = is_idle and before.has_epoch
    else:
        may_follow = is_idle
    return may_follow and before.append is IdAppend.NONE and not before.is_pending and after.is_pending


@step(symptom="a marker is lost, or written out of turn", log="none")
def marker_moves_in_turn(before: TransactionalId, after: TransactionalId) -> bool:
    """A marker is queued as the end is replicated, then sent, and written or sent again until it is."""
    premise(before.marker is not after.marker)
    if after.marker is MarkerStep.QUEUED:
        return before.marker is MarkerStep.SENT or (before.append is IdAppend.PREPARE and after.has_queue)
    if after.marker is MarkerStep.NONE:
        return before.marker is MarkerStep.SENT or after.phase is IdPhase.COMPLETE
    is_next = before.marker is MarkerStep.QUEUED or (
        before.marker is MarkerStep.SENT and after.marker is MarkerStep.WRITTEN
    )
    return is_next and (after.marker is MarkerStep.WRITTEN) == (before.marker is MarkerStep.SENT)


@step(symptom="a transition that is pending ends without its record", log="none")
def transition_ends_with_its_record(before: TransactionalId, after: TransactionalId) -> bool:
    """A transition ends as its record is refused or replicated; two kinds may be left: an early one, an expiration."""
    is_end = before.append is not IdAppend.NONE and after.append is IdAppend.NONE
    premise(is_end or (before.is_pending and not after.is_pending))
    if after.is_pending:
        is_early = before.append is IdAppend.ADD and before.was_set_back
        return before.phase is after.phase and (is_early or before.append is IdAppend.TOMBSTONE)
    is_replicated = before.phase is not after.phase or before.append is IdAppend.INIT
    is_in_a_queue = after.marker is MarkerStep.QUEUED or not before.has_queue or after.phase is not IdPhase.PREPARED
    return is_end and is_in_a_queue and (is_replicated or before.append is not IdAppend.COMPLETE)


@step(symptom="an id loses its producer epoch, or gets one by itself", log="none")
def epoch_goes_with_the_id(before: TransactionalId, after: TransactionalId) -> bool:
    """An id gets an epoch by its record, and loses it as it expires."""
    premise(before.has_epoch != after.has_epoch)
    return before.append is IdAppend.INIT if after.has_epoch else after.phase is IdPhase.UNKNOWN


@step(symptom="a clock is set back, or a task fails, with something else", log="none")
def clock_is_set_at_rest(before: TransactionalId, after: TransactionalId) -> bool:
    """A clock is set back after a transaction, by itself; a task fails at an id without a transaction."""
    is_task = before.keeps_others != after.keeps_others
    premise(before.was_set_back < after.was_set_back or before.has_unused_id != after.has_unused_id or is_task)
    is_same = before.append is after.append and before.phase is after.phase and before.has_epoch == after.has_epoch
    if is_task:
        is_idle = before.phase in AT_REST and not before.is_pending and before.has_unused_id == after.has_unused_id
        return is_same and is_idle and after.keeps_others and (after.has_epoch or not after.is_pending)
    is_one = before.was_set_back == after.was_set_back or before.has_unused_id == after.has_unused_id
    is_clock = before.phase is IdPhase.COMPLETE or before.was_set_back == after.was_set_back
    return is_same and is_one and is_clock and before.has_unused_id <= after.has_unused_id


@step(symptom="a task that lets ids expire fails without a reason", log="none")
def id_expires_or_the_task_fails(before: TransactionalId, after: TransactionalId) -> bool:
    """A tombstone is appended, or the task fails at an id that has no epoch, and leaves one pending that has."""
    has_begun = before.append is not after.append and after.append is IdAppend.TOMBSTONE
    premise(has_begun or before.keeps_others < after.keeps_others)
    if has_begun:
        return after.is_pending and before.keeps_others == after.keeps_others
    if after.is_pending:
        return before.has_unused_id and before.has_epoch
    return before.has_unused_id or not before.has_epoch


@reachable()
def id_expires(identity: TransactionalId) -> bool:
    """A tombstone is appended for an id that had a transaction."""
    return identity.append is IdAppend.TOMBSTONE and identity.phase is IdPhase.COMPLETE


@reachable()
def id_starts_again(identity: TransactionalId) -> bool:
    """A producer has started again after a transaction."""
    return identity.phase is IdPhase.EMPTY and identity.has_epoch and identity.has_queue


@reachable()
def id_is_unused(identity: TransactionalId) -> bool:
    """An id has no epoch, as its record could not be replicated."""
    return identity.phase is IdPhase.EMPTY and not identity.has_epoch and identity.append is IdAppend.NONE


@reachable()
def transaction_begins_earlier(identity: TransactionalId) -> bool:
    """A transaction begins at a time before the last one."""
    return identity.append is IdAppend.ADD and identity.was_set_back


@reachable()
def marker_is_sent_again(identity: TransactionalId) -> bool:
    """A marker is written of a later transaction."""
    return identity.marker is MarkerStep.WRITTEN and identity.has_queue and identity.is_pending


@always(
    symptom="transactional producers wait until max.block.ms, until the broker is restarted",
    log="The metadata cache for txn partition … has already exist with epoch … and … entries while trying to add to "
    "it; this should not happen",
)
def coordinator_ends_to_load(moved: MovedTransactions) -> bool:
    """A coordinator that gets its partition back loads it."""
    return not moved.is_loading


@always(
    symptom="consumers with read_committed stop at a transaction, and its producer begins no other, until the "
    "coordinator moves",
    log="Transaction coordinator epoch for … has changed from … to …; cancel sending transaction markers … to the "
    "brokers",
)
def loaded_transaction_is_completed(moved: MovedTransactions) -> bool:
    """A coordinator that leads awaits the markers of a transaction that is to end."""
    is_loaded = not moved.is_away and not moved.is_loading
    return not (is_loaded and moved.is_prepared) or moved.is_awaited


@step(symptom="a transaction is completed twice, or without its marker", log="none")
def completion_follows_an_answer(before: MovedTransactions, after: MovedTransactions) -> bool:
    """A transaction is complete by the answer to its marker, and prepared by a coordinator that leads."""
    premise(before.is_prepared != after.is_prepared)
    if after.is_prepared:
        return not before.is_away and not before.is_loading and after.is_awaited and after.is_sent
    return before.is_sent and not after.is_sent and before.is_awaited and not after.is_awaited


@step(symptom="a partition moves with something else", log="none")
def coordinator_moves_apart(before: MovedTransactions, after: MovedTransactions) -> bool:
    """What was sent before a move is answered after it; a coordinator that is back sends the markers again."""
    premise(before.is_away != after.is_away)
    if after.is_away:
        is_old = after.has_old_answer == (before.has_old_answer or before.is_sent)
        return is_old and not after.is_sent and not before.is_loading and before.is_awaited == after.is_awaited
    sends = before.is_prepared and not after.is_loading
    return after.is_sent == sends and not after.is_left and before.is_left == after.is_loading


@step(symptom="a coordinator loads without a move", log="none")
def failed_load_follows_a_move(before: MovedTransactions, after: MovedTransactions) -> bool:
    """A load fails of a partition that is back; a coordinator that does not load is not moved away."""
    premise(before.is_loading != after.is_loading or before.is_away < after.is_away)
    if after.is_away:
        return not before.is_loading
    is_back = before.is_away and after.is_loading and not after.is_left and not after.is_sent
    return is_back and before.is_prepared == after.is_prepared


@step(symptom="markers are sent, or answered, by themselves", log="none")
def marker_is_answered_once(before: MovedTransactions, after: MovedTransactions) -> bool:
    """Each marker that is sent is of a transaction that is to end, and is answered once."""
    premise(before.is_away == after.is_away and before.is_prepared == after.is_prepared)
    if before.has_old_answer != after.has_old_answer:
        return before.has_old_answer and before.is_sent == after.is_sent
    return before.is_sent and not after.is_sent and not before.is_awaited


@reachable()
def old_answer_comes_late(moved: MovedTransactions) -> bool:
    """A coordinator that is back has sent a marker, and one of an earlier leader epoch is not answered yet."""
    return not moved.is_away and moved.is_sent and moved.has_old_answer


@reachable()
def moved_transaction_ends(moved: MovedTransactions) -> bool:
    """A transaction is complete, and an answer is still on its way."""
    return not moved.is_prepared and moved.has_old_answer


@always(
    symptom="a transactional id cannot be used any more, after `__transaction_state` had too few replicas for hours",
    log="java.lang.IllegalStateException: Cannot fence producer with epoch equal to Short.MaxValue",
)
def epoch_rises_once(identity: FencedId) -> bool:
    """An epoch in memory is that of the log, or the next one."""
    return identity.epoch <= identity.written_epoch + 1


@step(symptom="epochs change by themselves", log="none")
def epoch_is_written_when_it_rises(before: FencedId, after: FencedId) -> bool:
    """An epoch rises as a producer is fenced, by one, and is written when it is replicated."""
    premise(before.epoch != after.epoch or before.written_epoch != after.written_epoch)
    if before.epoch != after.epoch:
        return after.epoch == before.epoch + 1 and after.is_fencing and before.written_epoch == after.written_epoch
    return before.is_fencing and not after.is_fencing and after.written_epoch == after.epoch and not after.has_failed


@step(symptom="an attempt to fence a producer has no end, or two", log="none")
def fence_has_one_end(before: FencedId, after: FencedId) -> bool:
    """An attempt ends with its epoch in the log, or has failed."""
    premise(before.is_fencing > after.is_fencing or before.has_failed != after.has_failed)
    is_end = before.is_fencing and not after.is_fencing and before.epoch == after.epoch
    return is_end and after.has_failed == (after.written_epoch < after.epoch)


@reachable()
def fence_is_tried_again(identity: FencedId) -> bool:
    """A producer is to be fenced after an attempt that failed."""
    return identity.is_fencing and identity.has_failed


@reachable()
def producer_is_fenced(identity: FencedId) -> bool:
    """A producer is fenced after an attempt that failed."""
    return identity.written_epoch > 0 and not identity.is_fencing


@always(
    symptom="a transaction that its producer has committed lacks its first records",
    log="Completed rollback ongoing transaction of transactionalId: … due to timeout",
)
def committed_transaction_is_whole(transaction: TimedOutTransaction) -> bool:
    """A transaction that was aborted is not committed."""
    return not (transaction.was_aborted and transaction.is_committed)


@step(symptom="a transaction ends that is not open", log="none")
def open_transaction_ends(before: TimedOutTransaction, after: TimedOutTransaction) -> bool:
    """A transaction that ends is aborted, or committed."""
    premise(before.is_open and not after.is_open)
    return after.is_committed or (after.was_aborted and before.is_committed == after.is_committed)


@step(symptom="a transaction begins that has ended", log="none")
def transaction_begins_before_its_end(before: TimedOutTransaction, after: TimedOutTransaction) -> bool:
    """A transaction is begun that is not committed."""
    premise(not before.is_open)
    return after.is_open and not before.is_committed and before.was_aborted == after.was_aborted


@reachable()
def transaction_is_aborted_after_its_timeout(transaction: TimedOutTransaction) -> bool:
    """A transaction was aborted."""
    return transaction.was_aborted


@reachable()
def transaction_is_committed_in_time(transaction: TimedOutTransaction) -> bool:
    """A transaction is committed."""
    return transaction.is_committed


@always(
    symptom="producers that start while there is no controller end with an exception",
    log="Timed out when requesting AllocateProducerIds from the controller.",
)
def new_producer_waits_for_its_id(producer: NewProducer) -> bool:
    """A producer is not ended by a controller that is late."""
    return producer.answer is not IdAnswer.FATAL


@step(symptom="a producer gets an answer out of turn", log="none")
def answer_follows_a_request(before: NewProducer, after: NewProducer) -> bool:
    """A request is answered once: with an id if there is a controller, with an error if not."""
    premise(before.is_asked != after.is_asked or before.answer is not after.answer)
    if after.is_asked:
        return not before.is_asked and after.answer is IdAnswer.NONE and before.answer is not IdAnswer.ID
    has_id = after.answer is IdAnswer.ID
    return before.is_asked and after.answer is not IdAnswer.NONE and has_id != after.is_gone


@reachable()
def producer_gets_an_id_at_last(producer: NewProducer) -> bool:
    """A producer has an id, and the controller is gone after that."""
    return producer.answer is IdAnswer.ID and producer.is_gone


@reachable()
def producer_is_answered_without_a_controller(producer: NewProducer) -> bool:
    """A producer is answered, and has no id."""
    return producer.answer in (IdAnswer.RETRIABLE, IdAnswer.FATAL)
