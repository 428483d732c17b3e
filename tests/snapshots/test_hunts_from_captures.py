"""What the search finds from a capture agrees with the diagnosis of the capture alone.

Consistent: no state within the bounds violates anything. Latent: an operator's step leads to a partition without a
working leader. Broken: without any outside action.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.language import Model, UsageError
from kwalk.model.language.inspection import Inspection, Severity
from kwalk.reports.command_line import main
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import foresee
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer, Strength
from tests.snapshots.captured import FILES, changed
from tests.snapshots.test_combined_damages import IDS, cluster, log, problem
from tests.snapshots.test_inspect import (
    DAMAGES,
    damaged_by,
    election_waits,
    failover_fails_at_a_reassignment,
    failover_fails_at_an_election,
    id_differs,
    no_controller,
    settled,
    topics_share_an_id,
)
from tests.snapshots.test_strangers import answers, state


@cache
def inspected(name: str) -> Inspection:
    return inspect_snapshot(FILES[name])


def is_unserved(name: str) -> bool:
    """Whether some leader does not lead; in other broken clusters consumers are refused by topic id."""
    return any("partition_servable" in one.kind.properties for one in inspected(name).observations)


def is_settled(name: str) -> bool:
    """Whether no broker was stopped or without its files as the capture was made."""
    return "stopped" not in name and not name.startswith(("scenario-03-01", "scenario-03-02"))


def model_from(name: str) -> Model:
    reading = read_snapshot(FILES[name])
    return Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant, flags=reading.flags)


def test_a_broken_cluster_violates_partition_servable_without_a_step() -> None:
    broken = [name for name in FILES if is_settled(name) and is_unserved(name)]
    assert len(broken) == 11
    for name in broken:
        model = model_from(name)
        prop = model.properties_of("partition_servable(0, 0)")[0]
        assert all(model.violates(prop, start) for start in model.initial), name


def test_a_consistent_cluster_violates_nothing_to_begin_with() -> None:
    consistent = [name for name in FILES if inspected(name).severity is Severity.NOTE]
    assert len(consistent) == 20
    for name in consistent:
        model = model_from(name)
        violated = [prop.key for prop in model.properties for start in model.initial if model.violates(prop, start)]
        assert not violated, name


@pytest.mark.parametrize(
    "name, doings",
    [
        ("scenario-06-07-produce-consume", ["crash(0)"]),
        ("scenario-01-exact-05-produce-consume", ["stop(0, 2)", "stop(2, 2)"]),
    ],
)
def test_latent_damage_needs_a_stop_or_a_crash_to_leave_a_partition_without_a_leader(name: str, doings) -> None:
    model = model_from(name)
    verdict = exhaust(model, seconds=120)
    trace = verdict.counterexample
    assert verdict.answer is Answer.BAD_STABLE_STATE
    assert trace.prop == "partition_servable(0, 0)"
    assert [key for key in trace.actions if not model.instance(key).action.by.system] == doings


def test_a_consistent_cluster_stays_so_through_a_failover_and_a_stop() -> None:
    verdict = exhaust(model_from("scenario-01-exact-06-delete-controller"), seconds=120)
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.EXHAUSTIVE)
    assert {"replica_id_matches_zookeeper", "partition_servable"} <= set(verdict.properties)


SEARCHED = {
    "broker-down",
    "catching-up",
    "controller-sends-another-id",
    "deletion-mark-without-topic",
    "down-broker-has-another-id",
    "down-broker-has-another-log",
    "empty-isr",
    "fetch-by-id-refused",
    "fetch-by-id-refused-in-memory",
    "fetch-by-id-refused-mixed-topic-ids",
    "fetched-under-another-topic-id",  # what causes it is searched: the log with another id
    "isr-member-is-ahead-of-its-leader",
    "isr-member-refuses",
    "isr-names-a-dead-broker",
    "leader-does-not-lead",
    "leader-ignores-its-state",
    "leader-keeps-topic-id-in-memory",
    "leader-not-elected",
    "leader-refuses-mixed-topic-ids",
    "leader-refuses-topic-id",
    "log-without-topic-id",
    "no-live-isr",
    "orphaned-log",
    "partition-without-state",
    "reassignment",
    "replica-has-another-log",
    "replica-refuses",
    "replica-under-another-broker-id",
    "replicas-diverged",
    "stale-metadata",
    "stray-log",
    "topic-id-differs",
    "topic-id-differs-in-memory",
    "topic-id-missing",
    "topic-ids-mixed",
    "another-controller",
}
"""Kinds that the search's initial state has, or that do not change what it asks for."""


