"""MemberMetadata.sessionTimeoutMs: how long a coordinator waits for a static member that starts again.

A consumer with a `group.instance.id` keeps its place while it is down, for its session.timeout.ms. It may start again
with another one, which it sends with JoinGroup.

What the model leaves out, and why its story loses nothing by it:

* Rebalances, which the other models of groups have; the rebalance timeout is sent and kept as the session's is.
* Heartbeats: the session of a consumer that runs does not end. A start is JoinGroup with SyncGroup: between both, the
  earlier session timeout holds in all releases, as the timer is set before the member is changed.
* Moves of the coordinator: the next one loads what this one has.
"""

from __future__ import annotations

from kwalk.model.kafka.groups.versions import STATIC_MEMBERS_CHANGE_TIMEOUTS
from kwalk.model.language import Actor, Bound, action, flag, number, require, state

SESSION = Bound("session", "the longest session timeout", minimum=1)
CONSUMER_STARTS = Bound("consumer_starts", "how often the consumer starts again")

CONSUMER = Actor("consumer", system=False)
COORDINATOR = Actor("coordinator")
TIME = Actor("clock", system=False)


@state
class StaticMember:
    """The consumer, with the session timeout that it has, and the member, with the one that the coordinator has.

    Attributes:
        silent: how long the coordinator has not heard of the consumer, which is down.
    """

    timeout: int = number(0, SESSION)
    is_running: bool = flag(default=True)
    is_member: bool = flag(default=True)
    known_timeout: int = number(0, SESSION)
    silent: int = number(0, SESSION)
    starts: int = number(0, CONSUMER_STARTS)


def has_joined_briefly(member: StaticMember) -> None:
    """It has joined with a session timeout of 1."""
    member.timeout = member.known_timeout = 1


@action(by=CONSUMER, description="stops", source="KafkaConsumer.close: a static member sends no LeaveGroup")
def stop_consumer(member: StaticMember) -> None:
    """The member stays."""
    require(member.is_running)
    member.is_running = False


@action(by=TIME, description="goes on", source="time")
def pass_time(member: StaticMember) -> None:
    """The coordinator acts when its time is over, and not later."""
    require(not member.is_running and member.is_member and member.silent < member.known_timeout)
    member.silent += 1


@action(by=COORDINATOR, description="removes the member", source="GroupCoordinator.onExpireHeartbeat")
def end_session(member: StaticMember) -> None:
    """Its partitions go to others: the group rebalances."""
    require(member.is_member and member.silent == member.known_timeout)
    member.is_member = False
    member.known_timeout = member.silent = 0


@action(
    by=CONSUMER,
    description="starts again, with a session timeout that is longer or shorter",
    source="GroupCoordinator.updateStaticMemberAndRebalance; GroupMetadata.updateMember",
)
def start_with_other_timeout(member: StaticMember, is_longest: bool) -> None:
    """A member that is there takes the timeouts of the request since KAFKA-14009."""
    require(not member.is_running and member.starts < CONSUMER_STARTS)
    member.starts += 1
    member.is_running = True
    member.timeout = int(SESSION) if is_longest else 1
    if not member.is_member or STATIC_MEMBERS_CHANGE_TIMEOUTS:
        member.known_timeout = member.timeout
    member.is_member = True
    member.silent = 0
