"""DelayedHeartbeat: timers of a member that a coordinator keeps after its partition of __consumer_offsets has moved.

A coordinator that has lost the partition forgets the group; timers still have that copy of it. One is the session's.
Another one is that of a new member, five minutes, which ends with the member's join only since KAFKA-9232 if the member
joins at once (JoinGroup up to version 3). Each heartbeat of the member looks at all timers of its id.

What the model leaves out, and why its story loses nothing by it: the other broker; members that join in two steps,
whose timers look whether the group has them; and releases before 2.2, whose timers have the member.
"""

from __future__ import annotations

from kwalk.model.kafka.groups.versions import DEAD_GROUPS_END_TIMERS, JOINS_END_TIMERS
from kwalk.model.language import Actor, Bound, action, flag, number, require, state

MOVES = Bound("moves", "how often the partition moves to another broker, and back")

CONSUMER = Actor("consumer", system=False)
COORDINATOR = Actor("coordinator")
CONTROLLER = Actor("controller", system=False)


@state
class WatchedMember:
    """A member, the coordinator that it may have, and what that has left of an earlier copy of the group.

    Attributes:
        owns: whether the broker leads the partition.
        has_joined: whether the group has the member.
        has_long_timer: whether the timer of a new member is there.
        old_has_member: whether the earlier copy has the member.
        old_session: whether the session's timer of that copy is there.
        old_long_timer: whether the timer of a new member is there, with that copy.
        has_failed: whether a heartbeat was answered with UNKNOWN_SERVER_ERROR.
    """

    owns: bool = flag(default=True)
    has_joined: bool = flag()
    has_long_timer: bool = flag()
    old_has_member: bool = flag()
    old_session: bool = flag()
    old_long_timer: bool = flag()
    has_failed: bool = flag()
    moves: int = number(0, MOVES)


@action(by=CONSUMER, description="joins the group", source="GroupCoordinator.addMemberAndRebalance, onCompleteJoin")
def join_at_once(member: WatchedMember) -> None:
    """The rebalance ends soon; the timer of a new member stays until KAFKA-9232."""
    require(member.owns and not member.has_joined)
    member.has_joined = True
    member.has_long_timer = not JOINS_END_TIMERS


@action(by=COORDINATOR, description="has five minutes pass", source="GroupCoordinator.onExpireHeartbeat")
def end_long_timer(member: WatchedMember) -> None:
    """A member that sends heartbeats is kept."""
    require(member.has_long_timer)
    member.has_long_timer = False


@action(by=CONTROLLER, description="has another broker lead the partition", source="GroupCoordinator.onGroupUnloaded")
def move_away(member: WatchedMember) -> None:
    """The group is Dead, and its copy has the member still."""
    require(member.owns and member.has_joined and member.moves < MOVES)
    require(not member.old_session and not member.old_long_timer)
    member.moves += 1
    member.owns = False
    member.old_has_member = member.old_session = True
    member.old_long_timer, member.has_long_timer = member.has_long_timer, False


@action(by=CONTROLLER, description="has the broker lead the partition again", source="GroupCoordinator.onGroupLoaded")
def move_back(member: WatchedMember) -> None:
    """The group is loaded: another copy, which has the member, too."""
    require(not member.owns)
    member.owns = True


@action(by=COORDINATOR, description="ends the session of the copy", source="GroupCoordinator.onExpireHeartbeat")
def end_old_session(member: WatchedMember) -> None:
    """Nobody sends heartbeats to the copy. Until KAFKA-8896 the member was taken out of it, though it is Dead."""
    require(member.old_session)
    member.old_session = False
    member.old_has_member = bool(DEAD_GROUPS_END_TIMERS)


@action(by=COORDINATOR, description="has five minutes pass for the copy", source="GroupCoordinator.onExpireHeartbeat")
def end_old_long_timer(member: WatchedMember) -> None:
    """The timer goes."""
    require(member.old_long_timer)
    member.old_long_timer = False


@action(
    by=CONSUMER,
    description="sends a heartbeat",
    source="GroupCoordinator.completeAndScheduleNextExpiration, tryCompleteHeartbeat",
)
def send_heartbeat(member: WatchedMember) -> None:
    """Timers of the copy are ended since KAFKA-8896. In 2.2 and 2.3.0 one whose copy lacked the member failed."""
    require(member.owns and member.has_joined and (member.old_session or member.old_long_timer))
    member.has_failed = member.old_long_timer and not member.old_has_member
    if DEAD_GROUPS_END_TIMERS:
        member.has_failed = member.old_session = member.old_long_timer = False
