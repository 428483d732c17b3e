"""DelayedOperation: what waits for replicas, the threads that complete it, and the locks by which they wait in turn.

Groups have their records in one partition of __consumer_offsets, and each may have an operation that waits until all
replicas have what was appended: that of a commit, or of a marker that ends a transaction. A thread completes those that
can be: as a follower fetches; or as it appends itself, which raises the high watermark once the leader is alone in the
ISR (`Partition.appendRecordsToLeader`).

What the model leaves out, and why its stories lose nothing by it:

* Members, offsets and errors, which the other models of groups have: what a lock guards does not matter to who waits.
* More than one operation of a group at a time; operations that all replicas lack still, at which a thread only looks.
* The time after which an operation expires: a thread that waits for a lock waits on.
* Locks of the partition and of its log, which are never held while an operation is completed.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.groups.versions import (
    CLEANUP_APPENDS_WITHOUT_LOCK,
    OPERATION_LOCK,
    TRANSACTIONS_COMPLETE_LATER,
    WATCHERS_HAVE_NO_LOCK,
)
from kwalk.model.language import Actor, Array, Domain, action, array, choice, flag, optional, require, state

HANDLERS = Domain("handlers", "threads that handle requests", default=2)
GROUPS = Domain("groups", "groups whose records are in one partition of __consumer_offsets", default=2)

Thread = Annotated[int, HANDLERS]
Group = Annotated[int, GROUPS]

HANDLER = Actor("request handler", of=HANDLERS)
SCHEDULER = Actor("scheduler")
PRODUCER = Actor("transaction's coordinator", system=False)
CONSUMER = Actor("consumer", system=False)


class Waiting(Enum):
    """What waits for its replicas (Kafka: DelayedProduce), and what its callback does then."""

    NONE = "nothing"
    COMMIT = "a commit"
    MARKER = "a marker, at which offsets of a transaction become the group's"


class Stage(Enum):
    """What a thread does, or waits for the lock to do."""

    IDLE = "nothing"
    ADDING = "adds an operation to the list"
    LOOKING = "looks at an operation of the list"
    COMPLETING = "completes that operation"


@state
class RequestThread:
    """A thread, the group whose lock it has while it appends, and the group at whose operation it is.

    It `has_list` if it has the lock of the list of operations (Kafka: Watchers), which there was at first.
    """

    stage: Stage = choice(Stage)
    appends_for: int | None = optional(GROUPS)
    operation_of: int | None = optional(GROUPS)
    has_list: bool = flag()

    def end(self) -> None:
        """Give back all locks: the request is handled."""
        self.stage, self.appends_for, self.operation_of, self.has_list = Stage.IDLE, None, None, False


@state
class OffsetsLeader:
    """A broker that leads the partition: its threads, and what waits of each group."""

    handlers: Array[RequestThread] = array(HANDLERS, RequestThread)
    waiting: Array[Waiting] = array(GROUPS, choice(Waiting))


def has_group(broker: OffsetsLeader, thread: int, group: int) -> bool:
    """Whether a thread has the lock of a group (Kafka: GroupMetadata.lock)."""
    one = broker.handlers[thread]
    return one.appends_for == group or (
        one.stage is Stage.COMPLETING and one.operation_of == group and is_locked_by_group(broker, group)
    )


def is_locked_by_group(broker: OffsetsLeader, group: int) -> bool:
    """Whether an operation has the lock of its group (Kafka: delayedProduceLock): since 0.11 that of a commit."""
    return OPERATION_LOCK != "its own" and broker.waiting[group] is Waiting.COMMIT


def has_operation(broker: OffsetsLeader, thread: int, group: int) -> bool:
    """Whether a thread has the lock of the operation of a group."""
    if is_locked_by_group(broker, group):
        return has_group(broker, thread, group)
    one = broker.handlers[thread]
    return one.stage is Stage.COMPLETING and one.operation_of == group


def is_in_the_way(broker: OffsetsLeader, thread: int, other: int) -> bool:
    """Whether another thread has the lock that a thread is to take next."""
    one = broker.handlers[thread]
    if thread == other:
        return False
    if one.operation_of is None:
        return one.stage is not Stage.IDLE and not one.has_list and broker.handlers[other].has_list
    if one.stage is Stage.LOOKING:
        return has_operation(broker, other, one.operation_of)
    is_later = broker.waiting[one.operation_of] is Waiting.MARKER and TRANSACTIONS_COMPLETE_LATER
    return not is_later and has_group(broker, other, one.operation_of)


def tries(thread: RequestThread) -> bool:
    """Whether a thread gives up at a lock that another one has (Kafka: lock.tryLock)."""
    return (
        thread.stage is Stage.LOOKING and thread.operation_of is not None and OPERATION_LOCK == "the group's, if free"
    )


def waits_for(broker: OffsetsLeader, thread: int, other: int) -> bool:
    """Whether a thread waits for a lock that another one has."""
    return is_in_the_way(broker, thread, other) and not tries(broker.handlers[thread])


def is_free_to_go(broker: OffsetsLeader, thread: int) -> bool:
    """Whether no thread has the lock that a thread is to take next."""
    return not any(is_in_the_way(broker, thread, other) for other in HANDLERS)


def lock_group(broker: OffsetsLeader, thread: int, group: int) -> None:
    """A thread takes the lock of a group, to append for it."""
    require(broker.handlers[thread].stage is Stage.IDLE)
    require(not any(has_group(broker, other, group) for other in HANDLERS))
    broker.handlers[thread].appends_for = group


@action(
    by=HANDLER,
    description="appends for group {group} under its lock, and is to complete what waits",
    source="GroupMetadataManager.storeGroup, storeOffsets; ReplicaManager.appendRecords",
)
def append(broker: OffsetsLeader, thread: Thread, group: Group) -> None:
    """Before 0.11 only a rebalance that leaves a group empty, at once, is stored under the group's lock."""
    lock_group(broker, thread, group)
    broker.handlers[thread].stage = Stage.LOOKING
    if OPERATION_LOCK == "the group's, after the append":
        broker.handlers[thread].appends_for = None


