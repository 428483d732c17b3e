"""AbstractCoordinator.joinGroupIfNeeded, SubscriptionState: a consumer that joins again, and where it begins to read.

What the model leaves out, and why its stories lose nothing by it: SyncGroup, which is answered with JoinGroup; other
members, whose rebalances are the same; and partitions but one.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.groups.versions import (
    ANSWERED_LOOKUPS_ARE_CLEARED,
    ASSIGNMENTS_ASK_FOR_OFFSETS,
    CHANGED_SUBSCRIPTIONS_JOIN_AGAIN,
    COMMITS_SEEK_THEIR_COORDINATOR,
    JOINS_FOLLOW_A_COMMIT,
    POLLS_SEEK_NO_COORDINATOR,
    RETRIABLE_ERRORS_KEEP_IDS,
    SLOW_WRITES_ARE_RETRIED,
    SUBSCRIPTIONS_ARE_SORTED,
    WOKEN_CALLBACKS_ARE_REPEATED,
    WOKEN_CALLBACKS_HAVE_THEIR_ASSIGNMENT,
)
from kwalk.model.language import Actor, action, choice, flag, require, state

JOINER = Actor("application's thread", system=False)
GROUP_COORDINATOR = Actor("group coordinator", system=False)
FAULT = Actor("fault", system=False)


class RejoinStep(Enum):
    """How far a consumer is that joins again."""

    STABLE = "has its assignment"
    COMMITTING = "waits for its last commit (enable.auto.commit)"
    JOINING = "waits for the answer to JoinGroup"
    RETRYING = "is about to send JoinGroup again"
    ANSWERED = "is about to call onPartitionsAssigned"


@state
class RejoiningConsumer:
    """A member of a group that joins again.

    Attributes:
        has_id: whether it sends the id that its coordinator knows.
        has_leftover: whether the coordinator has a member of an id that it does not use any more.
        is_taken_for_another: whether the coordinator began a rebalance, as it took the same subscription for another.
        misses_callback: whether its callback has ended early, and is not called again.
        commits_again: whether it has sent another commit as the last one was answered.
        was_woken: whether its callback has ended early, and is to be called again.
        has_changed: whether its application subscribes to other topics than those of its JoinGroup.
        has_ended: whether a poll has ended with an error.
    """

    step: RejoinStep = choice(RejoinStep)
    has_id: bool = flag(default=True)
    has_leftover: bool = flag()
    is_taken_for_another: bool = flag()
    misses_callback: bool = flag()
    commits_again: bool = flag()
    was_woken: bool = flag()
    has_changed: bool = flag()
    has_ended: bool = flag()


@action(
    by=JOINER,
    description="is to join again; it commits first: {commits}",
    source="AbstractCoordinator.joinGroupIfNeeded; ConsumerCoordinator.onJoinPrepare",
)
def begin_to_rejoin(consumer: RejoiningConsumer, commits: bool) -> None:
    """Another member has joined, or left."""
    require(consumer.step is RejoinStep.STABLE)
    consumer.step = RejoinStep.COMMITTING if commits else RejoinStep.JOINING


@action(
    by=GROUP_COORDINATOR, description="answers the commit", source="ConsumerCoordinator.maybeAutoCommitOffsetsAsync"
)
def answer_commit_of_join(consumer: RejoiningConsumer) -> None:
    """The consumer joins. One of 3.2.0 that keeps its partitions (KIP-429) sends another commit (KAFKA-14024)."""
    require(consumer.step is RejoinStep.COMMITTING)
    if JOINS_FOLLOW_A_COMMIT:
        consumer.step = RejoinStep.JOINING
    else:
        consumer.commits_again = True


@action(
    by=FAULT,
    description="ends the connection, or moves the coordinator",
    source="AbstractCoordinator.joinGroupIfNeeded: future.isRetriable",
)
def fail_join_for_now(consumer: RejoiningConsumer) -> None:
    """The consumer sends JoinGroup again; in 2.7.0, 2.7.1 and 2.8.0 as a new member, until KAFKA-13214."""
    require(consumer.step is RejoinStep.JOINING)
    consumer.step = RejoinStep.RETRYING
    if not RETRIABLE_ERRORS_KEEP_IDS:
        consumer.has_leftover = consumer.has_leftover or consumer.has_id
        consumer.has_id = False


@action(
    by=JOINER,
    description="sends JoinGroup again, with what it owns in another order: {in_another_order}",
    source="ConsumerProtocol.serializeSubscription; GroupMetadata.supportsProtocols, MemberMetadata.matches",
)
def send_join_again(consumer: RejoiningConsumer, in_another_order: bool) -> None:
    """A coordinator that has answered before begins another rebalance if the bytes differ (KAFKA-12898)."""
    require(consumer.step is RejoinStep.RETRYING)
    require(not in_another_order or (consumer.has_id and not SUBSCRIPTIONS_ARE_SORTED))
    consumer.step, consumer.is_taken_for_another = RejoinStep.JOINING, in_another_order


@action(by=GROUP_COORDINATOR, description="answers JoinGroup", source="GroupCoordinator.onCompleteJoin")
def answer_rejoin(consumer: RejoiningConsumer) -> None:
    """One without an id gets one."""
    require(consumer.step is RejoinStep.JOINING)
    consumer.step, consumer.has_id, consumer.is_taken_for_another = RejoinStep.ANSWERED, True, False


@action(by=JOINER, description="subscribes to other topics", source="KafkaConsumer.subscribe")
def change_subscription(consumer: RejoiningConsumer) -> None:
    """A poll has returned before the join is answered."""
    require(consumer.step is RejoinStep.JOINING and not consumer.has_changed)
    consumer.has_changed = True


@action(by=JOINER, description="has called onPartitionsAssigned", source="ConsumerCoordinator.onJoinComplete")
def finish_callback(consumer: RejoiningConsumer) -> None:
    """It has its positions from there. It joins again if its subscription has changed, since KAFKA-7961.

    From 0.11.0.1 to KAFKA-7194 the assignment of a callback that was woken could not be read a second time.
    """
    require(consumer.step is RejoinStep.ANSWERED and not consumer.has_ended)
    is_unreadable = consumer.was_woken and not WOKEN_CALLBACKS_HAVE_THEIR_ASSIGNMENT
    if is_unreadable or (consumer.has_changed and not CHANGED_SUBSCRIPTIONS_JOIN_AGAIN):
        consumer.has_ended = True
    else:
        consumer.step = RejoinStep.JOINING if consumer.has_changed else RejoinStep.STABLE
        consumer.has_changed = consumer.was_woken = consumer.misses_callback = False


@action(
    by=JOINER,
    description="is woken in onPartitionsAssigned: WakeupException",
    source="AbstractCoordinator.joinGroupIfNeeded: resetJoinGroupFuture",
)
def wake_callback(consumer: RejoiningConsumer) -> None:
    """The next poll calls it again, up to 1.1 that of the next rebalance; until KAFKA-5611 none did."""
    require(consumer.step is RejoinStep.ANSWERED and not consumer.was_woken and not consumer.has_changed)
    if WOKEN_CALLBACKS_ARE_REPEATED:
        consumer.was_woken = True
    else:
        consumer.step, consumer.misses_callback = RejoinStep.STABLE, True


@action(
    by=GROUP_COORDINATOR,
    description="removes a member that has not answered",
    source="GroupCoordinator.onExpireHeartbeat",
)
def remove_leftover(consumer: RejoiningConsumer) -> None:
    """After session.timeout.ms; until then rebalances wait for it."""
    require(consumer.has_leftover)
    consumer.has_leftover = False


class PositionIs(Enum):
    """Where a consumer reads a partition."""

    NONE = "nowhere yet"
    COMMITTED = "at the committed offset"
    RESET = "where auto.offset.reset says"


@state
class AssignedByHand:
    """A consumer that assigns partitions to itself (KafkaConsumer.assign), and commits offsets of its group.

    Attributes:
        needs_offsets: whether it is to fetch committed offsets.
    """

    position: PositionIs = choice(PositionIs)
    needs_offsets: bool = flag(default=True)


@action(by=JOINER, description="assigns another partition to itself", source="SubscriptionState.assignFromUser")
def assign_by_hand(consumer: AssignedByHand) -> None:
    """Until KAFKA-3960 only the first assignment asked for committed offsets."""
    require(consumer.position is not PositionIs.NONE)
    consumer.position = PositionIs.NONE
    if ASSIGNMENTS_ASK_FOR_OFFSETS:
        consumer.needs_offsets = True


@action(by=JOINER, description="polls", source="KafkaConsumer.updateFetchPositions")
def begin_to_read(consumer: AssignedByHand) -> None:
    """The group has an offset of the partition."""
    require(consumer.position is PositionIs.NONE)
    consumer.position = PositionIs.COMMITTED if consumer.needs_offsets else PositionIs.RESET
    consumer.needs_offsets = False


@state
class CommitsByHand:
    """A consumer that assigns partitions to itself, and commits with enable.auto.commit, or commitAsync.

    Attributes:
        has_position: whether it has fetched the committed offset.
        is_known: whether it knows its coordinator.
        is_sent: whether it has asked for its coordinator.
        is_kept: whether it waits for a request for the coordinator that was answered before.
        is_stuck: whether a commit does not look for the coordinator.
        has_returned: whether a poll has returned while it did not know its coordinator.
        is_held: whether a poll waits for the coordinator, for its whole timeout.
    """

    has_position: bool = flag()
    is_known: bool = flag()
    is_sent: bool = flag()
    is_kept: bool = flag()
    is_stuck: bool = flag()
    has_returned: bool = flag()
    is_held: bool = flag()


@action(by=JOINER, description="fetches the committed offset", source="ConsumerCoordinator.fetchCommittedOffsets")
def fetch_committed_offset(consumer: CommitsByHand) -> None:
    """It finds the coordinator for that, if a commit has not before."""
    require(not consumer.has_position and not consumer.is_sent)
    consumer.is_kept = consumer.is_kept and consumer.is_known
    consumer.has_position = consumer.is_known = True


@action(by=FAULT, description="moves the coordinator, or ends the connection", source="markCoordinatorUnknown")
def leave_coordinator(consumer: CommitsByHand) -> None:
    """A consumer without a group's members has no heartbeat thread, which would look for another one."""
    require(consumer.is_known)
    consumer.is_known = False


