"""The engines as functions, for scripts and notebooks: they take a scenario and keywords, and return a verdict.

Each engine accepts a `Scenario`, the name of an installed one, `package.module:NAME`, or a `Model`. Everything slow is
imported when an engine is first called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from kwalk.model.language import Fix, Model, Property, PropertyInstance, Scenario, Trial, UsageError
from kwalk.model.language.registry import announced, find_scenario
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Verdict

if TYPE_CHECKING:
    from kwalk.reports.explorer.frame import ExplorerFrame
    from kwalk.reports.pages.explanation import ReportedExplanation
    from kwalk.search.analyses.audit.audit import AuditReport
    from kwalk.search.analyses.mutation.mutate import MutationReport
    from kwalk.search.analyses.state_graph import StateGraph

Checked = Property | PropertyInstance | str
"""A property, one of its instances, or the name of either."""


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios of all installed packages, by name."""
    return announced()


def scenario(name: str) -> Scenario:
    """Return the scenario of that name, or at `package.module:NAME`.

    Raises:
        UsageError: There is no such scenario; the message names similar ones.
    """
    return find_scenario(name)


def exhaust(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    memory_bytes: int | None = None,
    workers: int = 1,
    keep_going: bool = False,
    reduce: bool = False,
    symmetry: str | None = None,
) -> Verdict:
    """Visit every reachable state, breadth first, and check the properties there.

    Args:
        scenario: What to explore.
        properties: The properties to check; None for all.
        variant: A variant of the scenario; None for its default.
        bounds: Sizes that replace those of the scenario, by the name of the bound.
        flags: Settings that replace those of the variant, by the name of the flag.
        seconds: The time budget; None for no limit.
        memory_bytes: The memory budget in bytes; None for a share of the free memory.
        workers: The number of threads.
        keep_going: Whether to continue after a violation, and to find the shortest one of every property.
        reduce: Whether to use partial-order reduction.
        symmetry: The name of a domain whose members are interchangeable; states that differ by their names only are
            then visited once.

    Returns:
        A verdict whose strength is `exhaustive`, or which is undecided where a budget was spent.

    Raises:
        UsageError: The scenario, a property, a variant, a bound or a flag does not exist.
        DomainError: An action leaves the domain of a field.
    """
    from kwalk.search.exhaustive.search import exhaust as run

    return _verdict(
        run,
        _asked(scenario, properties, variant, bounds, flags),
        seconds=seconds,
        memory_bytes=memory_bytes,
        workers=workers,
        keep_going=keep_going,
        reduce=reduce,
        symmetry=symmetry,
    )


def walk(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    walks: int | None = None,
    depth: int = 100,
    seed: int = 0,
    seconds: float | None = None,
    workers: int = 1,
    keep_going: bool = False,
    minimize: int = 0,
) -> Verdict:
    """Take random walks and check the properties at every step.

    Args:
        scenario: What to explore; see `exhaust` for `properties`, `variant`, `bounds` and `flags`.
        properties: The properties to check; None for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        walks: The number of walks; None for 10,000, or as many as `seconds` allow.
        depth: The number of steps of a walk.
        seed: The number from which all random choices derive.
        seconds: The time budget; None for no limit.
        workers: The number of threads.
        keep_going: Whether to continue after a violation.
        minimize: How many of the violations to minimize and to group by shape.

    Returns:
        A verdict whose strength is `sampled`.
    """
    from kwalk.search.simulation.walk import walk as run

    return _verdict(
        run,
        _asked(scenario, properties, variant, bounds, flags),
        walks=walks,
        depth=depth,
        seed=seed,
        seconds=seconds,
        workers=workers,
        keep_going=keep_going,
        minimize=minimize,
    )


def prove(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    depth: int | None = None,
    induction: int | None = None,
    support: bool = True,
    seconds: float | None = None,
) -> Verdict:
    """Prove the properties for behaviours of any length with Z3, or find a shortest violation.

    Args:
        scenario: What to prove something about; see `exhaust` for `properties`, `variant`, `bounds` and `flags`.
        properties: The properties to prove; None for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        depth: The number of steps up to which bounded checking searches for violations.
        induction: The largest k of k-induction; 0 for none.
        support: Whether to search for supporting invariants.
        seconds: The time budget; None for no limit.

    Returns:
        A verdict whose strength is `proved`, a violation, or undecided with a reason for each property.
    """
    from kwalk.search.proof.prove import prove as run

    asked = _asked(scenario, properties, variant, bounds, flags)
    return _verdict(run, asked, depth=depth, induction=induction, support=support, seconds=seconds)


