"""Progress of a long run on standard error: a bar with rate and time left on a terminal, else a line every 10 s."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from kwalk.reports.escaping import visible
from kwalk.reports.streams import remark
from kwalk.search.base.progress import Progress, Report

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

T = TypeVar("T")
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
        with transient_bar() as (bar, task):
            yield lambda progress: _update(bar, task, progress)
    else:
        yield at_intervals(LINE_SECONDS, line)


def at_intervals(seconds: float, text: Callable[[T], str]) -> Callable[[T], None]:
    """Return a function that prints the text of a progress report on standard error, at most once in `seconds`."""
    last = time.monotonic()

    def report(progress: T) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            remark(text(progress))

    return report


@contextmanager
def transient_bar(description: str = "", total: float | None = None) -> Iterator[tuple[Bar, TaskID]]:
    """Yield a progress bar on standard error and its task; it is cleared at the end of the block."""
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    from kwalk.reports.terminal import console

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console(sys.stderr), transient=True) as bar:
        yield bar, bar.add_task(description, total=total)


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
