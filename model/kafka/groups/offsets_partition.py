"""The partition of __consumer_offsets: which broker leads it, what its replicas have, and the log cleaner."""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, Broker
from kwalk.model.kafka.groups.domains import (
    BUSY_LOCKS,
    CLEANINGS,
    ELECTION,
    FOLLOWER,
    ISR_SHRINKS,
    LOG,
    LOG_CLEANER,
    MOVES,
    REASSIGNMENTS,
)
from kwalk.model.kafka.groups.group_metadata_manager import complete_appends
from kwalk.model.kafka.groups.state import GroupCluster, LeaderAndIsr, OffsetsPartition, OffsetsRecord
from kwalk.model.kafka.groups.versions import COMPACT_BELOW_HIGH_WATERMARK, COMPLETIONS_WAIT_FOR_LOCKS
from kwalk.model.language import action, evolve, require


@action(
    by=ELECTION,
    description="makes broker {broker} the leader; it has the records that are not replicated yet: {keeps_tail}",
    source="KafkaController.electPreferredLeaders, onPartitionReassignment: any election",
)
def elect(cluster: GroupCluster, broker: Broker, keeps_tail: bool) -> None:
    """The new leader has all records that are in all replicas, and perhaps more; its own high watermark lags.

    A broker that does not know of the last election yet has fetched nothing since.
    """
    partition = cluster.partition
    require(partition.leader != broker and cluster.moves < MOVES)
    has_tail = partition.replicated < len(partition.log)
    require(has_tail or keeps_tail)
    require(not (has_tail and keeps_tail) or cluster.coordinators[broker].requests.is_empty)
    cluster.moves += 1
    if not keeps_tail:
        truncate(partition)
    change_leader(partition, broker)
    for coordinator in cluster.coordinators:
        coordinator.requests.push(LeaderAndIsr(leader=broker, leader_epoch=partition.leader_epoch))


def change_leader(partition: OffsetsPartition, broker: int) -> None:
    """Begin another leader epoch; a new leader's high watermark is what it has learned as a follower."""
    partition.replicated = len(partition.log)
    partition.leader = broker
    partition.leader_epoch += 1
    known = partition.follower_high_watermark
    partition.high_watermark, partition.follower_high_watermark = known, partition.high_watermark


@action(
    by=ELECTION,
    description="moves the leader's replica to another broker; broker {broker} is the leader",
    source="KafkaController.onPartitionReassignment, stopOldReplicasOfReassignedPartition",
)
def reassign(cluster: GroupCluster, broker: Broker) -> None:
    """The old leader is no replica any more: it gets StopReplica, and no LeaderAndIsr. No other replica is in sight."""
    partition = cluster.partition
    require(partition.leader != broker and cluster.reassignments < REASSIGNMENTS)
    cluster.reassignments += 1
    old = partition.leader
    change_leader(partition, broker)
    request = LeaderAndIsr(leader=broker, leader_epoch=partition.leader_epoch)
    cluster.coordinators[broker].requests.push(request)
    cluster.coordinators[old].requests.push(evolve(request, stops_replica=True))


def truncate(partition: OffsetsPartition) -> None:
    """Remove the records that are not in all replicas: the new leader does not have them.

    Kafka: LogManager.truncateTo, LogCleaner.maybeTruncateCheckpoint.
    """
    end = len(partition.log)
    for slot in range(LOG):
        if slot < end:
            record = partition.log.pop()
            if slot < partition.replicated:
                partition.log.push(record)
    if CLEANINGS > 0:
        for broker in BROKERS:
            partition.clean_ends[broker] = min(partition.clean_ends[broker], partition.replicated)


@action(
    by=ELECTION,
    description="takes the follower out of the ISR: fewer replicas are in sync than min.insync.replicas",
    source="Partition.maybeShrinkIsr; Partition.appendRecordsToLeader: NOT_ENOUGH_REPLICAS",
)
def shrink_isr(cluster: GroupCluster) -> None:
    """The follower has stopped; nothing is on its way to it."""
    partition = cluster.partition
    require(cluster.isr_shrinks < ISR_SHRINKS and not partition.is_short_of_replicas)
    require(partition.high_watermark == len(partition.log))
    cluster.isr_shrinks += 1
    partition.is_short_of_replicas = True


@action(
    by=FOLLOWER,
    description="is in the ISR again",
    source="Partition.maybeExpandIsr",
)
def expand_isr(cluster: GroupCluster) -> None:
    """The follower has caught up."""
    require(cluster.partition.is_short_of_replicas)
    cluster.partition.is_short_of_replicas = False


@action(
    by=FOLLOWER,
    group="coordinators",
    description="fetches from broker {broker} what the partition has, and broker {broker} answers what waited for it",
    source="Partition.maybeIncrementLeaderHW, ReplicaManager.tryCompleteDelayedProduce",
)
def replicate(cluster: GroupCluster, broker: Broker) -> None:
    """All replicas get all records; with the next fetch they learn that they have them."""
    partition = cluster.partition
    require(may_fetch(cluster, broker))
    is_raised = partition.high_watermark < len(partition.log)
    require(is_raised or partition.follower_high_watermark < partition.high_watermark)
    copy_records(partition, broker)
    if is_raised or not cluster.coordinators[broker].group.is_overlooked:
        complete_appends(cluster, broker)


