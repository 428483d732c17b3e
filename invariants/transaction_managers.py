"""Properties of the producer's half of a transaction."""

from __future__ import annotations

from kwalk.model.kafka.clients.transaction_manager import (
    IN_FLIGHT,
    NUMBERED,
    NUMBERS,
    BatchesInFlight,
    CallStep,
    ClosedProducer,
    CloseStep,
    HeldTransaction,
    ManagerState,
    NumberedPartitions,
    OffsetsOfATransaction,
    OffsetStep,
    RepeatedCall,
    SenderTurns,
    SenderWait,
    SentPhase,
    SentTransaction,
    ThrottledSender,
)
from kwalk.model.kafka.server.versions import CALLS_KEEP_THEIR_RESULTS, NUMBERS_WRAP
from kwalk.model.language import always, premise, reachable, step

UNREADY = (ManagerState.INITIALIZING, ManagerState.COMMITTING)
AT_AN_END = (CloseStep.ENDED, CloseStep.ENDED_BY_FORCE)


@always(
    symptom="a transaction that its producer has committed lacks a record; only the callback of send was told",
    log="none: RecordTooLargeException, TimeoutException or BufferExhaustedException in the callback",
)
def committed_transaction_has_all_records(transaction: SentTransaction) -> bool:
    """A transaction is committed only if each of its records was sent."""
    return not (transaction.phase is SentPhase.COMMITTED and transaction.lacks_a_record)


@step(symptom="a transaction fails without a record that was refused", log="none")
def transaction_ends_in_turn(before: SentTransaction, after: SentTransaction) -> bool:
    """An open transaction fails with a record, or ends; one that has failed is aborted; another one begins anew."""
    premise(before.phase is not after.phase or before.lacks_a_record != after.lacks_a_record)
    if after.phase is SentPhase.OPEN:
        has_begun = before.phase in (SentPhase.COMMITTED, SentPhase.ABORTED)
        return has_begun != after.lacks_a_record and (has_begun or before.phase is SentPhase.OPEN)
    if after.phase is SentPhase.FAILED:
        return before.phase is SentPhase.OPEN and after.lacks_a_record
    is_open = before.phase is SentPhase.OPEN or (before.phase is SentPhase.FAILED and after.phase is SentPhase.ABORTED)
    return is_open and before.lacks_a_record == after.lacks_a_record


@reachable()
def failed_transaction_is_aborted(transaction: SentTransaction) -> bool:
    """A transaction that lacks a record is aborted."""
    return transaction.phase is SentPhase.ABORTED and transaction.lacks_a_record


@reachable()
def whole_transaction_is_committed(transaction: SentTransaction) -> bool:
    """A transaction with all its records is committed."""
    return transaction.phase is SentPhase.COMMITTED and not transaction.lacks_a_record


@always(
    symptom="initTransactions, commitTransaction or abortTransaction, called again after a TimeoutException, ends with "
    "an error although it was done; who sends the records again has them twice",
    log="none: the producer: Invalid transition attempted from state READY to state COMMITTING_TRANSACTION",
)
def repeated_call_returns(producer: RepeatedCall) -> bool:
    """A call that timed out returns when it is repeated, if its request has ended well."""
    return producer.call is not CallStep.REFUSED


@step(symptom="a call ends by itself", log="none")
def call_ends_in_turn(before: RepeatedCall, after: RepeatedCall) -> bool:
    """A call begins with its request, ends with its answer or its timeout, and waits again if it is repeated before."""
    premise(before.call is not after.call)
    if after.call is CallStep.WAITING:
        is_begun = before.call is CallStep.NONE and before.manager is not after.manager
        return after.manager in UNREADY and (is_begun or before.call is CallStep.TIMED_OUT)
    if after.call is CallStep.TIMED_OUT:
        return before.call is CallStep.WAITING and before.manager is after.manager and after.manager in UNREADY
    is_answered = before.call is CallStep.WAITING and after.call is CallStep.NONE
    return after.manager is ManagerState.READY and (is_answered or before.call is CallStep.TIMED_OUT)


@step(symptom="a producer begins or ends a transaction by itself", log="none")
def manager_follows_calls(before: RepeatedCall, after: RepeatedCall) -> bool:
    """A producer gets its id once, is ready when it is answered, and begins a transaction when no call is left."""
    premise(before.manager is not after.manager)
    if after.manager is ManagerState.READY:
        return before.manager in UNREADY and (before.call is not CallStep.WAITING or after.call is CallStep.NONE)
    if after.manager is ManagerState.IN_TRANSACTION:
        return before.manager is ManagerState.READY and before.call is CallStep.NONE
    is_init = after.manager is ManagerState.INITIALIZING
    former = ManagerState.UNINITIALIZED if is_init else ManagerState.IN_TRANSACTION
    return before.manager is former and after.call is CallStep.WAITING


