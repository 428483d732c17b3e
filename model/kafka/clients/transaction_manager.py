"""TransactionManager, Sender: the producer's half of a transaction, in the library of its application.

The application's thread calls the producer; the sender's thread sends what is queued, and handles answers. Releases are
those of the library, with brokers of the same release.

What the model leaves out, and why its stories lose nothing by it: what the coordinator does, which
`transaction_coordinator` has; batches that are in flight as an epoch rises, whose partition begins again once they are
answered; and partitions but two, which a producer numbers alike.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.server.versions import (
    ABORTS_AT_A_CLOSE_ARE_CAUGHT,
    CALLS_KEEP_THEIR_RESULTS,
    CLOSES_ABORT_TRANSACTIONS,
    COMMITS_TIME_OUT,
    FAILED_ABORTS_END_A_CLOSE,
    INIT_CALLS_TIME_OUT,
    LOADS_ARE_SAID,
    NEW_EPOCHS_BEGIN_WITH_ZERO,
    NUMBERS_WRAP,
    OFFSETS_WAIT_FOR_A_LOAD,
    REFUSED_RECORDS_FAIL_TRANSACTIONS,
    RENUMBERED_BATCHES_ARE_SORTED,
    REQUESTS_HAVE_THE_PRESENT_TIME,
    SEARCHES_FOR_COORDINATORS_END,
    SENDERS_POLL_WITHOUT_A_NODE,
    WAITS_FOR_IDS_END,
)
from kwalk.model.kafka.storage.domains import FAULT, PRODUCER
from kwalk.model.kafka.storage.producer_state import COORDINATOR
from kwalk.model.language import Actor, Array, Bound, Domain, action, array, choice, flag, number, require, state

APPLICATION = Actor("application", system=False)
SENDER = Actor("sender's thread", system=False)
BROKER = Actor("broker", system=False)
NUMBERED = Domain("numbered_partitions", "partitions that an idempotent producer writes to", default=2)
Numbered = Annotated[int, NUMBERED]
BUMPS = Bound("bumps", "how often a producer raises its epoch", minimum=1)
NUMBERS = Bound("numbers", "the highest sequence number", minimum=1)


class SentPhase(Enum):
    """How far a transaction is."""

    OPEN = "open"
    FAILED = "to be aborted"
    COMMITTED = "committed"
    ABORTED = "aborted"


@state
class SentTransaction:
    """A transaction whose application heeds what commitTransaction says, and no callback of send.

    Attributes:
        lacks_a_record: whether a record was not sent.
    """

    phase: SentPhase = choice(SentPhase)
    lacks_a_record: bool = flag()


@action(
    by=PRODUCER,
    description="refuses a record that is too large, or has no room, or whose topic has no metadata in time",
    source="KafkaProducer.doSend: ApiException",
)
def refuse_record_at_once(transaction: SentTransaction) -> None:
    """The callback learns it. Until KAFKA-9279 the transaction did not."""
    require(transaction.phase is SentPhase.OPEN)
    transaction.lacks_a_record = True
    if REFUSED_RECORDS_FAIL_TRANSACTIONS:
        transaction.phase = SentPhase.FAILED


@action(by=PRODUCER, description="gives up a batch after delivery.timeout.ms", source="Sender.failBatch")
def expire_sent_batch(transaction: SentTransaction) -> None:
    """That is an error of the transaction in all releases."""
    require(transaction.phase is SentPhase.OPEN)
    transaction.lacks_a_record, transaction.phase = True, SentPhase.FAILED


@action(by=APPLICATION, description="commits", source="KafkaProducer.commitTransaction")
def commit_sent_transaction(transaction: SentTransaction) -> None:
    """A transaction with an error is not committed: the call ends with that error."""
    require(transaction.phase is SentPhase.OPEN)
    transaction.phase = SentPhase.COMMITTED


@action(by=APPLICATION, description="aborts, and begins to send again", source="KafkaProducer.abortTransaction")
def abort_sent_transaction(transaction: SentTransaction) -> None:
    """The application may do so without an error, too."""
    require(transaction.phase is SentPhase.OPEN or transaction.phase is SentPhase.FAILED)
    transaction.phase = SentPhase.ABORTED


@action(by=APPLICATION, description="begins a transaction", source="KafkaProducer.beginTransaction")
def begin_next_transaction(transaction: SentTransaction) -> None:
    """After the end of the one before."""
    require(transaction.phase is SentPhase.COMMITTED or transaction.phase is SentPhase.ABORTED)
    transaction.phase, transaction.lacks_a_record = SentPhase.OPEN, False


class ManagerState(Enum):
    """The state of a TransactionManager."""

    UNINITIALIZED = "without a producer id"
    INITIALIZING = "about to get its producer id"
    READY = "ready"
    IN_TRANSACTION = "in a transaction"
    COMMITTING = "about to commit"


class CallStep(Enum):
    """The application's call."""

    NONE = "none"
    WAITING = "waits"
    TIMED_OUT = "has ended with TimeoutException"
    REFUSED = "has ended with KafkaException: Invalid transition attempted"


