"""GroupMetadataManager: what a coordinator caches, when it loads and unloads it, and what it writes to the log."""

from __future__ import annotations

from kwalk.model.kafka.domains import Broker
from kwalk.model.kafka.groups.domains import (
    BUFFERS,
    COORDINATOR,
    GROUP_DELETIONS,
    GROUP_MAX_SIZE,
    LARGE_GROUP,
    LONG_RETENTION,
    MEMBER_IDS,
    OTHER_PROTOCOLS,
    RETENTIONS,
    TASKS,
    Buffer,
)
from kwalk.model.kafka.groups.state import (
    CommittedOffset,
    Consumer,
    ConsumerStatus,
    GroupCluster,
    GroupMetadata,
    GroupState,
    OffsetsRecord,
    RecordKey,
    Task,
)
from kwalk.model.kafka.groups.versions import (
    BUFFER_GROWS,
    CONCURRENT_REQUESTS,
    COORDINATOR_EPOCH,
    DEAD_GROUPS_ARE_RETRIABLE,
    DELETED_TOPICS_LOSE_OFFSETS,
    EMPTY_GROUPS_STAY,
    EXPIRE_STABLE_ONLY,
    LEADER_SKIPS_ASSIGNMENT,
    LOAD_ENDS_AT_GAP,
    LOAD_TO_LOG_END,
    LOAD_WHOLE_LOG,
    LOADED_MEMBERS_ARE_STATIC,
    MAX_SIZE_IS_ENFORCED,
    OLD_RECORDS,
    REMOVAL_WAITS,
    RETENTION_FROM_EMPTY,
    RETENTION_IS_A_LONG,
    STALE_CACHE_IS_FENCED,
    STATE_TIME_IS_LOADED,
    STATIC_IDS_ARE_RANDOM,
    STATIC_MEMBERS,
    STATIC_MEMBERSHIP,
    STOP_REPLICA_UNLOADS,
    UNKNOWN_RECORDS_ARE_SKIPPED,
    UNSET_EXPIRY_IS_NONE,
)
from kwalk.model.language import action, require


@action(
    by=COORDINATOR,
    group="coordinators",
    description="handles LeaderAndIsr about the partition; its task overtakes that of an earlier request: {overtakes}",
    source="KafkaApis.handleLeaderAndIsrRequest, GroupCoordinator.onElection, onResignation",
)
def handle_leader_and_isr(cluster: GroupCluster, broker: Broker, overtakes: bool) -> None:
    """The replica follows at once; loading and unloading are left to the scheduler's thread.

    A request of another controller may be handled by another thread, which schedules its task first.
    """
    coordinator = cluster.coordinators[broker]
    require(not coordinator.requests.is_empty and not coordinator.requests.head.stops_replica)
    require(not overtakes or (bool(CONCURRENT_REQUESTS) and not coordinator.tasks.is_empty))
    wanted = coordinator.requests.pop()
    coordinator.is_leader = wanted.leader == broker
    if not coordinator.is_leader:
        resign(cluster, broker)
    task, waiting = Task(is_load=coordinator.is_leader, leader_epoch=wanted.leader_epoch), len(coordinator.tasks)
    for slot in range(TASKS):
        if slot < waiting:
            earlier = coordinator.tasks.pop()
            if overtakes and slot == waiting - 1:
                coordinator.tasks.push(task)
            coordinator.tasks.push(earlier)
    if not overtakes:
        coordinator.tasks.push(task)


def resign(cluster: GroupCluster, broker: int) -> None:
    """The broker does not lead any more."""
    fail_appends(cluster, broker)
    if STALE_CACHE_IS_FENCED:
        unload(cluster, broker)


@action(
    by=COORDINATOR,
    description="handles StopReplica: its replica of the partition is deleted",
    source="KafkaApis.handleStopReplicaRequest",
)
def handle_stop_replica(cluster: GroupCluster, broker: Broker) -> None:
    """The broker is no replica any more; before KAFKA-4362 it still took itself for the coordinator."""
    coordinator = cluster.coordinators[broker]
    require(not coordinator.requests.is_empty and coordinator.requests.head.stops_replica)
    wanted = coordinator.requests.pop()
    coordinator.is_leader = False
    resign(cluster, broker)
    if STOP_REPLICA_UNLOADS:
        coordinator.tasks.push(Task(is_load=False, leader_epoch=wanted.leader_epoch))