@reachable()
def commit_is_answered_late(producer: RepeatedCall) -> bool:
    """A commit that timed out has been answered."""
    return producer.manager is ManagerState.READY and producer.call is CallStep.TIMED_OUT


@reachable()
def commit_times_out(producer: RepeatedCall) -> bool:
    """A commit has timed out, and its request goes on."""
    return producer.manager is ManagerState.COMMITTING and producer.call is CallStep.TIMED_OUT


@always(
    symptom="close(timeout) of a producer does not return while no broker answers",
    log="none: the thread kafka-producer-network-thread stays in maybeWaitForProducerId or "
    "maybeSendTransactionalRequest",
)
def forced_close_is_heeded(producer: ClosedProducer) -> bool:
    """A sender's thread ends when the close is forced, whatever it waits for."""
    return not producer.is_ignored


@always(
    symptom="close() of a producer does not return, and its log fills a disk",
    log="none: the producer: Error in kafka producer I/O thread while aborting transaction: … Cannot attempt "
    "operation `abortTransaction` because the previous call to `commitTransaction` timed out and must be retried",
)
def close_goes_on(producer: ClosedProducer) -> bool:
    """A producer that is closed does not try again what is refused for good."""
    return not producer.repeats


@always(
    symptom="consumers with read_committed stop at the transaction of a producer that was closed, for "
    "transaction.timeout.ms",
    log="none",
)
def closed_producer_has_no_transaction(producer: ClosedProducer) -> bool:
    """A producer whose close was not forced has ended its transaction."""
    return producer.close is not CloseStep.ENDED or producer.transaction is HeldTransaction.NONE


@always(
    symptom="connections of a producer stay open that was closed",
    log="none: IllegalStateException in kafka-producer-network-thread: Cannot attempt operation `abortTransaction`",
)
def closed_producer_has_no_connections(producer: ClosedProducer) -> bool:
    """A sender's thread that ends closes its connections."""
    return not producer.keeps_connections


@step(symptom="a close ends before it has begun", log="none")
def close_goes_in_turn(before: ClosedProducer, after: ClosedProducer) -> bool:
    """A close waits for the sender's thread, may be forced, and ends when that waits for nothing."""
    premise(before.close is not after.close)
    if after.close is CloseStep.CLOSING:
        return before.close is CloseStep.NONE
    if after.close is CloseStep.FORCED:
        return before.close is CloseStep.CLOSING
    former = CloseStep.CLOSING if after.close is CloseStep.ENDED else CloseStep.FORCED
    return before.close is former and before.wait is SenderWait.NONE


@step(symptom="a transaction of a producer changes by itself", log="none")
def held_transaction_follows_its_producer(before: ClosedProducer, after: ClosedProducer) -> bool:
    """A transaction begins and ends while brokers answer, and fails while none does, before the close."""
    premise(before.transaction is not after.transaction or before.awaits_a_commit != after.awaits_a_commit)
    if after.transaction is HeldTransaction.NONE:
        is_refused = before.awaits_a_commit and bool(CALLS_KEEP_THEIR_RESULTS)
        is_sent = not before.is_alone and before.wait is SenderWait.NONE
        return before.close is CloseStep.CLOSING and is_sent and not is_refused
    if after.transaction is HeldTransaction.OPEN and before.wait is not SenderWait.NONE:
        return False
    is_next = before.transaction is (
        HeldTransaction.NONE if after.transaction is HeldTransaction.OPEN else HeldTransaction.OPEN
    )
    is_failed = after.transaction is HeldTransaction.FAILED
    return is_next and before.close is CloseStep.NONE and before.is_alone == is_failed


@step(symptom="a sender's thread waits, or stops waiting, without a cause", log="none")
def sender_waits_for_brokers(before: ClosedProducer, after: ClosedProducer) -> bool:
    """A sender's thread begins to wait while no broker answers, and ends as one does, or as the close is forced."""
    premise(before.wait is not after.wait)
    if after.wait is SenderWait.NONE:
        return not before.is_alone or before.close is CloseStep.FORCED
    is_idempotent = before.transaction is HeldTransaction.NONE or after.wait is SenderWait.COORDINATOR
    return before.wait is SenderWait.NONE and before.is_alone and before.close is CloseStep.NONE and is_idempotent


@reachable()
def forced_close_leaves_a_transaction(producer: ClosedProducer) -> bool:
    """A close by force leaves a transaction as it was."""
    return producer.close is CloseStep.ENDED_BY_FORCE and producer.transaction is HeldTransaction.OPEN


@reachable()
def brokers_come_back(producer: ClosedProducer) -> bool:
    """Brokers answer again after a transaction has failed."""
    return producer.transaction is HeldTransaction.FAILED and not (producer.is_alone or producer.awaits_a_commit)