@state
class RepeatedCall:
    """A producer whose application calls initTransactions or commitTransaction again after a timeout."""

    manager: ManagerState = choice(ManagerState)
    call: CallStep = choice(CallStep)


@action(by=APPLICATION, description="calls initTransactions", source="TransactionManager.initializeTransactions")
def call_init(producer: RepeatedCall) -> None:
    """Once."""
    require(producer.manager is ManagerState.UNINITIALIZED)
    producer.manager, producer.call = ManagerState.INITIALIZING, CallStep.WAITING


@action(by=APPLICATION, description="begins a transaction", source="TransactionManager.beginTransaction")
def begin_after_calls(producer: RepeatedCall) -> None:
    """When no call has timed out."""
    require(producer.manager is ManagerState.READY and producer.call is CallStep.NONE)
    producer.manager = ManagerState.IN_TRANSACTION


@action(by=APPLICATION, description="calls commitTransaction", source="TransactionManager.beginCommit")
def call_commit(producer: RepeatedCall) -> None:
    """EndTxn is sent when all batches are acknowledged."""
    require(producer.manager is ManagerState.IN_TRANSACTION)
    producer.manager, producer.call = ManagerState.COMMITTING, CallStep.WAITING


@action(by=COORDINATOR, description="answers", source="InitProducerIdHandler.handleResponse, EndTxnHandler")
def answer_call(producer: RepeatedCall) -> None:
    """Perhaps after the call has timed out."""
    require(producer.manager is ManagerState.INITIALIZING or producer.manager is ManagerState.COMMITTING)
    producer.manager = ManagerState.READY
    if producer.call is CallStep.WAITING:
        producer.call = CallStep.NONE


@action(by=PRODUCER, description="ends the call after max.block.ms", source="TransactionalRequestResult.await")
def end_call_in_time(producer: RepeatedCall) -> None:
    """Its request goes on. Up to 1.1 initTransactions waited without an end, and commitTransaction up to 2.2."""
    require(producer.call is CallStep.WAITING)
    is_init = producer.manager is ManagerState.INITIALIZING
    require(INIT_CALLS_TIME_OUT if is_init else COMMITS_TIME_OUT)
    producer.call = CallStep.TIMED_OUT


@action(
    by=APPLICATION,
    description="calls it again",
    source="TransactionManager.handleCachedTransactionRequestResult",
)
def repeat_call(producer: RepeatedCall) -> None:
    """It waits for the request that goes on. Until KAFKA-13412 it was refused if that had ended."""
    require(producer.call is CallStep.TIMED_OUT)
    if producer.manager is not ManagerState.READY:
        producer.call = CallStep.WAITING
    else:
        producer.call = CallStep.NONE if CALLS_KEEP_THEIR_RESULTS else CallStep.REFUSED


class SenderWait(Enum):
    """The loop that the sender's thread is in."""

    NONE = "its main one"
    ID = "one for a producer id"
    COORDINATOR = "one for a transaction coordinator"


class CloseStep(Enum):
    """How far a close is."""

    NONE = "not asked for"
    CLOSING = "waits for the sender's thread"
    FORCED = "forced"
    ENDED = "at its end"
    ENDED_BY_FORCE = "at its end, by force"


