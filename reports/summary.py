"""A verdict as text: the answer, how sure it is, what was counted, and what was never put to the test."""
from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from model.language import Kind, Model
from model.language.settings import variant_text
from reports.escaping import visible
from reports.progress import duration
from search.untried import untried
from search.verdict import Answer, Finding, Verdict

STYLES = {Answer.HOLDS: "bold green", Answer.UNDECIDED: "bold yellow"}
"""Styles of answers that are no bad news; all others are red."""


def summary(verdict: Verdict, model: Model, told: Finding | None = None) -> Iterator[RenderableType]:
    """The answer and all that was counted; without what the story of the finding `told` has said already."""
    if told is None:
        style = STYLES.get(verdict.answer, "bold red")
        yield Text.assemble((verdict.answer.value.upper(), style), f"  {_sureness(verdict)}")
        sizes = ", ".join(f"{name} {size}" for name, size in verdict.bounds.items())
        variant = variant_text(verdict.variant, verdict.flags)
        yield indented(f"{verdict.scenario}, variant {variant}; {sizes or 'no bounds'}")
    for fact in facts(verdict, model, told):
        yield indented(fact)


def indented(text: str, style: str = "") -> RenderableType:
    """A sentence under a headline, visible, its further lines as far in as its first."""
    return Padding(Text(visible(text), style=style), (0, 0, 0, 2))


def _sureness(verdict: Verdict) -> str:
    """How it is known; a "holds" is never said alone."""
    looked_at = f"{len(verdict.invariants)} invariant" + "s" * (len(verdict.invariants) != 1)
    how = visible(verdict.how)
    if verdict.answer is Answer.HOLDS:
        kind = {"exhaustive": "exhaustively, within the bounds", "sampled": "sampled only: no proof"}.get(how, how)
        return f"{looked_at} ({kind})"
    return f"{how}; {looked_at} looked at" if verdict.answer is Answer.UNDECIDED else how


def facts(verdict: Verdict, model: Model, told: Finding | None = None) -> Iterator[str]:
    """Sentences of counts, in a fixed order, on all findings but the one told elsewhere."""
    yield _counts(verdict)
    for bound, hits in verdict.bounds_hit.items():
        if hits:
            yield f"bound reached: {bound}, {hits:,} times; the verdict speaks only within it"
    yield from untried(verdict, model)
    yield from (_finding(finding, model) for finding in verdict.findings if finding is not told)
    yield from verdict.notes


def _counts(verdict: Verdict) -> str:
    counted = {
        "distinct states": verdict.distinct_states,
        "distinct states (estimated)": verdict.estimated_states,
        "generated": verdict.generated_states,
        "quiet": verdict.quiet_states,
        "steps": verdict.steps,
        "walks": verdict.walks,
        "deep": verdict.depth,
    }
    told = [f"{count:,} {what}" for what, count in counted.items() if count is not None]
    seed = [] if verdict.seed is None else [f"seed {verdict.seed}"]
    return ", ".join([*told, *seed, f"{verdict.engine} in {duration(verdict.seconds)}"])


def _finding(finding: Finding, model: Model) -> str:
    """A finding in one line. Without a trace it is about a thing that should have been possible."""
    if finding.trace is None:
        return f"never reached, though it should be possible: {finding.claim}"
    claim = next((c for c in model.claims if c.key == finding.claim), None)
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    reached = "reached" if claim is not None and claim.kind is Kind.REACHABLE else "violated"
    return f"{finding.claim or 'deadlock'} is {reached}{times}, first in {finding.trace.length} steps"
