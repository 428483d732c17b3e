"""GroupCoordinator: how a coordinator answers the members of a group, and when it gives up waiting for them.

A consumer's request and the coordinator's part are one step; an answer that waits is a step of its own. Timers may fire
at any time for a consumer that does not answer, and for no other.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import Broker
from kwalk.model.kafka.groups.domains import (
    CONSUMER,
    CONSUMER_STOPS,
    CONSUMERS,
    COORDINATOR,
    EMPTY_PROTOCOLS,
    GROUP_MAX_SIZE,
    JOIN_GROUP_V0,
    LATE_EXPIRATIONS,
    MEMBER_IDS,
    OLD_CONSUMERS,
    OTHER_PROTOCOLS,
    ConsumerId,
    MemberId,
)
from kwalk.model.kafka.groups.group_metadata_manager import (
    answer_static_member,
    fail_appends,
    is_over_capacity,
    names_members_by_time,
    prepare_rebalance,
    remove_group,
    store_group,
    unsubscribes,
)
from kwalk.model.kafka.groups.state import (
    Consumer,
    ConsumerStatus,
    Coordinator,
    GroupCluster,
    GroupMetadata,
    GroupState,
    Pace,
)
from kwalk.model.kafka.groups.versions import (
    EMPTY_GROUPS_STAY,
    EMPTY_PROTOCOLS_ARE_REFUSED,
    HEARTBEAT_WHILE_COMPLETING,
    JOIN_CREATES_OR_CHECKS,
    LAST_MEMBERS_ARE_EVICTED,
    LOADED_MEMBERS_ARE_STATIC,
    MAX_SIZE_IS_ENFORCED,
    NEW_MEMBERS_EXPIRE,
    OLD_CONSUMERS_GET_THEIR_SESSION,
    OLD_LEADERS_ARE_ANSWERED,
    PENDING_SYNC_EXPIRES,
    REMOVED_MEMBERS_ARE_NOT_WATCHED,
    SHORT_ISR_IS_RETRIABLE,
    STATIC_MEMBERS,
    STATIC_MEMBERSHIP,
    STATIC_REJOIN_IS_STORED,
    STATIC_REJOIN_REBALANCES,
)
from kwalk.model.language import action, require


class Errors(Enum):
    """What a request is answered with."""

    NONE = 0
    UNKNOWN_MEMBER_ID = 1
    ILLEGAL_GENERATION = 2
    REBALANCE_IN_PROGRESS = 3
    FENCED_INSTANCE_ID = 4


def handle_error(consumer: Consumer, error: Errors) -> None:
    """Let a consumer react to an error (Kafka: AbstractCoordinator.HeartbeatResponseHandler)."""
    if error is Errors.REBALANCE_IN_PROGRESS:
        consumer.rejoin()
    elif error is Errors.FENCED_INSTANCE_ID:
        consumer.reset()
        consumer.status = ConsumerStatus.FENCED
    elif error is not Errors.NONE:
        consumer.reset()


def member_error(cluster: GroupCluster, group: GroupMetadata, consumer: int) -> Errors:
    """Return with which error a request of the consumer is refused, if the group does not know its member id.

    Kafka: GroupMetadata.isStaticMemberFenced.
    """
    asking = cluster.consumers[consumer]
    if asking.member_id in group.members:
        return Errors.NONE
    is_known = any(is_static_member(cluster, group, consumer, member_id) for member_id in MEMBER_IDS)
    return Errors.FENCED_INSTANCE_ID if is_known else Errors.UNKNOWN_MEMBER_ID


def is_static_member(cluster: GroupCluster, group: GroupMetadata, consumer: int, member_id: int) -> bool:
    """Whether the group has this member id for the consumer's instance (Kafka: GroupMetadata.hasStaticMember)."""
    if not (STATIC_MEMBERS and STATIC_MEMBERSHIP):
        return False
    return member_id in group.members and cluster.instance_of[member_id] == consumer


