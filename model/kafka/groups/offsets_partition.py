"""The partition of __consumer_offsets: which broker leads it, what its replicas have, and the log cleaner."""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, Broker
from kwalk.model.kafka.groups.domains import (
    CLEANINGS,
    ELECTION,
    FOLLOWER,
    LOG,
    LOG_CLEANER,
    MOVES,
    REASSIGNMENTS,
)
from kwalk.model.kafka.groups.group_metadata_manager import complete_appends
from kwalk.model.kafka.groups.state import GroupCluster, LeaderAndIsr, OffsetsPartition, OffsetsRecord
from kwalk.model.kafka.groups.versions import LOAD_ENDS_AT_GAP
from kwalk.model.language import action, evolve, require


@action(
    by=ELECTION,
    description="makes broker {broker} the leader; it has the records that are not replicated yet: {keeps_tail}",
    source="KafkaController.electPreferredLeaders, onPartitionReassignment: any election",
)
def elect(cluster: GroupCluster, broker: Broker, keeps_tail: bool) -> None:
    """The new leader has all records that are in all replicas, and perhaps more; its own high watermark lags."""
    partition = cluster.partition
    require(partition.leader != broker and cluster.moves < MOVES)
    require(keeps_tail or partition.replicated < len(partition.log))
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
    """Remove the records that are not in all replicas: the new leader does not have them."""
    end = len(partition.log)
    for slot in range(LOG):
        if slot < end:
            record = partition.log.pop()
            if slot < partition.replicated:
                partition.log.push(record)


@action(
    by=FOLLOWER,
    group="coordinators",
    description="fetches from broker {broker} what the partition has, and broker {broker} answers what waited for it",
    source="Partition.maybeIncrementLeaderHW, ReplicaManager.tryCompleteDelayedProduce",
)
def replicate(cluster: GroupCluster, broker: Broker) -> None:
    """All replicas get all records; with the next fetch they learn that they have them."""
    partition = cluster.partition
    require(cluster.leads(broker) and all(cluster.coordinators[other].requests.is_empty for other in BROKERS))
    end = len(partition.log)
    require(partition.high_watermark < end or partition.follower_high_watermark < partition.high_watermark)
    partition.follower_high_watermark = partition.high_watermark
    partition.high_watermark = partition.replicated = end
    complete_appends(cluster, broker)


@action(by=LOG_CLEANER, description="compacts the partition", source="Cleaner.cleanInto, shouldRetainRecord")
def clean(cluster: GroupCluster, drops_tombstones: bool) -> None:
    """Of all records below the high watermark the last one of each key stays; tombstones for delete.retention.ms.

    If the active segment is empty, the last record of all may go, which matters to a load before KAFKA-9065.
    """
    partition = cluster.partition
    require(cluster.cleanings < CLEANINGS)
    end, limit = len(partition.log), partition.high_watermark
    require(any(not is_kept(partition, slot, limit, drops_tombstones) for slot in range(LOG) if slot < limit))
    cluster.cleanings += 1
    kept = [is_kept(partition, slot, limit, drops_tombstones) for slot in range(LOG)]
    removed = sum(slot < limit and not kept[slot] for slot in range(LOG))
    known = partition.follower_high_watermark
    removed_below_known = sum(slot < known and slot < limit and not kept[slot] for slot in range(LOG))
    removes_last = limit == end and any(slot == end - 1 and not kept[slot] for slot in range(LOG))
    partition.ends_with_gap = not LOAD_ENDS_AT_GAP and (partition.ends_with_gap or removes_last)
    for slot in range(LOG):
        if slot < end:
            record = partition.log.pop()
            if slot >= limit or kept[slot]:
                partition.log.push(record)
    partition.high_watermark = limit - removed
    partition.replicated -= removed
    partition.follower_high_watermark = known - removed_below_known


def is_kept(partition: OffsetsPartition, slot: int, limit: int, drops_tombstones: bool) -> bool:
    """Whether the cleaner keeps the record in a slot: no later record below `limit` has its key."""
    record, position, is_superseded = OffsetsRecord(), 0, False
    for other in partition.log:
        if position == slot:
            record = other
        is_superseded = is_superseded or (slot < position and position < limit and other.key is record.key)
        position = position + 1
    return not is_superseded and not (drops_tombstones and record.is_tombstone)
