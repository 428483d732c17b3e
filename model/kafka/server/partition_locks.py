"""Partition.leaderIsrUpdateLock: appends that answer fetches of followers, and changes of the ISR that wait for them.

An append reads under the lock of its partition, and then answers the fetches that wait for its records, which read the
log of every partition that they ask for, under the lock of each. A change of the ISR, or of the leader, writes under
it: it waits until nobody reads, and whoever is to read meanwhile waits for it (`ReentrantReadWriteLock`).

What the model leaves out, and why its story loses nothing by it: records, and what a fetch gets; every fetch asks for
all partitions, as that of a follower does, and there is one for each append.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.server.versions import FETCHES_ARE_ANSWERED_WITHOUT_LOCK
from kwalk.model.language import Actor, Array, Domain, action, array, choice, flag, optional, require, state

APPENDERS = Domain("appenders", "threads that append, each to another partition", default=2)
LOCKED_PARTITIONS = Domain("locked_partitions", "partitions that a fetch asks for", default=2)

Appender = Annotated[int, APPENDERS]
LockedPartition = Annotated[int, LOCKED_PARTITIONS]

HANDLER = Actor("request handler", of=APPENDERS)
PRODUCER = Actor("producer", system=False)
ISR_CHANGE = Actor("change of the ISR", system=False)
WRITER = Actor("waiting change", of=LOCKED_PARTITIONS)


class AppendPhase(Enum):
    """What a thread does."""

    IDLE = "nothing"
    APPENDING = "appends"
    ANSWERING = "reads another partition, for a fetch that waits"


@state
class PartitionLocks:
    """What threads append to, and the partitions whose lock a change waits for."""

    phases: Array[AppendPhase] = array(APPENDERS, choice(AppendPhase))
    appends_to: Array[int | None] = array(APPENDERS, optional(LOCKED_PARTITIONS))
    is_to_change: Array[bool] = array(LOCKED_PARTITIONS, flag())


def reads(locks: PartitionLocks, appender: int, partition: int) -> bool:
    """Whether a thread has the read lock of a partition, for good until its append ends."""
    is_in = locks.phases[appender] is AppendPhase.APPENDING or not FETCHES_ARE_ANSWERED_WITHOUT_LOCK
    return locks.appends_to[appender] == partition and is_in


def waits_for_change(locks: PartitionLocks, appender: int) -> bool:
    """Whether a thread that answers a fetch waits for a change of another partition than that of its append."""
    is_blocked = any(locks.is_to_change[p] and not reads(locks, appender, p) for p in LOCKED_PARTITIONS)
    return locks.phases[appender] is AppendPhase.ANSWERING and is_blocked


@action(
    by=PRODUCER,
    description="has thread {appender} append to partition {partition}",
    source="Partition.appendRecordsToLeader",
)
def append(locks: PartitionLocks, appender: Appender, partition: LockedPartition) -> None:
    """The read lock is free: no change waits for it."""
    require(locks.phases[appender] is AppendPhase.IDLE and not locks.is_to_change[partition])
    locks.phases[appender], locks.appends_to[appender] = AppendPhase.APPENDING, partition


@action(by=HANDLER, description="is to answer a fetch that waits", source="ReplicaManager.tryCompleteDelayedFetch")
def begin_answer(locks: PartitionLocks, appender: Appender) -> None:
    """In 2.1.0 the append still has its lock."""
    require(locks.phases[appender] is AppendPhase.APPENDING)
    locks.phases[appender] = AppendPhase.ANSWERING


@action(
    by=HANDLER,
    description="reads what the fetch asks for, and answers",
    source="DelayedFetch.tryComplete: Partition.fetchOffsetSnapshot",
)
def answer(locks: PartitionLocks, appender: Appender) -> None:
    """No change waits for a lock that the thread has to take."""
    require(locks.phases[appender] is AppendPhase.ANSWERING and not waits_for_change(locks, appender))
    locks.phases[appender], locks.appends_to[appender] = AppendPhase.IDLE, None


@action(
    by=ISR_CHANGE, description="is to change partition {partition}", source="Partition.maybeShrinkIsr, makeFollower"
)
def begin_change(locks: PartitionLocks, partition: LockedPartition) -> None:
    """It is the first in the queue of the lock."""
    require(not locks.is_to_change[partition])
    locks.is_to_change[partition] = True


@action(by=WRITER, description="changes the partition", source="CoreUtils.inWriteLock: leaderIsrUpdateLock")
def change(locks: PartitionLocks, partition: LockedPartition) -> None:
    """Nobody reads it."""
    require(locks.is_to_change[partition] and not any(reads(locks, a, partition) for a in APPENDERS))
    locks.is_to_change[partition] = False
