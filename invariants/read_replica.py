"""Properties of the replica that a consumer fetches from."""

from __future__ import annotations

from kwalk.model.kafka.server.read_replica import Follower, MisledConsumer, ReadReplica
from kwalk.model.language import always, premise, reachable, step


@step(
    symptom="a consumer that fetches from followers lags for good, while its replica is out of the ISR",
    log="none: the preferred-read-replica of the consumer is out of the ISR",
)
def chosen_replica_is_in_sync(before: ReadReplica, after: ReadReplica, follower: Follower) -> bool:
    """A consumer is sent to a follower in the ISR."""
    premise(before.reads_from != follower and after.reads_from == follower)
    return before.in_isr[follower]


@step(symptom="a consumer that fetches from followers is sent from one to the next", log="none")
def leader_chooses_the_replica(before: ReadReplica, after: ReadReplica) -> bool:
    """The leader sends the consumer to a follower, which answers it until the consumer asks the leader again."""
    premise(before.reads_from != after.reads_from)
    return before.reads_from is None or after.reads_from is None


@step(symptom="a replica counts as in sync that is not, or the other way round", log="none")
def isr_changes_by_itself(before: ReadReplica, after: ReadReplica, follower: Follower) -> bool:
    """A change of the ISR is of one follower, and leaves the consumer where it is."""
    premise(before.in_isr[follower] != after.in_isr[follower])
    return before.reads_from == after.reads_from and abs(sum(before.in_isr) - sum(after.in_isr)) == 1


@reachable()
def consumer_reads_from_a_replica_that_lags(choice: ReadReplica) -> bool:
    """A consumer fetches from a follower which has left the ISR since it was chosen."""
    return choice.reads_from is not None and not choice.in_isr[choice.reads_from]


@always(
    symptom="a consumer that is not of Java begins again, or skips records, as auto.offset.reset says",
    log="OFFSET_OUT_OF_RANGE in responses to Fetch",
)
def misled_consumer_keeps_its_offset(consumer: MisledConsumer) -> bool:
    """A consumer is not told by a follower that its offset is out of range, which the leader has."""
    return not consumer.was_reset


@step(symptom="a consumer gets records twice, or misses some", log="none")
def consumer_reads_what_is_there(before: MisledConsumer, after: MisledConsumer) -> bool:
    """A fetch reads all that the replica has which it is sent to, and no other step moves the consumer."""
    premise(before.position != after.position)
    read_to = before.follower_end if before.is_misled else before.end
    return before.position < after.position == read_to and not before.was_reset


@step(symptom="a consumer fetches from a replica that it was not sent to", log="none")
def metadata_sends_the_consumer(before: MisledConsumer, after: MisledConsumer) -> bool:
    """Metadata moves the consumer, and nothing else."""
    premise(before.is_misled != after.is_misled)
    return before.position == after.position and before.was_reset == after.was_reset


@step(symptom="a consumer whose offset the follower has is told that it is out of range", log="none")
def reset_is_of_a_later_offset(before: MisledConsumer, after: MisledConsumer) -> bool:
    """A consumer is reset once, by a follower that has not got so far."""
    premise(before.was_reset != after.was_reset)
    return after.was_reset and before.is_misled and before.follower_end < before.position


@step(symptom="a follower has records that its leader has not", log="none")
def follower_copies_one(before: MisledConsumer, after: MisledConsumer) -> bool:
    """A record is produced, or copied."""
    premise(before.end != after.end or before.follower_end != after.follower_end)
    is_one = after.end - before.end + after.follower_end - before.follower_end == 1
    return is_one and after.follower_end <= after.end and before.is_misled == after.is_misled


@reachable()
def consumer_has_read_all(consumer: MisledConsumer) -> bool:
    """A consumer has got all records, and is to fetch from a follower that has them, too."""
    return consumer.is_misled and 0 < consumer.position == consumer.follower_end == consumer.end
