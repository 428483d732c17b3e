"""Properties of appends and changes that take the locks of partitions."""

from __future__ import annotations

from kwalk.model.kafka.server.partition_locks import (
    LOCKED_PARTITIONS,
    Appender,
    AppendPhase,
    LockedPartition,
    PartitionLocks,
    reads,
    waits_for_change,
)
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="a broker hangs: produce requests and fetches time out, and threads wait until it is restarted",
    log="none: a thread dump shows request handlers in Partition.fetchOffsetSnapshot",
)
def appends_end(locks: PartitionLocks, appender: Appender, other: Appender) -> bool:
    """Two appends do not wait for each other's partitions, behind changes that wait for them."""
    premise(appender < other and locks.appends_to[appender] is not None and locks.appends_to[other] is not None)
    return not all(
        waits_for_change(locks, one)
        and any(locks.is_to_change[p] and reads(locks, two, p) and not reads(locks, one, p) for p in LOCKED_PARTITIONS)
        for one, two in ((appender, other), (other, appender))
    )


@step(symptom="the ISR changes while records are appended that it is to have", log="none")
def change_waits_for_appends(before: PartitionLocks, after: PartitionLocks, partition: LockedPartition) -> bool:
    """A change is made when no append reads its partition, which stays as it is."""
    premise(before.is_to_change[partition] and not after.is_to_change[partition])
    is_free = not any(reads(before, one, partition) for one in range(len(before.phases)))
    return is_free and before.phases == after.phases


@step(symptom="an append begins before a change that waits, or is answered amid it", log="none")
def append_waits_for_changes(before: PartitionLocks, after: PartitionLocks, appender: Appender) -> bool:
    """An append begins where no change waits, is answered after those of other partitions, and ends."""
    now, then = before.phases[appender], after.phases[appender]
    premise(now is not then or before.appends_to[appender] != after.appends_to[appender])
    if then is AppendPhase.APPENDING:
        is_free = any(after.appends_to[appender] == p and not before.is_to_change[p] for p in LOCKED_PARTITIONS)
        return now is AppendPhase.IDLE and is_free
    if then is AppendPhase.ANSWERING:
        return now is AppendPhase.APPENDING and after.appends_to[appender] == before.appends_to[appender]
    is_answered = now is AppendPhase.ANSWERING and not waits_for_change(before, appender)
    return is_answered and after.appends_to[appender] is None


@reachable()
def change_waits_for_an_append(locks: PartitionLocks, appender: Appender) -> bool:
    """A change waits for the lock that an append has."""
    return any(locks.is_to_change[p] and reads(locks, appender, p) for p in LOCKED_PARTITIONS)