class HeldTransaction(Enum):
    """The transaction that the producer has."""

    NONE = "none"
    OPEN = "open"
    FAILED = "to be aborted"


@state
class ClosedProducer:
    """A producer that is closed, perhaps while no broker answers.

    Attributes:
        is_alone: whether no broker answers.
        awaits_a_commit: whether the transaction has failed after a commit, whose answer the application has not got.
        is_ignored: whether the sender's thread has gone on although the close was forced.
        repeats: whether it tries to abort the transaction again and again, which fails.
        keeps_connections: whether it has ended without closing its connections.
    """

    is_alone: bool = flag()
    wait: SenderWait = choice(SenderWait)
    close: CloseStep = choice(CloseStep)
    transaction: HeldTransaction = choice(HeldTransaction)
    awaits_a_commit: bool = flag()
    is_ignored: bool = flag()
    repeats: bool = flag()
    keeps_connections: bool = flag()


@action(by=FAULT, description="ends, or begins: no broker answers", source="NetworkClient")
def lose_or_find_brokers(producer: ClosedProducer) -> None:
    """For a while."""
    producer.is_alone = not producer.is_alone


@action(by=SENDER, description="is to get a producer id", source="Sender.maybeWaitForProducerId")
def wait_for_an_id(producer: ClosedProducer) -> None:
    """It is that of an idempotent producer, which has no transaction."""
    require(producer.is_alone and producer.wait is SenderWait.NONE and producer.close is CloseStep.NONE)
    require(producer.transaction is HeldTransaction.NONE)
    producer.wait = SenderWait.ID


@action(by=SENDER, description="looks for the transaction coordinator", source="Sender.maybeSendTransactionalRequest")
def look_for_a_coordinator(producer: ClosedProducer) -> None:
    """It asks any broker for it."""
    require(producer.is_alone and producer.wait is SenderWait.NONE and producer.close is CloseStep.NONE)
    producer.wait = SenderWait.COORDINATOR


@action(by=SENDER, description="gets what it waits for", source="NetworkClientUtils.awaitReady")
def end_wait(producer: ClosedProducer) -> None:
    """A broker answers."""
    require(not producer.is_alone)
    producer.wait = SenderWait.NONE


@action(by=APPLICATION, description="begins a transaction, and sends records", source="KafkaProducer.send")
def hold_transaction(producer: ClosedProducer) -> None:
    """Their partitions are added to it."""
    require(producer.transaction is HeldTransaction.NONE and producer.close is CloseStep.NONE)
    require(not producer.is_alone and producer.wait is SenderWait.NONE)
    producer.transaction = HeldTransaction.OPEN


@action(
    by=PRODUCER,
    description="gives up a batch; a commit was called before, and has not been answered: {commit}",
    source="Sender.failBatch: TransactionManager.transitionToAbortableError",
)
def fail_held_transaction(producer: ClosedProducer, commit: bool) -> None:
    """After delivery.timeout.ms; since 2.3 the commit may have ended after max.block.ms."""
    require(producer.transaction is HeldTransaction.OPEN and producer.is_alone and producer.close is CloseStep.NONE)
    producer.transaction, producer.awaits_a_commit = HeldTransaction.FAILED, commit


@action(by=APPLICATION, description="closes the producer", source="KafkaProducer.close; Sender.initiateClose")
def close_producer(producer: ClosedProducer) -> None:
    """It waits for the sender's thread as long as it is told to, by default without an end."""
    require(producer.close is CloseStep.NONE)
    producer.close = CloseStep.CLOSING


@action(by=APPLICATION, description="has waited for the close long enough", source="Sender.forceClose")
def force_close(producer: ClosedProducer) -> None:
    """It waits for the sender's thread once more, without an end."""
    require(producer.close is CloseStep.CLOSING)
    producer.close = CloseStep.FORCED


@action(by=SENDER, description="looks whether the close is forced", source="Sender.maybeWaitForProducerId: forceClose")
def look_at_a_forced_close(producer: ClosedProducer) -> None:
    """Until KAFKA-6446 it did not as it looked for a coordinator, and until KAFKA-5503 as it waited for an id."""
    require(producer.close is CloseStep.FORCED and producer.wait is not SenderWait.NONE)
    heeds = WAITS_FOR_IDS_END if producer.wait is SenderWait.ID else SEARCHES_FOR_COORDINATORS_END
    if heeds:
        producer.wait = SenderWait.NONE
    else:
        producer.is_ignored = True


