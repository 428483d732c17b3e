"""Properties of consumers that join again, and of those that assign partitions to themselves."""

from __future__ import annotations

from kwalk.model.kafka.groups.abstract_coordinator import (
    AssignedByHand,
    CommitsByHand,
    PositionIs,
    RejoiningConsumer,
    RejoinStep,
)
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="a group waits for a member that no consumer is, until session.timeout.ms; partitions move that need not",
    log="Member … in group … has failed, removing it from the group",
)
def group_has_no_leftover_member(consumer: RejoiningConsumer) -> bool:
    """A consumer that joins again after a connection has ended is the member that it was."""
    return not consumer.has_leftover


@always(
    symptom="a group rebalances once more, as a consumer asks again for the answer to its JoinGroup",
    log="none",
)
def same_subscription_is_known(consumer: RejoiningConsumer) -> bool:
    """A coordinator takes a subscription that has not changed for the same."""
    return not consumer.is_taken_for_another


@always(
    symptom="a consumer reads without what its onPartitionsAssigned does, such as seek",
    log="none: WakeupException in the application",
)
def callback_is_called_to_its_end(consumer: RejoiningConsumer) -> bool:
    """A consumer that has an assignment has called its callback to its end."""
    return not consumer.misses_callback


@always(
    symptom="each rebalance of a group takes max.poll.interval.ms, as consumers do not join, and are removed",
    log="Member … in group … has failed, removing it from the group",
)
def commit_is_followed_by_the_join(consumer: RejoiningConsumer) -> bool:
    """A consumer that commits before it joins again does so once."""
    return not consumer.commits_again


@always(
    symptom="a poll ends with an error: IllegalArgumentException (a partition of a topic that is not subscribed to), "
    "or SchemaException (BufferUnderflowException)",
    log="none",
)
def poll_outlives_its_join(consumer: RejoiningConsumer) -> bool:
    """A poll that completes a join ends well."""
    return not consumer.has_ended


@step(symptom="a callback is woken by itself", log="none")
def woken_callback_waits(before: RejoiningConsumer, after: RejoiningConsumer) -> bool:
    """A callback is woken as it is called, and a subscription changes as its join is answered; both end with it."""
    premise(before.was_woken != after.was_woken or before.has_changed != after.has_changed)
    if after.has_changed and not before.has_changed:
        return before.step is after.step is RejoinStep.JOINING
    if after.was_woken and not before.was_woken:
        return before.step is after.step is RejoinStep.ANSWERED
    joins = after.step is RejoinStep.JOINING
    return (
        before.step is RejoinStep.ANSWERED
        and (joins or after.step is RejoinStep.STABLE)
        and joins == before.has_changed
    )


@always(symptom="a join has what was of the one before", log="none")
def marks_are_of_the_join(consumer: RejoiningConsumer) -> bool:
    """A callback is woken while it is called, and a subscription has changed since the join was sent; not both."""
    joins = consumer.step not in (RejoinStep.STABLE, RejoinStep.COMMITTING)
    is_called = consumer.step is RejoinStep.ANSWERED and not consumer.has_changed
    return (joins or not consumer.has_changed) and (is_called or not consumer.was_woken)


@reachable()
def subscription_changes_amid_a_join(consumer: RejoiningConsumer) -> bool:
    """A join is answered, and the subscription is another one."""
    return consumer.step is RejoinStep.ANSWERED and consumer.has_changed


@step(symptom="a consumer joins out of turn", log="none")
def rejoin_goes_in_turn(before: RejoiningConsumer, after: RejoiningConsumer) -> bool:
    """A join is sent, answered or sent again, and ends with its callback."""
    premise(before.step is not after.step)
    if after.step is RejoinStep.COMMITTING:
        return before.step is RejoinStep.STABLE
    if after.step is RejoinStep.JOINING:
        return before.step is not RejoinStep.ANSWERED or (before.has_changed and not after.has_changed)
    if after.step is RejoinStep.STABLE:
        return before.step is RejoinStep.ANSWERED
    is_answered = after.step is RejoinStep.ANSWERED and after.has_id and not after.is_taken_for_another
    return before.step is RejoinStep.JOINING and (is_answered or after.step is RejoinStep.RETRYING)


@reachable()
def join_waits_for_a_commit(consumer: RejoiningConsumer) -> bool:
    """A consumer commits before it joins again."""
    return consumer.step is RejoinStep.COMMITTING


@reachable()
def join_is_sent_again(consumer: RejoiningConsumer) -> bool:
    """A consumer is about to send JoinGroup again."""
    return consumer.step is RejoinStep.RETRYING


@always(
    symptom="records are skipped, or processed again: a consumer that assigns itself another partition reads from "
    "where auto.offset.reset says",
    log="none",
)
def partition_begins_at_its_commit(consumer: AssignedByHand) -> bool:
    """A consumer begins at the committed offset."""
    return consumer.position is not PositionIs.RESET


@step(symptom="a consumer reads from elsewhere by itself", log="none")
def position_follows_an_assignment(before: AssignedByHand, after: AssignedByHand) -> bool:
    """A position is of the assignment before it; offsets that were fetched are not fetched again until another one."""
    premise(before.position is not after.position or before.needs_offsets != after.needs_offsets)
    if after.position is PositionIs.NONE:
        return before.position is not PositionIs.NONE and before.needs_offsets <= after.needs_offsets
    is_committed = after.position is PositionIs.COMMITTED
    return before.position is PositionIs.NONE and is_committed == before.needs_offsets and not after.needs_offsets


@reachable()
def partition_has_a_position(consumer: AssignedByHand) -> bool:
    """A consumer reads from a committed offset."""
    return consumer.position is PositionIs.COMMITTED


@always(
    symptom="a consumer that assigns partitions to itself commits no more after its coordinator has moved, until it is "
    "restarted; it processes records again then",
    log="none",
)
def commit_finds_its_coordinator(consumer: CommitsByHand) -> bool:
    """A consumer that is to commit looks for its coordinator if it does not know it."""
    return not consumer.is_stuck


@step(symptom="a consumer knows a coordinator by itself", log="none")
def coordinator_is_named(before: CommitsByHand, after: CommitsByHand) -> bool:
    """A coordinator is known by an answer, or as the committed offset is fetched; it is asked for when it is not."""
    is_fetched = after.has_position and not before.has_position
    premise(before.is_known != after.is_known or before.is_sent != after.is_sent or is_fetched)
    if before.has_position > after.has_position:
        return False
    if before.is_known and is_fetched:
        return after.is_known
    if after.is_known:
        return before.is_sent != is_fetched and not after.is_sent
    return before.is_known != after.is_sent


@always(
    symptom="time: each poll of a consumer that assigns partitions to itself, and commits nothing, takes its whole "
    "timeout while its group has no coordinator",
    log="none",
)
def poll_waits_for_no_coordinator(consumer: CommitsByHand) -> bool:
    """A poll returns records though the consumer does not know its coordinator."""
    return not consumer.is_held


@step(symptom="a poll ends by itself", log="none")
def poll_ends_with_its_coordinator(before: CommitsByHand, after: CommitsByHand) -> bool:
    """A poll that waits for the coordinator asks for it, and ends as it is known."""
    premise(before.is_held != after.is_held or before.has_returned != after.has_returned)
    if before.is_held:
        return after.is_known
    return not after.is_known and after.is_sent >= after.is_held and after.has_returned >= before.has_returned


@reachable()
def coordinator_is_sought(consumer: CommitsByHand) -> bool:
    """A consumer that is to commit has asked for its coordinator, or cannot."""
    return consumer.is_sent or consumer.is_stuck
