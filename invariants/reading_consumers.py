"""Properties of what a consumer subscribes to, commits before it joins, and reads."""

from __future__ import annotations

from kwalk.model.kafka.groups.abstract_coordinator import RestartedStaticMember
from kwalk.model.kafka.groups.subscription_state import (
    CommitOfATopic,
    PollingConsumer,
    SubscribedConsumer,
    SubscribedLeader,
    SubscriptionStep,
)
from kwalk.model.kafka.groups.versions import SUBSCRIPTIONS_ARE_COMPARED
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a topic that a consumer subscribes to, or that its pattern matches, is consumed by nobody until the next "
    "rebalance",
    log="none",
)
def subscription_is_assigned(consumer: SubscribedConsumer) -> bool:
    """A consumer that waits for nothing has joined with what it subscribes to."""
    return consumer.subscribes == consumer.joined


@when_quiescent(
    symptom="a consumer sends no heartbeats, and never joins again: it gets no records, or up to 2.3 goes on to read "
    "partitions that another one has by then, without a commit",
    log="Member … in group … has failed, removing it from the group",
)
def consumer_outside_its_group_joins(consumer: SubscribedConsumer) -> bool:
    """A consumer that waits for nothing is a member."""
    return consumer.is_member


@step(symptom="a consumer joins out of turn", log="none")
def subscriber_joins_in_turn(before: SubscribedConsumer, after: SubscribedConsumer) -> bool:
    """JoinGroup is answered, then SyncGroup; both may fail; a member is none from JoinGroup until SyncGroup."""
    premise(before.step is not after.step or before.is_member != after.is_member)
    if after.step is SubscriptionStep.JOINING:
        return before.step is SubscriptionStep.IDLE and not after.is_member
    if after.step is SubscriptionStep.SYNCING:
        return before.step is SubscriptionStep.JOINING and not after.is_member
    is_answered = before.step is SubscriptionStep.SYNCING and after.is_member and not after.is_asked
    return is_answered or (not after.is_member and before.is_asked >= after.is_asked)


@step(symptom="a consumer joins for what it does not subscribe to", log="none")
def join_has_the_subscription(before: SubscribedConsumer, after: SubscribedConsumer) -> bool:
    """JoinGroup has the subscription of its time, and nothing else changes with that."""
    premise(before.joined != after.joined)
    return after.step is SubscriptionStep.JOINING and after.joined == before.subscribes == after.subscribes


@step(symptom="a member joins without a cause", log="none")
def join_has_a_cause(before: SubscribedConsumer, after: SubscribedConsumer) -> bool:
    """A consumer sends JoinGroup if it is asked to, or if its subscription has changed; only a member is asked."""
    premise(after.step is not SubscriptionStep.SYNCING and before.step is SubscriptionStep.IDLE)
    if after.step is SubscriptionStep.JOINING:
        return before.is_asked or before.subscribes != before.joined
    return before.is_asked == after.is_asked or before.is_member or before.subscribes != after.subscribes


@step(symptom="a member joins, though nobody asks for it", log="none")
def join_is_asked_for_in_turn(before: SubscribedConsumer, after: SubscribedConsumer) -> bool:
    """A member is asked while it waits for nothing, or asks itself as it joins; that ends with its join."""
    premise(before.is_asked != after.is_asked)
    if not after.is_asked:
        return before.step in (SubscriptionStep.JOINING, SubscriptionStep.SYNCING) and before.step is not after.step
    if before.subscribes != after.subscribes:
        return not SUBSCRIPTIONS_ARE_COMPARED
    return before.step is SubscriptionStep.IDLE and (after.step is SubscriptionStep.JOINING or after.is_member)


@step(symptom="a join changes with a subscription", log="none")
def subscription_changes_alone(before: SubscribedConsumer, after: SubscribedConsumer) -> bool:
    """What a consumer has asked for, and what it has, stay as its subscription changes."""
    premise(before.subscribes != after.subscribes)
    is_same = before.step is after.step and before.is_member == after.is_member
    return is_same and (before.is_asked == after.is_asked) == (bool(SUBSCRIPTIONS_ARE_COMPARED) or before.is_asked)


@reachable()
def subscription_changes_before_the_sync(consumer: SubscribedConsumer) -> bool:
    """A consumer waits for its assignment, and subscribes to other topics."""
    return consumer.step is SubscriptionStep.SYNCING and consumer.subscribes != consumer.joined


@reachable()
def member_is_asked_to_join(consumer: SubscribedConsumer) -> bool:
    """Another member has joined or left, and no subscription has changed."""
    return consumer.is_member and consumer.is_asked and consumer.subscribes == consumer.joined


@always(
    symptom="a topic to which the leader of a group has subscribed is consumed by nobody, for metadata.max.age.ms "
    "(five minutes)",
    log="none",
)
def subscribed_topic_is_assigned(leader: SubscribedLeader) -> bool:
    """The first assignment after a subscription has its topic."""
    return leader.assigns or not leader.has_assigned