@action(
    by=COORDINATOR,
    group="coordinators",
    description="loads or unloads the partition",
    source="GroupMetadataManager.loadGroupsAndOffsets, removeGroupsAndOffsets; maybeUpdateCoordinatorEpoch",
)
def run_task(cluster: GroupCluster, broker: Broker, buffer: Buffer) -> None:
    """The scheduler's only thread takes the next task; a load reads `buffer` + 1 records before it caches any group."""
    coordinator = cluster.coordinators[broker]
    require(not coordinator.tasks.is_empty)
    require(not (coordinator.tasks.head.is_load and is_endless(cluster, broker)))
    require(buffer == len(BUFFERS) - 1 or (not LOAD_WHOLE_LOG and coordinator.tasks.head.is_load))
    task = coordinator.tasks.pop()
    if COORDINATOR_EPOCH:
        if task.leader_epoch < coordinator.loaded_epoch:
            return
        coordinator.loaded_epoch = task.leader_epoch
    if not task.is_load:
        unload(cluster, broker)
    elif not (COORDINATOR_EPOCH and coordinator.owns):
        load(cluster, broker, buffer)
        coordinator.owns = True


def end_of_load(cluster: GroupCluster) -> int:
    """Return how many records a load reads."""
    return len(cluster.partition.log) if LOAD_TO_LOG_END else cluster.partition.high_watermark


def is_endless(cluster: GroupCluster, broker: int) -> bool:
    """Whether a load does not end, as long as the broker leads.

    Before KAFKA-9065 it needs a record at or above its last offset; before KAFKA-7286 each fits into its buffer.
    """
    end, position, is_gap, is_too_large = end_of_load(cluster), 0, not LOAD_ENDS_AT_GAP, False
    for record in cluster.partition.log:
        is_left = broker not in record.removed_from
        is_gap = is_gap and (position < end - 1 or not is_left)
        is_too_large = is_too_large or (position < end and is_left and is_large(record))
        position = position + 1
    return (is_too_large or (is_gap and end > 0)) and cluster.coordinators[broker].is_leader


def is_large(record: OffsetsRecord) -> bool:
    """Whether a record does not fit into the buffer of a load."""
    return LARGE_GROUP > 0 and not BUFFER_GROWS and len(record.members) >= LARGE_GROUP


def load(cluster: GroupCluster, broker: int, buffer: int) -> None:
    """Cache the group and its offset as the log has them, unless the group is cached already.

    A broker that does not lead any more reads nothing, and owns the partition all the same; so does one that fails at a
    record of a type that it does not know.

    Kafka: GroupMetadataManager.doLoadGroupsAndOffsets, GroupMetadataManager.loadGroup.
    """
    partition, group = cluster.partition, cluster.coordinators[broker].group
    end = end_of_load(cluster)
    loaded, offset = OffsetsRecord(is_tombstone=True), OffsetsRecord(is_tombstone=True)
    position = 0
    for record in partition.log:
        is_cached = not LOAD_WHOLE_LOG and position > buffer and not (loaded.is_tombstone and offset.is_tombstone)
        if position < end and not is_cached and broker not in record.removed_from:
            if record.key is RecordKey.GROUP:
                loaded = record
            else:
                offset = record
        position = position + 1
    fails = partition.has_later_records and not UNKNOWN_RECORDS_ARE_SKIPPED
    if fails or not cluster.coordinators[broker].is_leader:
        return
    is_new = not group.exists
    if is_new and not loaded.is_tombstone:
        on_group_loaded(group, loaded)
        if is_over_capacity(group):
            prepare_rebalance(cluster, broker)
    elif is_new and EMPTY_GROUPS_STAY and not offset.is_tombstone:
        group.state = GroupState.EMPTY
    if not offset.is_tombstone and (is_new or not EMPTY_GROUPS_STAY):
        group.offset = offset.offset
        group.is_offset_due = bool(OLD_RECORDS) and not UNSET_EXPIRY_IS_NONE