@action(by=SENDER, description="ends, as the close is forced", source="Sender.run: forceClose")
def end_by_force(producer: ClosedProducer) -> None:
    """A transaction stays as it is, until its coordinator aborts it."""
    require(producer.close is CloseStep.FORCED and producer.wait is SenderWait.NONE)
    producer.close = CloseStep.ENDED_BY_FORCE


@action(by=SENDER, description="ends, as nothing is left to send", source="Sender.run")
def end_sender(producer: ClosedProducer) -> None:
    """Since KAFKA-6635 it aborts a transaction first that its application has not ended."""
    require(producer.close is CloseStep.CLOSING and producer.wait is SenderWait.NONE)
    require(producer.transaction is HeldTransaction.NONE or not CLOSES_ABORT_TRANSACTIONS)
    producer.close = CloseStep.ENDED


@action(by=SENDER, description="aborts the transaction", source="Sender.run: TransactionManager.beginAbort")
def abort_at_a_close(producer: ClosedProducer) -> None:
    """Since KAFKA-13412 that is refused if a commit has not been answered, as it timed out."""
    require(producer.close is CloseStep.CLOSING and producer.wait is SenderWait.NONE)
    require(CLOSES_ABORT_TRANSACTIONS)
    is_refused = producer.awaits_a_commit and bool(CALLS_KEEP_THEIR_RESULTS)
    require(is_refused or not producer.is_alone)
    if not is_refused:
        producer.transaction = HeldTransaction.NONE
    elif not ABORTS_AT_A_CLOSE_ARE_CAUGHT:
        producer.close, producer.keeps_connections = CloseStep.ENDED, True
    elif FAILED_ABORTS_END_A_CLOSE:
        producer.close = CloseStep.FORCED
    else:
        producer.repeats = True


class OffsetStep(Enum):
    """The offsets of a group that are part of a transaction."""

    NONE = "none"
    SENT = "sent to the group's coordinator"
    TAKEN = "part of the transaction"
    ENDED = "refused, which ends the producer"


@state
class OffsetsOfATransaction:
    """A producer whose transaction has offsets of a group, and that group's coordinator, which may be loading."""

    is_loading: bool = flag()
    step: OffsetStep = choice(OffsetStep)


@action(by=FAULT, description="moves the group to another broker, which loads it", source="GroupCoordinator.onElection")
def move_group(offsets: OffsetsOfATransaction) -> None:
    """That takes a while."""
    offsets.is_loading = True


@action(by=BROKER, description="has loaded the group", source="GroupMetadataManager.loadGroupsAndOffsets")
def end_load(offsets: OffsetsOfATransaction) -> None:
    """It answers requests from now on."""
    offsets.is_loading = False


@action(by=PRODUCER, description="sends offsets of the group", source="TransactionManager.sendOffsetsToTransaction")
def send_offsets(offsets: OffsetsOfATransaction) -> None:
    """As part of its next transaction."""
    require(offsets.step is not OffsetStep.ENDED)
    offsets.step = OffsetStep.SENT


@action(by=BROKER, description="answers TxnOffsetCommit", source="TxnOffsetCommitHandler.handleResponse")
def answer_offsets(offsets: OffsetsOfATransaction) -> None:
    """Until KAFKA-7296 COORDINATOR_LOAD_IN_PROGRESS was a fatal error; brokers answer it since 2.0.0."""
    require(offsets.step is OffsetStep.SENT)
    if not offsets.is_loading:
        offsets.step = OffsetStep.TAKEN
    elif LOADS_ARE_SAID and not OFFSETS_WAIT_FOR_A_LOAD:
        offsets.step = OffsetStep.ENDED


