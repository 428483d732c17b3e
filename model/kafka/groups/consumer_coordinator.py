"""ConsumerCoordinator, CooperativeStickyAssignor: members that keep their partition while they join again (KIP-429).

A member names in JoinGroup what it owns, and the assignor of the group's leader leaves it there. What it is not to keep
it revokes after SyncGroup; another member gets that at the next rebalance. A member that has lost its place loses its
partition, too, when it prepares to join.

`RevokedPartition` is a model of its own: an eager assignor, and the commit before a revocation (enable.auto.commit).

What the model leaves out, and why its stories lose nothing by it: partitions but one, of which the assignor counts;
requests that are lost, after which they are sent again; and the round trip in which a new member gets its id (KIP-394).
Two members that claim the partition in one generation, of which it is taken away since 2.8.1: no two get it in one.
Of a group of two releases the leader is of the later one, and so is what members do that were removed.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.groups.domains import CONSUMER, CONSUMERS, GENERATIONS, ConsumerId
from kwalk.model.kafka.groups.versions import (
    CLAIMS_HAVE_GENERATIONS,
    FAILED_SYNCS_KEEP_GENERATIONS,
    JOINS_ARE_PREPARED_AGAIN,
    OLDER_CLAIMS_COUNT,
    ONE_CLAIM_IS_KEPT,
    RACKS_LEAVE_TIME_TO_REVOKE,
    REVOCATIONS_END_FETCHES,
    STICKY_ASSIGNMENTS_ARE_TRUSTED,
)
from kwalk.model.language import Actor, Array, Bound, action, array, choice, flag, number, optional, require, state

ENDED_SESSIONS = Bound("ended_sessions", "how often a member is removed that does not answer in time")
PROCESSED = Bound("processed", "records that a consumer processes", minimum=1)
OLDER_MEMBERS = Bound(
    "older_members", "members, the first ones, of a release before 2.8.1: their claims have no generation", default=0
)
RACK_CHANGES = Bound("rack_changes", "how often the replicas of the partition move to another rack", default=0)

GROUP_COORDINATOR = Actor("group coordinator", system=False)
OPERATOR = Actor("operator", system=False)
POLLER = Actor("application's thread", system=False)


class RebalanceStep(Enum):
    """How far a member is in a rebalance."""

    STABLE = "has its assignment"
    PREPARED = "is about to send JoinGroup"
    JOINING = "has sent JoinGroup"
    SYNCING = "has sent SyncGroup"


@state
class CooperativeMember:
    """A member of a group.

    Attributes:
        has_id: whether it has a member id.
        is_known: whether the coordinator has a member of that id.
        owns: whether it consumes the partition, which it claims in JoinGroup.
        claim: the generation of its last assignment, which it sends with what it claims; 0: none.
        is_assigned: whether the partition is in the assignment that SyncGroup is answered with.
    """

    step: RebalanceStep = choice(RebalanceStep)
    has_id: bool = flag(default=True)
    is_known: bool = flag(default=True)
    owns: bool = flag()
    claim: int = number(0, GENERATIONS)
    is_assigned: bool = flag()


@state
class CooperativeGroup:
    """The members, their group, and what its leader's assignor has done.

    Attributes:
        has_failed: whether the assignor's result was refused.
        rack: the member in whose rack the replicas of the partition are, if racks are known (KIP-881).
    """

    members: Array[CooperativeMember] = array(CONSUMERS, CooperativeMember)
    generation: int = number(0, GENERATIONS)
    is_rebalancing: bool = flag()
    has_failed: bool = flag()
    ended_sessions: int = number(0, ENDED_SESSIONS)
    rack_changes: int = number(0, RACK_CHANGES)
    rack: int | None = optional(CONSUMERS, when=RACK_CHANGES)

    @property
    def roster(self) -> list[int]:
        """The members that the coordinator has."""
        return [m for m in CONSUMERS if self.members[m].is_known]


def sent_generation(group: CooperativeGroup, member: int) -> int:
    """Return what a member sends as the generation of its assignment (CooperativeStickyAssignor.onAssignment)."""
    return 0 if member < OLDER_MEMBERS else group.generation


def first_owns_the_partition(group: CooperativeGroup) -> None:
    """All have joined, and the first has the partition."""
    group.generation = 1
    for m in CONSUMERS:
        group.members[m].claim = sent_generation(group, m)
    group.members[0].owns = True


@action(
    by=GROUP_COORDINATOR,
    description="begins a rebalance, as a consumer changes its subscription",
    source="GroupCoordinator.prepareRebalance",
)
def begin_rebalance(group: CooperativeGroup) -> None:
    """Members learn it by their heartbeats."""
    require(not group.is_rebalancing and group.generation < GENERATIONS)
    group.is_rebalancing = True


@action(
    by=GROUP_COORDINATOR,
    description="removes consumer {consumer} after its timeout",
    source="GroupCoordinator.onExpireHeartbeat, onCompleteJoin",
)
def end_session(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """A member that waits for an answer to JoinGroup stays; others may be late."""
    member = group.members[consumer]
    require(member.is_known and member.step is not RebalanceStep.JOINING and group.ended_sessions < ENDED_SESSIONS)
    group.ended_sessions += 1
    member.is_known = False
    group.is_rebalancing = True


@action(by=OPERATOR, description="moves the partition to the rack of consumer {consumer}", source="KIP-881")
def change_rack(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """The group's leader sees it by its metadata, and asks for a rebalance."""
    require(group.rack_changes < RACK_CHANGES and not group.is_rebalancing and group.generation < GENERATIONS)
    group.rack_changes += 1
    group.rack = consumer
    group.is_rebalancing = True


