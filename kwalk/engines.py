"""The engines as functions, for scripts and notebooks: they take a scenario and keywords, and return a verdict.

Each engine accepts a `Scenario`, the name of an installed one, `package.module:NAME`, or a `Model`; its keywords are
the options of the table (`kwalk.search.base.option_table`). Everything slow is imported when an engine is first called.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from attrs import evolve

from kwalk.model.language import Fix, Model, Scenario, Trial
from kwalk.model.language.registry import announced, find_scenario
from kwalk.search.base.option_table import (
    AuditKeywords,
    CheckKeywords,
    ExhaustKeywords,
    ExplainKeywords,
    ExploreKeywords,
    GraphKeywords,
    HuntKeywords,
    MutateKeywords,
    ProveKeywords,
    Time,
    WalkKeywords,
    complete,
    present,
    rows,
)
from kwalk.search.base.query import Checked, Query
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Verdict

if TYPE_CHECKING:
    from kwalk.reports.explorer.frame import ExplorerFrame
    from kwalk.reports.pages.explanation import ReportedExplanation
    from kwalk.search.analyses.audit.audit import AuditReport
    from kwalk.search.analyses.mutation.mutate import MutationReport
    from kwalk.search.analyses.state_graph import StateGraph

MODEL_AND_PROPERTIES = """Args:
    scenario: A scenario, the name of one, or a model.
    properties: The properties to check, or their names; None for all."""
Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(accepts: type) -> Callable[[Function], Function]:
    """Give a function the signature and the documentation of the options that a class of the table declares."""

    def completed(function: Function) -> Function:
        signature, table = inspect.signature(function), rows(accepts)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if row.many else row.default,
                annotation=accepts.__annotations__[name].__origin__,
            )
            for name, row in table.items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
        first, *sections = inspect.cleandoc(str(function.__doc__)).split("\n\n")
        if not sections or not sections[0].startswith("Args:"):
            sections = [MODEL_AND_PROPERTIES, *sections]
        sections[0] = "\n".join([sections[0], *(f"    {name}: {row.description}" for name, row in table.items())])
        function.__doc__ = "\n\n".join([first, *sections])
        return function

    return completed


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios of all installed packages, by name."""
    return announced()


def scenario(name: str) -> Scenario:
    """Return the scenario of that name, or at `package.module:NAME`.

    Raises:
        UsageError: There is no such scenario; the message names similar ones.
    """
    return find_scenario(name)


@with_options(ExhaustKeywords)
def exhaust(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[ExhaustKeywords],
) -> Verdict:
    """Visit every reachable state, breadth first, and check the properties there.

    Returns:
        A verdict whose strength is `exhaustive`, or which is undecided where a budget was spent.

    Raises:
        UsageError: The scenario, a property, a variant, a bound or a flag does not exist, or an option has a value that
            is not allowed.
        DomainError: An action leaves the domain of a field.
    """
    return _verdict("exhaust", scenario, properties, options)


@with_options(WalkKeywords)
def walk(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[WalkKeywords],
) -> Verdict:
    """Take random walks and check the properties at every step.

    Returns:
        A verdict whose strength is `sampled`, with its first trace minimized.
    """
    return _verdict("walk", scenario, properties, options)


@with_options(ProveKeywords)
def prove(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[ProveKeywords],
) -> Verdict:
    """Prove the properties for behaviours of any length with Z3, or find a shortest violation.

    Returns:
        A verdict whose strength is `proved`, a violation, or undecided with a reason for each property.
    """
    return _verdict("prove", scenario, properties, options)


@with_options(CheckKeywords)
def check(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[CheckKeywords],
) -> Verdict:
    """Run exhaustive search, random walks and proofs on the same properties, and compare their answers.

    Returns:
        The strongest of the three verdicts.

    Raises:
        InternalError: Two engines contradict each other.
    """
    return _verdict("check", scenario, properties, options)


@with_options(HuntKeywords)
def hunt(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[HuntKeywords],
) -> Verdict:
    """Search exhaustively; if that does not finish in its share of the time, walk; then minimize.

    Returns:
        The verdict of the engine that decided, or undecided.
    """
    return _verdict("hunt", scenario, properties, options)


@with_options(Time)
def shrink(trace: Trace | str | Path, **options: Unpack[Time]) -> Trace:
    """Return a locally minimal trace that violates the same property instance.

    Args:
        trace: A trace of a verdict, or the path of a saved one.

    Raises:
        UsageError: The file is no trace, or does not show a violation.
    """
    from kwalk.search.kernel.compile.compiler import kernel_for
    from kwalk.search.minimize.shrink import shrink as run

    opened = trace if isinstance(trace, Trace) else open_trace(trace)
    model = _model_of_trace(opened)
    return evolve(run(model, opened, kernel=kernel_for(model), **complete(Time, options)), model=model)


@with_options(GraphKeywords)
def graph(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[GraphKeywords],
) -> StateGraph:
    """Return the state graph of the first `most` states, breadth first, with the violations of properties marked."""
    from kwalk.search.analyses.state_graph import MOST
    from kwalk.search.analyses.state_graph import explore as run

    query = Query.of(scenario, GraphKeywords, options, properties)
    return run(query.model, properties=query.properties, most=query.options["most"] or MOST)