def on_group_loaded(group: GroupMetadata, record: OffsetsRecord) -> None:
    """Cache a group as a record has it: its members are Stable, and their heartbeats are awaited from now on.

    From 2.3 to 2.7 a member that has no group.instance.id in a record of that format had one that was null.

    Kafka: GroupCoordinator.onGroupLoaded, GroupMetadata.loadGroup, GroupMetadataManager.readGroupMessageValue.
    """
    group.state = GroupState.STABLE if record.members else GroupState.EMPTY
    group.generation, group.members = record.generation, record.members
    group.leader, group.owner, group.time = record.leader, record.owner, record.time
    group.is_unsubscribed = not record.members and unsubscribes()
    if LOADED_MEMBERS_ARE_STATIC and not OLD_RECORDS and not STATIC_MEMBERS:
        group.taken_for_static = record.members
    if names_members_by_time() or (RETENTIONS > 0 and not record.members):
        group.has_no_time = not STATE_TIME_IS_LOADED or bool(OLD_RECORDS)
    if OTHER_PROTOCOLS > 0:
        group.other_protocol = record.other_protocol


def is_over_capacity(group: GroupMetadata) -> bool:
    """Whether a group has more members than it may have (Kafka: GroupCoordinator.groupIsOverCapacity)."""
    return GROUP_MAX_SIZE > 0 and bool(MAX_SIZE_IS_ENFORCED) and len(group.members) > GROUP_MAX_SIZE


def names_members_by_time() -> bool:
    """Whether a static member's id is made of the time since which its group is in its state, as in 2.3.0.

    Kafka: GroupMetadata.generateMemberId.
    """
    return bool(STATIC_MEMBERS) and bool(STATIC_MEMBERSHIP) and not STATIC_IDS_ARE_RANDOM


def unsubscribes() -> bool:
    """Whether a generation without members matters to the expiry of offsets: from KIP-211 to KAFKA-13636."""
    return RETENTIONS > 0 and bool(RETENTION_FROM_EMPTY) and not EXPIRE_STABLE_ONLY


def unload(cluster: GroupCluster, broker: int) -> None:
    """Drop what is cached; members that wait for an answer get NOT_COORDINATOR.

    A heartbeat that waits for the group finds it Dead: COORDINATOR_NOT_AVAILABLE, before KAFKA-8386 UNKNOWN_MEMBER_ID.

    Kafka: GroupMetadataManager.removeGroupsForPartition, GroupCoordinator.onGroupUnloaded.
    """
    coordinator = cluster.coordinators[broker]
    coordinator.owns = False
    for consumer in cluster.consumers:
        if consumer.coordinator == broker:
            if consumer.status is ConsumerStatus.JOINING_NEW:
                consumer.reset()
            elif consumer.status in (ConsumerStatus.JOINING, ConsumerStatus.SYNCING):
                consumer.rejoin()
            elif consumer.is_waiting and not DEAD_GROUPS_ARE_RETRIABLE:
                consumer.reset()
            consumer.is_waiting = False
    coordinator.group.forget()


def append(cluster: GroupCluster, broker: int, record: OffsetsRecord) -> None:
    """Append a record as leader; what a broker appends that was deposed is never replicated.

    Kafka: GroupMetadataManager.appendForGroup.
    """
    if cluster.leads(broker):
        cluster.partition.log.push(record)


def store_group(cluster: GroupCluster, broker: int) -> None:
    """Append the group with its assignment (Kafka: GroupMetadataManager.storeGroup)."""
    group = cluster.coordinators[broker].group
    record = OffsetsRecord(
        key=RecordKey.GROUP,
        generation=group.generation,
        members=group.members,
        leader=group.leader,
        owner=group.owner,
        time=group.time,
        other_protocol=group.other_protocol,
    )
    append(cluster, broker, record)


def store_offset(cluster: GroupCluster, broker: int) -> None:
    """Append the next commit; it is cached when it is replicated (Kafka: GroupMetadataManager.storeOffsets)."""
    offset = CommittedOffset(commit=cluster.commits, incarnation=cluster.incarnation, time=cluster.clock)
    append(cluster, broker, OffsetsRecord(key=RecordKey.OFFSET, offset=offset))
    cluster.coordinators[broker].group.is_committing = True


