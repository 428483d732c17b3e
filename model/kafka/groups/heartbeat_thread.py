"""AbstractCoordinator.HeartbeatThread, ConsumerNetworkClient: what a consumer's two threads do to each other.

The application's thread joins the group, and waits for answers; the heartbeat thread sends heartbeats, handles answers
to them, and leaves the group when the application does not poll. Both use one connection to brokers, one at a time.

What the model leaves out, and why its stories lose nothing by it: partitions, which a consumer without a place loses;
and SyncGroup, which is answered with JoinGroup.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.groups.versions import (
    CONNECTIONS_ARE_SHARED_IN_TURN,
    FAILED_LOOKUPS_ARE_CLEARED,
    JOINS_LOOK_AT_GENERATIONS,
    POLLS_END_FOR_HEARTBEATS,
)
from kwalk.model.language import Actor, Bound, action, choice, flag, number, require, state

GIVEN_IDS = Bound("given_ids", "how many member ids the consumer gets", minimum=2)
SESSION_SECONDS = Bound("session_seconds", "session.timeout.ms, in seconds", minimum=1)
INTERVAL_SECONDS = Bound("interval_seconds", "heartbeat.interval.ms, in seconds", minimum=1)
LONGEST_POLL = 5
"""ConsumerNetworkClient.MAX_POLL_TIMEOUT_MS, in seconds."""

JOINER = Actor("application's thread", system=False)
HEARTBEATS = Actor("heartbeat thread", system=False)
GROUP_COORDINATOR = Actor("group coordinator", system=False)
CLOCK = Actor("clock", system=False)


class JoinStep(Enum):
    """How far the application's thread is."""

    STABLE = "in the group"
    UNJOINED = "about to send JoinGroup"
    ANSWERED = "about to call onJoinComplete"


@state
class JoiningConsumer:
    """A consumer with its two threads.

    Attributes:
        own_id: its member id, counted from 1; 0: none.
        is_known: whether the coordinator has a member of its last id.
        has_failed: whether onJoinComplete had no generation.
    """

    join: JoinStep = choice(JoinStep)
    own_id: int = number(0, GIVEN_IDS)
    given_ids: int = number(0, GIVEN_IDS)
    is_known: bool = flag(default=True)
    has_failed: bool = flag()


def has_the_first_id(consumer: JoiningConsumer) -> None:
    """It has joined."""
    consumer.own_id = consumer.given_ids = 1


@action(by=GROUP_COORDINATOR, description="removes the member", source="GroupCoordinator.onExpireHeartbeat")
def remove_silent_member(consumer: JoiningConsumer) -> None:
    """Its session has ended."""
    require(consumer.join is JoinStep.STABLE and consumer.is_known)
    consumer.is_known = False


@action(
    by=HEARTBEATS,
    description="learns that it is no member",
    source="HeartbeatResponseHandler: UNKNOWN_MEMBER_ID; resetGenerationOnResponseError",
)
def handle_error(consumer: JoiningConsumer) -> None:
    """The consumer has no id any more. The heartbeat thread has the coordinator's lock as it handles an answer."""
    require(consumer.join is JoinStep.STABLE and consumer.own_id != 0 and not consumer.is_known)
    consumer.own_id, consumer.join = 0, JoinStep.UNJOINED


@action(
    by=HEARTBEATS,
    description="leaves the group, as the application has not polled for max.poll.interval.ms",
    source="AbstractCoordinator.maybeLeaveGroup",
)
def leave_for_want_of_polls(consumer: JoiningConsumer) -> None:
    """The application's thread may be about to call onJoinComplete."""
    require(consumer.join is not JoinStep.UNJOINED and consumer.own_id != 0 and consumer.is_known)
    consumer.own_id, consumer.is_known = 0, False
    if consumer.join is JoinStep.STABLE:
        consumer.join = JoinStep.UNJOINED


@action(by=JOINER, description="sends JoinGroup, and is unknown", source="JoinGroupResponseHandler: UNKNOWN_MEMBER_ID")
def join_with_a_lost_id(consumer: JoiningConsumer) -> None:
    """It has no id any more."""
    require(consumer.join is JoinStep.STABLE and consumer.own_id != 0 and not consumer.is_known)
    consumer.join, consumer.own_id = JoinStep.UNJOINED, 0


@action(by=JOINER, description="joins with another id", source="AbstractCoordinator.initiateJoinGroup")
def join_with_another_id(consumer: JoiningConsumer) -> None:
    """JoinGroup and SyncGroup are answered; the heartbeat thread runs from now on."""
    require(consumer.join is JoinStep.UNJOINED and consumer.given_ids < GIVEN_IDS)
    consumer.given_ids += 1
    consumer.own_id, consumer.is_known, consumer.join = consumer.given_ids, True, JoinStep.ANSWERED


@action(
    by=JOINER,
    description="calls onJoinComplete",
    source="AbstractCoordinator.joinGroupIfNeeded; ConsumerCoordinator.onJoinComplete",
)
def finish_join(consumer: JoiningConsumer) -> None:
    """Since KAFKA-8104 it joins again if it has no generation any more."""
    require(consumer.join is JoinStep.ANSWERED and not consumer.has_failed)
    if consumer.own_id != 0:
        consumer.join = JoinStep.STABLE
    elif JOINS_LOOK_AT_GENERATIONS:
        consumer.join = JoinStep.UNJOINED
    else:
        consumer.has_failed = True