@action(
    by=CONSUMER,
    description="learns by its heartbeat that it is to join",
    source="HeartbeatResponseHandler; ConsumerCoordinator.onJoinPrepare",
)
def prepare_join(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """A member that the coordinator has not loses its partition; others keep theirs."""
    member = group.members[consumer]
    require(member.step is RebalanceStep.STABLE and (group.is_rebalancing or not member.is_known))
    member.step = RebalanceStep.PREPARED
    if not member.is_known:
        member.has_id = member.owns = False


@action(
    by=CONSUMER,
    description="sends JoinGroup, and is unknown",
    source="JoinGroupResponseHandler: UNKNOWN_MEMBER_ID; AbstractCoordinator.joinGroupIfNeeded",
)
def learn_of_removal(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """It joins again without an id. Until KAFKA-12983 it does not prepare to do so, and keeps its partition."""
    member = group.members[consumer]
    require(member.step is RebalanceStep.PREPARED and member.has_id and not member.is_known)
    member.has_id = False
    if JOINS_ARE_PREPARED_AGAIN:
        member.owns = False


@action(by=CONSUMER, description="sends JoinGroup", source="AbstractCoordinator.sendJoinGroupRequest")
def send_join(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """It claims what it owns; a rebalance begins if none has."""
    member = group.members[consumer]
    require(member.step is RebalanceStep.PREPARED and member.has_id == member.is_known)
    require(group.is_rebalancing or group.generation < GENERATIONS)
    member.step = RebalanceStep.JOINING
    member.has_id = member.is_known = True
    group.is_rebalancing = True


def is_claimed(group: CooperativeGroup, member: int) -> bool:
    """Return whether the assignor heeds the claim of a member (AbstractStickyAssignor.allSubscriptionsEqual)."""
    if not (group.members[member].is_known and group.members[member].owns):
        return False
    if not CLAIMS_HAVE_GENERATIONS:
        return True
    if OLDER_CLAIMS_COUNT:
        others = [m for m in group.roster if group.members[m].owns]
    else:
        others = group.roster
    return all(group.members[m].claim <= group.members[member].claim for m in others)


def is_in_rack(group: CooperativeGroup, member: int) -> bool:
    """Return whether a member may keep the partition by its rack (RackInfo.racksMismatch)."""
    return group.rack is None or group.rack == member


def gets_partition(group: CooperativeGroup, member: int, assignee: int) -> bool:
    """Return whether a member is assigned the partition, before what others have to revoke is taken out.

    From 2.5.1 on, each member kept what it claimed, if all had equal subscriptions (KAFKA-9987).
    """
    if not any(is_claimed(group, m) and is_in_rack(group, m) for m in CONSUMERS):
        return member == assignee
    is_kept = is_claimed(group, member) and is_in_rack(group, member)
    return is_kept and (member == assignee or not ONE_CLAIM_IS_KEPT)


@action(
    by=GROUP_COORDINATOR,
    description="answers JoinGroup; the leader's assignor looks at consumer {assignee} first",
    source="GroupCoordinator.onCompleteJoin; AbstractStickyAssignor.assign; ConsumerCoordinator.performAssignment",
)
def complete_join(group: CooperativeGroup, assignee: ConsumerId) -> None:
    """The leader assigns. Until KAFKA-13406 an assignment is refused that moves what somebody claims still."""
    require(group.is_rebalancing and group.generation < GENERATIONS and not group.has_failed)
    require(group.members[assignee].is_known)
    require(all(group.members[m].step is RebalanceStep.JOINING for m in group.roster))
    keeper_is_first = is_claimed(group, assignee) and is_in_rack(group, assignee)
    require(keeper_is_first or not any(is_claimed(group, m) and is_in_rack(group, m) for m in CONSUMERS))
    require(is_in_rack(group, assignee) or not any(is_in_rack(group, m) for m in group.roster))
    is_revoked = any(is_claimed(group, m) and not gets_partition(group, m, assignee) for m in group.roster)
    is_added = not group.members[assignee].owns
    waits = is_revoked and is_added and bool(RACKS_LEAVE_TIME_TO_REVOKE)
    if is_added and not waits and not STICKY_ASSIGNMENTS_ARE_TRUSTED:
        group.has_failed = any(group.members[m].owns and not gets_partition(group, m, assignee) for m in group.roster)
    group.generation += 1
    group.is_rebalancing = False
    assigned = [m for m in group.roster if gets_partition(group, m, assignee) and not waits]
    for m in CONSUMERS:
        group.members[m].is_assigned = m in assigned
        if group.members[m].is_known:
            group.members[m].step = RebalanceStep.SYNCING


@action(
    by=CONSUMER,
    description="gets its assignment",
    source="SyncGroupResponseHandler; ConsumerCoordinator.onJoinComplete",
)
def receive_assignment(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """It revokes what it has not, and consumes what it has."""
    member = group.members[consumer]
    require(member.step is RebalanceStep.SYNCING and member.is_known and not group.is_rebalancing)
    require(not group.has_failed)
    member.step = RebalanceStep.STABLE
    member.owns, member.is_assigned = member.is_assigned, False
    member.claim = sent_generation(group, consumer)


@action(
    by=CONSUMER,
    description="sends SyncGroup, as another rebalance has begun",
    source="SyncGroupResponseHandler: REBALANCE_IN_PROGRESS, UNKNOWN_MEMBER_ID",
)
def join_once_more(group: CooperativeGroup, consumer: ConsumerId) -> None:
    """It keeps its partition; one that was removed meanwhile keeps it until KAFKA-12983, and in 3.3.1 nobody does."""
    member = group.members[consumer]
    require(member.step is RebalanceStep.SYNCING and (group.is_rebalancing or not member.is_known))
    member.step, member.is_assigned = RebalanceStep.PREPARED, False
    if member.is_known:
        member.owns = member.owns and bool(FAILED_SYNCS_KEEP_GENERATIONS)
    else:
        member.has_id = False
        member.owns = member.owns and not JOINS_ARE_PREPARED_AGAIN


class RevocationStep(Enum):
    """How far a consumer with enable.auto.commit is that revokes its partition before it joins again."""

    CONSUMING = "consumes"
    COMMITTING = "waits for its commit"
    REVOKED = "has revoked"


@state
class RevokedPartition:
    """A partition of a consumer with enable.auto.commit, which an eager assignor has it revoke.

    Attributes:
        position: how many records its application has got.
        sent: the position in the commit that is on its way.
        committed: the position that is committed.
    """

    step: RevocationStep = choice(RevocationStep)
    position: int = number(0, PROCESSED)
    sent: int = number(0, PROCESSED)
    committed: int = number(0, PROCESSED)


@action(by=POLLER, description="gets a record", source="SubscriptionState.TopicPartitionState.isFetchable")
def process_record(partition: RevokedPartition) -> None:
    """In 3.2.0 to 3.2.2 also while the commit before the revocation is on its way."""
    is_fetched = partition.step is RevocationStep.COMMITTING and not REVOCATIONS_END_FETCHES
    require(partition.step is RevocationStep.CONSUMING or is_fetched)
    require(partition.position < PROCESSED)
    partition.position += 1


@action(by=POLLER, description="learns that it is to join, and commits", source="ConsumerCoordinator.onJoinPrepare")
def commit_before_revocation(partition: RevokedPartition) -> None:
    """Since 3.2.0 a poll returns before that is answered."""
    require(partition.step is RevocationStep.CONSUMING)
    partition.step, partition.sent = RevocationStep.COMMITTING, partition.position


@action(by=GROUP_COORDINATOR, description="answers the commit", source="GroupCoordinator.handleCommitOffsets")
def answer_last_commit(partition: RevokedPartition) -> None:
    """The consumer revokes the partition then."""
    require(partition.step is RevocationStep.COMMITTING)
    partition.step, partition.committed = RevocationStep.REVOKED, partition.sent
