"""Properties of elections that are allowed by a configuration."""

from __future__ import annotations

from kwalk.model.kafka.controller.unclean_elections import REPLICAS, UncleanPartition
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a partition has no leader, although unclean elections are allowed, until the controller moves",
    log="none: kafka-topics.sh --describe shows no leader, and kafka-configs.sh unclean.leader.election.enable=true",
)
def allowed_election_is_held(partition: UncleanPartition) -> bool:
    """A partition has a leader if a replica is live, and any of them may lead."""
    premise((partition.is_allowed or partition.is_default) and any(partition.is_live))
    return partition.has_leader


@when_quiescent(
    symptom="a partition has no leader, although the broker that led it last is up",
    log="none: kafka-topics.sh --describe shows no leader, and an empty Isr",
)
def last_leader_leads(partition: UncleanPartition) -> bool:
    """A partition has a leader if the replica is live that led last."""
    premise(partition.is_live[partition.last])
    return partition.has_leader


@step(symptom="records are lost by an election that nobody has allowed", log="none")
def election_is_clean_or_allowed(before: UncleanPartition, after: UncleanPartition) -> bool:
    """A live replica is elected: the last one that led, or another one where that is allowed, as it is not live."""
    premise(before.has_leader != after.has_leader or before.last != after.last)
    is_unclean = not after.is_live[before.last] and (after.is_allowed or after.is_default)
    return after.is_live[after.last] == after.has_leader and (after.last == before.last or is_unclean)


@step(symptom="a partition has a leader that is gone", log="none")
def broker_fails_or_starts(before: UncleanPartition, after: UncleanPartition) -> bool:
    """One broker fails or starts at a time, and does not lead while it is not live."""
    premise(before.is_live != after.is_live)
    is_one = sum(before.is_live[each] != after.is_live[each] for each in REPLICAS) == 1
    return is_one and after.has_leader == after.is_live[after.last]


@step(symptom="the controller does not hear of a change", log="none")
def change_is_handled(before: UncleanPartition, after: UncleanPartition) -> bool:
    """What the controller is told of is a change; once it has handled that, or another one has, there is a leader."""
    premise(before.is_told != after.is_told)
    is_default = before.is_default != after.is_default or after.is_late
    is_changed = before.is_allowed != after.is_allowed or is_default
    can_lead = (after.is_allowed or after.is_default) and any(after.is_live)
    return is_changed if after.is_told else after.has_leader == (can_lead or after.is_live[after.last])


@step(symptom="unclean elections are not allowed any more, though nobody has forbidden them", log="none")
def permission_is_taken_back_alone(before: UncleanPartition, after: UncleanPartition) -> bool:
    """An operator takes back what a topic has, and changes nothing else; what all topics have stays."""
    premise(not (before.is_allowed <= after.is_allowed and before.is_default <= after.is_default))
    is_same_leader = before.has_leader == after.has_leader and before.last == after.last
    is_alone = before.is_live == after.is_live and before.is_told == after.is_told and is_same_leader
    return before.is_default <= after.is_default and is_alone


@reachable()
def change_was_handled(partition: UncleanPartition) -> bool:
    """The controller has handled a change."""
    return partition.is_allowed and partition.is_default and not partition.is_told


@reachable()
def election_is_allowed_at_last(partition: UncleanPartition) -> bool:
    """A replica leads that was not in the ISR."""
    return partition.has_leader and partition.last == 1 and not partition.is_live[0]


@reachable()
def permission_was_taken_back(partition: UncleanPartition) -> bool:
    """A replica leads that was not in the ISR, and nothing allows that any more."""
    return election_is_allowed_at_last(partition) and not partition.is_allowed and not partition.is_default
