"""Hunts through the stories about Kafka: `pytest hunts --kwalk-variant 2.8.2` fails with what it finds.

Each invariant is hunted in three ways, as they find different things: breadth-first finds the shortest counterexample
if that is near, walks find what lies deep, and Hypothesis keeps what it finds in its database, to try it first next
time. `make test` does not run these; there the known counterexamples are pinned (`tests/traces`).
"""
from __future__ import annotations

from model.language import Invariant, Scenario
from reports import assert_holds


def test_breadth_first_search_meets_no_violation(scenario: Scenario, invariant: Invariant, seconds: float) -> None:
    """Every state as near as time allows; running out of time is no failure of a hunt."""
    assert_holds(scenario, invariant, engine="exhaust", seconds=seconds, undecided_ok=True)


def test_random_walks_meet_no_violation(scenario: Scenario, invariant: Invariant, seconds: float) -> None:
    """Long behaviours, until the time is up."""
    assert_holds(scenario, invariant, engine="walk", seconds=seconds, depth=300)


def test_the_state_machine_meets_no_violation(scenario: Scenario, invariant: Invariant, seconds: float) -> None:
    """Hypothesis, with its database and its shrinker."""
    assert_holds(scenario, invariant, engine="hypothesis", seconds=seconds)
