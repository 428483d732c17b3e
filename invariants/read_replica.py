"""Properties of the replica that a consumer fetches from."""

from __future__ import annotations

from kwalk.model.kafka.server.read_replica import Follower, ReadReplica
from kwalk.model.language import premise, reachable, step


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
