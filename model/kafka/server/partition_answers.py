"""KafkaApis: what a broker answers to a request about one partition, by what it knows of it.

A client finds the leader in the answer to Metadata. Any broker may be asked with what the client knew before: one that
leads, that follows, that has no replica any more, or that does not know the topic. Errors after which a client looks
for the leader, and asks again, are the same to it; others end its attempt, or what it was to do.

What the model leaves out, and why its story loses nothing by it:

* Records, and the requests of followers, which other models have; consumers that fetch from followers (KIP-392).
* Other partitions of a request: each has an answer of its own.
* Clients: what is asked changes nothing but the answer.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    COMPRESSION_IS_OF_A_LOG,
    CONSUMERS_ARE_SENT_ON,
    EPOCHS_KNOW_THE_TOPIC,
    FETCHES_HAVE_THE_STABLE_OFFSET,
    ISR_OUTLIVES_THE_LEADER,
    LOST_REPLICAS_ARE_NO_FORMAT,
    METADATA_LOOKS_AT_THE_LEADER,
    REPLICAS_HAVE_AN_ORDER,
    REQUESTS_KNOW_THE_TOPIC,
)
from kwalk.model.language import Actor, action, choice, flag, require, state

CLIENT = Actor("client", system=False)
OPERATOR = Actor("operator", system=False)
FAULT = Actor("fault", system=False)


class Leader(Enum):
    """Who leads the partition, as the broker knows it."""

    NOBODY = "nobody"
    ASKED = "the broker that is asked"
    OTHER = "another broker"


class Question(Enum):
    """What was asked last, since the partition has changed."""

    NONE = "nothing"
    PRODUCE = "Produce"
    FETCH = "Fetch of a consumer"
    EPOCH = "OffsetsForLeaderEpoch"
    MARKER = "WriteTxnMarkers"
    METADATA = "Metadata"


class PartitionAnswer(Enum):
    """What the broker has answered; where releases renamed an error, its later name."""

    NONE = "nothing"
    GIVEN = "what was asked for"
    UNKNOWN_TOPIC = "UNKNOWN_TOPIC_OR_PARTITION"
    NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
    NO_REPLICA = "REPLICA_NOT_AVAILABLE"
    NO_LEADER = "LEADER_NOT_AVAILABLE"
    NO_LISTENER = "LISTENER_NOT_FOUND"
    OLD_FORMAT = "UNSUPPORTED_FOR_MESSAGE_FORMAT"
    COMPRESSION = "UNSUPPORTED_COMPRESSION_TYPE"


@state
class AskedBroker:
    """A broker, the partition as it knows it, and the last question with its answer.

    Attributes:
        is_replica: whether the broker has a replica.
        is_wide: whether the partition has more than four replicas.
        is_other_live: whether the other broker runs.
        has_isr: whether an answer to Metadata has the ISR.
        has_order: whether it has the replicas in the order of their assignment.
        has_stable_offset: whether an answer to Fetch has the last stable offset.
    """

    is_created: bool = flag()
    is_replica: bool = flag()
    is_wide: bool = flag()
    leader: Leader = choice(Leader)
    is_other_live: bool = flag(default=True)
    question: Question = choice(Question)
    answer: PartitionAnswer = choice(PartitionAnswer)
    has_isr: bool = flag()
    has_order: bool = flag()
    has_stable_offset: bool = flag()


def reply(broker: AskedBroker, question: Question, answer: PartitionAnswer) -> None:
    """Note a question and its answer, which has no fields that only some answers have."""
    broker.question = question
    broker.answer = answer
    broker.has_isr = broker.has_order = broker.has_stable_offset = False


@action(by=OPERATOR, description="creates the topic", source="AdminManager.createTopics")
def create_topic(broker: AskedBroker, is_replica: bool, is_wide: bool) -> None:
    """The broker leads if it has a replica, and else the other one."""
    require(not broker.is_created and broker.is_other_live)
    broker.is_created = True
    broker.is_replica = is_replica
    broker.is_wide = is_wide
    broker.leader = Leader.ASKED if is_replica else Leader.OTHER
    reply(broker, Question.NONE, PartitionAnswer.NONE)


@action(by=OPERATOR, description="moves the leader to the other broker", source="Partition.makeFollower")
def move_leader(broker: AskedBroker) -> None:
    """The broker that is asked follows."""
    require(broker.leader is Leader.ASKED and broker.is_other_live)
    broker.leader = Leader.OTHER
    reply(broker, Question.NONE, PartitionAnswer.NONE)


@action(by=FAULT, description="the other broker ends", source="UpdateMetadata: live brokers")
def end_other(broker: AskedBroker) -> None:
    """The broker that is asked knows of the end before it knows that there is no leader."""
    require(broker.is_other_live)
    broker.is_other_live = False
    reply(broker, Question.NONE, PartitionAnswer.NONE)


@action(by=FAULT, description="the partition has no leader any more", source="OfflinePartition; UpdateMetadata")
def lose_leader(broker: AskedBroker) -> None:
    """No replica in the ISR is left to lead: the broker that is asked is not in it."""
    require(broker.leader is Leader.OTHER and not broker.is_other_live)
    broker.leader = Leader.NOBODY
    reply(broker, Question.NONE, PartitionAnswer.NONE)


def refusal(broker: AskedBroker, *, knows_topic: bool) -> PartitionAnswer:
    """Return the answer where the leader is wanted: none if the broker leads.

    Args:
        broker: The broker that is asked.
        knows_topic: Whether it looks at its metadata if it has no replica.
    """
    if broker.leader is Leader.ASKED:
        return PartitionAnswer.GIVEN
    if broker.is_replica or (broker.is_created and knows_topic):
        return PartitionAnswer.NOT_LEADER
    return PartitionAnswer.UNKNOWN_TOPIC


@action(by=CLIENT, description="produces", source="ReplicaManager.getPartitionOrException")
def ask_produce(broker: AskedBroker) -> None:
    """Up to 1.1 a broker without a replica said that there is no topic."""
    reply(broker, Question.PRODUCE, refusal(broker, knows_topic=bool(REQUESTS_KNOW_THE_TOPIC)))


@action(by=CLIENT, description="fetches as a consumer", source="ReplicaManager.readFromLocalLog; KafkaApis")
def ask_fetch(broker: AskedBroker, is_old: bool) -> None:
    """In 2.4 and 2.5 a broker without a replica said so, with an error of its own.

    In 2.1 a consumer that is older than zstd got the error for that where there is no log.
    """
    answer = refusal(broker, knows_topic=bool(REQUESTS_KNOW_THE_TOPIC))
    if broker.is_created and not broker.is_replica and not CONSUMERS_ARE_SENT_ON:
        answer = PartitionAnswer.NO_REPLICA
    if is_old and broker.is_created and not broker.is_replica and not COMPRESSION_IS_OF_A_LOG:
        answer = PartitionAnswer.COMPRESSION
    reply(broker, Question.FETCH, answer)
    broker.has_stable_offset = answer is PartitionAnswer.GIVEN and bool(FETCHES_HAVE_THE_STABLE_OFFSET)


@action(by=CLIENT, description="asks for the end of an epoch", source="ReplicaManager.lastOffsetForLeaderEpoch")
def ask_epoch(broker: AskedBroker) -> None:
    """Up to 2.0 a broker without a replica said that there is no topic."""
    reply(broker, Question.EPOCH, refusal(broker, knows_topic=bool(EPOCHS_KNOW_THE_TOPIC)))


@action(
    by=CLIENT, description="has a marker written, as a coordinator", source="KafkaApis.handleWriteTxnMarkersRequest"
)
def write_marker(broker: AskedBroker) -> None:
    """A coordinator does not ask again where the format is too old; 0.11.0.0 says that without a replica, too."""
    require(broker.is_created)
    answer = refusal(broker, knows_topic=False)
    if not broker.is_replica and not LOST_REPLICAS_ARE_NO_FORMAT:
        answer = PartitionAnswer.OLD_FORMAT
    reply(broker, Question.MARKER, answer)


@action(by=CLIENT, description="asks who leads", source="MetadataCache.getPartitionMetadata")
def ask_metadata(broker: AskedBroker) -> None:
    """From 2.0 to 2.6 the broker looked whether it runs itself, and so never said that the leader does not.

    Up to 2.3 the ISR was left out where nobody leads; up to 0.10.2 more than four replicas had no order.
    """
    has_leader = broker.leader is Leader.ASKED or (broker.leader is Leader.OTHER and broker.is_other_live)
    if not broker.is_created:
        reply(broker, Question.METADATA, PartitionAnswer.UNKNOWN_TOPIC)
    else:
        error = PartitionAnswer.NO_LEADER if METADATA_LOOKS_AT_THE_LEADER else PartitionAnswer.NO_LISTENER
        reply(broker, Question.METADATA, PartitionAnswer.GIVEN if has_leader else error)
        broker.has_isr = has_leader or bool(ISR_OUTLIVES_THE_LEADER)
        broker.has_order = not broker.is_wide or bool(REPLICAS_HAVE_AN_ORDER)
