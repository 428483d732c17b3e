"""Properties of members that keep their partitions while they join again."""

from __future__ import annotations

from kwalk.model.kafka.groups.consumer_coordinator import (
    CooperativeGroup,
    RebalanceStep,
    RevocationStep,
    RevokedPartition,
    sent_generation,
)
from kwalk.model.kafka.groups.domains import CONSUMERS
from kwalk.model.language import always, premise, reachable, step


def owners(group: CooperativeGroup) -> list[int]:
    """Return the members of the group that consume the partition."""
    return [m for m in CONSUMERS if group.members[m].is_known and group.members[m].owns]


def is_settled(group: CooperativeGroup) -> bool:
    """Return whether no rebalance is under way, and each member has its assignment."""
    return not group.is_rebalancing and all(group.members[m].step is RebalanceStep.STABLE for m in CONSUMERS)


@always(
    symptom="two consumers of one group consume a partition, and commit its offsets, until one of them stops",
    log="none",
)
def settled_partition_has_one_consumer(group: CooperativeGroup) -> bool:
    """When all members have their assignments, one of them at most consumes the partition."""
    return not is_settled(group) or len(owners(group)) <= 1


@always(
    symptom="the leader of a group ends with IllegalStateException: Assignor supporting the COOPERATIVE protocol "
    "violates its requirements, and others wait for their assignments",
    log="none: the consumer logs that owned partitions cannot be reassigned to other members",
)
def assignment_is_accepted(group: CooperativeGroup) -> bool:
    """The leader does not refuse what its assignor assigns."""
    return not group.has_failed