@action(
    by=HANDLER,
    description="appends for group {group} under its lock, and is to wait for the replicas",
    source="GroupCoordinator.tryCompleteJoin, onCompleteJoin; DelayedOperationPurgatory.tryCompleteElseWatch",
)
def append_and_wait(broker: OffsetsLeader, thread: Thread, group: Group) -> None:
    """Its own operation is added to the list."""
    lock_group(broker, thread, group)
    broker.handlers[thread].stage = Stage.ADDING


@action(by=HANDLER, description="adds its operation to the list", source="Watchers.watch")
def add(broker: OffsetsLeader, thread: Thread) -> None:
    """The answer to a rebalance does not depend on it: nobody waits for this operation."""
    require(broker.handlers[thread].stage is Stage.ADDING and is_free_to_go(broker, thread))
    broker.handlers[thread].end()


@action(
    by=SCHEDULER,
    description="appends tombstones of expired offsets of group {group}, and is to complete what waits",
    source="GroupMetadataManager.cleanupGroupMetadata; Partition.appendMessagesToLeader",
)
def clean_up(broker: OffsetsLeader, group: Group) -> None:
    """Until KAFKA-4399 the lock of the group was held meanwhile. The scheduler has one thread, the first here."""
    lock_group(broker, 0, group)
    broker.handlers[0].stage = Stage.LOOKING
    if CLEANUP_APPENDS_WITHOUT_LOCK:
        broker.handlers[0].appends_for = None


@action(by=CONSUMER, description="commits in group {group}", source="GroupMetadataManager.prepareStoreOffsets, store")
def commit(broker: OffsetsLeader, group: Group) -> None:
    """The commit is appended, and waits for its replicas."""
    require(broker.waiting[group] is Waiting.NONE)
    broker.waiting[group] = Waiting.COMMIT


@action(
    by=PRODUCER,
    description="ends a transaction with offsets of group {group}",
    source="KafkaApis.handleWriteTxnMarkersRequest",
)
def end_transaction(broker: OffsetsLeader, group: Group) -> None:
    """The marker is appended, and waits for its replicas; its operation has a lock of its own."""
    require(broker.waiting[group] is Waiting.NONE)
    broker.waiting[group] = Waiting.MARKER


@action(
    by=HANDLER,
    description="handles the fetch of a follower, which has all records by now",
    source="ReplicaManager.fetchMessages, updateFollowerLogReadResults; Partition.tryCompleteDelayedRequests",
)
def handle_fetch(broker: OffsetsLeader, thread: Thread) -> None:
    """No lock of a group is held."""
    require(broker.handlers[thread].stage is Stage.IDLE)
    broker.handlers[thread].stage = Stage.LOOKING


@action(
    by=HANDLER,
    description="finds the operation of group {group}",
    source="DelayedOperationPurgatory.checkAndComplete; Watchers.tryCompleteWatched",
)
def find(broker: OffsetsLeader, thread: Thread, group: Group) -> None:
    """Until KAFKA-3994 the list is locked while a thread goes through it."""
    one = broker.handlers[thread]
    require(one.stage is Stage.LOOKING and one.operation_of is None)
    require(broker.waiting[group] is not Waiting.NONE and is_free_to_go(broker, thread))
    one.operation_of, one.has_list = group, not WATCHERS_HAVE_NO_LOCK


@action(
    by=HANDLER,
    description="takes the lock of the operation, if it is free",
    source="DelayedOperation.safeTryComplete, maybeTryComplete",
)
def check(broker: OffsetsLeader, thread: Thread) -> None:
    """Another thread may have completed it by now; a thread that only tries the lock goes on, too."""
    one = broker.handlers[thread]
    require(one.stage is Stage.LOOKING and one.operation_of is not None)
    is_free = is_free_to_go(broker, thread)
    require(is_free or tries(one))
    assert one.operation_of is not None
    if is_free and broker.waiting[one.operation_of] is not Waiting.NONE:
        one.stage = Stage.COMPLETING
    else:
        one.end()


@action(
    by=HANDLER,
    description="completes the operation, and answers",
    source="DelayedProduce.onComplete; GroupMetadataManager.putCacheCallback, handleTxnCompletion",
)
def complete(broker: OffsetsLeader, thread: Thread) -> None:
    """The callback takes the lock of the group; since KAFKA-6917 that of a marker leaves it to another thread."""
    one = broker.handlers[thread]
    require(one.stage is Stage.COMPLETING and is_free_to_go(broker, thread))
    assert one.operation_of is not None
    broker.waiting[one.operation_of] = Waiting.NONE
    one.end()


@action(
    by=HANDLER,
    description="finds nothing more to complete",
    source="DelayedOperationPurgatory.checkAndComplete",
)
def go_on(broker: OffsetsLeader, thread: Thread) -> None:
    """It gives back the lock of its group."""
    one = broker.handlers[thread]
    require(one.stage is Stage.LOOKING and one.operation_of is None and is_free_to_go(broker, thread))
    one.end()


COMPLETIONS = (find, check, complete, go_on)
"""What a thread does that is to complete what waits."""