@action(
    by=JOINER, description="is to commit", source="ConsumerCoordinator.commitOffsetsAsync, maybeAutoCommitOffsetsAsync"
)
def commit_without_a_coordinator(consumer: CommitsByHand) -> None:
    """It asks for the coordinator; before KAFKA-6362 it did not, and before KAFKA-13563 it took an earlier answer.

    It does so before it has any offset to commit, too (KAFKA-13717, 3.2.0).
    """
    require(not consumer.is_known and not consumer.is_sent and not consumer.is_stuck)
    if COMMITS_SEEK_THEIR_COORDINATOR and not consumer.is_kept:
        consumer.is_sent = True
    else:
        require(consumer.has_position)
        consumer.is_stuck = True


@action(by=JOINER, description="polls", source="ConsumerCoordinator.poll (coordinatorUnknownAndUnready)")
def poll_without_a_coordinator(consumer: CommitsByHand) -> None:
    """Its position may be one that it has sought; records that were fetched are returned after the timeout."""
    require(not consumer.is_known and not consumer.is_held)
    if POLLS_SEEK_NO_COORDINATOR:
        consumer.has_returned = True
    else:
        consumer.is_held = consumer.is_sent = True


@action(by=GROUP_COORDINATOR, description="is named in the answer", source="FindCoordinatorResponseHandler")
def answer_lookup(consumer: CommitsByHand) -> None:
    """Commits go there."""
    require(consumer.is_sent)
    consumer.is_sent, consumer.is_known, consumer.is_held = False, True, False
    consumer.is_kept = not ANSWERED_LOOKUPS_ARE_CLEARED


