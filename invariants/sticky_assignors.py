"""Properties of what a sticky assignor assigns."""

from __future__ import annotations

from kwalk.model.kafka.groups.domains import CONSUMERS
from kwalk.model.kafka.groups.sticky_assignor import (
    KEPT,
    OUTSIDE,
    PARTITIONS,
    DeletedSubscription,
    RackPlaces,
    SpreadPartitions,
    StickyGroup,
)
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="the leader of a group ends with NullPointerException, and so does the next one, until no member "
    "subscribes to a topic that was deleted",
    log="none",
)
def other_topics_are_assigned(topic: DeletedSubscription) -> bool:
    """A topic that was deleted does not end an assignment."""
    return not topic.has_failed


@when_quiescent(symptom="a group is assigned a topic that does not exist", log="none")
def deleted_topic_is_not_assigned(topic: DeletedSubscription) -> bool:
    """A topic is assigned that exists."""
    return topic.exists or not topic.is_assigned or topic.has_failed


@step(symptom="a topic is assigned to nobody", log="none")
def existing_topic_is_assigned(before: DeletedSubscription, after: DeletedSubscription) -> bool:
    """A topic is assigned until it is deleted, and only once tried after that."""
    premise(True)
    if before.exists != after.exists:
        return before.exists and before.is_assigned == after.is_assigned
    return not before.exists and before.is_assigned and not before.has_failed


@always(
    symptom="two consumers of a group consume one partition, until one of them leaves: records are processed twice, "
    "and each commits over the other",
    log="none",
)
def assigned_partition_has_one_consumer(group: StickyGroup) -> bool:
    """Of the members of a group one has the partition."""
    return sum(member.is_member and member.owns for member in group.members) <= 1


@always(symptom="a partition is consumed by nobody", log="none")
def assigned_partition_has_a_consumer(group: StickyGroup) -> bool:
    """A member has the partition, or one that was removed has not been replaced yet."""
    is_removed = any(not member.is_member and member.claim == group.generation for member in group.members)
    return is_removed or any(member.is_member and member.owns for member in group.members)


@always(symptom="a claim is of another generation than its partition", log="none")
def claim_is_of_its_assignment(group: StickyGroup) -> bool:
    """A consumer claims what it owns; a member owns it of the last generation."""
    return all(
        (member.claim > 0) == member.owns
        and (not member.is_member or not member.owns or member.claim == group.generation)
        for member in group.members
    )


@step(symptom="a partition moves without a rebalance", log="none")
def partition_is_kept_by_its_last_consumer(before: StickyGroup, after: StickyGroup) -> bool:
    """The member that had the partition last keeps it; without a rebalance one member is removed, and that is all."""
    premise(True)
    if before.generation == after.generation:
        removed = sum(
            old.is_member and not new.is_member for old, new in zip(before.members, after.members, strict=True)
        )
        return removed == 1 and all(
            old.owns == new.owns and old.claim == new.claim
            for old, new in zip(before.members, after.members, strict=True)
        )
    return after.generation == before.generation + 1 and all(
        new.is_member >= old.is_member and (new.owns or not old.is_member or old.claim != before.generation)
        for old, new in zip(before.members, after.members, strict=True)
    )


@reachable()
def late_consumer_is_back(group: StickyGroup) -> bool:
    """The second consumer has had the partition since, and both are members."""
    return group.generation > 2 and group.members[1].owns and all(member.is_member for member in group.members)


@when_quiescent(
    symptom="one consumer has all partitions of one topic, and another one those of another: their load differs",
    log="none",
)
def topics_are_spread(spread: SpreadPartitions) -> bool:
    """Each of both consumers has a partition of each topic."""
    return spread.kept_of_first == spread.kept_of_second


@when_quiescent(symptom="a consumer keeps more than its share, or less", log="none")
def consumer_keeps_its_share(spread: SpreadPartitions) -> bool:
    """A consumer keeps two of four."""
    return spread.kept_of_first + spread.kept_of_second == KEPT


@when_quiescent(
    symptom="the leader of a group with client.rack ends with IllegalStateException, and the group rebalances without "
    "an end",
    log="none",
)
def every_consumer_has_a_partition(places: RackPlaces) -> bool:
    """Of five partitions each of four consumers has one at least."""
    return all(places.counts[c] > 0 for c in CONSUMERS)


@when_quiescent(symptom="a partition has no consumer", log="none")
def every_partition_has_a_consumer(places: RackPlaces) -> bool:
    """No partition is left."""
    return places.left == 0 and not places.is_within_racks


@step(symptom="a partition has two consumers, or none", log="none")
def partition_goes_to_one_consumer(before: RackPlaces, after: RackPlaces) -> bool:
    """One partition less is left, and one consumer has one more; within racks it is one of the first."""
    premise(before.left > after.left)
    counted = before.full <= after.full <= before.full + 1
    outside = [c for c in CONSUMERS if c >= OUTSIDE]
    is_in_rack = not before.is_within_racks or all(before.counts[c] == after.counts[c] for c in outside)
    return after.left == before.left - 1 and is_in_rack and counted


@step(symptom="a consumer has two partitions while another one has none", log="none")
def consumers_without_a_partition_come_first(before: RackPlaces, after: RackPlaces) -> bool:
    """A consumer gets a second partition when all that may get it have one."""
    premise(any(before.counts[c] == 1 and after.counts[c] > 1 for c in CONSUMERS))
    return all(before.counts[c] > 0 for c in CONSUMERS if c < OUTSIDE or not before.is_within_racks)


@step(symptom="partitions are lost on the way", log="none")
def partitions_are_counted(before: RackPlaces, after: RackPlaces) -> bool:
    """What consumers have, and what is left, are five; racks are left when all in them have one."""
    premise(True)
    total = sum(after.counts[c] for c in CONSUMERS) + after.left
    ends_racks = before.is_within_racks and not after.is_within_racks
    has_place = any(before.counts[c] == 0 for c in CONSUMERS if c < OUTSIDE)
    return total == PARTITIONS + (not after.is_within_racks) and not (ends_racks and has_place)


@reachable()
def consumer_outside_gets_a_partition(places: RackPlaces) -> bool:
    """A consumer in a rack without partitions has one."""
    return places.counts[OUTSIDE] > 0