def check(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
) -> Verdict:
    """Run exhaustive search, random walks and proofs on the same properties, and compare their answers.

    Args:
        scenario: What to check; see `exhaust` for `properties`, `variant`, `bounds` and `flags`.
        properties: The properties to check; None for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        seed: The number from which all random choices derive.
        seconds: The time budget of all engines together.
        workers: The number of threads; None for all cores.

    Returns:
        The strongest of the three verdicts.

    Raises:
        InternalError: Two engines contradict each other.
    """
    from kwalk.search.analyses.check import check as run

    asked = _asked(scenario, properties, variant, bounds, flags)
    return _verdict(run, asked, seed=seed, seconds=seconds, workers=workers)


def hunt(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
    keep_going: bool = False,
    minimize: int = 0,
    out: str | Path | None = None,
) -> Verdict:
    """Search exhaustively; if that does not finish in its share of the time, walk on Spark; then minimize.

    Args:
        scenario: What to explore; see `exhaust` for `properties`, `variant`, `bounds` and `flags`.
        properties: The properties to check; None for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        seed: The number from which all random choices derive.
        seconds: The time budget of the whole hunt; None for 60.
        workers: The number of threads; None for all cores.
        keep_going: Whether to continue after a violation.
        minimize: How many of the violations to minimize and to group by shape.
        out: The folder in which walks keep their tables; None for none.

    Returns:
        The verdict of the engine that decided, or undecided.
    """
    from kwalk.search.analyses.hunt import hunt as run

    return _verdict(
        run,
        _asked(scenario, properties, variant, bounds, flags),
        seed=seed,
        seconds=seconds,
        workers=workers,
        keep_going=keep_going,
        minimize=minimize,
        out=out,
    )


def shrink(trace: Trace | str | Path, *, seconds: float | None = None) -> Trace:
    """Return a locally minimal trace that violates the same property instance.

    Args:
        trace: A trace of a verdict, or the path of a saved one.
        seconds: The time budget; None for no limit.

    Raises:
        UsageError: The file is no trace, or does not show a violation.
    """
    from kwalk.search.kernel.compile.compiler import kernel_for
    from kwalk.search.minimize.shrink import shrink as run

    opened = trace if isinstance(trace, Trace) else open_trace(trace)
    model = _model_of_trace(opened)
    return evolve(run(model, opened, kernel=kernel_for(model), seconds=seconds), model=model)


def graph(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    most: int = 200,
) -> StateGraph:
    """Return the state graph of the first `most` states, breadth first.

    Args:
        scenario: What to explore; see `exhaust` for `properties`, `variant`, `bounds` and `flags`.
        properties: The properties whose violations are marked; None for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        most: The number of states to expand.
    """
    from kwalk.search.analyses.state_graph import explore

    model, checked = _asked(scenario, properties, variant, bounds, flags)
    return explore(model, properties=checked, most=most)


def explore(
    scenario: Scenario | Model | Trace | str,
    properties: Checked | Iterable[Checked] | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    memory_bytes: int | None = None,
    out: str | Path = "kwalk-out",
    port: int = 0,
) -> ExplorerFrame:
    """Return a page, for a cell of a notebook, on which a user takes the steps of a model.

    Args:
        scenario: What to explore; see `exhaust` for `properties`, `variant`, `bounds` and `flags`. With a trace, the
            page begins with its behaviour.
        properties: The properties whose nearest violation is searched for; None for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        seconds: The time budget of each search for the nearest violation; None for 10 seconds.
        memory_bytes: The memory budget of each such search; None for 1 GiB.
        out: The folder for paths that are saved as traces.
        port: The port on the loopback interface; 0 for a free one.

    Returns:
        An object whose `address` is that of the page; `close()` ends it.

    Raises:
        UsageError: What is named does not exist, or the port is in use.
    """
    from kwalk.reports.explorer.frame import ExplorerFrame

    trace = scenario if isinstance(scenario, Trace) else None
    subject = _model_of_trace(scenario) if isinstance(scenario, Trace) else scenario
    model, checked = _asked(subject, properties, variant, bounds, flags)
    return ExplorerFrame(model, checked, trace, out=out, seconds=seconds, memory_bytes=memory_bytes, port=port)


def explain(
    snapshots: Iterable[str | Path],
    scenario: str | None = None,
    *,
    variant: str | None = None,
    seconds: float = 60.0,
    events: int | None = None,
) -> ReportedExplanation:
    """Search for a behaviour that passes through snapshots of a real system, in their order.

    Args:
        snapshots: The files, the earliest first.
        scenario: The name of a scenario that reads snapshots; None for the first installed one.
        variant: The variant; None for the one of the snapshots' release.
        seconds: The time budget.
        events: The most events that may be assumed between two snapshots; None for the usual number.

    Returns:
        The behaviour, or the first snapshot that none reaches and what differs there. If the snapshots are several
        series, such as those of several topics, the first that is not explained, with the `others`.

    Raises:
        UsageError: A file is no snapshot, or the scenario reads none.
    """
    from kwalk.reports.handlers.explain import explained, model_of, scenario_for, series_of
    from kwalk.search.analyses.explain.explain import EVENTS, ExplainOptions

    _, found = scenario_for(scenario)
    began = time.monotonic()
    several = series_of(found, [str(path) for path in snapshots])
    options = ExplainOptions(events=EVENTS if events is None else events, seconds=seconds)
    reports = explained([(model_of(found, series, variant), series) for series in several], options, began)
    worst, *others = sorted(map(_with_model, reports), key=lambda report: -report.fit.exit_code)
    return evolve(worst, others=tuple(others))


