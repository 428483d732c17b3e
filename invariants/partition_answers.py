"""Properties of what a broker answers to requests about a partition."""

from __future__ import annotations

from kwalk.model.kafka.server.partition_answers import AskedBroker, Leader, PartitionAnswer, Question
from kwalk.model.language import always, premise, reachable, step

OF_THE_LEADER = (Question.PRODUCE, Question.FETCH, Question.EPOCH, Question.MARKER)


@always(
    symptom="a client is told that a topic does not exist, which does",
    log="UNKNOWN_TOPIC_OR_PARTITION in responses to Produce or OffsetsForLeaderEpoch",
)
def existing_topic_is_known(broker: AskedBroker) -> bool:
    """Producers, consumers and followers that ask a broker without a replica are told to look for the leader."""
    premise(broker.question in (Question.PRODUCE, Question.FETCH, Question.EPOCH))
    return (broker.answer is PartitionAnswer.UNKNOWN_TOPIC) == (not broker.is_created)


@always(
    symptom="a consumer that is not of Java ends, as a replica has moved",
    log="REPLICA_NOT_AVAILABLE in responses to Fetch",
)
def consumer_is_sent_on(broker: AskedBroker) -> bool:
    """A consumer that asks a broker without a replica gets an error after which clients ask again."""
    return broker.answer is not PartitionAnswer.NO_REPLICA


@always(
    symptom="a transaction does not end, and consumers of committed records stop, after a leader has moved",
    log="UNSUPPORTED_FOR_MESSAGE_FORMAT in responses to WriteTxnMarkers",
)
def marker_is_asked_for_again(broker: AskedBroker) -> bool:
    """A marker is written, or the coordinator asks again, as the log has the format of transactions."""
    premise(broker.question is Question.MARKER)
    return broker.answer is not PartitionAnswer.OLD_FORMAT and broker.is_created


@always(
    symptom="an earlier consumer ends, as a replica has moved",
    log="UNSUPPORTED_COMPRESSION_TYPE in responses to Fetch",
)
def compression_is_of_the_topic(broker: AskedBroker) -> bool:
    """Nobody is told that compression is unsupported of a topic without zstd."""
    return broker.answer is not PartitionAnswer.COMPRESSION


@always(
    symptom="clients report a missing listener, as a broker is down",
    log="LISTENER_NOT_FOUND in responses to Metadata",
)
def lost_leader_is_no_lost_listener(broker: AskedBroker) -> bool:
    """A leader that does not run is not available; all brokers have the same listeners."""
    return broker.answer is not PartitionAnswer.NO_LISTENER


@always(symptom="kafka-topics.sh --describe shows no ISR, where nobody leads", log="none")
def metadata_has_the_isr(broker: AskedBroker) -> bool:
    """Metadata of a partition has its ISR."""
    return broker.has_isr == (broker.is_created and broker.question is Question.METADATA)


@always(symptom="kafka-topics.sh --describe shows another preferred replica than the assignment has", log="none")
def metadata_has_replicas_in_order(broker: AskedBroker) -> bool:
    """Metadata of a partition has its replicas in the order of their assignment."""
    return broker.has_order == (broker.is_created and broker.question is Question.METADATA)


@always(symptom="consumers of committed records do not know their lag", log="none")
def fetch_has_the_stable_offset(broker: AskedBroker) -> bool:
    """A fetch that is answered has the last stable offset."""
    return broker.has_stable_offset == (broker.question is Question.FETCH and broker.answer is PartitionAnswer.GIVEN)


@always(symptom="a client is served by a broker that may not, or is not served by the leader", log="none")
def answers_are_of_the_leader(broker: AskedBroker) -> bool:
    """Who leads answers; a follower says that it does not lead."""
    premise(broker.question in OF_THE_LEADER)
    is_follower = broker.is_replica and broker.leader is not Leader.ASKED
    is_served = (broker.answer is PartitionAnswer.GIVEN) == (broker.leader is Leader.ASKED)
    return is_served and (broker.answer is PartitionAnswer.NOT_LEADER or not is_follower)


@always(symptom="a client does not find a leader that is there, or asks one that is not", log="none")
def metadata_has_the_leader(broker: AskedBroker) -> bool:
    """Metadata names a leader that runs."""
    premise(broker.question is Question.METADATA)
    is_led = broker.leader is Leader.ASKED or (broker.leader is Leader.OTHER and broker.is_other_live)
    if broker.is_created:
        return (broker.answer is PartitionAnswer.GIVEN) == is_led and broker.answer is not PartitionAnswer.UNKNOWN_TOPIC
    return broker.answer is PartitionAnswer.UNKNOWN_TOPIC


@step(symptom="a question changes the partition", log="none")
def question_changes_nothing(before: AskedBroker, after: AskedBroker) -> bool:
    """A question leaves the partition as it is; a change of the partition makes its answer one of the past."""
    is_same = (
        before.is_created == after.is_created
        and before.is_replica == after.is_replica
        and before.leader == after.leader
        and before.is_other_live == after.is_other_live
    )
    return is_same or (after.question is Question.NONE and after.answer is PartitionAnswer.NONE)


@step(symptom="a partition has a leader that is none of its replicas", log="none")
def partition_changes_by_one_thing(before: AskedBroker, after: AskedBroker) -> bool:
    """A topic has a leader when it is created; that one moves, or is lost with its broker."""
    premise(before.leader != after.leader or before.is_created != after.is_created)
    if not before.is_created:
        return after.is_other_live and after.leader is (Leader.ASKED if after.is_replica else Leader.OTHER)
    if after.leader is Leader.OTHER:
        return before.leader is Leader.ASKED and after.is_other_live
    return after.leader is Leader.NOBODY and before.leader is Leader.OTHER and not after.is_other_live


@reachable()
def follower_is_asked(broker: AskedBroker) -> bool:
    """A replica is asked to write that does not lead."""
    return broker.is_replica and broker.leader is Leader.NOBODY and broker.question is Question.PRODUCE


@reachable()
def unknown_topic_is_asked_for(broker: AskedBroker) -> bool:
    """Metadata is asked of a topic that does not exist."""
    return not broker.is_created and broker.question is Question.METADATA


@reachable()
def wide_partition_is_without_a_leader(broker: AskedBroker) -> bool:
    """Metadata is asked of a partition with many replicas, whose leader has just ended."""
    is_ended = broker.leader is Leader.OTHER and not broker.is_other_live
    return broker.is_wide and is_ended and broker.question is Question.METADATA