@state
class WaitingConsumer:
    """A consumer whose application waits for an answer of a slow broker, such as to ListOffsets.

    Attributes:
        silent: the seconds since its last heartbeat.
        poll_left: the seconds for which the application's thread has the connections still.
        is_removed: whether the coordinator has removed it.
    """

    silent: int = number(0, SESSION_SECONDS)
    poll_left: int = number(0, LONGEST_POLL)
    is_removed: bool = flag()


def is_due(consumer: WaitingConsumer) -> bool:
    """Return whether it is time for a heartbeat."""
    return consumer.silent >= INTERVAL_SECONDS


@action(
    by=JOINER,
    description="waits for its answer",
    source="ConsumerNetworkClient.poll(RequestFuture), MAX_POLL_TIMEOUT_MS",
)
def poll_for_an_answer(consumer: WaitingConsumer) -> None:
    """For five seconds, since KAFKA-5212 no longer than between heartbeats; before KAFKA-6593 also out of turn."""
    require(consumer.poll_left == 0 and not consumer.is_removed)
    require(not is_due(consumer) or not CONNECTIONS_ARE_SHARED_IN_TURN)
    if POLLS_END_FOR_HEARTBEATS and INTERVAL_SECONDS < LONGEST_POLL:
        consumer.poll_left = INTERVAL_SECONDS
    else:
        consumer.poll_left = LONGEST_POLL


@action(by=HEARTBEATS, description="sends a heartbeat", source="AbstractCoordinator.HeartbeatThread.run")
def send_heartbeat_in_turn(consumer: WaitingConsumer) -> None:
    """It has the connections."""
    require(consumer.poll_left == 0 and is_due(consumer) and not consumer.is_removed)
    consumer.silent = 0


@action(by=CLOCK, description="goes on by a second", source="time")
def pass_second(consumer: WaitingConsumer) -> None:
    """A heartbeat that is due and can be sent is sent first; the coordinator removes a member at its timeout."""
    require(not consumer.is_removed and (consumer.poll_left > 0 or not is_due(consumer)))
    consumer.silent += 1
    consumer.poll_left -= 1 if consumer.poll_left > 0 else 0
    consumer.is_removed = consumer.silent >= SESSION_SECONDS


class LookupIs(Enum):
    """The request for the coordinator (Kafka: findCoordinatorFuture)."""

    NONE = "none"
    SENT = "on its way"
    FAILED = "one that has failed"


@state
class SoughtCoordinator:
    """A consumer that does not know its coordinator.

    Attributes:
        lookup: the request that both threads wait for.
        is_sending: whether the heartbeat thread has sent a request, and not noted it yet.
        has_failed_early: whether that has failed already.
        is_known: whether the coordinator is known.
        is_stuck: whether a thread waits for a request that has failed.
    """

    lookup: LookupIs = choice(LookupIs)
    is_sending: bool = flag()
    has_failed_early: bool = flag()
    is_known: bool = flag()
    is_stuck: bool = flag()


@action(by=HEARTBEATS, description="asks for the coordinator", source="AbstractCoordinator.lookupCoordinator")
def begin_lookup(consumer: SoughtCoordinator) -> None:
    """It has the coordinator's lock, which a thread that polls for records has not."""
    require(not consumer.is_known and consumer.lookup is LookupIs.NONE and not consumer.is_sending)
    consumer.is_sending = True


@action(
    by=JOINER,
    description="polls, and fails the request of a connection that has ended",
    source="ConsumerNetworkClient.firePendingCompletedRequests",
)
def fail_early(consumer: SoughtCoordinator) -> None:
    """Before the heartbeat thread has noted it."""
    require(consumer.is_sending and not consumer.has_failed_early)
    consumer.has_failed_early = True


@action(by=HEARTBEATS, description="notes its request", source="AbstractCoordinator.lookupCoordinator")
def note_lookup(consumer: SoughtCoordinator) -> None:
    """The handler of one that has failed is called before that."""
    require(consumer.is_sending)
    consumer.lookup = LookupIs.FAILED if consumer.has_failed_early else LookupIs.SENT
    consumer.is_sending = consumer.has_failed_early = False


@action(
    by=GROUP_COORDINATOR,
    description="is named in the answer, or the connection ends: {fails}",
    source="FindCoordinatorResponseHandler",
)
def end_lookup(consumer: SoughtCoordinator, fails: bool) -> None:
    """The request is forgotten."""
    require(consumer.lookup is LookupIs.SENT)
    consumer.lookup, consumer.is_known = LookupIs.NONE, not fails


@action(by=JOINER, description="waits for the request", source="AbstractCoordinator.ensureCoordinatorReady")
def wait_for_a_lookup(consumer: SoughtCoordinator) -> None:
    """One that has failed is forgotten since KAFKA-10793."""
    require(consumer.lookup is LookupIs.FAILED)
    if FAILED_LOOKUPS_ARE_CLEARED:
        consumer.lookup = LookupIs.NONE
    else:
        consumer.is_stuck = True


@action(by=GROUP_COORDINATOR, description="moves", source="AbstractCoordinator.markCoordinatorUnknown")
def lose_coordinator(consumer: SoughtCoordinator) -> None:
    """The consumer asks again."""
    require(consumer.is_known)
    consumer.is_known = False
