"""Watching a run: a bar on a terminal; elsewhere a line when a task ends, and now and then how far it is."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from model.language import Model
from reports.escaping import visible
from reports.itf import itf_text
from reports.nightly.result import work_done
from reports.progress import duration
from reports.replaying import stamped
from reports.saving import version
from reports.streams import remark
from search.nightly.tables import RunRow
from search.nightly.watch import Moment
from search.trace import Trace

QUIET_SECONDS = 600.0
"""Seconds between two lines off a terminal."""


def line(moment: Moment) -> str:
    """A moment of a run in one line."""
    left = "" if moment.left is None else f", {duration(moment.left)} left"
    found = f", {moment.findings:,} findings in {moment.clusters:,} clusters" if moment.findings else ""
    pace = f"{moment.walks:,} walks, {moment.rate:,.0f} steps/s" if moment.walks else f"{moment.rate:,.0f} a second"
    return (
        f"{moment.done:.0%} ({moment.tasks_ended} of {moment.tasks} tasks){left}; {visible(moment.name)}: {pace}{found}"
    )


class Watcher:
    """Tells people of a run as it goes on; `show` puts a moment where it can be seen, for a while."""

    def __init__(self, show: Callable[[Moment], None], say: Callable[[str], None] = remark) -> None:
        self._show, self._say = show, say

    def moment(self, moment: Moment) -> None:
        self._show(moment)

    def remark(self, text: str) -> None:
        self._say(visible(text, 2000))

    def ended(self, row: RunRow) -> None:
        found = f" ({row.how})" if not row.why else f" ({visible(row.why, 300)})"
        done = work_done(row).split(", ")[0]
        self._say(f"{visible(row.name)}: {row.answer}{found}, {done} in {duration(row.seconds)}")

    def trace_text(self, model: Model, trace: Trace, reference: str) -> str:
        return itf_text(model, stamped(trace, model, reference), version())


@contextmanager
def watched() -> Iterator[Watcher]:
    """What a run tells, on standard error; what a terminal shows of it is gone when the run ends."""
    if sys.stderr.isatty():
        with _bar() as watcher:
            yield watcher
    else:
        yield Watcher(_lines())


def _lines() -> Callable[[Moment], None]:
    last = time.monotonic()

    def show(moment: Moment) -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET_SECONDS:
            last = time.monotonic()
            remark(line(moment))

    return show


@contextmanager
def _bar() -> Iterator[Watcher]:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    from reports.terminal import console

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield Watcher(
            lambda moment: bar.update(task, completed=moment.done, description=line(moment)),
            lambda text: bar.console.print(text, markup=False, highlight=False, soft_wrap=True),
        )
