"""The hunts: every property of every Kafka scenario that has the requested variant, by three engines."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Scenario
from kwalk.model.language.errors import unknown
from kwalk.reports.assertion_options import AssertionOptions
from kwalk.reports.pytest_plugin import OPTIONS
from kwalk.search.engines import ENGINES

SECONDS = {"dev": 3.0, "ci": 30.0, "nightly": 900.0}
"""The time limit of each search, by profile; `--kwalk-seconds` replaces it."""
PARAMETERS = ("scenario", "engine", "prop")


def pytest_configure(config: pytest.Config) -> None:
    """Under xdist, keep the tests of a scenario on one worker, because they share its searches."""
    if getattr(config.option, "dist", "no") in ("load", "worksteal"):
        config.option.dist = "loadgroup"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Generate a test for each scenario that has the variant, each engine, and each property that it can falsify."""
    if "prop" not in metafunc.fixturenames:
        return
    variant = metafunc.config.getoption("--kwalk-variant")
    chosen = [scenario for scenario in SCENARIOS if variant is None or variant in scenario.all_variants]
    if not chosen:
        raise pytest.UsageError(str(unknown("variant", variant, {name for s in SCENARIOS for name in s.all_variants})))
    cases = [
        pytest.param(
            scenario, engine, prop, id=f"{scenario.name}-{engine}-{prop.name}", marks=_group(metafunc, scenario)
        )
        for scenario in chosen
        for engine in ("exhaust", "walk", "hypothesis")
        for prop in scenario.properties
        if ENGINES[engine].can_falsify(prop)
    ]
    metafunc.parametrize(PARAMETERS, cases)


def _group(metafunc: pytest.Metafunc, scenario: Scenario) -> list[pytest.MarkDecorator]:
    has_xdist = metafunc.config.pluginmanager.has_plugin("xdist")
    return [pytest.mark.xdist_group(scenario.name)] if has_xdist else []


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str:
    """Return how many searches the tests share, and how long they take at most."""
    chosen = [item.callspec.params for item in items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    # The tests of other folders have parameters of their own.
    searches = len({(each["scenario"].name, each["engine"]) for each in chosen if each.keys() == {*PARAMETERS}})
    limit = seconds_of(config.stash[OPTIONS])
    return (
        f"kwalk: {searches:,} searches of at most {limit:g} s, {searches * limit / 60:.0f} min in all with one worker; "
        "compiling models and minimizing traces come on top"
    )


def seconds_of(options: AssertionOptions) -> float:
    """Return the time limit of one search."""
    return SECONDS[options.profile] if options.seconds is None else options.seconds


@pytest.fixture
def seconds(kwalk_options: AssertionOptions) -> float:
    """Return the time limit of one search."""
    return seconds_of(kwalk_options)
