"""Healthy clusters in 3.9.0: what holds in every state within the bounds, and the defects of Kafka that are left."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.structure.rooms import ROOT

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
PAGE = (ROOT / "docs" / "explanation" / "healthy-runs.md").read_text(encoding="utf-8")

HOLDS = ("healthy-cluster", "healthy-sessions", "healthy-records", "healthy-metadata", "rolling-restart")
"""Stories in which all holds."""
BEYOND = {"healthy-sessions", "healthy-metadata", "rolling-restart"}
"""Stories with the faults of healthy-cluster and more; `make test` leaves them out."""
DEFECTS = [
    "healthy-deletion --variant 3.9.0 --property no_stray",
    "healthy-reassignment --variant 3.9.0 --property no_stray",
    "healthy-reassignment --variant 3.9.0 --bound restarts=0 --bound failovers=1 --bound cancellations=1 "
    "--property no_stray",
    "healthy-reassignment --variant 3.9.0 --bound restarts=0 --bound failovers=1 --bound cancellations=1 "
    "--property leader_in_assignment",
    "reassignment-with-expansion --variant 3.9.0 --bound expansions=0 --bound new_expansions=1 --bound topic_ids=1 "
    "--property no_partition_lost",
]
"""What does not hold."""
OWN_LIMITS = {"records"}
"""Bounds that are meant to be reached: a log is full, and no client produces to it any more."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name in BEYOND else ()) for name in HOLDS]
)
def test_everything_holds_in_every_state_and_nothing_holds_for_want_of_a_premise(name):
    model = Model(STORIES[name], "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert verdict.findings == () and verdict.bounds_hit.keys() <= OWN_LIMITS
    assert all(verdict.premises.values())


def test_what_does_not_hold_is_on_the_page_with_its_shortest_counterexample():
    for words in DEFECTS:
        assert f"steps: `kwalk exhaust {words}`." in PAGE


@pytest.mark.parametrize(
    ("release", "broken"),
    [("3.0", {"deletion_targets_intent", "topic_has_its_configuration"}), ("3.9.0", set())],
)
def test_a_topic_that_is_created_again_is_deleted_in_3_0_and_not_in_3_9(release, broken):
    model = Model(STORIES["delete-and-recreate"], release)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict), verdict.bounds_hit) == (Strength.EXHAUSTIVE, pinned(model), {})
    assert shortest(verdict).keys() == broken