@pytest.mark.parametrize("damage", [one for one in DAMAGES if one is not topics_share_an_id], ids=lambda d: d.__name__)
def test_a_search_lacks_each_damage_that_its_initial_state_has_not(damage: Callable[[Any], None]) -> None:
    lacks = read_snapshot(damaged_by(damage)).lacks
    assert all(kind in lacks for kind in DAMAGES[damage] if kind not in SEARCHED)
    assert not lacks or not DAMAGES[damage].keys() <= SEARCHED


def test_what_a_search_finds_to_hold_beside_damage_that_it_lacks_is_undecided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No controller is elected, so that no leader is once a broker stops: the model's controller elects both."""
    (tmp_path / "now.json").write_bytes(damaged_by(failover_fails_at_an_election))
    code = main(["diagnose", str(tmp_path / "now.json"), "--forecast", "--out", str(tmp_path / "out"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (code, found["verdict"], found["stopped"]) == (12, "undecided", "model lacks what the snapshot shows")
    assert found["how"] == "the search is not about no-live-replica and failover-fails"


@pytest.mark.parametrize("damage", [failover_fails_at_a_reassignment, election_waits, no_controller])
def test_nothing_is_foreseen_where_controllers_do_not_what_those_of_models_do(damage: Callable[[Any], None]) -> None:
    """A failover fails, or it does what a client has requested before."""

    def change(capture: Any) -> None:
        id_differs(capture)
        damage(capture)
        settled(capture)

    reading = read_snapshot(changed(change))
    assert not reading.problems[0].what_ifs and reading.problems[0].worlds
    (said,) = (fact for fact in reading.facts if fact.startswith("What events do"))
    assert said.startswith("What events do was not looked at: no model has ")
    text = "\n".join(diagnosis_of(inspect_snapshot(changed(change)), [foresee(reading.problems[0])], []))
    assert "By itself" not in text and "fails over" not in text


def test_no_plan_fails_over_to_a_controller_that_does_what_was_requested_before() -> None:
    def change(capture: Any) -> None:
        id_differs(capture)
        election_waits(capture)
        settled(capture)

    with pytest.raises(UsageError, match="Delete the znode, or let a controller handle it"):
        recovery_problem(changed(change))


def test_brokers_that_restart_in_turn_do_so_in_any_order() -> None:
    """Seen on 3.0.2: the controller, which leads, restarted first, and the partition has had no leader since.

    If the other replica restarts first, it refuses the new id while it follows, and the leader stays.
    """
    snapshot = cluster("3.0.2", ids={"orders": IDS["orders"]})
    topic = snapshot["topics"]["orders"]["znode"]
    del topic["topic_id"]
    topic["partitions"]["0"] = [3, 1]
    state(snapshot).update(leader=3, isr=[3, 1], leader_epoch=0)
    snapshot["controller"] = 3
    del snapshot["brokers"]["2"]["dirs"]["orders-0"]
    for broker in ("1", "3"):
        snapshot["brokers"][broker]["dirs"]["orders-0"] = log(IDS["orders"], [(0, 0)])
    answers(snapshot, leader=3, epoch=0)
    known = problem(snapshot)
    (rolled,) = (one for one in foresee(known).events if one.what_if.title == "all brokers restart in turn")
    assert {"partition_servable" in violated for violated in rolled.outcomes} == {True, False}