@state
class SenderTurns:
    """A producer with max.in.flight.requests.per.connection=1, and the only broker that it knows.

    Attributes:
        is_in_flight: whether a request is in flight, such as for metadata.
        is_answered: whether it is answered, which the sender's thread has not read yet.
        is_queued: whether a request is to be sent to any broker.
        is_stuck: whether an answer is left unread.
    """

    is_in_flight: bool = flag()
    is_answered: bool = flag()
    is_queued: bool = flag()
    is_stuck: bool = flag()


@action(by=APPLICATION, description="calls initTransactions", source="TransactionManager.lookupCoordinator")
def queue_request(turns: SenderTurns) -> None:
    """FindCoordinator goes to any broker."""
    turns.is_queued = True


@action(by=SENDER, description="asks for metadata", source="NetworkClient.DefaultMetadataUpdater.maybeUpdate")
def ask_for_metadata(turns: SenderTurns) -> None:
    """As it polls."""
    require(not turns.is_queued)
    turns.is_in_flight = True


@action(by=BROKER, description="answers what is in flight", source="KafkaApis.handle")
def answer_in_flight(turns: SenderTurns) -> None:
    """The answer is read when the sender's thread polls."""
    require(turns.is_in_flight)
    turns.is_answered = True


@action(by=SENDER, description="polls", source="NetworkClient.poll")
def poll_for_answers(turns: SenderTurns) -> None:
    """It has nothing to send to any broker."""
    require(turns.is_answered and not turns.is_queued)
    turns.is_in_flight = turns.is_answered = False


@action(
    by=SENDER,
    description="looks for a broker to send to",
    source="Sender.maybeSendAndPollTransactionalRequest, maybeFindCoordinatorAndRetry",
)
def look_for_a_node(turns: SenderTurns) -> None:
    """None may get a request while another one is in flight. From 2.3.1 to KAFKA-10520 it did not poll then."""
    require(turns.is_queued and (turns.is_answered or not turns.is_in_flight) and not turns.is_stuck)
    if not turns.is_in_flight:
        turns.is_queued = False
    elif SENDERS_POLL_WITHOUT_A_NODE:
        turns.is_in_flight = turns.is_answered = False
    else:
        turns.is_stuck = True


@state
class ThrottledSender:
    """A transactional producer whose connection to its coordinator is throttled by a quota (KIP-219).

    Attributes:
        is_throttled: whether nothing may be sent.
        is_queued: whether a transactional request is to be sent.
        has_begun: whether the sender's thread waits with it for the coordinator.
        began_throttled: whether nothing could be sent when that began.
        is_lost: whether the request was lost.
    """

    is_throttled: bool = flag()
    is_queued: bool = flag()
    has_begun: bool = flag()
    began_throttled: bool = flag()
    is_lost: bool = flag()


@action(by=BROKER, description="begins, or ends, to throttle the producer", source="ClientQuotaManager; KIP-219")
def change_throttle(sender: ThrottledSender) -> None:
    """For the time that it names in an answer."""
    sender.is_throttled = not sender.is_throttled


@action(by=APPLICATION, description="sends, or commits", source="TransactionManager.enqueueRequest")
def queue_for_the_coordinator(sender: ThrottledSender) -> None:
    """A request goes to the transaction coordinator."""
    sender.is_queued = True


@action(by=SENDER, description="waits for its coordinator", source="Sender.maybeSendTransactionalRequest: awaitReady")
def begin_to_send(sender: ThrottledSender) -> None:
    """It notes the time."""
    require(sender.is_queued and not sender.has_begun and not sender.is_lost)
    sender.has_begun, sender.began_throttled = True, sender.is_throttled


@action(by=SENDER, description="sends its request", source="NetworkClient.doSend: canSendRequest")
def send_after_a_wait(sender: ThrottledSender) -> None:
    """From 2.0.0 to KAFKA-8248 with the time of before: IllegalStateException, and it waits for an answer."""
    require(sender.has_begun and not sender.is_throttled)
    sender.is_lost = sender.began_throttled and not REQUESTS_HAVE_THE_PRESENT_TIME
    sender.has_begun = sender.is_queued = False


IN_FLIGHT = Domain("batches_in_flight", "batches that a producer has sent, and has no answers to", default=3)
InFlight = Annotated[int, IN_FLIGHT]


