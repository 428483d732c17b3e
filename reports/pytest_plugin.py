"""The pytest plugin: options for all assertions about scenarios, and reports of those that failed.

pytest imports this module in every project of an environment that has kwalk installed. Therefore it imports only the
standard library, pytest and two small modules of kwalk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kwalk.reports.assertion_options import AssertionOptions, Failure, active_options
from kwalk.search.base.option_kinds import BOUND, NAME, SECONDS, SEED
from kwalk.search.base.option_table import DEFAULT_OUT, PROFILES

OPTIONS = pytest.StashKey[AssertionOptions]()
FAILURE = "kwalk_failure"
"""The name of the property of a test report that has a failure."""
MARK = "kwalk(variant=…, profile=…, seconds=…, seed=…): options of this test that replace those of the run"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, in one group."""
    group = parser.getgroup("kwalk", "kwalk: searches for counterexamples")
    add = group.addoption
    add("--kwalk-variant", type=NAME, metavar="NAME", help="the variant to explore where a test names none")
    about_profile = "settings of Hypothesis: dev (default), ci or nightly"
    add("--kwalk-profile", choices=PROFILES, default=PROFILES[0], help=about_profile)
    add("--kwalk-seconds", type=SECONDS, metavar="N", help="end each search after this time where a test names none")
    add("--kwalk-seed", type=SEED, default=0, metavar="N", help="a number that all choices come from (default: 0)")
    add("--kwalk-bound", type=BOUND, action="append", default=[], metavar="NAME=N", help="change a bound (repeatable)")
    add("--kwalk-out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"where traces go (default: {DEFAULT_OUT})")
    add("--kwalk-html", type=Path, metavar="FILE", help="write a page of all failed assertions")
    add(
        "--kwalk-strict",
        action="store_true",
        help="fail assert_holds also if a property was never tested, or a bound that matters cut off steps",
    )
    add(
        "--kwalk-pin",
        action="store_true",
        help="replace the pinned traces of known counterexamples that are found with the same length",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and read the options; register Hypothesis profiles only if one of kwalk's is requested."""
    config.addinivalue_line("markers", MARK)
    names = ("variant", "profile", "seconds", "seed", "pin", "strict")
    config.stash[OPTIONS] = AssertionOptions(
        **{name: config.getoption(f"--kwalk-{name}") for name in names},
        bounds=dict(config.getoption("--kwalk-bound")),
        out=Path(config.getoption("--kwalk-out")),
    )
    if not hasattr(config, "workerinput"):  # xdist's workers send their reports to the process that has the terminal
        config.pluginmanager.register(FailedAssertions(config.getoption("--kwalk-html")), "kwalk-failures")
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


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Attach what a failed assertion leaves to the report of the test, which xdist's workers send on."""
    failure = getattr(call.excinfo.value, "kwalk_failure", None) if call.excinfo else None
    if failure is not None:
        item.user_properties.append((FAILURE, json.dumps(asdict(failure))))


class FailedAssertions:
    """Collects the failed assertions of a run, lists their pages, and writes one page of all.

    Args:
        page: The file of the page; None for none.
    """

    def __init__(self, page: Path | None) -> None:
        self.page = page
        self.failures: dict[tuple[str, str], Failure] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the failures of a test, each once."""
        for name, text in report.user_properties if report.failed else ():
            if name == FAILURE:
                failure = Failure(**json.loads(str(text)))
                self.failures[(failure.test, failure.trace)] = failure

    def pytest_sessionfinish(self) -> None:
        """Write the page; a file that cannot be written ends the run with one message."""
        if self.page is None:
            return
        from kwalk.model.language import UsageError
        from kwalk.reports.pages.failed_assertions import write_page

        try:
            write_page(self.page, list(self.failures.values()))
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List the failures, each with its page, and the page of all."""
        if self.failures or self.page:
            terminalreporter.section("kwalk")
        for failure in self.failures.values():
            terminalreporter.write_line(f"{failure.page or failure.test}: {failure.claim}")
        if self.page:
            terminalreporter.write_line(f"Read: {self.page}")
