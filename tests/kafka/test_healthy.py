"""Healthy clusters in 3.9.0: what holds in every state within the bounds, and the defects of Kafka that are left."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Model
from kwalk.reports.traces.illustrations import illustrated
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength, Verdict
from tests.structure.rooms import ROOT

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
PAGE = (ROOT / "docs" / "explanation" / "healthy-runs.md").read_text(encoding="utf-8")

HOLDS = {
    "healthy-cluster": (493_493, 98),
    "healthy-sessions": (530_240, 208),
    "healthy-records": (150_845, 138),
    "healthy-metadata": (70_390, 46),
    "rolling-restart": (658_637, 166),
}
"""Stories in which all holds: distinct and quiescent states."""
BEYOND = {"healthy-sessions", "healthy-metadata", "rolling-restart"}
"""Stories with the faults of healthy-cluster and more; `make test` leaves them out."""
DEFECTS = [
    ("healthy-deletion", {}, "no_stray", 32),
    ("healthy-reassignment", {}, "no_stray", 24),
    ("healthy-reassignment", {"restarts": 0, "failovers": 1, "cancellations": 1}, "no_stray", 24),
    ("healthy-reassignment", {"restarts": 0, "failovers": 1, "cancellations": 1}, "leader_in_assignment", 21),
    ("reassignment-with-expansion", {"expansions": 0, "new_expansions": 1, "topic_ids": 1}, "no_partition_lost", 5),
]
"""What does not hold, by story and bounds, and the length of the shortest counterexample."""
OWN_LIMITS = {"records"}
"""Bounds that are meant to be reached: a log is full, and no client produces to it any more."""


def violated(verdict: Verdict) -> dict[str, int | None]:
    """The length of the shortest trace to a violation of each invariant; None for a witness that is never reached."""
    found: dict[str, int | None] = {}
    for finding in sorted(verdict.findings, key=lambda finding: finding.trace.length if finding.trace else 0):
        found.setdefault(finding.prop.partition("(")[0], finding.trace.length if finding.trace else None)
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name in BEYOND else ()) for name in HOLDS]
)
def test_everything_holds_in_every_state_and_nothing_holds_for_want_of_a_premise(name):
    verdict = exhaust(Model(STORIES[name], "3.9.0"), keep_going=True)
    assert (verdict.strength, verdict.distinct_states, verdict.quiescent_states) == (Strength.EXHAUSTIVE, *HOLDS[name])
    assert violated(verdict) == {} and verdict.bounds_hit.keys() <= OWN_LIMITS
    assert all(verdict.premises.values())


def test_what_does_not_hold_is_on_the_page_with_its_shortest_counterexample():
    assert illustrated(PAGE) == PAGE
    for name, bounds, invariant, length in DEFECTS:
        words = ["kwalk", "exhaust", name, "--variant", "3.9.0"]
        words += [word for bound, size in bounds.items() for word in ("--bound", f"{bound}={size}")]
        assert f"{length} steps, the shortest that `{' '.join(words)} --property {invariant}` finds." in PAGE


@pytest.mark.parametrize(
    ("release", "states", "found"),
    [("3.0", 12_101, {"deletion_targets_intent": 11, "topic_has_its_configuration": 11}), ("3.9.0", 8_896, {})],
)
def test_a_topic_that_is_created_again_is_deleted_in_3_0_and_not_in_3_9(release, states, found):
    verdict = exhaust(Model(STORIES["delete-and-recreate"], release), keep_going=True)
    assert (verdict.strength, verdict.distinct_states, verdict.bounds_hit) == (Strength.EXHAUSTIVE, states, {})
    assert violated(verdict) == found


def test_the_page_has_the_counts():
    for name, (states, quiescent) in HOLDS.items():
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` ")]
        assert f"| {states:,} | {quiescent} |" in row and row.endswith("| all hold |")
