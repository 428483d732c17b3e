"""Hunts through the Kafka scenarios: `pytest hunts --kwalk-variant 2.8.2` fails with what it finds.

Each property is a test for each of three engines, because they find different things: breadth-first search finds the
shortest counterexample if that is near, random walks find what lies deep, and Hypothesis keeps what it finds in its
database and tries it first in the next run. One search of a scenario by an engine checks all its properties; its tests
share it. `make test` does not run the hunts; there the known counterexamples are pinned (`tests/traces`).
"""

from __future__ import annotations

from kwalk import Property, Scenario, assert_holds
from kwalk.reports.assertion_searches import SharedSearches

DEPTH = {"walk": {"depth": 300}}
"""Further keywords of an engine: walks are long, to reach what breadth-first search does not."""


def test_no_violation_is_found(
    scenario: Scenario, engine: str, prop: Property, seconds: float, kwalk_searches: SharedSearches
) -> None:
    """A search that runs out of time without a violation passes: a hunt looks for trouble, it proves nothing."""
    assert_holds(
        scenario,
        prop,
        engine=engine,
        seconds=seconds,
        undecided_ok=True,
        shared=kwalk_searches,
        **DEPTH.get(engine, {}),
    )
