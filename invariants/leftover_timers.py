"""Properties of timers that a coordinator has kept of an earlier copy of a group."""

from __future__ import annotations

from kwalk.model.kafka.groups.leftover_timers import WatchedMember
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="a consumer ends with KafkaException: Unexpected error in heartbeat response, after its coordinator has moved "
    "there and back",
    log="[KafkaApi-…] Error when handling request …, with java.util.NoSuchElementException: key not found: …",
)
def heartbeat_is_answered(member: WatchedMember) -> bool:
    """A heartbeat of a member of the group is answered without an error."""
    return not member.has_failed


@step(symptom="a group has members that have gone to another coordinator", log="none")
def coordinator_moves_with_its_timers(before: WatchedMember, after: WatchedMember) -> bool:
    """A coordinator that loses the partition has a copy, with the timers of before; one that gets it has none more."""
    premise(before.owns != after.owns)
    is_same = before.has_joined == after.has_joined == 1
    if after.owns:
        return is_same and before.old_session == after.old_session and before.old_long_timer == after.old_long_timer
    is_copied = after.old_has_member and after.old_session and after.old_long_timer == before.has_long_timer
    return is_same and is_copied and not after.has_long_timer and after.moves == before.moves + 1


@step(symptom="a member that sends heartbeats is removed", log="none")
def timers_end_by_themselves(before: WatchedMember, after: WatchedMember) -> bool:
    """A timer of the copy ends without the other one, or with it by a heartbeat, and changes nothing of the group."""
    premise(before.old_session > after.old_session or before.old_long_timer > after.old_long_timer)
    return before.has_joined == after.has_joined and before.owns == after.owns and before.moves == after.moves


@reachable()
def copy_lacks_the_member(member: WatchedMember) -> bool:
    """The session of the copy has ended before the partition is back, and the member is in the group."""
    return member.owns and member.has_joined and member.moves > 0 and not member.old_session