def complete_appends(cluster: GroupCluster, broker: int) -> None:
    """All replicas have all records: cache the commit, give the members their assignment, and answer.

    Kafka: GroupMetadata.completePendingOffsetWrite, GroupCoordinator.setAndPropagateAssignment.
    """
    group = cluster.coordinators[broker].group
    group.is_overlooked = False
    if group.is_committing:
        for record in cluster.partition.log:
            if record.key is RecordKey.OFFSET and not record.is_tombstone:
                if not group.is_commit_forgotten:
                    group.offset, group.is_offset_due = record.offset, False
                if record.offset.incarnation == cluster.incarnation:
                    cluster.acknowledged = record.offset
        group.is_committing = group.is_commit_forgotten = False
    if group.is_storing:
        group.is_storing = False
        for consumer in cluster.consumers:
            if consumer.coordinator == broker and consumer.member_id in group.members:
                assert consumer.member_id is not None
                if consumer.status is ConsumerStatus.SYNCING and group.state is GroupState.COMPLETING_REBALANCE:
                    consumer.status, consumer.owns = ConsumerStatus.STABLE, group.owner == consumer.member_id
                elif consumer.status is ConsumerStatus.JOINING_NEW and group.state is GroupState.STABLE:
                    answer_static_member(consumer, group)
        group.awaiting_join = frozenset()
        group.awaiting_sync = frozenset()
        group.replaced = frozenset()
        group.state = GroupState.STABLE
        cluster.stored_generation = group.generation
    if group.is_removing:
        drop_group(cluster, broker)


def answer_static_member(joining: Consumer, group: GroupMetadata) -> None:
    """Answer the JoinGroup of a static member that has started again; since KIP-814 a leader reads that it leads.

    Kafka: GroupCoordinator.updateStaticMemberAndRebalance.
    """
    joining.status, joining.generation = ConsumerStatus.JOINED, group.generation
    if LEADER_SKIPS_ASSIGNMENT and group.leader == joining.member_id:
        joining.member_ids = group.members


def fail_appends(cluster: GroupCluster, broker: int) -> None:
    """The broker does not lead any more: what waits for replicas is answered with NOT_COORDINATOR.

    A static member that has started again has its earlier member id again.
    """
    group = cluster.coordinators[broker].group
    group.is_committing = group.is_commit_forgotten = group.is_removing = group.is_overlooked = False
    if group.is_storing:
        group.is_storing = False
        for consumer in cluster.consumers:
            if consumer.coordinator == broker and consumer.status is ConsumerStatus.JOINING_NEW:
                consumer.reset()
        for old in MEMBER_IDS:
            if old in group.replaced:
                restore_member(cluster, group, old)
        if group.state is GroupState.COMPLETING_REBALANCE:
            prepare_rebalance(cluster, broker)


@action(
    by=COORDINATOR,
    description="waits no longer for the replicas: offsets.commit.timeout.ms have passed",
    source="DelayedProduce.onComplete: REQUEST_TIMED_OUT; GroupMetadataManager.storeGroup, storeOffsets",
)
def time_out_append(cluster: GroupCluster, broker: Broker) -> None:
    """A commit is refused, and members are to join again, although all replicas have the record."""
    require(cluster.coordinators[broker].group.is_overlooked)
    fail_appends(cluster, broker)


def restore_member(cluster: GroupCluster, group: GroupMetadata, old: int) -> None:
    """Give a static member its earlier id again (Kafka: GroupCoordinator.updateStaticMemberAndRebalance)."""
    group.replaced = group.replaced - {old}
    for new in MEMBER_IDS:
        if new in group.members and cluster.instance_of[new] == cluster.instance_of[old]:
            group.replace_member(new, old)
            break


def prepare_rebalance(cluster: GroupCluster, broker: int) -> None:
    """Begin a rebalance; members that wait for their assignment are to join again.

    Kafka: GroupCoordinator.prepareRebalance, GroupCoordinator.resetAndPropagateAssignmentError.
    """
    group = cluster.coordinators[broker].group
    for consumer in cluster.consumers:
        if consumer.coordinator == broker and consumer.status is ConsumerStatus.SYNCING:
            consumer.rejoin()
    group.awaiting_sync = group.pending_sync = frozenset()
    group.owner, group.is_storing, group.replaced = None, False, frozenset()
    group.has_no_time = False
    group.state = GroupState.PREPARING_REBALANCE


@action(
    by=COORDINATOR,
    group="coordinators",
    description="removes what has expired",
    source="GroupMetadataManager.deleteExpiredOffsets (0.10.0), cleanupGroupMetadata",
)
def clean_up(cluster: GroupCluster, broker: Broker) -> None:
    """An offset that has expired is removed, and then a group that is Empty; tombstones are not waited for."""
    group = cluster.coordinators[broker].group
    require(not group.is_removing and (has_expired(cluster, group) or is_removable(group)))
    remove_offset(cluster, broker)


