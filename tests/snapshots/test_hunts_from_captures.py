"""What the search finds from a capture agrees with the diagnosis of the capture alone.

Consistent: no state within the bounds violates anything. Latent: an operator's step leads to a partition without a
working leader. Broken: without any outside action.
"""

from __future__ import annotations

import pytest

from kwalk.invariants.inspection import inspect_snapshot
from kwalk.invariants.outlook import read_snapshot
from kwalk.invariants.scenarios import OLD_CLIENT_EXPANSION
from kwalk.model.language import Model
from kwalk.model.language.inspection import Severity
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer, Strength
from tests.snapshots.captured import FILES


def severity(name: str) -> Severity:
    return inspect_snapshot(FILES[name]).severity


def is_unserved(name: str) -> bool:
    """Whether some leader does not lead; in other broken clusters consumers are refused by topic id."""
    found = inspect_snapshot(FILES[name]).observations
    return any("partition_servable" in one.kind.properties for one in found)


BROKEN = [name for name in FILES if is_unserved(name)]
SETTLED = [
    name for name in BROKEN if "stopped" not in name and not name.startswith(("scenario-03-01", "scenario-03-02"))
]
HEALTHY = [name for name in FILES if severity(name) is Severity.NOTE]


def model_from(name: str) -> Model:
    reading = read_snapshot(FILES[name])
    return Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant)


@pytest.mark.parametrize("name", SETTLED)
def test_a_broken_cluster_violates_partition_servable_without_a_step(name: str) -> None:
    model = model_from(name)
    assert all(model.violates(model.properties_of("partition_servable(0, 0)")[0], start) for start in model.initial)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_consistent_cluster_violates_nothing_to_begin_with(name: str) -> None:
    model = model_from(name)
    assert not [prop.key for prop in model.properties for start in model.initial if model.violates(prop, start)]


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
