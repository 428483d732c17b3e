"""A nightly run on the terminal: its progress, then a table of verdicts, notes on each, and the files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import asdict

from kwalk.model.language import Model
from kwalk.model.language.distributions import kwalk_version
from kwalk.model.language.errors import InternalError
from kwalk.reports.contradiction_bundle import bundle_of
from kwalk.reports.document import Block, DataTable, Paragraph, Span, strong
from kwalk.reports.escaping import visible
from kwalk.reports.pages.verdict import TONES
from kwalk.reports.progress import at_intervals, cut_off, duration, transient_bar
from kwalk.reports.streams import remark
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import stamped
from kwalk.search.night.driver import ProgressEvent
from kwalk.search.night.folder import MANIFEST, PAGE, TRACES
from kwalk.search.night.run import NightlyResult
from kwalk.search.night.tables import RunRow
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Answer

INTERNAL = 70
"""The exit code if engines contradict each other."""


def exit_code(result: NightlyResult) -> int:
    """Return the exit code of the most serious verdict; INTERNAL has precedence."""
    return INTERNAL if result.internal else result.answer.exit_code


def result_text(result: NightlyResult) -> Iterator[Block]:
    """Yield the result as text."""
    ended = f"{len(result.rows):,} of {result.tasks:,} tasks"
    accepted = sum(bool(row.accepted) for row in result.rows)
    beside = f"; {accepted:,} violate only what is accepted" if accepted else ""
    headline = _answer(result.answer, result.answer.value.upper())
    yield Paragraph([headline, f"  {result.state}; {ended} have a verdict{beside}"])
    rows = tuple(
        (
            row.name,
            [Span(f"{row.answer}, accepted", "faint") if row.accepted else _answer(Answer(row.answer), row.answer)],
            f"{row.walks:,}" if row.walks else "–",
            f"{row.steps:,}",
            duration(row.seconds),
        )
        for row in result.rows
    )
    yield DataTable(("task", "verdict", "walks", "steps", "time"), rows, frozenset({2, 3, 4}), wide=0)
    for row in result.rows:
        yield Paragraph([strong(row.name), f"  {row.answer}"])
        yield from (Paragraph(note, 2) for note in _facts(row))
    yield from (Paragraph([strong(text, "bad")]) for text in result.internal)
    yield from (Paragraph(f"  {ending}") for ending in endings(result))


def _answer(answer: Answer, text: str) -> Span:
    return strong(text, TONES.get(answer, "bad"))


def _facts(row: RunRow) -> Iterator[str]:
    yield from (f"accepted: {reason}" for reason in row.accepted)
    if row.why:
        yield row.why
    yield f"{row.how}; {work_done(row)}, seed {row.seed}"
    for bound, hits in row.bounds_hit.items():
        yield cut_off(bound, hits)
    yield from row.notes
    yield f"Reproduce: {row.command}"


def work_done(row: RunRow) -> str:
    """Return the work of a task, in the units of its engine."""
    if row.engine == "exhaust":
        return f"{row.visits:,} distinct states, {row.steps:,} generated"
    return f"{row.walks:,} walks, {row.steps:,} steps, {row.visits:,} visits"


def endings(result: NightlyResult) -> Iterator[str]:
    """Yield the files of the run, and the command that resumes it."""
    place = shlex.quote(str(result.folder))
    yield f"Run: {result.folder}"
    yield f"Manifest: {result.folder / MANIFEST}"
    if (result.folder / PAGE).exists():
        yield f"Read: {result.folder / PAGE}"
    traces = sorted((result.folder / TRACES).glob("*.itf.json"))
    yield from (f"Trace: {path}" for path in traces)
    if result.state != "complete":
        yield f"Resume: kwalk nightly --resume {place}"


def result_object(result: NightlyResult) -> dict[str, Any]:
    """Return the result for scripts."""
    return {
        "run": str(result.folder),
        "state": result.state,
        "verdict": result.answer.value,
        "tasks": result.tasks,
        "internal": list(result.internal),
        "runs": [asdict(row) for row in result.rows],
    }


LINE_SECONDS = 600.0
"""Seconds between two lines of progress if standard error is not a terminal."""


def progress_line(event: ProgressEvent) -> str:
    """Return the progress of a run in one line."""
    left = "" if event.left is None else f", {duration(event.left)} left"
    found = f", {event.findings:,} findings in {event.groups:,} groups" if event.findings else ""
    pace = f"{event.walks:,} walks, {event.rate:,.0f} steps/s" if event.walks else f"{event.rate:,.0f} a second"
    return f"{event.done:.0%} ({event.tasks_ended} of {event.tasks} tasks){left}; {visible(event.name)}: {pace}{found}"


class Watcher:
    """Reports the progress of a run: `show` displays an event, `say` prints a line that stays."""

    def __init__(self, show: Callable[[ProgressEvent], None], say: Callable[[str], None] = remark) -> None:
        self._show, self._say = show, say

    def progress(self, event: ProgressEvent) -> None:
        self._show(event)

    def note(self, text: str) -> None:
        self._say(visible(text, 2000))

    def task_ended(self, row: RunRow) -> None:
        found = f" ({row.how})" if not row.why else f" ({visible(row.why, 300)})"
        done = work_done(row).split(", ")[0]
        self._say(f"{visible(row.name)}: {row.answer}{found}, {done} in {duration(row.seconds)}")

    def bundle(self, error: InternalError, folder: Path, command: str) -> Path | None:
        return bundle_of(error, folder, command)

    def trace_text(self, model: Model, trace: Trace, reference: str) -> str:
        return itf_text(model, stamped(trace, model, reference), kwalk_version())


@contextmanager
def watched() -> Iterator[Watcher]:
    """Report the progress of a run on standard error; a terminal clears it at the end of the run."""
    if sys.stderr.isatty():
        with transient_bar("starting", total=1.0) as (bar, task):
            yield Watcher(
                lambda event: bar.update(task, completed=event.done, description=progress_line(event)),
                lambda text: bar.console.print(text, markup=False, highlight=False, soft_wrap=True),
            )
    else:
        yield Watcher(at_intervals(LINE_SECONDS, progress_line))
