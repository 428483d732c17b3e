"""An explanation of snapshots as text and as JSON: what happened between them, or which snapshot no behaviour reaches.

Words: an *assumed* step is an event that no snapshot shows and that need not happen, such as a fault. All other steps
are those of the system itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen
from rich.padding import Padding

from kwalk.model.language import Model
from kwalk.model.language.display import Displayed
from kwalk.model.language.series import Series, Waypoint
from kwalk.model.language.settings import variant_text
from kwalk.reports.document import Block, DataTable, Heading, Paragraph, Span, strong
from kwalk.reports.document.text import Printable, steps_table
from kwalk.reports.escaping import visible
from kwalk.reports.progress import duration, times
from kwalk.reports.traces.story import Story, StoryStep, story_of
from kwalk.search.analyses.explain.explain import BACKTRACKED_SEGMENTS, Explanation, Fit, Mismatch, SegmentEffort
from kwalk.search.analyses.explain.segment import EventTiming
from kwalk.search.results.trace import Trace

TONES = {Fit.EXPLAINED: "good", Fit.REFUSED: "bad", Fit.UNDECIDED: "open"}
ALONE = {
    Fit.EXPLAINED: "A behaviour fits the snapshots without the logs: the log lines are what none fits.",
    Fit.REFUSED: "No behaviour fits the snapshots without the logs either.",
    Fit.UNDECIDED: "Whether a behaviour fits the snapshots without the logs was not decided in the time that was left.",
}
MOST_ITEMS = 8
"""The number of facts of a snapshot that are shown; the others are counted."""
WHEN = {
    EventTiming.PATIENT: "in quiescent states",
    EventTiming.CALM: "while the system only waits",
    EventTiming.HASTY: "in any state",
    EventTiming.SEQUENCE: "around a restart of all brokers in turn, or what one broker comes back from",
}


@frozen
class ReportedExplanation(Displayed):
    """An explanation with its model and its series of snapshots."""

    model: Model
    series: Series
    explanation: Explanation
    command: str
    others: tuple[ReportedExplanation, ...] = ()
    """Those of the other series of the same snapshots."""
    tried: str = ""
    """What was assumed besides what snapshots show, after no behaviour fitted without it."""
    left: str = ""
    """What could have been assumed besides, if the time had sufficed."""
    without_logs: Fit | None = None
    """The answer about the snapshots alone, if none fits with the logs and that was searched."""

    @property
    def fit(self) -> Fit:
        """The answer."""
        return self.explanation.fit

    @property
    def trace(self) -> Trace | None:
        """The behaviour up to the last snapshot that was reached."""
        return self.explanation.trace

    @property
    def story(self) -> Story | None:
        """The behaviour up to the last snapshot that was reached; assumed steps are not routine."""
        if self.explanation.trace is None:
            return None
        story = story_of(self.model, self.explanation.trace)
        steps = (evolve(s, routine=not (self.is_assumed(s.key) or s.notable)) for s in story.steps)
        return evolve(story, steps=tuple(steps))

    @property
    def story_with_snapshots(self) -> Story | None:
        """The behaviour, with notes on the snapshots where they are reached; these steps are not routine."""
        story = self.story
        if story is None:
            return None
        notes: dict[int, list[str]] = {}
        arrivals = zip(self.series.waypoints, self.explanation.arrivals, strict=False)
        for number, (waypoint, end) in enumerate(arrivals, start=1):
            notes.setdefault(end, []).append(f"here the system is as snapshot {number}, {waypoint.name}, shows it")
        for number, logged in self.explanation.logged:
            notes.setdefault(number, []).append(f"logged: {logged.name}: {logged.text}")
        steps = (
            evolve(s, routine=s.routine and s.number not in notes, asides=(*s.asides, *notes.get(s.number, ())))
            for s in story.steps
        )
        return evolve(
            story,
            steps=tuple(steps),
            asides=(*story.asides, *notes.get(0, ())),
            headline=self.fit.value.upper(),
            prop="a behaviour that passes through the snapshots",
        )

    def is_assumed(self, key: str) -> bool:
        """Return whether a step is an assumed one, by its key."""
        action = self.model.instance(key).action
        return not action.by.system or action.name in self.series.events

    @property
    def assumed_events(self) -> int:
        """The number of assumed steps of the behaviour."""
        return sum(self.is_assumed(step.key) for _, steps in self.legs() for step in steps)

    def legs(self) -> Iterator[tuple[Waypoint, tuple[StoryStep, ...]]]:
        """Yield the snapshots that were reached, each with the steps that lead to it."""
        story, begin = self.story, 0
        for waypoint, end in zip(self.series.waypoints, self.explanation.arrivals, strict=False):
            yield waypoint, story.steps[begin:end] if story else ()
            begin = end


# Text.


def explanation_text(report: ReportedExplanation, *, unfold: bool = False) -> Iterator[Printable]:
    """Yield the steps between the snapshots, then the answer."""
    yield from _heading(report)
    before: Waypoint | None = None
    for number, (waypoint, steps) in enumerate(report.legs(), start=1):
        yield from _arrival(report, number, waypoint, steps)
        if steps and report.story:
            yield Padding(steps_table(evolve(report.story, steps=steps), unfold=unfold), (0, 0, 0, 5))
        yield _inside(f"shows: {'; '.join(_news(before, waypoint))}", "faint")
        before = waypoint
    done = report.explanation
    yield Paragraph("")
    if done.mismatch and done.fit is not Fit.EXPLAINED:
        yield from _differences(done.mismatch, MOST_ITEMS)
    yield from (Paragraph(sentence, 2) for sentence in sentences(report))


def _heading(report: ReportedExplanation) -> Iterator[Block]:
    done, model = report.explanation, report.model
    length = done.trace.length if done.trace else 0
    about = f"  {visible(report.series.name)}:" if report.series.name else ""
    yield Paragraph([strong(done.fit.value.upper(), TONES[done.fit]), f"{about}  {headline(report)}"])
    variant = variant_text(model.variant, model.flag_overrides)
    facts = [f"{model.scenario.name}, variant {variant}", *report.series.facts, *log_sentences(report.series)]
    if done.fit is not Fit.EXPLAINED and length:
        events = times(report.assumed_events, "assumed event")
        facts.append(f"Up to that snapshot, a behaviour of {times(length, 'step')} with {events}:")
    yield from (Paragraph([Span(fact, "faint")], 2) for fact in facts)


def headline(report: ReportedExplanation) -> str:
    """Return the answer in one line."""
    done, count = report.explanation, len(report.series.waypoints)
    if done.fit is Fit.EXPLAINED:
        length, logged = done.trace.length if done.trace else 0, report.series.log_counts
        lines = f" and {times(logged.used, 'log line')}" if logged else ""
        events = times(report.assumed_events, "assumed event")
        return f"{times(count, 'snapshot')}{lines}, {events}, {times(length, 'step')}"
    mismatch = done.mismatch
    where = f"snapshot {mismatch.number + 1} of {count}, {visible(mismatch.waypoint)}" if mismatch else ""
    if done.fit is Fit.REFUSED:
        return f"at {where}: {_field(done.mismatch) if done.mismatch else ''}"
    longer = " (increase --seconds)" * done.how.startswith("time")
    return f"{visible(done.how)}{longer}, on the way to {where}"


def _field(mismatch: Mismatch) -> str:
    """Return the first difference, or else the first log line, and the number of the others."""
    differences = mismatch.differences
    if not differences and mismatch.not_taken:
        first, *others = mismatch.not_taken
        more = f", and {len(others)} more" if others else ""
        return visible(f"no behaviour has what is logged as {first.name}: {first.text}{more}")
    if not differences:
        return "each fact alone is reachable, but not all of them together"
    first_fact = differences[0]
    more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
    return visible(f"{first_fact.name} is {first_fact.value}, and the model has {first_fact.closest}{more}")


def _arrival(
    report: ReportedExplanation, number: int, waypoint: Waypoint, steps: tuple[StoryStep, ...]
) -> Iterator[Block]:
    """Yield how a snapshot is reached: its number and name, the number of steps, and the assumed ones."""
    count = times(len(steps), "step") if steps else "no step is needed"
    yield Paragraph("")
    yield Paragraph([Span(f"{number:>3}  ", "faint"), strong(waypoint.name), f"  {count}"])
    assumed = [f"{step.actor} {step.text}" for step in steps if report.is_assumed(step.key)]
    if assumed:
        yield _inside(f"assumed: {'; '.join(assumed)}", "notable")


def _inside(text: str, style: str) -> Paragraph:
    return Paragraph([Span(visible(text, 4000), style)], 5)


def _news(before: Waypoint | None, waypoint: Waypoint) -> list[str]:
    """Return the facts of a snapshot that differ from the one before."""
    known = {fact.name: fact.value for fact in before.facts} if before else {}
    found = [f"{f.name} {f.value}" for f in waypoint.facts if known.get(f.name) != f.value]
    if not found:
        return ["the same facts as the one before"]
    rest = len(found) - MOST_ITEMS
    return [*found[:MOST_ITEMS], *([f"and {rest} more"] if rest > 0 else [])]


def _differences(mismatch: Mismatch, most: int | None = None) -> Iterator[Block]:
    """Yield a table of how a snapshot differs from the nearest state, cut after `most` rows."""
    rows = [
        *((each.name, each.value, each.closest, ", ".join(each.reached)) for each in mismatch.differences),
        *((step.name, step.text, "not taken", "") for step in mismatch.not_taken),
    ]
    yield Paragraph(f"{mismatch.waypoint} is not reached. It differs from the nearest state of the model:")
    yield DataTable(("what", "the snapshot", "the nearest state", "values in visited states"), tuple(rows[:most]))
    if most is not None and len(rows) > most:
        yield Paragraph(f"and {len(rows) - most} more", 2)


def sentences(report: ReportedExplanation) -> list[str]:
    """Return sentences on how sure the answer is, and on its cost."""
    done = report.explanation
    found = [
        f"{done.states:,} states in {duration(done.seconds)}, by {done.executed}.",
        *([str(done.compared)] if done.compared else []),
    ]
    if done.fit is Fit.EXPLAINED:
        assumed = [f"Without {report.tried}, no behaviour was found."] if report.tried else []
        return ["Every step is confirmed in plain Python. Other behaviours may fit as well.", *assumed, *found]
    hits = ", ".join(f"{name} {count:,} times" for name, count in done.bounds_hit.items())
    within = [f"Bounds that disabled steps: {hits}."] if hits else []
    tried = [f"Tried as well: {report.tried}."] if report.tried else []
    untried = [text for text in (report.left, *report.series.untried) if text]
    alone = [ALONE[report.without_logs]] if report.without_logs else []
    return [*alone, *scope(done), *tried, *([f"Not tried: {'; '.join(untried)}."] if untried else []), *within, *found]


UNKNOWN = 5
"""How many kinds of log lines that are not understood are named."""


def log_sentences(series: Series) -> Iterator[str]:
    """Yield what became of the lines of the logs."""
    counts = series.log_counts
    if counts is None:
        return
    files = times(counts.files, "file")
    yield f"Of {counts.lines:,} log lines in {files}, {counts.used:,} are observations that a behaviour passes through."
    if counts.unused:
        yield f"Not used: {'; '.join(f'{count:,} {why}' for why, count in counts.unused.items())}."
    if counts.unknown:
        shown = list(counts.unknown.items())[:UNKNOWN]
        rest = sum(counts.unknown.values()) - sum(count for _, count in shown)
        named = "; ".join(f"{count:,} like {visible(shape)}" for shape, count in shown)
        more = f"; {rest:,} of {len(counts.unknown) - len(shown):,} other kinds" if rest else ""
        yield f"Not understood: {named}{more}."
    yield from counts.notes


def scope(explanation: Explanation) -> list[str]:
    """Return the assumptions within which the search was exhaustive."""
    last = max((effort.number for effort in explanation.efforts), default=0)
    sentences = []
    for number in sorted({effort.number for effort in explanation.efforts}, reverse=True):
        efforts = [effort for effort in explanation.efforts if effort.number == number]
        counts = {timing: min(_complete(effort, timing) for effort in efforts) for timing in EventTiming}
        known = [f"up to {n} {WHEN[timing]}" for timing, n in counts.items() if n >= 0]
        starts = sum(effort.starts for effort in efforts)
        if number < last - BACKTRACKED_SEGMENTS and number:
            continue
        from_ = f"from {times(starts, 'state')}"
        sentences.append(
            f"Before {efforts[0].waypoint}, {from_}, complete: assumed events {', '.join(known) or 'none'}."
        )
    return [
        *sentences,
        "An event such as a crash counts as two. A behaviour that differs earlier, or has more events, may still fit.",
    ]


def _complete(effort: SegmentEffort, timing: EventTiming) -> int:
    """Return the number of events up to which the search is complete; -1 if it is not complete without any."""
    count = effort.complete.get(timing)
    return -1 if count is None else count


def exit_code_of(reports: Sequence[ReportedExplanation]) -> int:
    """Return the exit code of several explanations: no behaviour fits one, or one is undecided or refused, or 0."""
    codes = {report.fit.exit_code for report in reports}
    if any(report.series.refused for report in reports):
        codes.add(Fit.UNDECIDED.exit_code)
    return max(codes)


# The page.


def history_of(report: ReportedExplanation) -> Iterator[Block]:
    """Yield what the text says of the snapshots and the steps between them, but for the steps themselves."""
    done = report.explanation
    yield Heading(2, "What the snapshots show")
    yield Paragraph([strong(done.fit.value.upper(), TONES[done.fit]), f"  {headline(report)}"])
    rows, before = [], None
    for number, (waypoint, steps) in enumerate(report.legs(), start=1):
        assumed = "; ".join(f"{step.number} {step.actor} {step.text}" for step in steps if report.is_assumed(step.key))
        counted = times(len(steps), "step") if steps else "none needed"
        rows.append((str(number), waypoint.name, counted, assumed, "; ".join(_news(before, waypoint))))
        before = waypoint
    yield DataTable(("#", "snapshot", "steps", "assumed", "what it shows"), tuple(rows), frozenset({0}))
    if done.mismatch and done.fit is not Fit.EXPLAINED:
        yield from _differences(done.mismatch)
    yield from (Paragraph(sentence) for sentence in (*log_sentences(report.series), *sentences(report)))


# JSON.


def explanations_object(explanations: Sequence[tuple[ReportedExplanation, Path | None]]) -> dict[str, Any]:
    """Return explanations as an object for scripts: that of the worst, with those of all as `series` if several."""
    worst = max(explanations, key=lambda each: each[0].fit.exit_code)
    several = [explanation_object(*each) for each in explanations] if len(explanations) > 1 else []
    return {**explanation_object(*worst), "series": several}


def explanation_object(report: ReportedExplanation, trace_file: Path | None) -> dict[str, Any]:
    """Return the explanation as an object for scripts."""
    done = report.explanation
    return {
        "verdict": done.fit.value,
        "how": done.how,
        "exit_code": done.fit.exit_code,
        "engine": "explain",
        "about": report.series.name,
        "scenario": report.model.scenario.name,
        "variant": report.model.variant,
        "flags": dict(report.model.flag_overrides),
        "bounds": dict(report.model.binding.bounds),
        "headline": headline(report),
        "facts": list(report.series.facts),
        "log_lines": None if report.series.log_counts is None else asdict(report.series.log_counts),
        "without_logs": report.without_logs.value if report.without_logs else None,
        "snapshots": [_snapshot(report, waypoint, steps) for waypoint, steps in report.legs()],
        "mismatch": _mismatch(done),
        "notes": sentences(report),
        "compared": done.compared.counts,
        "efforts": [_effort(effort) for effort in done.efforts],
        "distinct_states": done.states,
        "bounds_hit": dict(done.bounds_hit),
        "seconds": round(done.seconds, 3),
        "executed": done.executed,
        "trace_file": str(trace_file) if trace_file else None,
        "command": report.command,
    }


def _snapshot(report: ReportedExplanation, waypoint: Waypoint, steps: tuple[StoryStep, ...]) -> dict[str, Any]:
    return {
        "name": waypoint.name,
        "logged": [
            {"step": number, "place": step.name, "text": step.text}
            for number, step in report.explanation.logged
            if number in {each.number for each in steps}
        ],
        "assumed": [step.key for step in steps if report.is_assumed(step.key)],
        "actions": [step.key for step in steps],
        "facts": {fact.name: fact.value for fact in waypoint.facts},
    }


def _mismatch(explanation: Explanation) -> dict[str, Any] | None:
    if explanation.mismatch is None or explanation.fit is Fit.EXPLAINED:
        return None
    return {
        "snapshot": explanation.mismatch.number,
        "name": explanation.mismatch.waypoint,
        "differences": [
            {"name": d.name, "shown": d.value, "nearest": d.closest, "reached": list(d.reached), "never": d.never}
            for d in explanation.mismatch.differences
        ],
        "log_lines": [{"place": step.name, "text": step.text} for step in explanation.mismatch.not_taken],
    }


def _effort(effort: SegmentEffort) -> dict[str, Any]:
    complete = {timing.value: count for timing, count in effort.complete.items()}
    return {"snapshot": effort.waypoint, "starts": effort.starts, "states": effort.states, "complete": complete}
