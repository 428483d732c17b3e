"""Elections that a client requests in /admin/preferred_replica_election, and partitions that never had a leader."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories.sessions import REQUESTED_ELECTIONS
from kwalk.model.kafka.broker import kafka_server, partition
from kwalk.model.kafka.clients import operator
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken, is_broken_at_the_end, judged
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule

FIXED = {"skips_partitions_without_leadership": True}
WITH_REPAIRS = evolve(
    REQUESTED_ELECTIONS,
    actions=(
        *REQUESTED_ELECTIONS.actions,
        kafka_server.restart,
        partition.expand_isr,
        operator.remove_election_request_by_hand,
    ),
)
BROKEN = (
    Broken(
        "preferred_election_request_ends()",
        "requested-elections",
        "2.5.0",
        "crash(1) old_client_adds_partitions(0) old_client_requests_election(0,1) broker_failure(0) "
        "partition_modifications(0,0) replica_leader_election(0)",
    ),
    Broken(
        "controller_does_not_give_up(0)",
        "requested-elections",
        "3.9.0",
        "delete_controller() old_client_adds_partitions(0) old_client_requests_election(0,1) crash(1) reelect(0) "
        "failover_reads_topics(0) failover_sets_topic_ids(0) failover_reads_states(0) failover_sends_requests(0) "
        "failover_fails(0)",
    ),
)


@pytest.mark.parametrize("behaviour", BROKEN, ids=[b.invariant for b in BROKEN])
@pytest.mark.parametrize("variant", ["2.5.0", "2.8.2", "3.9.0"])
def test_every_release_meets_a_partition_without_leadership_and_one_that_skips_it_does_not(behaviour, variant):
    assert is_broken_at_the_end(behaviour, REQUESTED_ELECTIONS, variant)
    assert not any(judged(behaviour, REQUESTED_ELECTIONS, variant, FIXED))


def leaderless(**bounds: int) -> Schedule:
    """Partition 1 is added while its only replica is down, and its preferred leader is asked for."""
    schedule = Schedule(Model(WITH_REPAIRS, "3.9.0", {"controller_epochs": 9, "election_requests": 2, **bounds}))
    schedule.do("crash(1)")
    schedule.do("old_client_adds_partitions(0)")
    schedule.do("old_client_requests_election(0, 1)")
    return schedule


def can(schedule: Schedule, key: str) -> bool:
    return schedule.model.attempt(schedule.model.instance(key), schedule.vector).after is not None


def test_a_requested_election_makes_the_preferred_replica_leader_and_the_next_request_is_noticed():
    flags = {"isr_changes": "between requests"}
    bounds = {"replication_factor": 2, "restarts": 2, "election_requests": 2}
    schedule = Schedule(Model(WITH_REPAIRS, "3.9.0", bounds, flags))
    for _ in range(2):
        controller = schedule.cluster.zookeeper.controller
        schedule.do("crash(0)", winner=1 if controller == 0 else None)
        schedule.restart(0)
        assert schedule.cluster.zookeeper.state_of(0, 0).leader == 1
        schedule.do("old_client_requests_election(0, 0)")
        assert schedule.cluster.zookeeper.state_of(0, 0).leader == 0
        assert not schedule.cluster.zookeeper.has_preferred_elections
    assert schedule.cluster.zookeeper.watches[1].preferred_elections


def test_the_event_of_a_partition_without_leadership_leaves_the_request_and_no_other_is_accepted():
    schedule = leaderless()
    assert schedule.cluster.controller_of(0).step is EventProgress.IDLE
    assert schedule.violated("preferred_election_request_ends", quiescent=True)
    assert not can(schedule, "old_client_requests_election(0, 0)")


def test_a_replica_that_starts_ends_the_failures_and_the_next_failover_removes_the_request():
    schedule = leaderless()
    schedule.restart(1)
    assert schedule.cluster.zookeeper.state_of(0, 1).leader == 1
    assert schedule.violated("preferred_election_request_ends")
    schedule.do("delete_controller()", winner=0)
    assert schedule.cluster.zookeeper.controller == 0 and not schedule.violated("preferred_election_request_ends")


def test_every_failover_fails_while_the_request_is_there():
    schedule = leaderless(brokers=3)
    schedule.take("delete_controller()")
    for epoch in (2, 3, 4):
        schedule.settle(but=("failover_fails", "restart"))
        elected = schedule.cluster.zookeeper.controller
        assert elected in (0, 2) and schedule.cluster.zookeeper.controller_epoch == epoch
        schedule.take(f"failover_fails({elected})")
        assert schedule.cluster.zookeeper.controller is None and not schedule.cluster.controller_of(elected).is_active


def test_once_the_request_is_removed_by_hand_failovers_succeed_and_only_then_later_requests_are_noticed():
    schedule = leaderless(hand_removals=1)
    schedule.do("remove_election_request_by_hand()")
    schedule.do("old_client_requests_election(0, 0)")
    assert schedule.violated("preferred_election_request_ends", quiescent=True)
    schedule.do("delete_controller()", winner=0)
    assert schedule.cluster.zookeeper.controller == 0 and not schedule.cluster.zookeeper.has_preferred_elections


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("story", "variant", "flags", "violated"),
    [
        ("requested-elections", "2.8.2", {}, {"preferred_election_request_ends", "controller_does_not_give_up"}),
        ("requested-elections", "2.8.2", FIXED, set()),
        ("replaced-disk", "3.9.0", {}, set()),
    ],
)
def test_what_searches_find(story, variant, flags, violated):
    (scenario,) = [scenario for scenario in SCENARIOS if scenario.name == story]
    model = Model(scenario, variant, None, flags)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict), verdict.bounds_hit) == (Strength.EXHAUSTIVE, pinned(model), {})
    assert shortest(verdict).keys() == violated