def is_asked(cluster: GroupCluster, consumer: int, broker: int) -> bool:
    """Whether the consumer runs and sends its requests to the broker, which owns the partition and is not loading."""
    asking = cluster.consumers[consumer]
    return asking.is_running and asking.coordinator == broker and cluster.coordinators[broker].owns


@action(
    by=CONSUMER,
    group="members",
    description="sends JoinGroup to broker {broker}",
    source="GroupCoordinator.handleJoinGroup, doJoinGroup (0.10.0), doUnknownJoinGroup",
)
def join_group(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """The first JoinGroup of all creates the group; one with a member id is accepted only if the group has it.

    In 2.3.0 a static member gets no member id from a group that was loaded: UNKNOWN_SERVER_ERROR.
    """
    joining, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    require(is_asked(cluster, consumer, broker) and joining.status is ConsumerStatus.UNJOINED)
    require(not group.is_removing)
    is_without_id = joining.member_id is None and names_members_by_time() and group.has_no_time
    is_evicted = exceeds_maximum(group, joining)
    if is_evicted and joining.member_id in group.members:
        assert joining.member_id is not None
        group.remove_member(joining.member_id)
    if is_without_id or is_evicted or has_other_protocol(cluster, group, consumer):
        joining.reset()
        joining.status = ConsumerStatus.REFUSED
    elif joining.member_id is not None:
        join_with_member_id(cluster, consumer, broker)
    else:
        join_without_member_id(cluster, consumer, broker)


@action(
    by=CONSUMER,
    description="sends JoinGroup to broker {broker}, where a thread begins to handle it, and finds no group",
    source="GroupCoordinator.handleJoinGroup: groupManager.getGroup",
)
def look_up_group(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """Before KAFKA-9844 the size of a group was not looked at if there was none when the request came.

    Another thread can have created it, with a member, before this one adds its own.
    """
    joining, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    require(GROUP_MAX_SIZE > 0 and bool(MAX_SIZE_IS_ENFORCED) and not JOIN_CREATES_OR_CHECKS)
    require(is_asked(cluster, consumer, broker) and joining.status is ConsumerStatus.UNJOINED)
    require(joining.member_id is None and not group.exists and not joining.found_no_group)
    joining.found_no_group = True


def exceeds_maximum(group: GroupMetadata, joining: Consumer) -> bool:
    """Whether the group is as large as it may be: GROUP_MAX_SIZE_REACHED, and the member is removed.

    Of a group that is too large the first members that join again are removed; since KAFKA-9885 the last ones are.

    Kafka: GroupCoordinator.handleJoinGroup, GroupCoordinator.acceptJoiningMember (2.6).
    """
    if GROUP_MAX_SIZE == 0 or not MAX_SIZE_IS_ENFORCED or joining.found_no_group:
        return False
    is_member, is_waiting = joining.member_id in group.members, joining.member_id in group.awaiting_join
    if LAST_MEMBERS_ARE_EVICTED and group.state is GroupState.PREPARING_REBALANCE:
        return not is_waiting and len(group.awaiting_join) >= GROUP_MAX_SIZE
    is_shed = is_over_capacity(group) and is_member and not is_waiting and not LAST_MEMBERS_ARE_EVICTED
    return is_shed or (not is_member and len(group.members) >= GROUP_MAX_SIZE)


def has_other_protocol(cluster: GroupCluster, group: GroupMetadata, consumer: int) -> bool:
    """Whether the group has members, and they do not support the consumer's protocol: INCONSISTENT_GROUP_PROTOCOL.

    Since KAFKA-6005 an empty group refuses a consumer that names none, too.

    Kafka: GroupMetadata.supportsProtocols; GroupCoordinator.doJoinGroup.
    """
    if OTHER_PROTOCOLS == 0:
        return False
    is_other = consumer >= len(CONSUMERS) - OTHER_PROTOCOLS
    if EMPTY_PROTOCOLS > 0 and is_other:
        return bool(EMPTY_PROTOCOLS_ARE_REFUSED) or bool(group.members)
    return bool(group.members) and group.other_protocol != is_other


def join_without_member_id(cluster: GroupCluster, consumer: int, broker: int) -> None:
    """Create the group if need be, and add a member; a static member takes the place of its earlier member id."""
    joining, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    is_known = any(is_static_member(cluster, group, consumer, member_id) for member_id in MEMBER_IDS)
    new = cluster.member_ids.take()
    joining.member_id = new
    joining.status = ConsumerStatus.JOINING_NEW
    joining.found_no_group = False
    cluster.is_removed = False
    if STATIC_MEMBERS and consumer >= OLD_CONSUMERS:
        cluster.instance_of[new] = consumer
    for old in MEMBER_IDS:
        if is_static_member(cluster, group, consumer, old):
            update_static_member(cluster, consumer, broker, old, new)
            break
    if not is_known:
        if not group.members and OTHER_PROTOCOLS > 0:
            group.other_protocol = consumer >= len(CONSUMERS) - OTHER_PROTOCOLS
        group.members = group.members | {new}
        group.awaiting_join = group.awaiting_join | {new}
        if CONSUMER_STOPS > 0 and not NEW_MEMBERS_EXPIRE:
            group.unwatched = group.unwatched | {new}
        if group.leader is None:
            group.leader = new
        if group.state is not GroupState.PREPARING_REBALANCE:
            prepare_rebalance(cluster, broker)


def update_static_member(cluster: GroupCluster, consumer: int, broker: int, old: int, new: int) -> None:
    """A static member has started again: replace its member id, without a rebalance if the group is Stable.

    Before KIP-814 its answer names the old member id as leader's, so that it makes no assignment.

    Kafka: GroupCoordinator.updateStaticMemberAndRebalance.
    """
    joining, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    group.replace_member(old, new)
    if group.state is GroupState.STABLE and STATIC_REJOIN_IS_STORED:
        group.awaiting_join = group.awaiting_join | {new}
        group.is_storing = True
        group.replaced = group.replaced | {old}
        store_group(cluster, broker)
        if not cluster.coordinators[broker].is_leader:
            fail_appends(cluster, broker)
    elif group.state is GroupState.STABLE or (
        group.state is GroupState.COMPLETING_REBALANCE and not STATIC_REJOIN_REBALANCES
    ):
        answer_static_member(joining, group)
    else:
        group.awaiting_join = group.awaiting_join | {new}
        if group.state is GroupState.COMPLETING_REBALANCE:
            prepare_rebalance(cluster, broker)


def join_with_member_id(cluster: GroupCluster, consumer: int, broker: int) -> None:
    """Let a known member join again; of a Stable group only the leader's JoinGroup causes a rebalance."""
    joining, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    assert joining.member_id is not None
    error = member_error(cluster, group, consumer)
    if error is not Errors.NONE:
        handle_error(joining, error)
        return
    group.unwatched = group.unwatched - {joining.member_id}
    if group.state is GroupState.COMPLETING_REBALANCE or (
        group.state is GroupState.STABLE and group.leader != joining.member_id
    ):
        answer_join(joining, group)
    else:
        group.awaiting_join = group.awaiting_join | {joining.member_id}
        joining.status = ConsumerStatus.JOINING
        if group.state is GroupState.STABLE:
            prepare_rebalance(cluster, broker)


def answer_join(joining: Consumer, group: GroupMetadata) -> None:
    """Answer a JoinGroup; the leader reads who the members are."""
    joining.status, joining.generation = ConsumerStatus.JOINED, group.generation
    if STATIC_MEMBERS and group.leader == joining.member_id:
        joining.member_ids = group.members


@action(
    by=COORDINATOR,
    group="coordinators",
    description="completes the first half of a rebalance",
    source="DelayedJoin.tryComplete, onExpiration; GroupCoordinator.onCompleteJoin",
)
def complete_join(cluster: GroupCluster, broker: Broker) -> None:
    """All members have joined again, or those that have not do not answer and are removed when the time is up.

    Static members are not removed here; if none of those that are left has joined, the coordinator waits on. Where the
    answer to the leader cannot be written, the exception ends the loop over the members: none behind it is answered
    either.
    """
    group = cluster.coordinators[broker].group
    require(group.state is GroupState.PREPARING_REBALANCE)
    is_over = all(m in group.awaiting_join or not answers(cluster, broker, m) for m in MEMBER_IDS if m in group.members)
    require(is_over or has_no_rebalance_timeout())
    removed = late_members(group)
    require(bool(group.awaiting_join) or bool(removed) or not group.members)
    for m in MEMBER_IDS:
        if m in removed:
            group.remove_member(m)
            if LATE_EXPIRATIONS > 0 and not REMOVED_MEMBERS_ARE_NOT_WATCHED:
                group.still_watched = group.still_watched | {m}
    if group.members and not group.awaiting_join:
        return
    if group.members:
        if group.leader not in group.awaiting_join:
            group.leader = min(group.awaiting_join)
        group.generation += 1
        group.state = GroupState.COMPLETING_REBALANCE
        group.time = cluster.clock
        group.is_unsubscribed = False
        group.pending_sync = group.members
        is_answered = can_answer_leader(cluster, group)
        for consumer in cluster.consumers:
            is_waiting = is_answered and consumer.status in (ConsumerStatus.JOINING, ConsumerStatus.JOINING_NEW)
            if is_waiting and consumer.coordinator == broker and consumer.member_id in group.awaiting_join:
                answer_join(consumer, group)
        if is_answered:
            group.awaiting_join = frozenset()
    elif EMPTY_GROUPS_STAY:
        group.generation += 1
        group.state = GroupState.EMPTY
        group.time = cluster.clock
        group.is_unsubscribed = unsubscribes()
        store_group(cluster, broker)
    else:
        remove_group(cluster, broker)


def has_no_rebalance_timeout() -> bool:
    """Whether a rebalance ends as soon as it has begun, as the rebalance timeouts of all members are -1.

    Kafka: GroupMetadata.rebalanceTimeoutMs; JoinGroupRequest.maybeOverrideRebalanceTimeout (2.3.1).
    """
    return JOIN_GROUP_V0 > 0 and not OLD_CONSUMERS_GET_THEIR_SESSION


def late_members(group: GroupMetadata) -> frozenset[int]:
    """Return the members that have not joined again, but for those that the coordinator takes for static ones.

    Kafka: GroupMetadata.notYetRejoinedMembers, MemberMetadata.isStaticMember.
    """
    if STATIC_MEMBERS and STATIC_MEMBERSHIP:
        return frozenset()
    return group.members - group.awaiting_join - group.taken_for_static


def can_answer_leader(cluster: GroupCluster, group: GroupMetadata) -> bool:
    """Whether the answer to the leader's JoinGroup can be written in the version of its request.

    Kafka: GroupMetadata.currentMemberMetadata, JoinGroupResponse.
    """
    if OLD_CONSUMERS == 0 or OLD_LEADERS_ARE_ANSWERED:
        return True
    is_old = any(c.member_id == group.leader for number, c in enumerate(cluster.consumers) if number < OLD_CONSUMERS)
    return not is_old or not any(m in group.members and cluster.instance_of[m] is not None for m in MEMBER_IDS)


def answers(cluster: GroupCluster, broker: int, member_id: int) -> bool:
    """Whether a running consumer has the member id and the broker as its coordinator: it sends what is awaited."""
    return any(c.is_running and c.coordinator == broker and c.member_id == member_id for c in cluster.consumers)


@action(
    by=CONSUMER,
    group="members",
    description="sends SyncGroup to broker {broker}; as leader it assigns the partition to {owner}",
    source="GroupCoordinator.handleSyncGroup, doSyncGroup",
)
def sync_group(cluster: GroupCluster, consumer: ConsumerId, broker: Broker, owner: MemberId) -> None:
    """The leader's SyncGroup is stored with its assignment; other members wait for it, or get what is there already.

    Member ids are random, so that any member can be the one to which an assignor gives the first partition.
    """
    syncing, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    require(is_asked(cluster, consumer, broker) and syncing.status is ConsumerStatus.JOINED)
    assert syncing.member_id is not None
    error = sync_error(cluster, group, consumer)
    is_leader = error is Errors.NONE and group.leader == syncing.member_id
    chooses = is_leader and group.state is GroupState.COMPLETING_REBALANCE and knows_members(syncing)
    require(owner in known_members(syncing, group) if chooses else owner == syncing.member_id)
    if error is not Errors.NONE:
        handle_error(syncing, error)
        return
    group.unwatched = group.unwatched - {syncing.member_id}
    if group.state is GroupState.STABLE:
        group.pending_sync = group.pending_sync - {syncing.member_id}
        syncing.status, syncing.owns = ConsumerStatus.STABLE, group.owner == syncing.member_id
    else:
        group.pending_sync = group.pending_sync - {syncing.member_id}
        group.awaiting_sync = group.awaiting_sync | {syncing.member_id}
        syncing.status = ConsumerStatus.SYNCING
        if is_leader:
            group.owner = owner if chooses and owner in group.members else None
            store_assignment(cluster, cluster.coordinators[broker], broker)


def store_assignment(cluster: GroupCluster, coordinator: Coordinator, broker: int) -> None:
    """Append the assignment; a broker that does not lead any more refuses, and the members join again.

    Before KAFKA-3590 clients did not know the error of a partition that is short of in-sync replicas.
    """
    if cluster.partition.is_short_of_replicas and not SHORT_ISR_IS_RETRIABLE:
        for consumer in cluster.consumers:
            if consumer.coordinator == broker and consumer.status is ConsumerStatus.SYNCING:
                consumer.reset()
                consumer.status = ConsumerStatus.REFUSED
    if coordinator.is_leader and not cluster.partition.is_short_of_replicas:
        coordinator.group.is_storing = True
        store_group(cluster, broker)
    else:
        prepare_rebalance(cluster, broker)


def knows_members(leader: Consumer) -> bool:
    """Whether a leader has read who the members are: a static one that was answered at once has not."""
    return bool(leader.member_ids) if STATIC_MEMBERS else True


def known_members(leader: Consumer, group: GroupMetadata) -> frozenset[int]:
    """Return the members among which a leader chooses: those of the answer to its JoinGroup."""
    return leader.member_ids if STATIC_MEMBERS else group.members


def sync_error(cluster: GroupCluster, group: GroupMetadata, consumer: int) -> Errors:
    """Return the error of a SyncGroup."""
    error = member_error(cluster, group, consumer)
    if error is not Errors.NONE:
        return error
    if cluster.consumers[consumer].generation != group.generation:
        return Errors.ILLEGAL_GENERATION
    return Errors.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING_REBALANCE else Errors.NONE


@action(
    by=CONSUMER,
    group="members",
    description="sends a heartbeat to broker {broker}, which is refused",
    source="GroupCoordinator.handleHeartbeat",
)
def heartbeat(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """A heartbeat that is refused makes the consumer join again; one that is not changes nothing."""
    sending, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    require(is_asked(cluster, consumer, broker) and sending.status is ConsumerStatus.STABLE)
    error = sync_error(cluster, group, consumer)
    require(error is not Errors.NONE)
    handle_error(sending, error)


@action(
    by=CONSUMER,
    description="sends a heartbeat to broker {broker}, where a thread has found the group and waits for its lock",
    source="GroupCoordinator.handleHeartbeat: groupManager.getGroup, inLock",
)
def wait_for_group(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """The group can be unloaded before the thread has the lock; otherwise this is `heartbeat`, or changes nothing."""
    sending = cluster.consumers[consumer]
    require(is_asked(cluster, consumer, broker) and sending.status is ConsumerStatus.STABLE and not sending.is_waiting)
    require(cluster.coordinators[broker].group.exists)
    sending.is_waiting = True


@action(
    by=COORDINATOR,
    group="coordinators",
    description="hears no heartbeat of {member_id} for its session timeout",
    source="DelayedHeartbeat.onExpiration; GroupCoordinator.onExpireHeartbeat, removeMemberAndUpdateGroup",
)
def expire_heartbeat(cluster: GroupCluster, broker: Broker, member_id: MemberId) -> None:
    """A member that does not answer is removed; one whose JoinGroup or SyncGroup waits for an answer is not."""
    group = cluster.coordinators[broker].group
    require(member_id in group.members and member_id not in group.awaiting_join | group.awaiting_sync)
    require(member_id not in group.unwatched)
    require(not is_heard(cluster, broker, member_id))
    remove_member_and_update_group(cluster, broker, member_id)


@action(
    by=COORDINATOR,
    description="hears no heartbeat of {member_id}, which it has removed from the group before",
    source="DelayedHeartbeat.onExpiration; GroupCoordinator.onExpireHeartbeat, removeMemberAndUpdateGroup",
)
def expire_removed_member(cluster: GroupCluster, broker: Broker, member_id: MemberId) -> None:
    """Before KAFKA-7196 the heartbeat of a member that did not join in time was still awaited: the group rebalances."""
    group = cluster.coordinators[broker].group
    require(member_id in group.still_watched and cluster.late_expirations < LATE_EXPIRATIONS)
    cluster.late_expirations += 1
    group.still_watched = group.still_watched - {member_id}
    if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
        prepare_rebalance(cluster, broker)


def is_heard(cluster: GroupCluster, broker: int, member_id: int) -> bool:
    """Whether a consumer keeps the member alive: its heartbeats count, or it sends what is awaited."""
    group = cluster.coordinators[broker].group
    heartbeats_count = group.state is not GroupState.COMPLETING_REBALANCE or HEARTBEAT_WHILE_COMPLETING
    return any(
        c.is_live
        and c.coordinator == broker
        and c.member_id == member_id
        and (c.pace is Pace.RUNNING or (c.pace is Pace.STALLED and heartbeats_count and not has_missed(group, c)))
        for c in cluster.consumers
    )


def has_missed(group: GroupMetadata, consumer: Consumer) -> bool:
    """Whether a member was not removed that missed a rebalance, so that its heartbeats get ILLEGAL_GENERATION."""
    is_member = consumer.status is ConsumerStatus.STABLE or consumer.member_id in group.pending_sync
    return bool(LOADED_MEMBERS_ARE_STATIC) and is_member and consumer.generation != group.generation


def remove_member_and_update_group(cluster: GroupCluster, broker: int, member_id: int) -> None:
    """Remove a member; the others are to join again.

    Kafka: GroupCoordinator.onMemberFailure, GroupCoordinator.removeMemberAndUpdateGroup.
    """
    group = cluster.coordinators[broker].group
    group.remove_member(member_id)
    if group.state is not GroupState.PREPARING_REBALANCE:
        prepare_rebalance(cluster, broker)


@action(
    by=COORDINATOR,
    group="coordinators",
    description="gets no SyncGroup of some members for the rebalance timeout",
    source="DelayedSync.onExpiration; GroupCoordinator.onExpirePendingSync",
)
def expire_pending_sync(cluster: GroupCluster, broker: Broker) -> None:
    """Members that have joined and do not send SyncGroup are removed, although their heartbeats arrive."""
    group = cluster.coordinators[broker].group
    require(bool(PENDING_SYNC_EXPIRES) and bool(group.pending_sync))
    require(not any(answers(cluster, broker, m) for m in MEMBER_IDS if m in group.pending_sync))
    for m in MEMBER_IDS:
        if m in group.pending_sync:
            group.remove_member(m)
    prepare_rebalance(cluster, broker)


@action(
    by=CONSUMER,
    group="members",
    description="is answered NOT_COORDINATOR, and finds the coordinator",
    source="AbstractCoordinator.lookupCoordinator; KafkaApis.handleFindCoordinatorRequest",
)
def find_coordinator(cluster: GroupCluster, consumer: ConsumerId) -> None:
    """The broker that the consumer took for the coordinator does not own the partition; another one leads it."""
    asking = cluster.consumers[consumer]
    require(asking.is_running and asking.coordinator != cluster.partition.leader)
    require(not cluster.coordinators[asking.coordinator].owns)
    asking.coordinator, asking.is_waiting = cluster.partition.leader, False