@step(symptom="a leader assigns out of turn", log="none")
def leader_assigns_in_turn(before: SubscribedLeader, after: SubscribedLeader) -> bool:
    """A leader subscribes, prepares to join, and assigns with what it knows; metadata are asked for once."""
    premise(True)
    if before.subscribes != after.subscribes:
        return after.subscribes and after.is_due and before.names_the_group == after.names_the_group
    if before.is_due != after.is_due:
        return before.is_due and before.names_the_group == after.names_the_group and not after.has_assigned
    if before.names_the_group and not after.names_the_group:
        return before.subscribes and not before.has_assigned and before.knows == after.knows
    return after.has_assigned > before.has_assigned and after.names_the_group and after.assigns == before.knows


@reachable()
def leader_asks_as_it_joins(leader: SubscribedLeader) -> bool:
    """A leader is about to assign, and has metadata of its own topics."""
    return leader.knows and not leader.names_the_group


@always(
    symptom="a consumer with a group.instance.id fails as it is restarted (KafkaException), while replicas of "
    "__consumer_offsets are slow",
    log="none",
)
def restarted_consumer_joins(consumer: RestartedStaticMember) -> bool:
    """A consumer outlives an answer that its group is not written yet."""
    return not consumer.has_ended


@step(symptom="a JoinGroup is answered unasked", log="none")
def static_member_is_answered(before: RestartedStaticMember, after: RestartedStaticMember) -> bool:
    """A restart sends JoinGroup, and an answer ends that; replicas are slow, or not, apart from both."""
    premise(True)
    return (before.is_joining == after.is_joining) != (before.replicas_lag == after.replicas_lag)


@reachable()
def static_member_joins_beside_slow_replicas(consumer: RestartedStaticMember) -> bool:
    """A consumer waits for the answer, and replicas are slow."""
    return consumer.is_joining and consumer.replicas_lag


@always(
    symptom="a consumer gets no records for max.poll.interval.ms (five minutes), as one of its topics was deleted; "
    "until 3.1 its poll does not return either",
    log="none",
)
def other_topics_are_read(commit: CommitOfATopic) -> bool:
    """A topic that is deleted does not stop the others."""
    return not commit.has_stopped


@always(
    symptom="a commit fails, as its coordinator's broker has just started: records are processed again, or the "
    "application ends",
    log="none",
)
def commit_of_a_topic_is_kept(commit: CommitOfATopic) -> bool:
    """A commit of a topic that exists is repeated until it is accepted."""
    return not commit.is_lost


@step(symptom="a commit is answered out of turn", log="none")
def commit_goes_in_turn(before: CommitOfATopic, after: CommitOfATopic) -> bool:
    """A commit begins where none is, and ends as it is accepted, or as its topic is gone."""
    premise(before.is_committing != after.is_committing or before.has_stopped != after.has_stopped)
    is_same = before.exists == after.exists and before.is_known == after.is_known
    if before.is_committing and after.is_committing:
        return is_same and after.has_stopped and not after.exists
    if after.is_committing:
        return is_same and not after.has_stopped
    return is_same and (before.is_known or not before.exists or after.is_lost)


@step(symptom="a broker knows of a topic that does not exist", log="none")
def known_topic_exists(before: CommitOfATopic, after: CommitOfATopic) -> bool:
    """A broker learns of topics that exist, and forgets those that are deleted."""
    premise(before.is_known != after.is_known or before.exists != after.exists)
    is_deleted = before.exists and not after.exists and not after.is_known
    is_same = before.is_committing == after.is_committing and before.has_stopped == after.has_stopped
    return is_same and before.is_lost == after.is_lost and (is_deleted or (before.exists and after.exists))


@reachable()
def commit_meets_a_broker_that_knows_no_topic(commit: CommitOfATopic) -> bool:
    """A coordinator gets a commit of a topic that it does not know yet."""
    return commit.is_committing and commit.exists and not commit.is_known


@reachable()
def commit_is_of_a_deleted_topic(commit: CommitOfATopic) -> bool:
    """A consumer commits, and its topic is gone."""
    return commit.is_committing and not commit.exists


@always(
    symptom="records are skipped: the position of a consumer is past records that no poll has returned",
    log="none: TopicAuthorizationException, or InterruptException, in the application",
)
def record_is_returned(consumer: PollingConsumer) -> bool:
    """A position is past what was returned."""
    return consumer.position == consumer.returned


@step(symptom="a poll goes on by itself", log="none")
def poll_goes_in_turn(before: PollingConsumer, after: PollingConsumer) -> bool:
    """A poll passes one record, and meets the error that waits; an error comes by itself."""
    premise(before.position != after.position or before.fails != after.fails or before.returned != after.returned)
    is_next = after.position == before.position + 1 and not after.fails
    is_error = after.fails and not before.fails and after.position == before.position
    return is_next or (is_error and after.returned == before.returned)


@reachable()
def record_is_read_after_an_error(consumer: PollingConsumer) -> bool:
    """A consumer has got a record, and an error waits."""
    return consumer.returned > 0 and consumer.fails
