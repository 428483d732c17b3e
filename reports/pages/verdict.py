"""A verdict as text: the answer, its strength, counts, what was never tested, and the shapes of its findings."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from kwalk.model.language import Kind, Model
from kwalk.model.language.settings import variant_text
from kwalk.reports.document.text import indented
from kwalk.reports.escaping import visible
from kwalk.reports.progress import duration
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import Answer, Finding, FindingCluster, Strength, Verdict

STYLES = {Answer.HOLDS: "bold green", Answer.UNDECIDED: "bold yellow", Answer.NOT_REACHABLE: "bold yellow"}
"""Styles of answers that are no bad news; all others are red."""
HOLDS = {Strength.EXHAUSTIVE: "exhaustively, within the bounds", Strength.SAMPLED: "sampled only: no proof"}
"""The words after "holds", by its strength."""
SHOWN = 20
"""The number of clusters that are printed and whose traces are saved; all of them are in the JSON object."""


def summary(verdict: Verdict, model: Model, shown: Finding | None = None) -> Iterator[RenderableType]:
    """Yield the answer and its facts, without those that the story of the finding `shown` has."""
    if shown is None:
        style = STYLES.get(verdict.answer, "bold red")
        yield Text.assemble((verdict.answer.value.upper(), style), f"  {_qualified(verdict)}")
        sizes = ", ".join(f"{name} {size}" for name, size in verdict.bounds.items())
        variant = variant_text(verdict.variant, verdict.flags)
        yield indented(f"{verdict.scenario}, variant {variant}; {sizes or 'no bounds'}")
    for fact in facts(verdict, model, shown):
        yield indented(fact)


def _qualified(verdict: Verdict) -> str:
    """Return how the answer is known; "holds" never stands alone."""
    checked = f"{len(verdict.properties)} propert" + ("y" if len(verdict.properties) == 1 else "ies")
    qualifier = visible(verdict.qualifier)
    if verdict.answer is Answer.HOLDS:
        return f"{checked} ({HOLDS.get(verdict.strength, qualifier)})"
    return f"{qualifier}; {checked} checked" if verdict.answer is Answer.UNDECIDED else qualifier


def facts(verdict: Verdict, model: Model, shown: Finding | None = None) -> Iterator[str]:
    """Yield the counts, and sentences on bounds, coverage and findings, except the finding `shown`."""
    yield _counts(verdict)
    for bound, hits in verdict.bounds_hit.items():
        if hits:
            yield f"bound reached: {bound}, {hits:,} times; the verdict is valid only within it"
    yield from vacuity_notes(verdict, model)
    yield from (_finding(finding, model) for finding in verdict.findings if finding is not shown)
    yield from verdict.notes


def _counts(verdict: Verdict) -> str:
    counted = {
        "distinct states": verdict.distinct_states,
        "distinct states (estimated)": verdict.estimated_states,
        "generated": verdict.generated_states,
        "quiescent": verdict.quiescent_states,
        "steps": verdict.steps,
        "walks": verdict.walks,
    }
    counts = [f"{count:,} {what}" for what, count in counted.items() if count is not None]
    depth = [] if verdict.depth is None else [f"depth {verdict.depth:,}"]
    seed = [] if verdict.seed is None else [f"seed {verdict.seed}"]
    return ", ".join([*counts, *depth, *seed, f"{verdict.engine} in {duration(verdict.seconds)}"])


def _finding(finding: Finding, model: Model) -> str:
    """Return a finding in one line; without a trace, it is a `reachable` property that no state satisfies."""
    if finding.trace is None:
        return f"not reachable within the bounds: {finding.prop}"
    prop = next((c for c in model.properties if c.key == finding.prop), None)
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    reached = "reached" if prop is not None and prop.kind is Kind.REACHABLE else "violated"
    return f"{finding.prop or 'deadlock'} is {reached}{times}, first in {finding.trace.length} steps"


def cluster_table(model: Model, clusters: Sequence[FindingCluster], files: Sequence[Path]) -> Iterator[RenderableType]:
    """Yield the headline, the table and the number of shapes that it leaves out; nothing without clusters."""
    if not clusters:
        return
    findings = sum(cluster.count for cluster in clusters)
    yield Text.assemble(("SHAPES", "bold"), f"  {len(clusters):,} of {findings:,} minimized findings")
    table = Table(
        Column("findings", justify="right"), Column("properties", justify="right"), Column("steps", justify="right"),
        Column("shape", ratio=1), "first in", box=box.SIMPLE_HEAD, pad_edge=False, expand=True,
    )  # fmt: skip
    for cluster in clusters[:SHOWN]:
        table.add_row(
            f"{cluster.count:,}", f"{len(cluster.properties):,}", f"{cluster.trace.length:,}",
            Text(visible(outline(model, cluster))), "" if cluster.walk is None else f"walk {cluster.walk}",
        )  # fmt: skip
    yield Padding(table, (0, 0, 0, 2))
    for number, file in enumerate(files, start=1):
        yield Text(f"  Trace of shape {number}: {visible(str(file))}")
    if len(clusters) > SHOWN:
        yield Text(f"  {len(clusters) - SHOWN:,} more shapes are in the JSON object (--json).")


def outline(model: Model, cluster: FindingCluster) -> str:
    """Return the property of a shape, and its steps by actors outside the system; all steps if there are none."""
    outside = {action.name for action in model.scenario.actions if not action.by.system}
    steps = [step for step in cluster.steps if step.partition("(")[0] in outside] or list(cluster.steps)
    return f"{cluster.prop}: {', '.join(steps) or 'an initial state'}"