@action(
    by=FOLLOWER,
    description="fetches from broker {broker} what the partition has, while a request holds the lock of the group",
    source="DelayedOperation.maybeTryComplete: lock.tryLock",
)
def replicate_while_locked(cluster: GroupCluster, broker: Broker) -> None:
    """Before KAFKA-8334 a thread that did not get the lock left it at that; fetches of what is there try no more."""
    partition, group = cluster.partition, cluster.coordinators[broker].group
    require(may_fetch(cluster, broker) and partition.high_watermark < len(partition.log))
    require((group.is_storing or group.is_committing) and not COMPLETIONS_WAIT_FOR_LOCKS)
    require(cluster.busy_locks < BUSY_LOCKS)
    cluster.busy_locks += 1
    copy_records(partition, broker)
    group.is_overlooked = True


def may_fetch(cluster: GroupCluster, leader: int) -> bool:
    """Whether the follower fetches from the leader: both know who leads."""
    return cluster.leads(leader) and all(cluster.coordinators[broker].requests.is_empty for broker in BROKERS)


def copy_records(partition: OffsetsPartition, leader: int) -> None:
    """Give the follower all records, and the high watermark that its leader had."""
    if CLEANINGS > 0:
        copy_gaps(partition, leader)
    partition.follower_high_watermark = partition.high_watermark
    partition.high_watermark = partition.replicated = len(partition.log)


def copy_gaps(partition: OffsetsPartition, leader: int) -> None:
    """A follower does not get what its leader's cleaner has removed before it fetched that."""
    end = len(partition.log)
    for slot in range(LOG):
        if slot < end:
            record = partition.log.pop()
            is_missed = slot >= partition.replicated and leader in record.removed_from
            partition.log.push(OffsetsRecord(removed_from=frozenset(BROKERS)) if is_missed else record)


@action(
    by=LOG_CLEANER,
    description="compacts the replica of broker {broker}; tombstones that it has cleaned once go: {drops_tombstones}",
    source="LogCleanerManager.grabFilthiestCompactedLog, Cleaner.doClean, Cleaner.shouldRetainRecord",
)
def clean(cluster: GroupCluster, broker: Broker, drops_tombstones: bool) -> None:
    """Of each key the last record below `end_of_cleaning` stays; a tombstone, until a later cleaning.

    Each replica is cleaned by its broker, and only if some of it is dirty: was appended since it was cleaned last. The
    last record of the dirty part always stays, so that a gap at the end of a log is what a truncation leaves.
    """
    partition = cluster.partition
    start, limit, end = partition.clean_ends[broker], end_of_cleaning(partition, broker), len(partition.log)
    require(cluster.cleanings < CLEANINGS and start < limit)
    goes = [may_go(partition, slot, broker) for slot in range(LOG)]
    require(not drops_tombstones or any(goes))
    kept = [
        is_last_of_key(partition, slot, limit, broker) and not (drops_tombstones and goes[slot]) for slot in range(LOG)
    ]
    cluster.cleanings += 1
    for slot in range(LOG):
        if slot < end:
            record = partition.log.pop()
            removes = slot < limit and not kept[slot]
            partition.log.push(without(record, broker) if removes else record)
    partition.clean_ends[broker] = limit


def end_of_cleaning(partition: OffsetsPartition, broker: int) -> int:
    """Return how many records of a replica can be cleaned: before 3.1 all, since then those below its high watermark.

    The active segment, which is never cleaned, begins there: with a record of another group.

    Kafka: LogCleanerManager.cleanableOffsets.
    """
    leads = partition.leader == broker
    if COMPACT_BELOW_HIGH_WATERMARK:
        return partition.high_watermark if leads else partition.follower_high_watermark
    return len(partition.log) if leads else partition.replicated


def is_last_of_key(partition: OffsetsPartition, slot: int, limit: int, broker: int) -> bool:
    """Whether no later record of a replica, below `limit`, has the key of the record in a slot.

    Kafka: Cleaner.buildOffsetMap.
    """
    record, position, is_superseded = OffsetsRecord(), 0, False
    for other in partition.log:
        if position == slot:
            record = other
        is_later = slot < position and position < limit and broker not in other.removed_from
        is_superseded = is_superseded or (is_later and other.key is record.key)
        position = position + 1
    return not is_superseded


def may_go(partition: OffsetsPartition, slot: int, broker: int) -> bool:
    """Whether a slot has a tombstone that can be older than delete.retention.ms: the broker has cleaned it before.

    An in-sync replica is behind for replica.lag.time.max.ms at most, which is less: such a tombstone is replicated.
    """
    position, is_tombstone = 0, False
    for record in partition.log:
        is_tombstone = is_tombstone or (position == slot and record.is_tombstone and broker not in record.removed_from)
        position = position + 1
    return is_tombstone and slot < partition.clean_ends[broker] and slot < partition.replicated


def without(record: OffsetsRecord, broker: int) -> OffsetsRecord:
    """Return a record that a broker's cleaner has removed; of one that no broker has its offset is left."""
    remaining = evolve(record, removed_from=record.removed_from | {broker})
    return OffsetsRecord(removed_from=remaining.removed_from) if remaining.is_gone else remaining
