"""An explanation of snapshots as text and as one JSON object: what happened between them, or what does not fit.

Words: an *assumed* step is one that nobody saw and that need not happen; all others follow from those and from what the
system does by itself.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from model.language import Model
from model.language.series import Series, Waypoint
from model.language.settings import variant_text
from reports.escaping import visible
from reports.progress import duration
from reports.story import Step, Story, tell
from reports.summary import indented
from reports.terminal import put
from reports.text import steps_table
from search.waypoints import BEFORE, Effort, Explanation, Fit
from search.waypoints.gap import Manner
from search.waypoints.misfit import Difference

STYLES = {Fit.EXPLAINED: "bold green", Fit.REFUSED: "bold red", Fit.UNDECIDED: "bold yellow"}
SHOWN = 8
"""Facts of a snapshot that are named before the rest is told as a number."""
WHEN = {
    Manner.PATIENT: "after the system had nothing left to do",
    Manner.CALM: "while nothing but idle time went on",
    Manner.HASTY: "at any moment",
}


@frozen
class Told:
    """An explanation with the model and series that it is about."""

    model: Model
    series: Series
    explanation: Explanation
    compiling: float
    """Seconds that it took to get the compiled model."""
    command: str

    @property
    def story(self) -> Story | None:
        """The behaviour that was found, or its part up to the last snapshot reached; assumed steps are not routine."""
        if self.explanation.trace is None:
            return None
        story = tell(self.model, self.explanation.trace)
        return evolve(story, steps=tuple(evolve(s, routine=not self.is_assumed(s.key)) for s in story.steps))

    def is_assumed(self, key: str) -> bool:
        """Whether a step of this name is an assumed one."""
        action = self.model.instance(key).action
        return not action.by.system or action.name in self.series.events

    def chapters(self) -> Iterator[tuple[Waypoint, tuple[Step, ...]]]:
        """The waypoints that were reached, each with the steps that lead to it."""
        story, begin = self.story, 0
        for waypoint, end in zip(self.series.waypoints, self.explanation.arrivals, strict=False):
            yield waypoint, story.steps[begin:end] if story else ()
            begin = end


# Text.


def print_explanation(told: Told, out: Console, *, unfold: bool = False) -> None:
    """Print what happened between the snapshots, then the answer."""
    put(out, *_heading(told))
    before: Waypoint | None = None
    for number, (waypoint, steps) in enumerate(told.chapters(), start=1):
        put(out, Text(), *_chapter(told, number, (before, waypoint), steps, unfold=unfold))
        before = waypoint
    put(out, Text(), *_ending(told))


def _heading(told: Told) -> Iterator[RenderableType]:
    done, model = told.explanation, told.model
    events = sum(told.is_assumed(step.key) for _, steps in told.chapters() for step in steps)
    length = done.trace.length if done.trace else 0
    yield Text.assemble((done.fit.value.upper(), STYLES[done.fit]), f"  {headline(told)}")
    yield indented(f"{model.scenario.name}, variant {variant_text(model.variant, model.asked_flags)}", "dim")
    yield from (indented(fact, "dim") for fact in told.series.facts)
    if done.fit is not Fit.EXPLAINED and length:
        yield indented(f"Up to there a behaviour of {length} steps with {events} assumed events:", "dim")


def headline(told: Told) -> str:
    """The answer in one line."""
    done, count = told.explanation, len(told.series.waypoints)
    if done.fit is Fit.EXPLAINED:
        events = sum(told.is_assumed(step.key) for _, steps in told.chapters() for step in steps)
        return f"{count} snapshots, {events} assumed events, {done.trace.length if done.trace else 0} steps"
    where = f"snapshot {done.misfit.number + 1} of {count}, {visible(done.misfit.waypoint)}" if done.misfit else ""
    if done.fit is Fit.REFUSED:
        return f"at {where}: {_field(done.misfit.differences) if done.misfit else ''}"
    return f"{visible(done.how)}, on the way to {where}"


def _field(differences: Sequence[Difference]) -> str:
    """The fact that tells most."""
    if not differences:
        return "no single fact is out of reach, but they are together"
    first = differences[0]
    more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
    return visible(f"{first.name} is {first.shown}, and the model has {first.closest}{more}")


def _chapter(
    told: Told, number: int, waypoints: tuple[Waypoint | None, Waypoint], steps: tuple[Step, ...], *, unfold: bool
) -> Iterator[RenderableType]:
    before, waypoint = waypoints
    count = f"{len(steps)} step{'s' * (len(steps) != 1)}" if steps else "nothing need have happened"
    yield Text.assemble((f"{number:>3}  ", "dim"), (visible(waypoint.name), "bold"), f"  {count}")
    assumed = [f"{step.actor} {step.says}" for step in steps if told.is_assumed(step.key)]
    if assumed:
        yield _inside(f"assumed: {'; '.join(assumed)}", "cyan")
    story = told.story
    if steps and story:
        yield Padding(steps_table(evolve(story, steps=steps), unfold=unfold), (0, 0, 0, 5))
    yield _inside(f"shows: {'; '.join(_news(before, waypoint))}", "dim")


def _inside(text: str, style: str = "") -> RenderableType:
    return Padding(Text(visible(text, 4000), style=style), (0, 0, 0, 5))


def _news(before: Waypoint | None, waypoint: Waypoint) -> list[str]:
    """What a snapshot shows that the one before did not."""
    known = {fact.name: fact.shown for fact in before.facts} if before else {}
    found = [f"{f.name} {f.shown}" for f in waypoint.facts if known.get(f.name) != f.shown]
    if not found:
        return ["what the one before showed"]
    rest = len(found) - SHOWN
    return [*found[:SHOWN], *([f"and {rest} more"] if rest > 0 else [])]


def _ending(told: Told) -> Iterator[RenderableType]:
    done = told.explanation
    if done.misfit and done.fit is not Fit.EXPLAINED:
        yield Text(f"{visible(done.misfit.waypoint)} shows, and the nearest state of the model has instead:")
        yield _differences(done.misfit.differences)
        yield Text()
    for sentence in sentences(told):
        yield indented(sentence)


def _differences(differences: Sequence[Difference]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for title in ("", "the snapshot", "the nearest state", "states that were looked at"):
        table.add_column(title, overflow="fold")
    for difference in differences[:SHOWN]:
        reached = ", ".join(difference.reached)
        row = (difference.name, difference.shown, difference.closest, reached)
        table.add_row(*(Text(visible(text)) for text in row))
    if len(differences) > SHOWN:
        table.add_row(Text(f"and {len(differences) - SHOWN} more", style="dim"))
    return table


def sentences(told: Told) -> list[str]:
    """How sure the answer is, and what it took."""
    done = told.explanation
    found = [f"{done.states:,} states in {duration(done.seconds)}, the model ready in {duration(told.compiling)}."]
    if done.fit is Fit.EXPLAINED:
        return ["Every step is confirmed in plain Python. Other behaviours may fit as well.", *found]
    hits = ", ".join(f"{name} {count:,} times" for name, count in done.bounds_hit.items())
    within = [f"Bounds that disabled steps: {hits}."] if hits else []
    return [*scope(done), *within, *found]


def scope(done: Explanation) -> list[str]:
    """Within which assumptions the search was exhaustive."""
    last = max((effort.number for effort in done.efforts), default=0)
    told = []
    for number in sorted({effort.number for effort in done.efforts}, reverse=True):
        efforts = [effort for effort in done.efforts if effort.number == number]
        counts = {manner: min(_complete(effort, manner) for effort in efforts) for manner in Manner}
        known = [f"up to {n} {WHEN[manner]}" for manner, n in counts.items() if n >= 0]
        starts = sum(effort.starts for effort in efforts)
        if number < last - BEFORE and number:
            continue
        from_ = f"from {starts:,} state{'s' * (starts != 1)}"
        told.append(f"Before {efforts[0].waypoint}, {from_}, complete: assumed events {', '.join(known) or 'none'}.")
    return [*told, "A fault counts as two events. Further back, and with more events, a behaviour may still fit."]


def _complete(effort: Effort, manner: Manner) -> int:
    """Up to how many events a manner is complete; -1 if not even without any."""
    count = effort.complete.get(manner)
    return -1 if count is None else count


# JSON.


def explanation_object(told: Told, trace_file: Path | None) -> dict[str, Any]:
    """The explanation as an object for scripts; fields are only ever added."""
    done = told.explanation
    return {
        "verdict": done.fit.value,
        "how": done.how,
        "exit_code": done.fit.exit_code,
        "engine": "explain",
        "scenario": told.model.scenario.name,
        "variant": told.model.variant,
        "flags": dict(told.model.asked_flags),
        "bounds": dict(told.model.binding.bounds),
        "headline": headline(told),
        "facts": list(told.series.facts),
        "snapshots": [_snapshot(told, waypoint, steps) for waypoint, steps in told.chapters()],
        "misfit": _misfit(done),
        "notes": sentences(told),
        "efforts": [_effort(effort) for effort in done.efforts],
        "distinct_states": done.states,
        "bounds_hit": dict(done.bounds_hit),
        "seconds": round(done.seconds, 3),
        "compile_seconds": round(told.compiling, 3),
        "trace_file": str(trace_file) if trace_file else None,
        "command": told.command,
    }


def _snapshot(told: Told, waypoint: Waypoint, steps: tuple[Step, ...]) -> dict[str, Any]:
    return {
        "name": waypoint.name,
        "assumed": [step.key for step in steps if told.is_assumed(step.key)],
        "actions": [step.key for step in steps],
        "facts": {fact.name: fact.shown for fact in waypoint.facts},
    }


def _misfit(done: Explanation) -> dict[str, Any] | None:
    if done.misfit is None or done.fit is Fit.EXPLAINED:
        return None
    return {
        "snapshot": done.misfit.number,
        "name": done.misfit.waypoint,
        "differences": [
            {"name": d.name, "shown": d.shown, "nearest": d.closest, "reached": list(d.reached), "never": d.never}
            for d in done.misfit.differences
        ],
    }


def _effort(effort: Effort) -> dict[str, Any]:
    complete = {manner.value: count for manner, count in effort.complete.items()}
    return {"snapshot": effort.waypoint, "starts": effort.starts, "states": effort.states, "complete": complete}
