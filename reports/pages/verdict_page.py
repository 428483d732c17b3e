"""The page of a search: its answer, links to its traces, and charts of what it visited and tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kwalk.model.language import Model
from kwalk.model.language.constraints import PREFIX
from kwalk.reports.document import BarChart, Block, CodeBlock, DataTable, Heading, Line, Paragraph, Span
from kwalk.reports.pages.verdict import group_table, summary
from kwalk.search.results.verdict import ProofResult, Strength, Verdict

MOST_BARS = 30
"""A chart of depths has at most so many bars; several depths share one if there are more."""
MANY = 60
"""A chart has a bar for each property instance; if there are more than that, one for each property."""


def verdict_page(
    model: Model, verdict: Verdict, files: Mapping[str, Mapping[str, Path]], shapes: Sequence[Path]
) -> Iterator[Block]:
    """Yield the page of a verdict.

    Args:
        model: The model.
        verdict: What the search found.
        files: The files of each trace by their kind, by the property.
        shapes: The traces of the groups.
    """
    yield Heading(1, f"{verdict.scenario}: {verdict.answer.value}")
    yield from summary(verdict, model)
    if files:
        yield Heading(2, "Traces")
        yield DataTable(("property", "steps", "page", "trace"), tuple(_traces(verdict, files)), frozenset({1}))
    yield from group_table(model, verdict.groups, shapes)
    if verdict.proofs:
        yield Heading(2, "Proofs")
        yield DataTable(("property", "", "by"), tuple(map(_proof, verdict.proofs)))
    yield from _depths(verdict)
    yield from _coverage(model, verdict)
    yield CodeBlock((f"Search again: {verdict.command}",))


def _traces(verdict: Verdict, files: Mapping[str, Mapping[str, Path]]) -> Iterator[tuple[Line, ...]]:
    for finding in verdict.findings:
        if finding.trace is not None and finding.prop in files:
            named = files[finding.prop]
            page, trace = named["page"].name, named["trace"].name
            yield (
                finding.prop or "deadlock",
                f"{finding.trace.length:,}",
                [Span(page, href=page)],
                [Span(trace, href=trace)],
            )


def _proof(result: ProofResult) -> tuple[Line, ...]:
    return result.prop, result.outcome.value, result.method


def _depths(verdict: Verdict) -> Iterator[Block]:
    """Yield a chart of the states of each depth, and how many steps lead from a state."""
    sizes = verdict.states_by_depth
    if not sizes:
        return
    yield Heading(2, "States")
    each = -(-len(sizes) // MOST_BARS)
    rows = []
    for first in range(0, len(sizes), each):
        last = min(first + each, len(sizes)) - 1
        name = f"depth {first}" if first == last else f"depths {first:,} to {last:,}"
        rows.append((name, sum(sizes[first : last + 1])))
    yield BarChart("Distinct states by depth", "states", tuple(rows))
    rest = (verdict.distinct_states or 0) - sum(sizes)
    if rest:
        yield Paragraph(f"{rest:,} more states are known, at greater depths.")
    steps = sum(count.taken for count in verdict.action_counts.values())
    if steps and not rest and not verdict.findings and verdict.strength is Strength.EXHAUSTIVE:
        yield Paragraph(f"On average, {steps / sum(sizes):.2f} steps lead from a state.")


def _coverage(model: Model, verdict: Verdict) -> Iterator[Block]:
    """Yield charts of how often each action was taken, each property was tested, and each bound was reached."""
    counts = verdict.action_counts
    if counts:
        yield Heading(2, "Coverage")
        taken: dict[str, int] = {action.name: 0 for action in model.scenario.actions}
        changed = dict(taken)
        for instance in model.instances:
            if instance.key in counts:
                taken[instance.action.name] += counts[instance.key].taken
                changed[instance.action.name] += counts[instance.key].changed
        steps = tuple(taken.items())
        yield BarChart("Steps of each action", "times taken", steps, logarithmic=True, complete=True)
        idle = tuple(name for name, times in taken.items() if times and not changed[name])
        if idle:
            yield Paragraph(f"Taken, and never changed the state: {', '.join(idle)}.")
    if verdict.premises:
        tests = tuple(_tests(model, verdict))
        yield BarChart("Tests of each property", "times its premise held", tests, logarithmic=True, complete=True)
    bounds = tuple((name.removeprefix(PREFIX), hits) for name, hits in verdict.bounds_hit.items() if hits)
    if bounds:
        yield BarChart("Bounds that were reached", "steps that each disabled", bounds, logarithmic=True)


def _tests(model: Model, verdict: Verdict) -> Iterator[tuple[str, int]]:
    declared = {prop.key: prop.declaration for prop in model.properties}
    known = {key: times for key, times in verdict.premises.items() if key in declared}
    shown = {key: times for key, times in known.items() if not declared[key].only_counts}
    if len(shown) <= MANY:
        yield from shown.items()
        return
    sums: dict[str, int] = {}
    for key, times in shown.items():
        sums[declared[key].name] = sums.get(declared[key].name, 0) + times
    yield from sums.items()
