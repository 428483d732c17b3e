"""Properties of a static member: its place is kept for its session timeout."""

from __future__ import annotations

from kwalk.model.kafka.groups.member_timeouts import StaticMember
from kwalk.model.language import always, premise, reachable, step


@step(
    symptom="a static member that starts again in time has lost its partitions, and the group rebalances twice",
    log="[GroupCoordinator …]: Member … in group … has failed, removing it from the group",
)
def static_member_is_kept_for_its_session(before: StaticMember, after: StaticMember) -> bool:
    """A static member is removed after the session timeout that it has sent last, and not before."""
    premise(before.is_member and not after.is_member)
    return before.silent >= before.timeout and not before.is_running


@always(
    symptom="partitions of a consumer that is gone are not consumed for longer than its session timeout",
    log="none: kafka-consumer-groups.sh --describe shows the consumer",
)
def static_member_goes_after_its_session(member: StaticMember) -> bool:
    """A static member that is down is not there for longer than its session timeout."""
    premise(member.is_member and not member.is_running)
    return member.silent <= member.timeout


@step(symptom="a consumer is no member, or one that runs is silent", log="none")
def start_makes_a_member(before: StaticMember, after: StaticMember) -> bool:
    """A consumer that starts is a member that is heard of; each start is counted."""
    premise(after.is_running and not before.is_running)
    return after.is_member and after.silent == 0 and after.starts == before.starts + 1 and after.timeout > 0


@step(symptom="a member leaves that has only stopped", log="none")
def stop_leaves_the_member(before: StaticMember, after: StaticMember) -> bool:
    """A consumer that stops leaves its member as it is, and a member that is gone has no session."""
    premise(before.is_running and not after.is_running)
    return after.is_member and after.known_timeout == before.known_timeout and after.silent == 0


@step(symptom="time stands still", log="none")
def time_passes_for_a_consumer_that_is_down(before: StaticMember, after: StaticMember) -> bool:
    """Time is counted while a member's consumer is down."""
    premise(after.silent > before.silent)
    return not after.is_running and after.is_member and after.silent == before.silent + 1


@always(symptom="a member that is gone is waited for", log="none")
def former_member_has_no_session(member: StaticMember) -> bool:
    """A member that was removed is not waited for."""
    premise(not member.is_member)
    return member.known_timeout == 0 and member.silent == 0 and not member.is_running


@reachable()
def removed_member_joins_again(member: StaticMember) -> bool:
    """A consumer is a member again with the longest timeout, and has been down as long as a shorter one."""
    return member.is_member and member.timeout > 1 and member.silent > 1 and member.starts > 0
