"""A verdict as text: the answer, its strength, counts, what was never tested, and the shapes of its findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kwalk.model.language import Kind, Model
from kwalk.model.language.constraints import PREFIX
from kwalk.model.language.settings import variant_text
from kwalk.reports.document import Block, DataTable, Paragraph, strong
from kwalk.reports.progress import cut_off, duration
from kwalk.search.results.vacuity import constraint_notes, listed, unfailing_notes, vacuity_notes
from kwalk.search.results.verdict import Answer, Finding, FindingGroup, Strength, Verdict

TONES = {
    Answer.HOLDS: "good",
    Answer.UNDECIDED: "open",
    Answer.NOT_REACHABLE: "open",
    Answer.CANNOT_FAIL: "hollow",
    Answer.GAPS: "open",
}
"""The tones of answers that are not bad."""
HOLDS = {Strength.EXHAUSTIVE: "exhaustively, within the bounds", Strength.SAMPLED: "sampled only: no proof"}
"""The words after "holds", by its strength."""
MOST_GROUPS = 20
"""The number of groups that are printed and whose traces are saved; all of them are in the JSON object."""


def summary(verdict: Verdict, model: Model, top_finding: Finding | None = None) -> Iterator[Block]:
    """Yield the answer and its facts, without those that the story of the finding `top_finding` has."""
    if top_finding is None:
        tone = "open" if verdict.answer is Answer.HOLDS and verdict.gaps else TONES.get(verdict.answer, "bad")
        yield Paragraph([strong(verdict.answer.value.upper(), tone), f"  {_qualified(verdict, model)}"])
        sizes = ", ".join(f"{name} {size}" for name, size in verdict.bounds.items())
        variant = variant_text(verdict.variant, verdict.flags)
        yield Paragraph(f"{verdict.scenario}, variant {variant}; {sizes or 'no bounds'}", 2)
    yield from (Paragraph(fact, 2) for fact in facts(verdict, model, top_finding))


def _qualified(verdict: Verdict, model: Model) -> str:
    """Return how the answer is known; "holds" never stands alone."""
    checked = f"{len(verdict.properties)} propert" + ("y" if len(verdict.properties) == 1 else "ies")
    if verdict.answer in (Answer.HOLDS, Answer.CANNOT_FAIL, Answer.GAPS):
        restricted = " and constraints" * bool(model.constraints and verdict.strength is Strength.EXHAUSTIVE)
        gaps = ", with gaps" * bool(verdict.gaps and verdict.answer is Answer.HOLDS)
        unfailing = [one.prop for one in verdict.cannot_fail if not one.expected]
        checked = f"{listed(unfailing)}; {checked}" if unfailing else checked
        return f"{checked} ({HOLDS.get(verdict.strength, verdict.qualifier)}{restricted}){gaps}"
    return f"{verdict.qualifier}; {checked} checked" if verdict.answer is Answer.UNDECIDED else verdict.qualifier


def facts(verdict: Verdict, model: Model, top_finding: Finding | None = None) -> Iterator[str]:
    """Yield the counts, and sentences on bounds, coverage and findings, except the finding `top_finding`."""
    yield _counts(verdict)
    yield from constraint_notes(verdict, model)
    yield from unfailing_notes(verdict)
    yield from (gap.text for gap in verdict.gaps if gap.bound)
    for bound, hits in verdict.bounds_hit.items():
        if hits and not bound.startswith(PREFIX) and all(gap.bound != bound for gap in verdict.gaps):
            yield cut_off(f"{bound}={model.binding.bounds[bound]}", hits)
    if verdict.fairness:
        yield f"fairness: {verdict.fairness}"
    yield from vacuity_notes(verdict, model)
    yield from (_finding(finding, model) for finding in verdict.findings if finding is not top_finding)
    yield from verdict.comparison_notes
    yield from verdict.code_notes
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


def group_table(model: Model, groups: Sequence[FindingGroup], files: Sequence[Path]) -> Iterator[Block]:
    """Yield the headline, the table and the number of shapes that it leaves out; nothing without groups."""
    if not groups:
        return
    findings = sum(group.count for group in groups)
    yield Paragraph([strong("SHAPES"), f"  {len(groups):,} of {findings:,} minimized findings"])
    rows = tuple(
        (
            f"{group.count:,}",
            f"{len(group.properties):,}",
            f"{group.trace.length:,}",
            outline(model, group),
            "" if group.walk is None else f"walk {group.walk}",
        )
        for group in groups[:MOST_GROUPS]
    )
    yield DataTable(("findings", "properties", "steps", "shape", "first in"), rows, frozenset({0, 1, 2}), 3, 2)
    for number, file in enumerate(files, start=1):
        yield Paragraph(f"  Trace of shape {number}: {file}")
    if len(groups) > MOST_GROUPS:
        yield Paragraph(f"  {len(groups) - MOST_GROUPS:,} more shapes are in the JSON object (--json).")


def outline(model: Model, group: FindingGroup) -> str:
    """Return the property of a shape, and its steps by actors outside the system; all steps if there are none."""
    outside = {action.name for action in model.scenario.actions if not action.by.system}
    steps = [step for step in group.steps if step.partition("(")[0] in outside] or list(group.steps)
    return f"{group.prop}: {', '.join(_with_names(model, step) for step in steps) or 'an initial state'}"


def _with_names(model: Model, step: str) -> str:
    """Return a step with the names of its parameters, as in stop(broker 0); `step` has their values alone."""
    name, _, values = step.removesuffix(")").partition("(")
    parameters = next((action.parameters for action in model.scenario.actions if action.name == name), ())
    parts = values.split(", ")
    if len(parts) != len(parameters):
        return step
    return f"{name}({', '.join(f'{one.name} {part}' for one, part in zip(parameters, parts, strict=True))})"
