"""The results of mutation testing: as blocks for text and Markdown, and as the object that `--json` prints.

Words: a *mutant* is detected if it is killed, crashes or is noticed otherwise. The *score* is the number of detected
mutants of those that can be detected: all but the equivalent, the refused and the unreached ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from posixpath import commonpath
from typing import Any

from kwalk.model.language.settings import setting_text, variant_text
from kwalk.reports.document import (
    Block,
    Bullets,
    CodeBlock,
    DataTable,
    Heading,
    Line,
    Paragraph,
    Span,
    code,
    strong,
)
from kwalk.reports.traces.story import Story, story_of
from kwalk.search.analyses.mutation.baseline import MutatedModel
from kwalk.search.analyses.mutation.mutate import (
    OPERATORS,
    Baseline,
    Evidence,
    Mutant,
    MutantOutcome,
    MutantResult,
    MutantStatus,
    MutationReport,
)
from kwalk.search.kernel.compared import Compared
from kwalk.search.results.trace import Trace, run
from kwalk.search.results.verdict import total_compared

DETECTED = (MutantStatus.KILLED, MutantStatus.CRASHED, MutantStatus.NOTICED)
UNDETECTABLE = (MutantStatus.EQUIVALENT, MutantStatus.NOT_EXERCISED, MutantStatus.REFUSED)
"""Statuses of mutants that no property can detect on these baselines."""
READING: Line = (
    "A ",
    Span("mutant", "emphasis"),
    " is the model with one small change in one function. It is evaluated on ",
    Span("baselines", "emphasis"),
    ": models whose "
    "reachable states are all known, with the properties that hold in them. A mutant that survives is a mistake in the "
    "model that no property would report. Each survivor is listed below, with the reason why no property notices it.",
)
"""How to read the document."""


def place_of(mutant: Mutant) -> str:
    """Return file and line."""
    return f"{file_of(mutant)}:{mutant.line}"


def file_of(mutant: Mutant) -> str:
    """Return the file of a mutant, by the name of its module."""
    return f"{mutant.function.__module__.removeprefix('kwalk.').replace('.', '/')}.py"


def counted(results: Iterable[MutantResult]) -> Counter[MutantStatus]:
    """Return the number of mutants of each status, without those that were not tried."""
    return Counter(result.outcome.status for result in results if result.outcome is not None)


def score(counts: Counter[MutantStatus]) -> str:
    """Return the number of detected mutants of those that can be detected: "38 of 42"."""
    possible = counts.total() - sum(counts[status] for status in UNDETECTABLE)
    return f"{sum(counts[status] for status in DETECTED):,} of {possible:,}"


def score_sentence(results: Sequence[MutantResult]) -> str:
    """Return the score, and the number of survivors that are explained."""
    alive = [result for result in results if result.is_alive]
    explained = sum(not result.is_unexplained for result in alive)
    survivors = f"; {explained:,} of {len(alive):,} that are alive are explained" if alive else ""
    missing = sum(result.outcome is None for result in results)
    left = f"; {missing:,} not evaluated" if missing else ""
    return f"{len(results):,} mutants; {score(counted(results))} that can be noticed are noticed{survivors}{left}."


def extent(report: MutationReport) -> str:
    """Return which mutants were tried, if not all; otherwise ""."""
    if len(report.results) == report.total:
        return ""
    if report.seed is None:
        return f"These are {len(report.results):,} of {report.total:,} mutants, chosen by options."
    return f"A random sample of {len(report.results):,} of {report.total:,} mutants (seed {report.seed})."


def baseline_text(baseline: Baseline) -> str:
    """Return a baseline in a line: scenario, variant, bounds that differ, and the number of its states."""
    bounds = "".join(f", {name} {size}" for name, size in baseline.trial.bounds.items())
    variant = variant_text(baseline.model.variant, baseline.model.flag_overrides)
    states = f"{baseline.explorer.stored:,} states, {len(baseline.properties)} properties that hold"
    fairness = f"; fairness: {baseline.verdict.fairness}" if baseline.verdict.fairness else ""
    return f"{baseline.model.scenario.name}, {variant}{bounds}: {states}{fairness}"


# Text.


def mutation_text(report: MutationReport) -> Iterator[Block]:
    """Yield the baselines, every survivor, the meaning of the statuses, the score, and a table by operator."""
    results = report.results
    yield CodeBlock(tuple(f"baseline: {baseline_text(baseline)}" for baseline in report.baselines))
    compared = total_compared(baseline.verdict for baseline in report.baselines)
    yield CodeBlock((f"{compared or Compared()} (Of the baselines; states of mutants are not compared.)",))
    for result in results:
        if result.is_alive:
            assert result.outcome is not None
            yield CodeBlock(("", [strong(result.mutant.id) if result.is_unexplained else result.mutant.id]))
            yield diff(result.mutant)
            yield CodeBlock((result.outcome.text, *([f"explained: {result.reason}"] if result.reason else ())), 2)
    used = [status for status in MutantStatus if counted(results)[status]]
    yield CodeBlock(("", *([Span(f"{status.value}: {status.meaning}", "faint")] for status in used)))
    yield CodeBlock(("", [strong(score_sentence(results))], *((extent(report),) if extent(report) else ())))
    yield _table("operator", _by_operator(results), used)


def diff(mutant: Mutant) -> CodeBlock:
    """Return the place of a mutant, and the changed line before and after."""
    place = Span(f"{place_of(mutant)} in {mutant.function.__qualname__}", "faint")
    return CodeBlock(([place], [Span(f"- {mutant.before}", "bad")], [Span(f"+ {mutant.after}", "good")]), 2)


def _by_operator(results: Sequence[MutantResult]) -> Iterator[tuple[Line, Counter[MutantStatus]]]:
    """Yield the counts of each operator, in the order of mutants, then those of all."""
    yield from _grouped(results, lambda result: result.mutant.operator.name)
    yield "all", counted(results)


def _grouped(
    results: Sequence[MutantResult], key: Callable[[MutantResult], str]
) -> Iterator[tuple[Line, Counter[MutantStatus]]]:
    for name in dict.fromkeys(map(key, results)):
        yield [code(name)], counted(result for result in results if key(result) == name)


def _table(
    first: str, rows: Iterable[tuple[Line, Counter[MutantStatus]]], statuses: Sequence[MutantStatus]
) -> DataTable:
    """Return a table of the number of mutants of each status; a row is a name with its counts."""
    columns = (first, *(status.value for status in statuses), "score")
    cells = tuple((name, *(str(counts[status]) for status in statuses), score(counts)) for name, counts in rows)
    return DataTable(columns, cells, frozenset(range(1, len(columns))))


# Markdown.


def mutation_document(report: MutationReport, command: str) -> Iterator[Block]:
    """Yield a document about all mutants that is the same for the same outcomes."""
    results, every = report.results, tuple(MutantStatus)
    yield Heading(1, f"Mutants of {_place(results)}: which mistakes its properties notice")
    yield Paragraph(["Written by ", code(command), "; do not edit."])
    yield Paragraph(READING)
    yield Paragraph([strong(score_sentence(results)), f" {extent(report)}" if extent(report) else ""])
    counts = counted(results)
    used = [status for status in every if counts[status]]
    yield Bullets(tuple([strong(status.value), f" ({counts[status]:,}): {status.meaning}."] for status in used))
    yield Heading(2, "Baselines")
    yield Bullets(tuple(f"{baseline_text(b)}. {b.trial.about}".rstrip() for b in report.baselines))
    yield Heading(2, "By operator")
    yield _table("operator", _by_operator(results), every)
    yield Bullets(tuple([code(operator.name), f": {operator.about}."] for operator in OPERATORS))
    yield Heading(2, "By file")
    by_file = sorted(results, key=lambda result: file_of(result.mutant))
    yield _table("file", _grouped(by_file, lambda result: file_of(result.mutant)), every)
    yield from _by_property(results)
    yield from _survivors([result for result in results if result.is_alive])


def _place(results: Sequence[MutantResult]) -> str:
    """Return the file that is mutated, or the innermost folder with all such files; "the model" if they have none."""
    return commonpath([file_of(result.mutant) for result in results] or [""]) or "the model"


def _by_property(results: Sequence[MutantResult]) -> Iterator[Block]:
    """Yield the number of mutants that each property kills first."""
    outcomes = [result.outcome for result in results if result.outcome is not None]
    killed = Counter(o.prop.partition("(")[0] for o in outcomes if o.status is MutantStatus.KILLED)
    rows = sorted(killed.items(), key=lambda pair: (-pair[1], pair[0]))
    yield Heading(2, "By property")
    cells = tuple(([code(name)], str(count)) for name, count in rows)
    yield DataTable(("property", "mutants that it kills first"), cells, frozenset({1}))


def _survivors(survivors: Sequence[MutantResult]) -> Iterator[Block]:
    if survivors:
        yield Heading(2, "Survivors")
    for reason in dict.fromkeys(result.reason for result in survivors):
        yield Heading(3, reason or "Not explained")
        yield Bullets(tuple(_survivor(result) for result in survivors if result.reason == reason))


def _survivor(result: MutantResult) -> Line:
    assert result.outcome is not None
    mutant = result.mutant
    text = f" ({place_of(mutant)}): {result.outcome.text}: "
    return [code(mutant.id), text, code(mutant.before), " → ", code(mutant.after)]


# JSON.


def mutation_object(report: MutationReport) -> dict[str, Any]:
    """Return the baselines, every mutant with its status, and the number of mutants of each status."""
    results, counts = report.results, counted(report.results)
    return {
        "baselines": [_baseline(baseline) for baseline in report.baselines],
        "mutants": [mutant_object(result) for result in results],
        "total": report.total,
        "seed": report.seed,
        "statuses": {status.value: counts[status] for status in MutantStatus},
        "score": score(counts),
        "open": [result.mutant.id for result in results if result.is_unexplained],
        "stale": list(report.stale_explanations),
    }


def _baseline(baseline: Baseline) -> dict[str, Any]:
    return {
        "scenario": baseline.name,
        "variant": baseline.model.variant,
        "flags": {name: setting_text(value) for name, value in baseline.model.flag_overrides.items()},
        "bounds": dict(baseline.model.binding.bounds),
        "distinct_states": baseline.explorer.stored,
        "properties": [prop.key for prop in baseline.properties],
        "fairness": baseline.verdict.fairness or None,
        "compared": None if baseline.verdict.compared is None else baseline.verdict.compared.counts,
    }


def mutant_object(result: MutantResult) -> dict[str, Any]:
    """Return a mutant; without a status if it was not tried."""
    mutant, outcome = result.mutant, result.outcome
    page = {
        "id": mutant.id,
        "operator": mutant.operator.name,
        "function": mutant.function.__qualname__,
        "file": file_of(mutant),
        "line": mutant.line,
        "before": mutant.before,
        "after": mutant.after,
    }
    if outcome is None:
        return page
    return page | {
        "status": outcome.status.value,
        "by": outcome.evidence.value,
        "baseline": outcome.baseline,
        "property": outcome.prop,
        "steps": None if outcome.actions is None else list(outcome.actions),
        "text": outcome.text,
        "explained": result.reason or None,
    }


# The trace of one mutant.


def mutant_story(mutant: Mutant, outcome: MutantOutcome, baselines: Sequence[Baseline]) -> Story | None:
    """Return the trace that decided an outcome as a story, with the steps of the mutant; None if it has none.

    The steps of a survivor are those of the model: they lead to the first state in which the mutant differs.
    """
    baseline = next((baseline for baseline in baselines if baseline.name == outcome.baseline), None)
    if baseline is None or outcome.actions is None:
        return None
    alive = outcome.status in (MutantStatus.SURVIVED, MutantStatus.RESTRICTED, MutantStatus.UNDECIDED)
    model = baseline.model if alive else MutatedModel(baseline.model, mutant)
    states = run(model, baseline.model.initial[outcome.start], outcome.actions)
    prop = outcome.prop if outcome.status is MutantStatus.KILLED else None
    trace = Trace(
        model.scenario.name,
        model.variant,
        model.binding.bounds,
        states,
        outcome.actions,
        prop=prop,
        loop=outcome.loop,
        labels=model.binding.labels,
        flags=model.flag_overrides,
        found_by=outcome.evidence.value,
        shortest="exhaust" if outcome.evidence is Evidence.EXHAUSTIVE else None,
    )
    return story_of(model, trace)