@reachable()
def commit_is_left_unanswered(producer: ClosedProducer) -> bool:
    """A producer whose commit was not answered is closed by force."""
    return producer.close is CloseStep.ENDED_BY_FORCE and producer.awaits_a_commit


@reachable()
def closed_producer_waited(producer: ClosedProducer) -> bool:
    """A close waits for a thread that looks for a coordinator, and has a transaction."""
    is_closing = producer.close is CloseStep.CLOSING and producer.wait is SenderWait.COORDINATOR
    return is_closing and producer.transaction is HeldTransaction.FAILED


@reachable()
def close_waits_for_an_id(producer: ClosedProducer) -> bool:
    """A close is forced as the thread waits for a producer id."""
    return producer.close is CloseStep.FORCED and producer.wait is SenderWait.ID


@always(
    symptom="a transactional producer ends, as the coordinator of its consumer group has moved",
    log="COORDINATOR_LOAD_IN_PROGRESS in responses to TxnOffsetCommit",
)
def producer_outlives_a_load(offsets: OffsetsOfATransaction) -> bool:
    """A producer that sends offsets to a coordinator that loads waits for it."""
    return offsets.step is not OffsetStep.ENDED


@step(symptom="offsets are part of a transaction before they are answered", log="none")
def offsets_are_taken_by_an_answer(before: OffsetsOfATransaction, after: OffsetsOfATransaction) -> bool:
    """Offsets are sent, and then taken by a coordinator that has loaded the group, or refused by one that has not."""
    premise(before.step is not after.step)
    if after.step is OffsetStep.SENT:
        return before.step is OffsetStep.NONE or before.step is OffsetStep.TAKEN
    return before.step is OffsetStep.SENT and before.is_loading == (after.step is OffsetStep.ENDED)


@step(symptom="a coordinator loads a group as it answers", log="none")
def load_is_a_step_of_its_own(before: OffsetsOfATransaction, after: OffsetsOfATransaction) -> bool:
    """A load begins or ends by itself."""
    premise(before.is_loading != after.is_loading)
    return before.step is after.step


@reachable()
def offsets_wait(offsets: OffsetsOfATransaction) -> bool:
    """Offsets are sent to a coordinator that loads."""
    return offsets.step is OffsetStep.SENT and offsets.is_loading


@always(
    symptom="initTransactions ends with TimeoutException each time, with max.in.flight.requests.per.connection=1",
    log="none",
)
def sender_reads_answers(turns: SenderTurns) -> bool:
    """A sender's thread that finds no broker to send to reads the answers that have come."""
    return not turns.is_stuck


@step(symptom="an answer is read that has not come", log="none")
def request_is_answered_first(before: SenderTurns, after: SenderTurns) -> bool:
    """A request is in flight until its answer is read, which comes once; none is sent meanwhile."""
    premise(before.is_in_flight != after.is_in_flight or before.is_answered != after.is_answered)
    if after.is_in_flight and not before.is_in_flight:
        return not after.is_answered and not before.is_queued
    if after.is_answered:
        return before.is_in_flight and not before.is_answered
    return before.is_answered and not after.is_in_flight and before.is_queued == after.is_queued


@step(symptom="a request is sent while another one is in flight", log="none")
def queued_request_waits(before: SenderTurns, after: SenderTurns) -> bool:
    """A request that is queued goes to a broker that has none in flight."""
    premise(before.is_queued and not after.is_queued)
    return not before.is_in_flight and not before.is_stuck


@reachable()
def request_is_queued_amid_another(turns: SenderTurns) -> bool:
    """A request waits for another one that is answered."""
    return turns.is_queued and turns.is_answered and not turns.is_stuck


@always(
    symptom="a transactional producer that exceeds a quota hangs: commitTransaction does not return",
    log="none: the producer: Attempt to send a request to node … which is not ready",
)
def request_outlives_a_throttle(sender: ThrottledSender) -> bool:
    """A request that waits for the end of a throttle is sent then."""
    return not sender.is_lost


@step(symptom="a request is sent by itself", log="none")
def request_is_sent_in_turn(before: ThrottledSender, after: ThrottledSender) -> bool:
    """A request is queued, waits for the coordinator, and goes when nothing is throttled."""
    noted = before.began_throttled != after.began_throttled
    premise(before.is_queued != after.is_queued or before.has_begun != after.has_begun or noted)
    if after.has_begun:
        is_next = before.is_queued and after.is_queued and not before.has_begun
        return is_next and after.began_throttled == after.is_throttled
    if before.has_begun:
        return not after.is_queued and not before.is_throttled
    return after.is_queued and not before.is_queued