@state
class RestartedStaticMember:
    """A consumer with a group.instance.id, which joins its group again after a restart.

    Attributes:
        is_joining: whether it waits for the answer to JoinGroup.
        replicas_lag: whether the replicas of the group's partition are slow.
        has_ended: whether its poll has failed.
    """

    is_joining: bool = flag()
    replicas_lag: bool = flag()
    has_ended: bool = flag()


@action(
    by=JOINER, description="is started again, and sends JoinGroup", source="AbstractCoordinator.sendJoinGroupRequest"
)
def restart_static_member(consumer: RestartedStaticMember) -> None:
    """It has no member id, and its coordinator a member of its group.instance.id."""
    require(not consumer.is_joining and not consumer.has_ended)
    consumer.is_joining = True


@action(by=FAULT, description="slows replicas down, or not any more", source="replica.lag.time.max.ms")
def slow_replicas_down(consumer: RestartedStaticMember) -> None:
    """An append waits for them, for offsets.commit.timeout.ms."""
    consumer.replicas_lag = not consumer.replicas_lag


@action(
    by=GROUP_COORDINATOR,
    description="answers JoinGroup",
    source="GroupCoordinator.updateStaticMemberAndRebalance; GroupMetadataManager.storeGroup: REQUEST_TIMED_OUT",
)
def answer_static_member(consumer: RestartedStaticMember) -> None:
    """brokers since 2.6.1 write the member's new id first. REBALANCE_IN_PROGRESS is an error until KAFKA-10870."""
    require(consumer.is_joining)
    consumer.is_joining = False
    consumer.has_ended = consumer.replicas_lag and not SLOW_WRITES_ARE_RETRIED
