"""The pytest plugin: options for all assertions about scenarios, and a list of the traces that were saved.

pytest imports this module in every project of an environment that has kwalk installed. Therefore it imports only the
standard library, pytest and two small modules of kwalk.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kwalk.reports.assertion_options import DEFAULT_OUT, PROFILES, AssertionOptions, active_options
from kwalk.reports.commands.values import bound, seconds, seed

OPTIONS = pytest.StashKey[AssertionOptions]()
MARK = "kwalk(variant=…, profile=…, seconds=…, seed=…): options of this test that replace those of the run"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, in one group."""
    group = parser.getgroup("kwalk", "kwalk: searches for counterexamples")
    add = group.addoption
    add("--kwalk-variant", metavar="NAME", help="the variant to explore where a test names none")
    add("--kwalk-profile", choices=PROFILES, default="dev", help="settings of Hypothesis: dev (default), ci or nightly")
    add("--kwalk-seconds", type=seconds, metavar="N", help="end each search after this time where a test names none")
    add("--kwalk-seed", type=seed, default=0, metavar="N", help="a number that all choices come from (default: 0)")
    add("--kwalk-bound", type=bound, action="append", default=[], metavar="NAME=N", help="change a bound (repeatable)")
    add("--kwalk-out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"where traces go (default: {DEFAULT_OUT})")
    add("--kwalk-pin", action="store_true",
        help="replace the pinned traces of known counterexamples that are found with the same length")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and read the options; register Hypothesis profiles only if one of kwalk's is requested."""
    config.addinivalue_line("markers", MARK)
    config.stash[OPTIONS] = AssertionOptions(
        variant=config.getoption("--kwalk-variant"),
        profile=config.getoption("--kwalk-profile"),
        seconds=config.getoption("--kwalk-seconds"),
        seed=config.getoption("--kwalk-seed"),
        bounds=dict(config.getoption("--kwalk-bound")),
        out=config.getoption("--kwalk-out"),
        pin=config.getoption("--kwalk-pin"),
    )
    if config.getoption("--hypothesis-profile", default=None) in PROFILES:
        from kwalk.search.analyses.hypothesis.search import register_profiles

        register_profiles()


def pytest_report_header(config: pytest.Config) -> str:
    """Return the line that says how to repeat this run."""
    options = config.stash[OPTIONS]
    bounds = ", ".join(f"{name} {size}" for name, size in options.bounds.items())
    limit = "no time limit" if options.seconds is None else f"{options.seconds:g} s for each search"
    variant = f"variant {options.variant}, " if options.variant else ""
    return (
        f"kwalk: {variant}profile {options.profile}, seed {options.seed}, {limit}, "
        f"bounds: {bounds or 'as the scenarios set them'}; traces in {options.out}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Activate the options of the run, as changed by the markers of the test."""
    options = item.config.stash[OPTIONS]
    for mark in reversed(list(item.iter_markers("kwalk"))):
        options = _changed(options, mark, item.nodeid)
    with replace(options, test=item.nodeid).active():
        return (yield)


def _changed(options: AssertionOptions, mark: pytest.Mark, where: str) -> AssertionOptions:
    allowed = ("variant", "profile", "seconds", "seed")
    wrong = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in allowed)]
    if wrong:
        known = ", ".join(allowed)
        raise pytest.UsageError(f"{where}: the marker kwalk takes {known}, by name (got {', '.join(wrong)}).")
    return replace(options, **mark.kwargs)


@pytest.fixture(scope="session")
def kwalk_searches(request: pytest.FixtureRequest) -> Any:
    """Return searches that the tests of the run share: one search of a scenario checks all its properties."""
    from kwalk.reports.assertion_searches import SharedSearches

    return SharedSearches(_reporter(request.config))


def _reporter(config: pytest.Config) -> Any:
    """Return what prints a line for each search that has ended; xdist's workers have no terminal to print to."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")

    def report(verdict: Any, reference: str, number: int, unchecked: str) -> None:
        if terminal is None or hasattr(config, "workerinput"):
            return
        shown = (finding for finding in verdict.findings if finding.trace is not None)
        violated = len({finding.prop.partition("(")[0] for finding in shown})
        found = f"{violated} of {len(verdict.properties)} properties violated" if violated else "no violation"
        line = (
            f"search {number}: {reference} {verdict.variant}, {verdict.engine}: {found}, "
            f"{verdict.qualifier}, {verdict.seconds:.1f} s"
        )
        line = ". ".join((line, *verdict.comparison_notes, *filter(None, [unchecked])))
        capture = config.pluginmanager.get_plugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            if config.get_terminal_writer().width_of_current_line:
                terminal.write_line("")
            terminal.write_line(line)

    return report


@pytest.fixture
def kwalk_options() -> AssertionOptions:
    """Return the options of the running test: variant, profile, seconds, seed, bounds, out."""
    return active_options()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the traces that failing tests saved."""
    saved = list(dict.fromkeys(config.stash[OPTIONS].saved))
    if saved:
        terminalreporter.section("kwalk traces")
        for line in saved:
            terminalreporter.write_line(line)