@step(
    symptom="records are processed twice, as another consumer of the group begins before the first one has revoked",
    log="none",
)
def partition_is_revoked_first(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A member gets the partition when no other member of the group consumes it."""
    gained = [m for m in owners(after) if m not in owners(before)]
    premise(bool(gained))
    return not any(m in owners(after) for m in owners(before))


@step(
    symptom="a consumer of the group gives up all its partitions as lost, and reads them again from its last commits",
    log="none: the consumer logs that it gives away all assigned partitions as lost",
)
def partition_is_kept_for_its_consumer(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A member that is in the group keeps its partition, unless its assignment is without it."""
    lost = [m for m in owners(before) if not after.members[m].owns]
    premise(bool(lost))
    return all(after.members[m].step is RebalanceStep.STABLE for m in lost)


@step(
    symptom="a partition goes to a consumer that was removed before, and is read again from its last commit",
    log="none",
)
def last_consumer_keeps_its_partition(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """Of two members that claim the partition one of an earlier generation is not assigned it alone."""
    claimants = owners(before)
    premise(before.generation != after.generation and len(claimants) == 2)
    last = max(before.members[m].claim for m in claimants)
    assigned = [m for m in claimants if after.members[m].is_assigned]
    return len(assigned) == 0 or any(before.members[m].claim == last for m in assigned)


@step(symptom="a partition goes to a consumer, though another one claims it", log="none")
def assignment_heeds_claims(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A partition that its last consumer claims stays with a claimant; one that nobody claims is assigned to one."""
    premise(before.generation != after.generation)
    claimants, assigned = owners(before), [m for m in CONSUMERS if after.members[m].is_assigned]
    newest = max([before.members[m].claim for m in before.roster])
    kept = [m for m in claimants if before.members[m].claim == newest and before.rack in (None, m)]
    are_members = all(before.members[m].is_known for m in assigned)
    if kept:
        return are_members and len(assigned) > 0 and all(m in claimants for m in assigned)
    if claimants and before.rack is not None:
        return are_members and len(assigned) <= 1
    is_in_rack = before.rack is None or not before.members[before.rack].is_known or before.rack in assigned
    return are_members and len(assigned) == 1 and is_in_rack


@step(symptom="a member gives up its id while it is in the group", log="none")
def id_goes_with_the_place(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A member gives up its id when it learns that the group has not got it, and is then about to join."""
    changed = [m for m in CONSUMERS if before.members[m].has_id and not after.members[m].has_id]
    premise(bool(changed))
    waits = any(before.members[m].step is RebalanceStep.JOINING for m in changed)
    prepared = all(after.members[m].step is RebalanceStep.PREPARED and not before.members[m].is_known for m in changed)
    return prepared and not waits and before.is_rebalancing == after.is_rebalancing


@step(symptom="a generation begins by itself", log="none")
def generation_begins_with_its_members(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A generation is the next one, begins when all members of the group have joined, and ends the rebalance."""
    premise(before.generation != after.generation)
    have_joined = all(before.members[m].step is RebalanceStep.JOINING for m in before.roster)
    wait = all(after.members[m].step is RebalanceStep.SYNCING for m in after.roster)
    is_next = after.generation == before.generation + 1
    return is_next and have_joined and wait and before.is_rebalancing and not after.is_rebalancing


@step(symptom="a rebalance begins without a cause", log="none")
def rebalance_has_a_cause(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A rebalance begins in a group that is stable by its coordinator, and nobody has an assignment in it at once."""
    premise(not before.is_rebalancing and after.is_rebalancing)
    is_same = all(before.members[m].owns == after.members[m].owns for m in CONSUMERS)
    return before.generation == after.generation and is_same


@step(symptom="a member is removed that waits for its coordinator", log="none")
def waiting_member_stays(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A member is removed that is late, and a rebalance begins; one that joins is known, and has an id."""
    changed = [m for m in CONSUMERS if before.members[m].is_known != after.members[m].is_known]
    premise(bool(changed))
    if any(after.members[m].is_known for m in changed):
        return after.is_rebalancing and all(after.members[m].step is RebalanceStep.JOINING for m in changed)
    return after.is_rebalancing and all(before.members[m].step is not RebalanceStep.JOINING for m in changed)


@step(symptom="a member has an assignment of an earlier generation", log="none")
def assignment_is_of_the_generation(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A member that becomes stable has what was assigned to it, in the generation of the group."""
    settled = [m for m in CONSUMERS if before.members[m].step is not after.members[m].step is RebalanceStep.STABLE]
    premise(bool(settled))
    are_current = all(
        after.members[m].claim == sent_generation(after, m) and after.members[m].owns == before.members[m].is_assigned
        for m in settled
    )
    return are_current and not after.is_rebalancing and all(after.members[m].is_known for m in settled)


@step(symptom="a member joins out of turn", log="none")
def member_joins_in_turn(before: CooperativeGroup, after: CooperativeGroup) -> bool:
    """A member prepares to join in a rebalance, or as it was removed, and joins after that."""
    changed = [m for m in CONSUMERS if before.members[m].step is not after.members[m].step]
    premise(bool(changed))
    for m in changed:
        was, now = before.members[m], after.members[m]
        if now.step is RebalanceStep.PREPARED and was.is_known and not before.is_rebalancing:
            return False
        if now.step is RebalanceStep.PREPARED and (now.has_id != was.is_known or was.step is RebalanceStep.JOINING):
            return False
        if now.step is RebalanceStep.JOINING and was.step is not RebalanceStep.PREPARED:
            return False
    return True


@reachable()
def removed_member_joins_with_its_partition(group: CooperativeGroup) -> bool:
    """A member that was removed has not learned it, and another member has the partition."""
    return not group.members[0].is_known and group.members[0].owns and owners(group) == [1]


@reachable()
def partition_goes_to_another_member(group: CooperativeGroup) -> bool:
    """All have their assignments, and the second member consumes the partition."""
    return is_settled(group) and owners(group) == [1]


@always(
    symptom="records are processed twice in a rebalance, by a consumer with enable.auto.commit",
    log="none",
)
def processed_records_are_committed(partition: RevokedPartition) -> bool:
    """What the application has got is committed when the partition is revoked."""
    return partition.step is not RevocationStep.REVOKED or partition.committed == partition.position


@step(symptom="a partition is revoked without a commit", log="none")
def revocation_follows_a_commit(before: RevokedPartition, after: RevokedPartition) -> bool:
    """A consumer commits its position, and revokes when that is committed."""
    premise(before.step is not after.step)
    if after.step is RevocationStep.COMMITTING:
        is_begun = before.step is RevocationStep.CONSUMING and before.committed == after.committed
        return is_begun and after.sent == before.position == after.position
    return before.step is RevocationStep.COMMITTING and after.committed == before.sent == after.sent


@step(symptom="records are left out", log="none")
def record_follows_a_record(before: RevokedPartition, after: RevokedPartition) -> bool:
    """An application gets one record after the other, until the partition is revoked."""
    premise(before.step is after.step)
    is_next = after.position == before.position + 1 and after.sent == before.sent
    return is_next and before.step is not RevocationStep.REVOKED
