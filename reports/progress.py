"""Progress of a long run on standard error: a bar with rate and time left on a terminal, else a line every 10 s."""
from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kwalk.reports.escaping import visible
from kwalk.reports.streams import remark
from kwalk.search.base.progress import Progress, Report

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

LINE_SECONDS = 10.0
"""Seconds between two lines if standard error is not a terminal."""


def line(progress: Progress) -> str:
    """Return the progress of a run in one line."""
    of = f" of {progress.total:,}" if progress.total else ""
    left = "" if progress.left is None else f", {duration(progress.left)} left"
    note = f" ({visible(progress.note)})" if progress.note else ""
    rate = f", {progress.rate:,.0f} {progress.unit}/s" if progress.rate >= 1 or not progress.done else ""
    done = f"{progress.done:,}{of} {progress.unit} in {duration(progress.seconds)}"
    return f"{progress.engine}: {done}{rate}{left}{note}"


def duration(seconds: float) -> str:
    """Return seconds in the largest suitable units: 0.4 s, 12 s, 3 min 05 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


@contextmanager
def shown_on_stderr() -> Iterator[Report]:
    """Yield a report for engines to call; a terminal clears the bar at the end of the block."""
    if sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _lines()


def _lines() -> Report:
    last = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            remark(line(progress))

    return report


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    from kwalk.reports.terminal import console

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda progress: _update(bar, task, progress)


def _update(bar: Bar, task: TaskID, progress: Progress) -> None:
    """Update the bar: by the total if it is known, otherwise by the time budget."""
    if progress.total:
        done, total = float(progress.done), float(progress.total)
    elif progress.left is not None:
        done, total = progress.seconds, progress.seconds + progress.left
    else:
        bar.update(task, description=line(progress))
        return
    bar.update(task, completed=done, total=total, description=line(progress))