@state
class BatchesInFlight:
    """Three batches of an idempotent producer to a partition whose log has forgotten it, as its records were deleted.

    Attributes:
        numbers: the place of each batch by its sequence number.
        is_renumbered: whether they begin with sequence number 0 again.
        appended: how many are in the log.
        is_out_of_order: whether one is before a batch that was sent earlier.
    """

    numbers: Array[int] = array(IN_FLIGHT, number(0, 2))
    is_renumbered: bool = flag()
    appended: int = number(0, 3)
    is_out_of_order: bool = flag()


def sent_in_turn(batches: BatchesInFlight) -> None:
    """Each has the number that follows that of the one before."""
    for b in IN_FLIGHT:
        batches.numbers[b] = b


@action(
    by=PRODUCER,
    description="learns UNKNOWN_PRODUCER_ID, and renumbers its batches; the last one before the second: {swaps}",
    source="TransactionManager.startSequencesAtBeginning",
)
def renumber_batches(batches: BatchesInFlight, swaps: bool) -> None:
    """Until KAFKA-8483 in the order of a PriorityQueue's array, of which only the first one is sure."""
    require(not batches.is_renumbered and (not swaps or not RENUMBERED_BATCHES_ARE_SORTED))
    batches.is_renumbered = True
    if swaps:
        batches.numbers[1], batches.numbers[2] = 2, 1


@action(by=BROKER, description="appends batch {batch}", source="ProducerAppendInfo.checkSequence")
def append_in_sequence(batches: BatchesInFlight, batch: InFlight) -> None:
    """The one whose number is next."""
    require(batches.is_renumbered and batches.numbers[batch] == batches.appended)
    batches.is_out_of_order = batches.is_out_of_order or batch != batches.appended
    batches.appended += 1


@state
class NumberedPartitions:
    """An idempotent producer, which numbers what it writes to each partition, and the leaders of these.

    Attributes:
        epoch: the producer's epoch.
        numbers: the next sequence number of each partition.
        epochs: the epoch with which each partition is numbered.
        logged: the epoch of the last batch in each log.
        is_refused: whether a leader has refused a batch.
        has_ended: whether the producer has ended with an error.
    """

    epoch: int = number(0, BUMPS)
    numbers: Array[int] = array(NUMBERED, number(0, NUMBERS))
    epochs: Array[int] = array(NUMBERED, number(0, BUMPS))
    logged: Array[int] = array(NUMBERED, number(0, BUMPS))
    is_refused: bool = flag()
    has_ended: bool = flag()


@action(
    by=PRODUCER,
    description="sends a batch to partition {partition}",
    source="RecordAccumulator.drainBatchesForOneNode; ProducerAppendInfo.checkSequence",
)
def send_numbered_batch(producer: NumberedPartitions, partition: Numbered) -> None:
    """A leader refuses the first batch of an epoch unless its number is 0: OUT_OF_ORDER_SEQUENCE_NUMBER.

    After Integer.MAX_VALUE comes 0; until KAFKA-7693 a negative number did, at which the producer ended.
    """
    require(not producer.is_refused and not producer.has_ended)
    if NEW_EPOCHS_BEGIN_WITH_ZERO and producer.epochs[partition] != producer.epoch:
        producer.numbers[partition] = 0
    producer.epochs[partition] = producer.epoch
    if producer.logged[partition] != producer.epoch and producer.numbers[partition] != 0:
        producer.is_refused = True
    else:
        producer.logged[partition] = producer.epoch
        if producer.numbers[partition] < NUMBERS:
            producer.numbers[partition] += 1
        elif NUMBERS_WRAP:
            producer.numbers[partition] = 0
        else:
            producer.has_ended = True


@action(
    by=PRODUCER,
    description="gives up a batch to partition {partition} that was sent, and raises its epoch",
    source="TransactionManager.bumpIdempotentProducerEpoch (KIP-360)",
)
def raise_epoch(producer: NumberedPartitions, partition: Numbered) -> None:
    """That partition begins with 0; from 2.5.0 to KAFKA-12152 no other one did that had no batch in flight."""
    require(producer.epoch < BUMPS)
    producer.epoch += 1
    producer.epochs[partition], producer.numbers[partition] = producer.epoch, 0