@reachable()
def throttle_begins_amid_a_wait(sender: ThrottledSender) -> bool:
    """Nothing may be sent any more, after the wait for the coordinator began."""
    return sender.has_begun and sender.is_throttled and not sender.began_throttled


@reachable()
def request_waits_for_a_throttle(sender: ThrottledSender) -> bool:
    """A request may be sent that could not when its wait began."""
    return sender.has_begun and sender.began_throttled and not sender.is_throttled


@always(
    symptom="records of an idempotent producer are in another order than they were sent, after its records were "
    "deleted from a log",
    log="none: the producer: Resetting sequence number of batch with current sequence … for partition … to …",
)
def batches_keep_their_order(batches: BatchesInFlight) -> bool:
    """Batches are appended in the order in which they were sent."""
    return not batches.is_out_of_order


@step(symptom="a batch is appended out of turn", log="none")
def batch_is_appended_by_its_number(before: BatchesInFlight, after: BatchesInFlight) -> bool:
    """Batches are numbered once, each apart, before one is appended after the other."""
    premise(before.appended != after.appended or before.is_renumbered != after.is_renumbered)
    if before.is_renumbered != after.is_renumbered:
        are_apart = all(after.numbers[b] != after.numbers[c] for b in IN_FLIGHT for c in IN_FLIGHT if b < c)
        return are_apart and after.numbers[0] == 0 and before.appended == after.appended == 0
    return after.appended == before.appended + 1 and before.is_renumbered


@reachable()
def all_batches_are_appended(batches: BatchesInFlight) -> bool:
    """The log has all of them."""
    return batches.appended == 3


@always(
    symptom="after a batch that timed out, leaders refuse batches of other partitions, too, and the epoch rises each "
    "time",
    log="OUT_OF_ORDER_SEQUENCE_NUMBER in responses to Produce",
)
def first_batch_of_an_epoch_is_taken(producer: NumberedPartitions) -> bool:
    """A leader takes the first batch of an epoch that a producer has raised."""
    return not producer.is_refused


@always(symptom="a log has a batch of an epoch that its producer has not had", log="none")
def logged_epoch_is_the_producers(producer: NumberedPartitions) -> bool:
    """No log, and no partition, has an epoch above that of the producer."""
    return all(producer.logged[p] <= producer.epochs[p] <= producer.epoch for p in NUMBERED)


def next_number(number: int) -> int:
    """Return the sequence number that comes next."""
    return 0 if number == NUMBERS else number + 1


@always(
    symptom="an idempotent producer ends after 2,147,483,647 records of a partition",
    log="java.lang.IllegalArgumentException: Invalid negative sequence number used",
)
def producer_outlives_its_numbers(producer: NumberedPartitions) -> bool:
    """A producer writes more records to a partition than there are sequence numbers."""
    return not producer.has_ended


@step(symptom="a batch is numbered with what was given before", log="none")
def numbers_go_on(before: NumberedPartitions, after: NumberedPartitions) -> bool:
    """One partition's number rises by one, with the epoch of the producer, or begins again, with the next epoch."""
    changed = [p for p in NUMBERED if before.numbers[p] != after.numbers[p]]
    premise(len(changed) > 0 or before.epoch != after.epoch)
    if before.epoch != after.epoch:
        began = [p for p in NUMBERED if after.epochs[p] == after.epoch]
        is_next = after.epoch == before.epoch + 1 and all(before.logged[p] == after.logged[p] for p in NUMBERED)
        return is_next and len(began) == 1 and all(after.numbers[p] == 0 and p in began for p in changed)
    is_next = all(
        after.numbers[p] == (next_number(before.numbers[p]) if before.epochs[p] == after.epoch else 1) for p in changed
    )
    is_logged = all(after.logged[p] == after.epochs[p] == after.epoch for p in changed)
    return len(changed) == 1 and is_next and is_logged and not after.is_refused


@reachable()
def number_follows_the_highest(producer: NumberedPartitions) -> bool:
    """The next batch has number 0, though the last one had that epoch, too; or a release has negative numbers."""
    is_next = any(producer.logged[p] == producer.epoch and producer.numbers[p] == 0 for p in NUMBERED)
    return producer.epoch > 0 and (is_next or not NUMBERS_WRAP)


@reachable()
def numbers_rise(producer: NumberedPartitions) -> bool:
    """A partition has had as many batches of an epoch that has risen as there are numbers."""
    return producer.epoch > 0 and any(producer.numbers[p] == NUMBERS for p in NUMBERED)


@reachable()
def both_partitions_have_the_epoch(producer: NumberedPartitions) -> bool:
    """Both logs have batches of an epoch that has risen."""
    return producer.epoch > 0 and all(producer.logged[p] == producer.epoch for p in NUMBERED)
