"""StickyAssignor, AbstractStickyAssignor: partitions of deleted topics, of late consumers, several topics, and racks.

What the model leaves out, and why its stories lose nothing by it: owned partitions beside racks, which take places of
the same count; and replicas in several racks.
"""

from __future__ import annotations

from kwalk.model.kafka.groups.domains import CONSUMERS, GENERATIONS, ConsumerId
from kwalk.model.kafka.groups.versions import (
    CLAIMS_OF_STICKY_ASSIGNORS_HAVE_A_GENERATION,
    DELETED_TOPICS_ARE_LEFT_OUT,
    OWNED_PARTITIONS_ARE_SORTED,
    RACKS_LEAVE_PLACES,
)
from kwalk.model.language import Actor, Array, action, array, flag, number, require, state

ASSIGNOR = Actor("assignor of the group's leader")
COORDINATOR = Actor("group coordinator", system=False)
OPERATOR = Actor("operator", system=False)
KEPT = 2
"""Partitions that a consumer keeps of its four, of two topics, as another one joins."""


@state
class DeletedSubscription:
    """A topic that members have subscribed to by its name."""

    exists: bool = flag(default=True)
    is_assigned: bool = flag(default=True)
    has_failed: bool = flag()


@action(by=OPERATOR, description="deletes the topic", source="kafka-topics.sh --delete")
def delete_subscribed_topic(topic: DeletedSubscription) -> None:
    """Members still name it in JoinGroup."""
    require(topic.exists)
    topic.exists = False


@action(by=ASSIGNOR, description="assigns", source="StickyAssignor.assign")
def assign_subscribed_topics(topic: DeletedSubscription) -> None:
    """The leader's metadata have the topic no longer: NullPointerException until KAFKA-7962."""
    require(not topic.exists and topic.is_assigned and not topic.has_failed)
    if DELETED_TOPICS_ARE_LEFT_OUT:
        topic.is_assigned = False
    else:
        topic.has_failed = True


@state
class StickyMember:
    """A consumer with the sticky assignor, one of two that subscribe to a partition.

    Attributes:
        claim: the generation of which it had the partition last, and which it names in JoinGroup; 0: it names none.
    """

    is_member: bool = flag(default=True)
    owns: bool = flag()
    claim: int = number(0, GENERATIONS)


@state
class StickyGroup:
    """A group of two consumers that revoke all partitions before they join (an eager assignor)."""

    generation: int = number(0, GENERATIONS)
    members: Array[StickyMember] = array(CONSUMERS, StickyMember)


def first_has_the_partition(group: StickyGroup) -> None:
    """Both have joined."""
    group.generation = group.members[0].claim = 1
    group.members[0].owns = True


@action(by=COORDINATOR, description="removes a member that is late", source="GroupCoordinator.onExpireHeartbeat")
def remove_late_member(group: StickyGroup, consumer: ConsumerId) -> None:
    """The consumer does not know it yet, and still reads."""
    require(all(member.is_member for member in group.members))
    group.members[consumer].is_member = False


@action(
    by=ASSIGNOR,
    description="assigns; a member that was removed has joined again: {all_join}",
    source="StickyAssignor.assign, prepopulateCurrentAssignments",
)
def assign_sticky_partition(group: StickyGroup, all_join: bool) -> None:
    """Each member keeps what it claims, until KAFKA-7026 also if another one has had it since."""
    require(group.generation < GENERATIONS)
    group.generation += 1
    for member in group.members:
        member.is_member = member.is_member or all_join
    last = 0
    for member in group.members:
        last = member.claim if member.is_member and member.claim > last else last
    is_unclaimed = last == 0
    for member in group.members:
        is_heeded = member.claim > 0 and (member.claim == last or not CLAIMS_OF_STICKY_ASSIGNORS_HAVE_A_GENERATION)
        if member.is_member:
            member.owns = is_heeded or is_unclaimed
            member.claim = group.generation if member.owns else 0
            is_unclaimed = False


@state
class SpreadPartitions:
    """Two partitions of each of two topics: those that their consumer keeps, and those that go to another one."""

    kept_of_first: int = number(0, KEPT)
    kept_of_second: int = number(0, KEPT)


@action(
    by=ASSIGNOR,
    description="keeps a partition; of the first topic: {of_first}",
    source="ConstrainedAssignmentBuilder.assignOwnedPartitions",
)
def keep_owned_partition(spread: SpreadPartitions, of_first: bool) -> None:
    """In the order in which the consumer names them; since KAFKA-16277 by partition, and then by topic."""
    require(spread.kept_of_first + spread.kept_of_second < KEPT)
    if OWNED_PARTITIONS_ARE_SORTED:
        require(of_first == (spread.kept_of_first == spread.kept_of_second))
    if of_first:
        spread.kept_of_first += 1
    else:
        spread.kept_of_second += 1


PLACES = 2
"""The most partitions of a consumer (Kafka: maxQuota); the least is one, and one of four consumers is to have two."""
PARTITIONS = 4
"""Those in the rack of the first consumers; a fifth one is in a rack without consumers."""
OUTSIDE = 2
"""The first consumer of those that are in a rack without partitions."""


@state
class RackPlaces:
    """Five partitions and four consumers, of which two are in the rack of four partitions.

    The assignor heeds racks only if not all partitions are in the same ones.

    Attributes:
        counts: how many partitions each consumer has.
        full: how many consumers have two, as the assignor counts them.
        left: partitions that have no consumer yet.
        is_within_racks: whether only consumers in the rack of a partition get it.
    """

    counts: Array[int] = array(CONSUMERS, number(0, PLACES))
    full: int = number(0, PLACES)
    left: int = number(0, PARTITIONS)
    is_within_racks: bool = flag(default=True)


def begins_with_all_partitions(places: RackPlaces) -> None:
    """No partition has a consumer."""
    places.left = PARTITIONS


def may_take(places: RackPlaces, consumer: int) -> bool:
    """Return whether the next partition may go to a consumer: to one without any first, then to one with one."""
    if consumer >= OUTSIDE and places.is_within_racks:
        return False
    if any(places.counts[c] == 0 and (c < OUTSIDE or not places.is_within_racks) for c in CONSUMERS):
        return places.counts[consumer] == 0
    is_last = places.full == 1 and bool(RACKS_LEAVE_PLACES)
    return places.counts[consumer] == 1 and not is_last


@action(
    by=ASSIGNOR,
    description="gives the next partition to consumer {consumer}",
    source="ConstrainedAssignmentBuilder.assignRackAwareRoundRobin, assignRoundRobin",
)
def give_next_partition(places: RackPlaces, consumer: ConsumerId) -> None:
    """Until KAFKA-15170 consumers that get their second one by their rack are not counted."""
    require(places.left > 0 and may_take(places, consumer))
    places.left -= 1
    places.counts[consumer] += 1
    if places.counts[consumer] == PLACES and (RACKS_LEAVE_PLACES or not places.is_within_racks):
        places.full += 1


@action(by=ASSIGNOR, description="goes on without racks", source="ConstrainedAssignmentBuilder.build")
def go_on_without_racks(places: RackPlaces) -> None:
    """Nobody in the rack may have more, or nothing of it is left. The fifth partition comes now."""
    require(places.is_within_racks)
    require(places.left == 0 or not any(may_take(places, c) for c in CONSUMERS))
    places.is_within_racks = False
    places.left += 1
