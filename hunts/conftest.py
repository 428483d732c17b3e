"""What the hunts hunt for: every invariant of every story about Kafka, in the variant that is asked for."""
from __future__ import annotations

import pytest

from invariants.scenarios import SCENARIOS
from model.language import Invariant, Kind, Scenario
from model.language.errors import unknown
from reports.assertion_options import Options

SECONDS = {"dev": 5.0, "ci": 30.0, "nightly": 900.0}
"""For each search of a hunt, by profile; `--kwalk-seconds` has the last word."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A hunt for each scenario that has the variant, and for each invariant that its engine can falsify."""
    if "invariant" not in metafunc.fixturenames:
        return
    variant = metafunc.config.getoption("--kwalk-variant")
    hunted = [scenario for scenario in SCENARIOS if variant is None or variant in scenario.variants]
    if not hunted:
        raise pytest.UsageError(str(unknown("variant", variant, {name for s in SCENARIOS for name in s.variants})))
    cases = [(scenario, one) for scenario in hunted for one in scenario.invariants if one.kind is not Kind.REACHABLE]
    metafunc.parametrize(("scenario", "invariant"), cases, ids=[_name(*case) for case in cases])


def _name(scenario: Scenario, invariant: Invariant) -> str:
    return f"{scenario.name}-{invariant.name}"


@pytest.fixture
def seconds(kwalk_options: Options) -> float:
    """The time for one search."""
    return SECONDS[kwalk_options.profile] if kwalk_options.seconds is None else kwalk_options.seconds
