"""The pytest plugin: options for all assertions about scenarios, and the traces that failed ones saved.

It loads nothing slow: a test suite that never asserts anything about a scenario does not pay for it.
"""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from reports.assertion_options import DEFAULT_OUT, PROFILES, Options
from reports.commands.values import bound, seconds, seed

OPTIONS = pytest.StashKey[Options]()
MARK = "kwalk(variant=…, profile=…, seconds=…, seed=…): what this test's searches take instead of the run's options"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in one group."""
    group = parser.getgroup("kwalk", "kwalk: searches for counterexamples")
    add = group.addoption
    add("--kwalk-variant", metavar="NAME", help="the variant to explore where a test names none")
    add("--kwalk-profile", choices=PROFILES, default="dev", help="settings of Hypothesis: dev (default), ci or nightly")
    add("--kwalk-seconds", type=seconds, metavar="N", help="end each search after this time where a test names none")
    add("--kwalk-seed", type=seed, default=0, metavar="N", help="a number that all choices come from (default: 0)")
    add("--kwalk-bound", type=bound, action="append", default=[], metavar="NAME=N", help="change a bound (repeatable)")
    add("--kwalk-out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"where traces go (default: {DEFAULT_OUT})")
    add("--kwalk-pin", action="store_true", help="save known counterexamples anew where found, as long as ever")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and read the options; profiles only if somebody asks Hypothesis for one of ours."""
    config.addinivalue_line("markers", MARK)
    config.stash[OPTIONS] = Options(
        variant=config.getoption("--kwalk-variant"),
        profile=config.getoption("--kwalk-profile"),
        seconds=config.getoption("--kwalk-seconds"),
        seed=config.getoption("--kwalk-seed"),
        bounds=dict(config.getoption("--kwalk-bound")),
        out=config.getoption("--kwalk-out"),
        pin=config.getoption("--kwalk-pin"),
    )
    if config.getoption("--hypothesis-profile", default=None) in PROFILES:
        from search.hypothesis import register_profiles

        register_profiles()


def pytest_report_header(config: pytest.Config) -> str:
    """What it takes to run the same again."""
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
    """Make the options, as the test's own marker changes them, those that its assertions look at."""
    options = item.config.stash[OPTIONS]
    for mark in reversed(list(item.iter_markers("kwalk"))):
        options = _changed(options, mark, item.nodeid)
    with options.active():
        return (yield)


def _changed(options: Options, mark: pytest.Mark, where: str) -> Options:
    allowed = ("variant", "profile", "seconds", "seed")
    wrong = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in allowed)]
    if wrong:
        known = ", ".join(allowed)
        raise pytest.UsageError(f"{where}: the marker kwalk takes {known}, by name (got {', '.join(wrong)}).")
    return evolve(options, **mark.kwargs)


@pytest.fixture
def kwalk_options() -> Options:
    """The options of the running test: variant, profile, seconds, seed, bounds, out."""
    from reports.assertion_options import active_options

    return active_options()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The traces that failing tests saved."""
    saved = list(dict.fromkeys(config.stash[OPTIONS].saved))
    if saved:
        terminalreporter.section("kwalk traces")
        for line in saved:
            terminalreporter.write_line(line)