@with_options(ExploreKeywords)
def explore(
    scenario: Scenario | Model | Trace | str,
    properties: Checked | Iterable[Checked] | None = None,
    **options: Unpack[ExploreKeywords],
) -> ExplorerFrame:
    """Return a page, for a cell of a notebook, on which a user takes the steps of a model, or continues a trace.

    Returns:
        An object whose `address` is that of the page; `close()` ends it.

    Raises:
        UsageError: What is named does not exist, or the port is in use.
    """
    from kwalk.reports.explorer.frame import ExplorerFrame

    trace = scenario if isinstance(scenario, Trace) else None
    subject = _model_of_trace(scenario) if isinstance(scenario, Trace) else scenario
    return ExplorerFrame(Query.of(subject, ExploreKeywords, options, properties), trace)


@with_options(ExplainKeywords)
def explain(
    snapshots: Iterable[str | Path], scenario: str | None = None, **options: Unpack[ExplainKeywords]
) -> ReportedExplanation:
    """Search for a behaviour that passes through snapshots of a real system, in their order.

    Args:
        snapshots: The files, the earliest first.
        scenario: The name of a scenario that reads snapshots; None for the first installed one.

    Returns:
        The behaviour, or the first snapshot that none reaches and what differs there. If the snapshots are several
        series, such as those of several topics, the first that is not explained, with the `others`.

    Raises:
        UsageError: A file is no snapshot, or the scenario reads none.
    """
    from kwalk.reports.handlers.explain import SECONDS, explained, model_of, series_of
    from kwalk.reports.handlers.target import scenario_with
    from kwalk.search.analyses.explain.explain import ExplainOptions

    _, found = scenario_with("read_series", scenario)
    began, given = time.monotonic(), complete(ExplainKeywords, options)
    several = series_of(found, [str(path) for path in snapshots])
    limits = ExplainOptions(seconds=given["seconds"] or SECONDS, **present(given, "events"))
    reports = explained([(model_of(found, series, given["variant"]), series) for series in several], limits, began)
    worst, *others = sorted(map(_with_model, reports), key=lambda report: -report.fit.exit_code)
    return evolve(worst, others=tuple(others))


def _with_model(report: ReportedExplanation) -> ReportedExplanation:
    """Return an explanation whose trace has its model."""
    if report.trace is None:
        return report
    return evolve(report, explanation=evolve(report.explanation, trace=evolve(report.trace, model=report.model)))


@with_options(MutateKeywords)
def mutate(
    scenario: Scenario | str, properties: Iterable[str] = (), **options: Unpack[MutateKeywords]
) -> MutationReport:
    """Make small mistakes in the functions of a model, one at a time, and check which ones its properties notice.

    Args:
        scenario: What to mutate.
        properties: The names of the properties that must notice the mistakes; none for all.

    Returns:
        The mutants with their outcomes; `answer` is HOLDS if a property notices each one that can be noticed.
    """
    from kwalk.search.analyses.mutation import mutate as mutation

    given = complete(MutateKeywords, options)
    bounds, flags = dict(given["bounds"]), dict(given["flags"])
    baselines = mutation.baselines_of([Trial(scenario, tuple(properties), given["variant"], bounds, flags)])
    mutants, size = mutation.mutants_on(baselines), given["sample"]
    chosen = mutants if size is None else mutation.sample(mutants, size, given["seed"])
    results = mutation.mutate(chosen, baselines, **present(given, "seconds", "workers"))
    return mutation.MutationReport(results, baselines, (), len(mutants), None if size is None else given["seed"])


@with_options(AuditKeywords)
def audit(fixes: Fix | str | Iterable[Fix | str] = (), **options: Unpack[AuditKeywords]) -> AuditReport:
    """Search each trial of each fix with the fix off and with it on, and compare.

    Args:
        fixes: Fixes, or names of installed ones, or `package.module:NAME`; none for all installed ones.

    Returns:
        A row for each trial, with its judgement; `answer` is HOLDS if every search was decided.
    """
    from kwalk.model.language.registry import find_fixes
    from kwalk.search.analyses.audit.audit import AuditReport, cells_of
    from kwalk.search.analyses.audit.audit import audit as run

    listed = [fixes] if isinstance(fixes, Fix | str) else list(fixes)
    named = [fix for fix in listed if isinstance(fix, str)]
    found = [*(fix for fix in listed if isinstance(fix, Fix))]
    found += find_fixes(named).values() if named or not listed else ()
    given = complete(AuditKeywords, options)
    cells = cells_of(found, given["scenario"])
    return AuditReport(run(cells, **present(given, "seconds", "workers", "prove")))


def open_trace(path: str | Path) -> Trace:
    """Read a saved trace, together with the model that it names.

    Raises:
        UsageError: The file is missing, or it is no trace, or its scenario is not installed.
    """
    from kwalk.reports.traces.replay import open_trace as opened
    from kwalk.reports.traces.trace_file import read_trace

    found = opened(read_trace(Path(path)))
    return evolve(found.trace, model=found.model)


def _verdict(
    engine: str,
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None,
    options: Mapping[str, Any],
) -> Verdict:
    """Return the verdict of an engine; it and its traces have the model that a notebook needs to show them."""
    from kwalk.search.engines import ENGINES

    query = Query.of(scenario, ENGINES[engine].accepts, options, properties)
    verdict, model = ENGINES[engine](query), query.model
    findings = tuple(
        finding if finding.trace is None else evolve(finding, trace=evolve(finding.trace, model=model))
        for finding in verdict.findings
    )
    return evolve(verdict, findings=findings, model=model)


def _model_of_trace(trace: Trace) -> Model:
    """Return the model that a trace came with, or the one that it names."""
    if trace.model is not None:
        return trace.model
    return Model(find_scenario(trace.scenario), trace.variant, trace.bounds, trace.flags)