def has_expired(cluster: GroupCluster, group: GroupMetadata) -> bool:
    """Whether the cached offset is to be removed (Kafka: GroupMetadata.removeExpiredOffsets).

    While the group has members, its offset expires for want of a subscription: from KIP-211 to KAFKA-13636 that of an
    earlier generation without members counts, while the first member joins. Until KAFKA-4472 a retention of more than
    68 years was negative.
    """
    if group.offset is None:
        return False
    is_overflown = LONG_RETENTION > 0 and not RETENTION_IS_A_LONG
    is_old = group.is_offset_due or group.offset.time < cluster.clock or is_overflown
    if group.is_committing and EMPTY_GROUPS_STAY:
        return False
    if not RETENTION_FROM_EMPTY:
        return is_old
    if group.state is GroupState.EMPTY:
        by_commit = group.generation == 0 or group.has_no_time
        return is_old if by_commit else group.is_offset_due or group.time < cluster.clock
    return group.is_unsubscribed and is_old


def is_removable(group: GroupMetadata) -> bool:
    """Whether the group is Empty and has no offset, nor a commit on its way."""
    is_empty = group.state is GroupState.EMPTY and group.offset is None and not has_pending_commit(group)
    return bool(EMPTY_GROUPS_STAY) and is_empty


def has_pending_commit(group: GroupMetadata) -> bool:
    """Whether the group takes a commit for one on its way (Kafka: GroupMetadata.hasOffsets)."""
    return (group.is_committing and not group.is_commit_forgotten) or group.is_pending_elsewhere


def remove_offset(cluster: GroupCluster, broker: int) -> None:
    """Remove the cached offset, and then the group if it is Empty; append their tombstones.

    Once no member is there, the offset may go: history forgets it.
    """
    group = cluster.coordinators[broker].group
    if group.offset is not None:
        append(cluster, broker, OffsetsRecord(key=RecordKey.OFFSET, is_tombstone=True))
        if cluster.leads(broker) and not group.members:
            cluster.acknowledged = None
        if not (REMOVAL_WAITS and group.state is GroupState.EMPTY):
            group.offset, group.is_offset_due = None, False
    if EMPTY_GROUPS_STAY and group.state is GroupState.EMPTY and not has_pending_commit(group):
        remove_group(cluster, broker)


def remove_group(cluster: GroupCluster, broker: int) -> None:
    """Take the group out of the cache and append its tombstone, unless it never had a generation.

    Kafka: GroupMetadataManager.removeGroup, GroupMetadataManager.evictGroupAndDeleteMetadata.
    """
    group = cluster.coordinators[broker].group
    if group.generation > 0:
        append(cluster, broker, OffsetsRecord(key=RecordKey.GROUP, is_tombstone=True))
    if REMOVAL_WAITS:
        group.is_removing = True
    else:
        drop_group(cluster, broker)


def drop_group(cluster: GroupCluster, broker: int) -> None:
    """Take the group out of the cache: whoever asks is answered that it is Dead."""
    group = cluster.coordinators[broker].group
    if REMOVAL_WAITS:
        group.forget()
    else:
        group.forget_group()
    if cluster.leads(broker):
        cluster.is_removed, cluster.stored_generation, cluster.commit_generation = True, 0, 0


@action(
    by=COORDINATOR,
    description="handles UpdateMetadata: the topic was deleted",
    source="KafkaApis.handleUpdateMetadataRequest, GroupCoordinator.handleDeletedPartitions",
)
def handle_deleted_partitions(cluster: GroupCluster, broker: Broker) -> None:
    """A broker removes the offsets of the topic's name from what it caches, whatever it caches then.

    A commit that is on its way is answered as any other, and is not cached; its record has no tombstone.

    Kafka: GroupMetadata.removeOffsets, onOffsetCommitAppend.
    """
    coordinator = cluster.coordinators[broker]
    group = coordinator.group
    require(coordinator.misses_deletion and not group.is_removing)
    coordinator.misses_deletion = False
    if DELETED_TOPICS_LOSE_OFFSETS:
        group.is_commit_forgotten = group.is_committing
        remove_offset(cluster, broker)


def may_delete_group(cluster: GroupCluster, broker: int) -> bool:
    """Whether the broker accepts DeleteGroups: it owns the partition, and the group is Empty."""
    coordinator = cluster.coordinators[broker]
    is_empty = coordinator.group.state is GroupState.EMPTY and not coordinator.group.is_removing
    return GROUP_DELETIONS > 0 and coordinator.owns and coordinator.is_leader and is_empty
