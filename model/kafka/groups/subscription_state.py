"""SubscriptionState, ConsumerCoordinator: what a consumer subscribes to, and what its polls return.

What the model leaves out, and why its stories lose nothing by it: other members, whose rebalances are the same; and
partitions but those that are named.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.groups.versions import (
    CHANGES_ASK_FOR_JOINS,
    JOINS_END_WITH_THEIR_SYNC,
    METADATA_ARE_OF_THE_SUBSCRIPTION,
    POLLS_ADVANCE_AND_RETURN,
    REVOCATIONS_END_FETCHES,
    SUBSCRIPTIONS_ARE_COMPARED,
    UNKNOWN_TOPICS_ARE_RETRIED,
)
from kwalk.model.language import Actor, Bound, action, choice, flag, number, require, state

SUBSCRIBER = Actor("application's thread", system=False)
JOINER = Actor("consumer")
ANSWERS = Actor("coordinator of the group")
HEARTBEATS = Actor("heartbeat thread", system=False)
GROUP_COORDINATOR = Actor("group coordinator", system=False)
OPERATOR = Actor("operator", system=False)
FAULT = Actor("fault", system=False)
READ_RECORDS = Bound("read_records", "how many records a partition has", minimum=1)


class SubscriptionStep(Enum):
    """How far a consumer is."""

    IDLE = "waits for nothing"
    JOINING = "waits for the answer to JoinGroup"
    SYNCING = "waits for the answer to SyncGroup"


@state
class SubscribedConsumer:
    """A member of a group whose subscription changes.

    Attributes:
        subscribes: whether it subscribes to a topic more, by a call or by its pattern.
        joined: whether its last JoinGroup had that topic (Kafka: joinedSubscription).
        is_asked: whether it is to join (Kafka: rejoinNeeded; in 0.10.0 needsPartitionAssignment).
        is_member: whether it has the assignment of its last join, and sends heartbeats.
    """

    step: SubscriptionStep = choice(SubscriptionStep)
    subscribes: bool = flag()
    joined: bool = flag()
    is_asked: bool = flag()
    is_member: bool = flag(default=True)


def wants_to_join(consumer: SubscribedConsumer) -> bool:
    """Return whether the next poll joins (Kafka: needRejoin, rejoinNeededOrPending)."""
    has_changed = bool(SUBSCRIPTIONS_ARE_COMPARED) and consumer.subscribes != consumer.joined
    return consumer.is_asked or has_changed


@action(
    by=SUBSCRIBER,
    description="subscribes to other topics, or learns of one that its pattern matches",
    source="SubscriptionState.subscribe, subscribeFromPattern; ConsumerCoordinator: Metadata.Listener",
)
def subscribe_otherwise(consumer: SubscribedConsumer) -> None:
    """Also while a join is under way: the heartbeat thread reads metadata, and a poll may have returned."""
    consumer.subscribes = not consumer.subscribes
    if not SUBSCRIPTIONS_ARE_COMPARED:
        consumer.is_asked = True


@action(by=HEARTBEATS, description="learns of a rebalance", source="HeartbeatResponseHandler: REBALANCE_IN_PROGRESS")
def ask_subscriber_to_join(consumer: SubscribedConsumer) -> None:
    """Another member has joined, or left."""
    require(consumer.step is SubscriptionStep.IDLE and consumer.is_member and not consumer.is_asked)
    consumer.is_asked = True


@action(
    by=JOINER,
    description="sends JoinGroup",
    source="AbstractCoordinator.joinGroupIfNeeded; ConsumerCoordinator.metadata",
)
def join_with_subscription(consumer: SubscribedConsumer) -> None:
    """It sends no heartbeats until it has joined. Since KAFKA-9815 a change is as good as a rebalance that is begun."""
    require(consumer.step is SubscriptionStep.IDLE and wants_to_join(consumer))
    consumer.step, consumer.is_member, consumer.joined = SubscriptionStep.JOINING, False, consumer.subscribes
    if CHANGES_ASK_FOR_JOINS:
        consumer.is_asked = True


@action(by=ANSWERS, description="answers JoinGroup", source="JoinGroupResponseHandler")
def answer_subscriber(consumer: SubscribedConsumer) -> None:
    """In 0.10.1 and 0.10.2 the join is not asked for any more, before SyncGroup is answered (KAFKA-5154)."""
    require(consumer.step is SubscriptionStep.JOINING)
    consumer.step = SubscriptionStep.SYNCING
    consumer.is_asked = consumer.is_asked and bool(JOINS_END_WITH_THEIR_SYNC)


@action(by=ANSWERS, description="answers SyncGroup", source="ConsumerCoordinator.onJoinComplete")
def assign_to_subscriber(consumer: SubscribedConsumer) -> None:
    """The consumer is a member. One of 0.10.0 forgets what has changed meanwhile (KAFKA-3949)."""
    require(consumer.step is SubscriptionStep.SYNCING)
    consumer.step, consumer.is_member, consumer.is_asked = SubscriptionStep.IDLE, True, False


@action(
    by=FAULT,
    description="ends the connection, or moves the coordinator",
    source="AbstractCoordinator.joinGroupIfNeeded: future.isRetriable",
)
def fail_subscriber(consumer: SubscribedConsumer) -> None:
    """The consumer looks again whether it is to join."""
    require(consumer.step is not SubscriptionStep.IDLE)
    consumer.step = SubscriptionStep.IDLE


@state
class SubscribedLeader:
    """The leader of a group, which subscribes to a topic more; the group has no other topics than the leader.

    Attributes:
        subscribes: whether it subscribes to that topic.
        names_the_group: whether its requests for metadata name the topics of the group (Kafka: groupSubscription).
        is_due: whether it is to ask for metadata, as its subscription has changed.
        knows: whether its metadata have that topic.
        assigns: whether that topic is in its last assignment.
        has_assigned: whether it has assigned since it subscribed.
    """

    subscribes: bool = flag()
    names_the_group: bool = flag(default=True)
    is_due: bool = flag()
    knows: bool = flag()
    assigns: bool = flag()
    has_assigned: bool = flag()


@action(by=SUBSCRIBER, description="subscribes to another topic", source="KafkaConsumer.subscribe")
def subscribe_to_another_topic(leader: SubscribedLeader) -> None:
    """The consumer asks for metadata, and joins again."""
    require(not leader.subscribes)
    leader.subscribes = leader.is_due = True


@action(
    by=HEARTBEATS,
    description="asks for metadata, and gets them",
    source="ConsumerMetadata.newMetadataRequestBuilder; SubscriptionState.metadataTopics",
)
def ask_for_metadata(leader: SubscribedLeader) -> None:
    """Each use of the connections does; in 2.4.1 and 2.5.0 for the topics of the last assignment only (KAFKA-10056)."""
    require(leader.is_due)
    leader.is_due = False
    leader.knows = bool(METADATA_ARE_OF_THE_SUBSCRIPTION) or not leader.names_the_group


@action(by=SUBSCRIBER, description="prepares to join", source="SubscriptionState.resetGroupSubscription")
def prepare_leader_to_join(leader: SubscribedLeader) -> None:
    """A commit before that uses the connections, and so does the heartbeat thread."""
    require(leader.subscribes and not leader.has_assigned and leader.names_the_group)
    leader.names_the_group = False


@action(by=SUBSCRIBER, description="assigns", source="ConsumerCoordinator.updateGroupSubscription, performAssignment")
def assign_with_metadata(leader: SubscribedLeader) -> None:
    """With metadata that are fresh; those that were got before are."""
    require(not leader.names_the_group and not leader.is_due)
    leader.names_the_group = leader.has_assigned = True
    leader.assigns = leader.knows


@state
class CommitOfATopic:
    """A consumer with enable.auto.commit and an eager assignor, which commits before it joins again.

    Attributes:
        exists: whether a topic of its commit exists; it has another one, too.
        is_known: whether the coordinator's broker knows the topic.
        is_committing: whether the consumer waits for the answer.
        has_stopped: whether it gets no records, as it repeats a commit until max.poll.interval.ms is over.
        is_lost: whether a commit was given up that another attempt would have brought in.
    """

    exists: bool = flag(default=True)
    is_known: bool = flag(default=True)
    is_committing: bool = flag()
    has_stopped: bool = flag()
    is_lost: bool = flag()


@action(by=OPERATOR, description="deletes one of the topics", source="kafka-topics.sh --delete")
def delete_committed_topic(commit: CommitOfATopic) -> None:
    """The consumer has consumed it."""
    require(commit.exists)
    commit.exists = commit.is_known = False


@action(by=OPERATOR, description="restarts the coordinator's broker", source="MetadataCache")
def forget_topics(commit: CommitOfATopic) -> None:
    """It serves requests before the controller has told it of topics."""
    require(commit.exists and commit.is_known)
    commit.is_known = False


@action(by=GROUP_COORDINATOR, description="is told of topics", source="KafkaApis.handleUpdateMetadataRequest")
def learn_of_topics(commit: CommitOfATopic) -> None:
    """Those that exist."""
    require(commit.exists and not commit.is_known)
    commit.is_known = True


@action(by=SUBSCRIBER, description="commits before it joins", source="ConsumerCoordinator.onJoinPrepare")
def commit_topics(commit: CommitOfATopic) -> None:
    """All that it has consumed, in one request."""
    require(not commit.is_committing and not commit.has_stopped)
    commit.is_committing = True


@action(
    by=GROUP_COORDINATOR,
    description="answers the commit",
    source="KafkaApis.handleOffsetCommitRequest; OffsetCommitResponseHandler: UNKNOWN_TOPIC_OR_PARTITION",
)
def answer_commit_of_topics(commit: CommitOfATopic) -> None:
    """One with an unknown topic is repeated since KAFKA-6829, until max.poll.interval.ms is over.

    Since 3.2.0 (KAFKA-13310) polls return meanwhile, with records only until KAFKA-14196.
    """
    require(commit.is_committing and not commit.has_stopped)
    is_repeated = not commit.is_known and bool(UNKNOWN_TOPICS_ARE_RETRIED)
    commit.is_committing = is_repeated
    commit.is_lost = not commit.is_known and commit.exists and not is_repeated
    commit.has_stopped = is_repeated and not commit.exists and bool(REVOCATIONS_END_FETCHES)


@state
class PollingConsumer:
    """A consumer of a partition.

    Attributes:
        position: how many records its polls have passed.
        returned: how many records the application has got.
        fails: whether an error waits for the next request: an answer about a topic that it may not read, an interrupt.
    """

    position: int = number(0, READ_RECORDS)
    returned: int = number(0, READ_RECORDS)
    fails: bool = flag()


@action(
    by=FAULT, description="interrupts the application's thread, or has an error answered", source="Metadata, Thread"
)
def meet_an_error(consumer: PollingConsumer) -> None:
    """The application goes on after the error, or closes the consumer, which commits its position."""
    require(not consumer.fails)
    consumer.fails = True


@action(by=SUBSCRIBER, description="polls, and gets a record", source="KafkaConsumer.poll: sendFetches, pollNoWakeup")
def poll_a_record(consumer: PollingConsumer) -> None:
    """The position is past the record, and another fetch is sent: an error there took the record until KAFKA-8677."""
    require(consumer.position < READ_RECORDS)
    is_returned = bool(POLLS_ADVANCE_AND_RETURN) or not consumer.fails
    consumer.position += 1
    consumer.returned += 1 if is_returned else 0
    consumer.fails = False
