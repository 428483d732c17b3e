"""Operators who get rid of a topic by hand: what each runbook leaves behind, and which one leaves nothing."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.kafka.clients.runbook import is_finished
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
MISSING_LEADER = ("partition_gets_a_leader", "context_agrees")
WRONG_TOPIC = ("deletion_targets_intent", "deleted_logs_were_unused")
LOGS_STAY = ("no_stray", "removed_topic_is_not_served", "replica_id_matches_zookeeper", "partition_servable")
CASES = [
    ("runbook-remove-topic", "2.8.2", {*MISSING_LEADER, *LOGS_STAY}),
    ("runbook-remove-topic", "3.9.0", {*MISSING_LEADER, *LOGS_STAY}),
    ("runbook-remove-znodes", "2.8.2", {*MISSING_LEADER, *WRONG_TOPIC, *LOGS_STAY}),
    ("runbook-remove-znodes-and-controller", "2.8.2", {*WRONG_TOPIC, *LOGS_STAY}),
    ("runbook-remove-logs", "2.8.2", {*WRONG_TOPIC, *LOGS_STAY}),
    ("runbook-roll", "2.8.2", {*WRONG_TOPIC, LOGS_STAY[-1]}),
    ("runbook-stop-all", "2.8.2", set()),
]
"""By scenario and variant: the harms beside a configuration that stays. All but the last are thorough tests."""


@pytest.mark.parametrize(
    ("name", "variant", "harms"), [*(pytest.param(*case, marks=pytest.mark.thorough) for case in CASES[:-1]), CASES[-1]]
)
def test_what_a_runbook_leaves_behind_when_it_is_finished(name, variant, harms):
    model = Model(STORIES[name], variant)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert shortest(verdict).keys() == {"config_goes_with_topic", *harms}
    assert set(verdict.bounds_hit) <= {"requests"}


def settled(name: str, **flags: object) -> Schedule:
    """A cluster at rest with topic t, whose operator has not begun."""
    flags = {"clear_sm_on_remove": False, **flags}
    schedule = Schedule(Model(STORIES[name], "2.8.2", {"topic_ids": 2}, flags))
    schedule.take("new_client_creates_topic(0)")
    schedule.settle(but=(*OPERATOR, "restart", "auto_preferred_election"))
    return schedule


OPERATOR = (
    "runbook_deletes_topic",
    "runbook_removes_topic",
    "runbook_removes_deletion_request",
    "runbook_removes_controller",
    "runbook_removes_logs",
    "runbook_stops",
    "runbook_starts",
    "runbook_rolls",
)


def test_brokers_keep_a_topic_whose_znode_is_removed():
    schedule = settled("runbook-remove-topic")
    schedule.do("runbook_removes_topic(0)")
    assert not schedule.cluster.zookeeper.topics[0].exists and is_finished_in(schedule)
    assert schedule.violated("removed_topic_is_not_served") == ["removed_topic_is_not_served(0, 0, 0)"]
    assert len(schedule.violated("no_stray")) == 2


def is_finished_in(schedule: Schedule) -> bool:
    """Whether all tasks of the runbook are done."""
    with schedule.model.active():
        return is_finished(schedule.cluster)


@pytest.mark.parametrize(("clears", "violated"), [(False, True), (True, False)])
def test_the_topic_has_no_leader_when_it_is_created_again_unless_dead_entries_are_cleared(clears, violated):
    schedule = settled("runbook-remove-topic", clear_sm_on_remove=clears)
    schedule.do("runbook_removes_topic(0)")
    schedule.do("new_client_creates_topic(0)")
    assert bool(schedule.violated("partition_gets_a_leader")) == violated


def test_a_patient_operator_waits_until_the_deletion_hangs():
    schedule = settled("runbook-remove-znodes", patient_operator=True)
    schedule.take("stop(1, 0)")
    schedule.settle(but=(*OPERATOR, "restart"))
    schedule.take("runbook_deletes_topic(0)")
    removes = schedule.model.instance("runbook_removes_topic(0)")
    assert schedule.model.attempt(removes, schedule.vector).after is None
    schedule.settle(but=(*OPERATOR, "restart"))
    assert schedule.cluster.zookeeper.delete_topics == {0}
    schedule.take("runbook_removes_topic(0)")


def test_with_all_brokers_down_the_logs_go_and_they_start_with_nothing():
    schedule = settled("runbook-stop-all")
    schedule.settle(but=())
    assert is_finished_in(schedule) and all(schedule.cluster.is_up(broker) for broker in range(2))
    replicas = [broker.replicas[0][0] for broker in schedule.cluster.brokers]
    assert not any(replica.on_disk or replica.log_open for replica in replicas)
    assert not schedule.violated("no_stray") and schedule.violated("config_goes_with_topic")


def test_a_log_that_is_removed_under_a_running_broker_lives_on_in_its_process():
    schedule = settled("runbook-remove-logs")
    for key in (
        "runbook_deletes_topic(0)",
        "runbook_removes_topic(0)",
        "runbook_removes_deletion_request(0)",
        "runbook_removes_logs(1)",
    ):
        schedule.take(key)
    replica = schedule.cluster.replica_of(1, 0, 0)
    assert replica.log_open and not replica.on_disk and replica.file_topic_id is None
