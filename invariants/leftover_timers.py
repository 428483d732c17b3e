"""Properties of timers that a coordinator has kept of an earlier copy of a group."""

from __future__ import annotations

from kwalk.model.kafka.groups.leftover_timers import WatchedMember
from kwalk.model.kafka.groups.versions import DEAD_GROUPS_END_TIMERS, JOINS_END_TIMERS
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="a consumer ends with KafkaException: Unexpected error in heartbeat response, after its coordinator has "
    "moved there and back",
    log="Error when handling request … (java.util.NoSuchElementException: key not found)",
)
def heartbeat_is_answered(member: WatchedMember) -> bool:
    """A heartbeat of a member of the group is answered without an error."""
    return not member.has_failed


def group_of(member: WatchedMember) -> tuple[bool, bool, int]:
    """Return what is the case of the group itself: who leads it, whether it has the member, and how often it moved."""
    return member.owns, member.has_joined, member.moves


def copy_of(member: WatchedMember) -> tuple[bool, bool, bool]:
    """Return what is left of the earlier copy of the group."""
    return member.old_has_member, member.old_session, member.old_long_timer


@step(symptom="a member is unknown after it has joined", log="none")
def member_joins_once(before: WatchedMember, after: WatchedMember) -> bool:
    """A member joins a group that its coordinator leads, and stays; its timer is there until KAFKA-9232."""
    premise(before.has_joined != after.has_joined or after.has_long_timer > before.has_long_timer)
    has_timer = after.has_long_timer != bool(JOINS_END_TIMERS)
    is_same = copy_of(before) == copy_of(after) and before.moves == after.moves
    return before.owns and after.owns and not before.has_joined and after.has_joined and has_timer and is_same


@step(symptom="a group has members that have gone to another coordinator", log="none")
def coordinator_moves_with_its_timers(before: WatchedMember, after: WatchedMember) -> bool:
    """A coordinator that loses the partition has a copy, with the timers of before; one that gets it has none more."""
    premise(before.owns != after.owns)
    is_same = before.has_joined and after.has_joined
    if after.owns:
        return is_same and copy_of(before) == copy_of(after) and before.moves == after.moves
    is_new = not before.old_session and not before.old_long_timer and after.moves == before.moves + 1
    return is_same and is_new and copy_of(after) == (True, True, before.has_long_timer) and not after.has_long_timer


@step(symptom="a member that sends heartbeats is removed", log="none")
def timers_of_a_copy_end(before: WatchedMember, after: WatchedMember) -> bool:
    """A timer of the copy ends alone, or all of them with a heartbeat; the group and its timer stay."""
    premise(copy_of(before) != copy_of(after) and before.owns == after.owns)
    ends_session, ends_long = before.old_session > after.old_session, before.old_long_timer > after.old_long_timer
    is_heartbeat = before.owns and before.has_joined and not after.old_session and not after.old_long_timer
    has_member = before.old_has_member and (bool(DEAD_GROUPS_END_TIMERS) or not ends_session)
    is_same = group_of(before) == group_of(after) and before.has_long_timer == after.has_long_timer
    return is_same and (ends_session != ends_long or is_heartbeat) and after.old_has_member == has_member


@step(symptom="a new member is watched for good, or not at all", log="none")
def long_timer_ends_with_its_group(before: WatchedMember, after: WatchedMember) -> bool:
    """The timer of a new member ends alone, or goes with the copy."""
    premise(before.has_long_timer > after.has_long_timer and before.owns == after.owns)
    return group_of(before) == group_of(after) and copy_of(before) == copy_of(after)


@when_quiescent(symptom="timers of members that are gone take memory, for good", log="none")
def timers_end(member: WatchedMember) -> bool:
    """All timers end at last."""
    return not member.has_long_timer and not member.old_session and not member.old_long_timer


@reachable()
def copy_lacks_the_member(member: WatchedMember) -> bool:
    """The session of the copy has ended before the partition is back, and the member is in the group."""
    return member.owns and member.has_joined and member.moves > 0 and not member.old_session