def _with_model(report: ReportedExplanation) -> ReportedExplanation:
    """Return an explanation whose trace has its model."""
    if report.trace is None:
        return report
    return evolve(report, explanation=evolve(report.explanation, trace=evolve(report.trace, model=report.model)))


def mutate(
    scenario: Scenario | str,
    properties: Iterable[str] = (),
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    sample: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int = 1,
) -> MutationReport:
    """Make small mistakes in the functions of a model, one at a time, and check which ones its properties notice.

    Args:
        scenario: What to mutate; see `exhaust` for `variant`, `bounds` and `flags`.
        properties: The names of the properties that must notice the mistakes; none for all.
        variant: A variant of the scenario.
        bounds: Sizes by the name of the bound.
        flags: Settings by the name of the flag.
        sample: The number of mutants to draw at random; None for all.
        seed: The seed of the sample.
        seconds: The time budget of each mutant's search; None for the usual one.
        workers: The number of worker processes.

    Returns:
        The mutants with their outcomes; `answer` is HOLDS if a property notices each one that can be noticed.
    """
    from kwalk.search.analyses.mutation import mutate as mutation

    trial = Trial(scenario, tuple(properties), variant, dict(bounds or {}), dict(flags or {}))
    baselines = mutation.baselines_of([trial])
    mutants = mutation.mutants_on(baselines)
    chosen = mutants if sample is None else mutation.sample(mutants, sample, seed)
    limit: dict[str, Any] = {} if seconds is None else {"seconds": seconds}
    results = mutation.mutate(chosen, baselines, workers=workers, **limit)
    return mutation.MutationReport(results, baselines, (), len(mutants), None if sample is None else seed)


def audit(
    fixes: Fix | str | Iterable[Fix | str] = (),
    *,
    scenario: str | None = None,
    seconds: float | None = None,
    prove: bool = False,
    workers: int = 1,
) -> AuditReport:
    """Search each trial of each fix with the fix off and with it on, and compare.

    Args:
        fixes: Fixes, or names of installed ones, or `package.module:NAME`; none for all installed ones.
        scenario: The name of the only scenario to try them in; None for all.
        seconds: The time budget of each search; None for the usual one.
        prove: Whether to attempt a proof where exhaustive search does not finish.
        workers: How many searches run at a time.

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
    limit: dict[str, Any] = {} if seconds is None else {"seconds": seconds}
    return AuditReport(run(cells_of(found, scenario), prove=prove, workers=workers, **limit))


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
    engine: Callable[..., Verdict], query: tuple[Model, tuple[PropertyInstance, ...]], **options: Any
) -> Verdict:
    """Return the verdict of an engine; it and its traces have the model that a notebook needs to show them."""
    from kwalk.search.examination.examination import examined

    model, properties = query
    verdict = examined(model, properties, engine(model, properties=properties, **options))
    findings = tuple(
        finding if finding.trace is None else evolve(finding, trace=evolve(finding.trace, model=model))
        for finding in verdict.findings
    )
    return evolve(verdict, findings=findings, model=model)


def _asked(
    scenario: Scenario | Model | str,
    properties: Checked | Iterable[Checked] | None,
    variant: str | None,
    bounds: Mapping[str, int] | None,
    flags: Mapping[str, Any] | None,
) -> tuple[Model, tuple[PropertyInstance, ...]]:
    """Return the model, and the instances of the properties to check; UsageError for what does not exist."""
    if isinstance(scenario, Model):
        if variant or bounds or flags:
            raise UsageError("A Model has its variant, bounds and flags already. Give a Scenario, or leave these out.")
        model = scenario
    else:
        found = find_scenario(scenario) if isinstance(scenario, str) else scenario
        if not isinstance(found, Scenario):
            raise UsageError(f"The first argument is a Scenario, a Model, or the name of a scenario (got {found!r}).")
        model = Model(found, variant, bounds, flags)
    if properties is None:
        return model, model.properties
    listed = [properties] if isinstance(properties, Property | PropertyInstance | str) else list(properties)
    instances = (instance for each in listed for instance in model.properties_of(_name(each)))
    return model, model.with_counts(dict.fromkeys(instances))


def _name(checked: Checked) -> str:
    if isinstance(checked, Property):
        return checked.name
    return checked.key if isinstance(checked, PropertyInstance) else checked


def _model_of_trace(trace: Trace) -> Model:
    """Return the model that a trace came with, or the one that it names."""
    if trace.model is not None:
        return trace.model
    return Model(find_scenario(trace.scenario), trace.variant, trace.bounds, trace.flags)
