"""What the search finds from a capture agrees with the diagnosis of the capture alone.

Consistent: no state within the bounds violates anything. Latent: an operator's step leads to a partition without a
working leader. Broken: without any outside action.
"""

from __future__ import annotations

from functools import cache

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.language import Model
from kwalk.model.language.inspection import Inspection, Severity
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer, Strength
from tests.snapshots.captured import FILES


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
