"""TransactionCoordinator, TransactionStateManager, TransactionMarkerChannelManager: transactional ids at their broker.

The state of an id changes when its record in `__transaction_state` is replicated; until then a transition is pending,
and producers are answered CONCURRENT_TRANSACTIONS. Markers go to the leaders of the partitions; when all are written,
the transaction is complete.

What the model leaves out, and why its stories lose nothing by it: partitions but one, whose markers are sent alike;
commits beside aborts, which take the same steps; and other ids, of which one makes a queue at the same time.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    CLOCKS_MAY_GO_BACK,
    COMPLETIONS_ARE_NOTICED,
    DISK_ERRORS_ARE_TRIED_AGAIN,
    FAILED_EXPIRATIONS_END,
    FAILED_FENCES_COUNT_ONCE,
    LOADS_ASK_NO_ZOOKEEPER,
    LOADS_REPLACE_WHAT_IS_LEFT,
    MARKERS_END_THEIR_OWN_TRANSACTION,
    MISSING_IDS_ARE_WAITED_FOR,
    QUEUES_ARE_CREATED_ONCE,
    TIMEOUTS_FENCE,
    TOMBSTONES_FILL_BATCHES,
    UNUSED_IDS_EXPIRE,
)
from kwalk.model.kafka.storage.domains import FAULT, OPERATOR, PRODUCER, REPLICAS
from kwalk.model.kafka.storage.producer_state import COORDINATOR
from kwalk.model.language import Actor, Bound, action, choice, flag, number, require, state

LEADER = Actor("leader of the partition", system=False)
FENCES = Bound("fences", "how often an id gets another epoch, to fence its producer", minimum=1)


class IdPhase(Enum):
    """What the coordinator knows of a transactional id."""

    UNKNOWN = "nothing"
    EMPTY = "no transaction"
    ONGOING = "a transaction"
    PREPARED = "a transaction that is to be committed or aborted"
    COMPLETE = "a transaction that has ended"


class IdAppend(Enum):
    """The record that is being appended to `__transaction_state`."""

    NONE = "none"
    INIT = "of another producer epoch"
    ADD = "of a partition"
    PREPARE = "of the end"
    COMPLETE = "of the completion"
    TOMBSTONE = "the tombstone"


class MarkerStep(Enum):
    """Where the marker is."""

    NONE = "nowhere"
    QUEUED = "in a queue"
    SENT = "on its way"
    WRITTEN = "in the log"


@state
class TransactionalId:
    """A transactional id at its coordinator.

    Attributes:
        phase: the state in memory.
        append: the record that is being appended.
        is_pending: whether a transition is pending, so that producers are to ask again.
        has_epoch: whether it has a producer epoch.
        marker: where the marker of its transaction is.
        has_queue: whether there is a queue for markers to the leader.
        was_set_back: whether the clock was set to a time before the last transaction began.
        has_unused_id: whether the coordinator has another id, which has no producer epoch.
        keeps_others: whether the task has failed that lets ids expire.
    """

    phase: IdPhase = choice(IdPhase)
    append: IdAppend = choice(IdAppend)
    is_pending: bool = flag()
    has_epoch: bool = flag()
    marker: MarkerStep = choice(MarkerStep)
    has_queue: bool = flag()
    was_set_back: bool = flag()
    has_unused_id: bool = flag()
    keeps_others: bool = flag()


def begin_append(identity: TransactionalId, record: IdAppend) -> None:
    """Append a record, until which its transition is pending (Kafka: TransactionMetadata.prepareTransitionTo)."""
    identity.append, identity.is_pending = record, True


def is_at_rest(identity: TransactionalId) -> bool:
    """Whether no transition is pending, and there is no transaction."""
    is_idle = identity.phase is IdPhase.EMPTY or identity.phase is IdPhase.COMPLETE
    return is_idle and not identity.is_pending


@action(by=PRODUCER, description="starts, and gets an epoch", source="TransactionCoordinator.handleInitProducerId")
def start_producer(identity: TransactionalId) -> None:
    """An id that is new has no epoch until its record is appended."""
    require(is_at_rest(identity) or identity.phase is IdPhase.UNKNOWN)
    if identity.phase is IdPhase.UNKNOWN:
        identity.phase = IdPhase.EMPTY
    begin_append(identity, IdAppend.INIT)


@action(
    by=PRODUCER,
    description="begins a transaction",
    source="TransactionCoordinator.handleAddPartitionsToTransaction",
)
def add_first_partition(identity: TransactionalId) -> None:
    """It adds its partition."""
    require(is_at_rest(identity) and identity.has_epoch)
    begin_append(identity, IdAppend.ADD)


@action(by=PRODUCER, description="ends its transaction", source="TransactionCoordinator.handleEndTransaction")
def end_by_request(identity: TransactionalId) -> None:
    """The answer is sent when the record is replicated, before the markers are."""
    require(identity.phase is IdPhase.ONGOING and not identity.is_pending)
    begin_append(identity, IdAppend.PREPARE)


@action(
    by=REPLICAS,
    description="are too few for the first record of another id",
    source="TransactionCoordinator.handleInitProducerId: putTransactionStateIfNotExists",
)
def leave_unused_id(identity: TransactionalId) -> None:
    """The coordinator has that id in memory, without an epoch."""
    identity.has_unused_id = True


@action(
    by=COORDINATOR,
    description="lets the id expire; it looks at it before others: {comes_first}",
    source="TransactionStateManager.removeExpiredTransactionalIds",
)
def expire_id(identity: TransactionalId, comes_first: bool) -> None:
    """Until KAFKA-14880 the task failed at an id without an epoch, each time, and left others pending."""
    is_unused = identity.has_unused_id or not identity.has_epoch
    fails = is_unused and not UNUSED_IDS_EXPIRE
    require(is_at_rest(identity) and (comes_first or fails))
    if fails:
        identity.keeps_others, identity.is_pending = True, identity.has_epoch and comes_first
    else:
        begin_append(identity, IdAppend.TOMBSTONE)


@action(
    by=COORDINATOR,
    description="lets the id expire, and more others than fit into a batch",
    source="TransactionStateManager.enableTransactionalIdExpiration: MESSAGE_TOO_LARGE",
)
def expire_many_ids(identity: TransactionalId) -> None:
    """Until KAFKA-13099 that failed, each time; until KAFKA-7519 the ids stayed pending."""
    require(is_at_rest(identity) and identity.has_epoch and not TOMBSTONES_FILL_BATCHES)
    identity.keeps_others, identity.is_pending = True, not FAILED_EXPIRATIONS_END


@action(by=OPERATOR, description="sets the clock of the broker back", source="Time.milliseconds")
def set_clock_back(identity: TransactionalId) -> None:
    """To a time before the last transaction began."""
    require(identity.phase is IdPhase.COMPLETE)
    identity.was_set_back = True


@action(
    by=REPLICAS,
    description="have the record",
    source="TransactionStateManager.appendTransactionToLog: updateCacheCallback",
)
def replicate_record(identity: TransactionalId) -> None:
    """Until KAFKA-8803 a transaction that begins before the last one was an error, after which it stays pending."""
    require(identity.append is not IdAppend.NONE)
    is_refused = identity.append is IdAppend.ADD and identity.was_set_back and not CLOCKS_MAY_GO_BACK
    if not is_refused:
        take_record(identity)
    identity.append, identity.is_pending = IdAppend.NONE, is_refused


def take_record(identity: TransactionalId) -> None:
    """Change the state to that of the record (Kafka: TransactionMetadata.completeTransitionTo)."""
    if identity.append is IdAppend.INIT:
        identity.phase, identity.has_epoch = IdPhase.EMPTY, True
    elif identity.append is IdAppend.ADD:
        identity.phase, identity.was_set_back = IdPhase.ONGOING, False
    elif identity.append is IdAppend.PREPARE:
        identity.phase, identity.marker, identity.has_queue = IdPhase.PREPARED, MarkerStep.QUEUED, True
    elif identity.append is IdAppend.COMPLETE:
        identity.phase, identity.marker = IdPhase.COMPLETE, MarkerStep.NONE
    else:
        identity.phase, identity.has_epoch, identity.was_set_back = IdPhase.UNKNOWN, False, False


@action(
    by=REPLICAS,
    description="have the record of the end; as the marker is put into a new queue, another thread makes one, too",
    source="TransactionMarkerChannelManager.addMarkersForBroker: getOrElseUpdate",
)
def replicate_beside_a_thread(identity: TransactionalId) -> None:
    """Until KAFKA-6131 the later of two queues replaced the other one, with the markers in it."""
    require(identity.append is IdAppend.PREPARE and not identity.has_queue and not QUEUES_ARE_CREATED_ONCE)
    take_record(identity)
    identity.append, identity.is_pending, identity.marker = IdAppend.NONE, False, MarkerStep.NONE


@action(
    by=REPLICAS,
    description="are too few for the record",
    source="TransactionStateManager.appendTransactionToLog, removeFromCacheCallback: NOT_ENOUGH_REPLICAS",
)
def refuse_record(identity: TransactionalId) -> None:
    """A completion is appended again. Until KAFKA-7519 the expiration stayed pending, of which nothing came."""
    require(identity.append is not IdAppend.NONE and identity.append is not IdAppend.COMPLETE)
    identity.is_pending = identity.append is IdAppend.TOMBSTONE and not FAILED_EXPIRATIONS_END
    identity.append = IdAppend.NONE


@action(by=COORDINATOR, description="sends the marker", source="TransactionMarkerChannelManager.generateRequests")
def send_marker(identity: TransactionalId) -> None:
    """It takes it from the queue."""
    require(identity.marker is MarkerStep.QUEUED)
    identity.marker = MarkerStep.SENT


@action(
    by=LEADER,
    description="has written the marker; the coordinator completes the transaction: {noticed}",
    source="TransactionMarkerRequestCompletionHandler.onComplete; DelayedOperation.maybeTryComplete",
)
def write_marker(identity: TransactionalId, noticed: bool) -> None:
    """From 0.11.0.2 to KAFKA-9777 it did not while a thread that loads or forgets other ids had the lock of all."""
    require(identity.marker is MarkerStep.SENT and (noticed or not COMPLETIONS_ARE_NOTICED))
    identity.marker = MarkerStep.WRITTEN
    if noticed:
        begin_append(identity, IdAppend.COMPLETE)


@action(
    by=LEADER,
    description="answers that its disk has failed",
    source="TransactionMarkerRequestCompletionHandler.onComplete: KAFKA_STORAGE_ERROR",
)
def answer_disk_error(identity: TransactionalId) -> None:
    """From 1.0, whose brokers outlive a disk, to KAFKA-9749 the coordinator knew no such answer, and did no more."""
    require(identity.marker is MarkerStep.SENT)
    identity.marker = MarkerStep.QUEUED if DISK_ERRORS_ARE_TRIED_AGAIN else MarkerStep.NONE


@state
class MovedTransactions:
    """A partition of `__transaction_state` with a transaction, at a broker that leads it, or another one does.

    Attributes:
        is_away: whether another broker leads.
        is_left: whether the broker has what it knew when it led before.
        is_loading: whether it loads, and will not end.
        is_prepared: whether the transaction is to be completed.
        is_awaited: whether the broker completes the transaction when its marker is written.
        is_sent: whether a marker is on its way.
        has_old_answer: whether the answer to a marker of an earlier leader epoch is on its way.
    """

    is_away: bool = flag()
    is_left: bool = flag()
    is_loading: bool = flag()
    is_prepared: bool = flag()
    is_awaited: bool = flag()
    is_sent: bool = flag()
    has_old_answer: bool = flag()


def send_markers(moved: MovedTransactions) -> None:
    """Await markers, and send them (Kafka: TransactionMarkerChannelManager.addTxnMarkersToSend)."""
    moved.is_awaited = moved.is_sent = True


@action(by=COORDINATOR, description="prepares the end of a transaction", source="TransactionCoordinator.endTransaction")
def prepare_end(moved: MovedTransactions) -> None:
    """And sends its marker."""
    require(not moved.is_away and not moved.is_loading and not moved.is_prepared)
    moved.is_prepared = True
    send_markers(moved)


@action(
    by=OPERATOR,
    description="moves the partition to another broker; as this one asks ZooKeeper, its session expires: {expires}",
    source="TransactionStateManager.removeTransactionsForTxnTopicPartition",
)
def move_transactions_away(moved: MovedTransactions, expires: bool) -> None:
    """From 1.1 to KAFKA-9307 a broker that followed asked for their number, and did not forget if that failed."""
    require(not moved.is_away and not moved.is_loading)
    require(not expires or not LOADS_REPLACE_WHAT_IS_LEFT)
    moved.is_away, moved.is_left = True, expires
    moved.has_old_answer = moved.has_old_answer or moved.is_sent
    moved.is_sent = False


@action(
    by=OPERATOR,
    description="moves the partition back",
    source="TransactionStateManager.loadTransactionsForTxnTopicPartition, addLoadedTransactionsToCache",
)
def move_transactions_back(moved: MovedTransactions) -> None:
    """A load fails where the broker has not forgotten what it knew."""
    require(moved.is_away)
    moved.is_away = False
    moved.is_loading, moved.is_left = moved.is_left, False
    if moved.is_prepared and not moved.is_loading:
        send_markers(moved)


@action(
    by=OPERATOR,
    description="moves the partition back; as this broker asks ZooKeeper, its session expires",
    source="TransactionStateManager.validateTransactionTopicPartitionCountIsStable",
)
def load_amid_a_session(moved: MovedTransactions) -> None:
    """Since 1.1 the load fails for good. Up to 2.4.0 producers are answered NOT_COORDINATOR, later as during it."""
    require(moved.is_away and not LOADS_ASK_NO_ZOOKEEPER)
    moved.is_away, moved.is_left, moved.is_loading = False, False, True


@action(
    by=LEADER,
    description="answers the marker",
    source="TransactionMarkerChannelManager.maybeWriteTxnCompletion",
)
def answer_marker(moved: MovedTransactions) -> None:
    """The transaction is complete if that was awaited."""
    require(moved.is_sent)
    moved.is_sent = False
    moved.is_prepared = not moved.is_awaited
    moved.is_awaited = False


@action(
    by=LEADER,
    description="answers a marker of an earlier leader epoch",
    source="TransactionMarkerRequestCompletionHandler.onComplete: coordinatorEpoch",
)
def answer_old_marker(moved: MovedTransactions) -> None:
    """Until KAFKA-16352 the broker then awaited no marker of that id, also none of its own leader epoch."""
    require(moved.has_old_answer)
    moved.has_old_answer = False
    if not MARKERS_END_THEIR_OWN_TRANSACTION:
        moved.is_awaited = False


@state
class FencedId:
    """An id whose producer is to be fenced: its epoch in memory and in the log."""

    epoch: int = number(0, FENCES)
    written_epoch: int = number(0, FENCES)
    is_fencing: bool = flag()
    has_failed: bool = flag()


@action(
    by=COORDINATOR,
    description="fences the producer of an open transaction",
    source="TransactionMetadata.prepareFenceProducerEpoch",
)
def fence_producer(identity: FencedId) -> None:
    """After its timeout, or as another producer starts; until KAFKA-9666 with another epoch each time that it fails."""
    require(not identity.is_fencing)
    identity.is_fencing = True
    if not (identity.has_failed and FAILED_FENCES_COUNT_ONCE):
        identity.epoch += 1


@action(by=REPLICAS, description="have the epoch", source="TransactionMetadata.prepareComplete")
def replicate_fence(identity: FencedId) -> None:
    """The transaction is aborted, and another one may begin."""
    require(identity.is_fencing)
    identity.is_fencing = identity.has_failed = False
    identity.written_epoch = identity.epoch


@action(
    by=REPLICAS, description="are too few for the epoch", source="TransactionCoordinator.endTransaction: isEpochFence"
)
def refuse_fence(identity: FencedId) -> None:
    """The coordinator has it in memory."""
    require(identity.is_fencing)
    identity.is_fencing, identity.has_failed = False, True


@state
class TimedOutTransaction:
    """A transaction of a producer, which the coordinator may abort."""

    is_open: bool = flag()
    was_aborted: bool = flag()
    is_committed: bool = flag()


@action(
    by=PRODUCER,
    description="writes to another partition, in its transaction",
    source="TransactionCoordinator.handleAddPartitionsToTransaction",
)
def write_to_a_partition(transaction: TimedOutTransaction) -> None:
    """The coordinator begins one if there is none; since KAFKA-6119 not for a producer whose epoch is old."""
    is_fenced = transaction.was_aborted and bool(TIMEOUTS_FENCE)
    require(not transaction.is_open and not transaction.is_committed and not is_fenced)
    transaction.is_open = True


@action(
    by=COORDINATOR,
    description="aborts the transaction after transaction.timeout.ms",
    source="TransactionCoordinator.abortTimedOutTransactions",
)
def abort_after_timeout(transaction: TimedOutTransaction) -> None:
    """Since KAFKA-6119 the producer gets another epoch, which it does not know."""
    require(transaction.is_open)
    transaction.is_open, transaction.was_aborted = False, True


@action(by=PRODUCER, description="commits its transaction", source="TransactionCoordinator.handleEndTransaction")
def commit_open_transaction(transaction: TimedOutTransaction) -> None:
    """The coordinator commits what is open."""
    require(transaction.is_open)
    transaction.is_open, transaction.is_committed = False, True


class IdAnswer(Enum):
    """What a new producer has got."""

    NONE = "nothing"
    ID = "a producer id"
    RETRIABLE = "COORDINATOR_LOAD_IN_PROGRESS, after which it asks again"
    FATAL = "REQUEST_TIMED_OUT, which ends it"


@state
class NewProducer:
    """A producer that is to get an id, of which its broker has none; the controller may be gone, and be late."""

    is_gone: bool = flag()
    is_asked: bool = flag()
    answer: IdAnswer = choice(IdAnswer)


@action(by=FAULT, description="ends the controller, or brings another one", source="KafkaController")
def change_controller(producer: NewProducer) -> None:
    """There is none for a while."""
    producer.is_gone = not producer.is_gone


@action(by=PRODUCER, description="asks for a producer id", source="ProducerIdManager.generateProducerId")
def ask_for_an_id(producer: NewProducer) -> None:
    """As it starts, or once more; the broker asks the controller for a block of them."""
    require(not producer.is_asked and producer.answer in (IdAnswer.NONE, IdAnswer.RETRIABLE))
    producer.is_asked, producer.answer = True, IdAnswer.NONE


@action(
    by=COORDINATOR, description="answers with an id", source="RPCProducerIdManager.handleAllocateProducerIdsResponse"
)
def give_an_id(producer: NewProducer) -> None:
    """The controller has given it a block."""
    require(producer.is_asked and not producer.is_gone)
    producer.is_asked, producer.answer = False, IdAnswer.ID


@action(
    by=COORDINATOR, description="has waited for ids too long", source="RPCProducerIdManager.generateProducerId: poll"
)
def miss_the_ids(producer: NewProducer) -> None:
    """From 3.0 to KAFKA-14417 it answered as producers do not expect it."""
    require(producer.is_asked and producer.is_gone)
    producer.is_asked = False
    producer.answer = IdAnswer.RETRIABLE if MISSING_IDS_ARE_WAITED_FOR else IdAnswer.FATAL
