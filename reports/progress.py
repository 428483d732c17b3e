"""Progress of a long run on standard error: a bar with rate and time left on a terminal, else a line every 10 s."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from kwalk.reports.escaping import visible
from kwalk.reports.streams import remark
from kwalk.search.base.progress import LOOP_SECONDS, Progress, Report, announcements_to

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

T = TypeVar("T")
BAR = 10
"""Columns of the bar."""
LINE_SECONDS = 10.0
"""Seconds between two lines if standard error is not a terminal."""
NOTICED_SECONDS = 0.5
"""Seconds from which on a remark says that loops were compiled."""


COLUMNS = 80
"""The longest line."""


def line(progress: Progress, most: int = COLUMNS) -> str:
    """Return the progress of a run in one line of at most `most` characters, with rounded numbers if need be."""
    full, brief = (_parts(progress, count) for count in ("{:,.0f}".format, short))
    brief["rate"] = brief["rate"].replace(f" {progress.unit}/s", "/s")
    less = {**brief, "note": "", "frontier": "", "seconds": ""}
    for parts in (full, brief, {**brief, "note": ""}, less, {**less, "memory": ""}, {**less, "memory": "", "unit": ""}):
        text = "".join(parts.values())
        if len(text) <= most:
            return text
    return f"{text[: most - 1]}…"


def _parts(progress: Progress, count: Callable[[float], str]) -> dict[str, str]:
    """Return the pieces of a line, in order."""
    rate = progress.rate
    memory, budget = progress.memory, progress.memory_budget
    of = "" if budget is None else f" of {budget / 2**30:.3g}"
    return {
        "done": f"{progress.engine}: {count(progress.done)}",
        "total": f" of {count(progress.total)}" if progress.total else "",
        "unit": f" {progress.unit}",
        "seconds": f" in {duration(progress.seconds)}",
        "rate": f", {count(rate)} {progress.unit}/s" if rate >= 1 or not progress.done else "",
        "depth": "" if progress.depth is None else f", depth {progress.depth:,}",
        "frontier": "" if progress.frontier is None else f", frontier {count(progress.frontier)}",
        "memory": "" if memory is None else f", {memory / 2**30:.2g}{of} GiB",
        "left": "" if progress.left is None else f", {duration(progress.left)} left",
        "note": f" ({visible(progress.note)})" if progress.note else "",
    }


def short(number: float) -> str:
    """Return a number in few characters: 843, 12.3 k, 4.56 M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 10_000 and number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:,.0f}"


def times(count: int, thing: str) -> str:
    """Return a count with its noun."""
    plural = f"{thing[:-1]}ies" if thing.endswith("ty") else f"{thing}s"
    return f"{count:,} {thing if count == 1 else plural}"


def cut_off(bound: str, hits: int) -> str:
    """Return what a verdict says of a bound that was reached."""
    return f"the bound {bound} cut off {times(hits, 'step')}; what comes after is not known"


def duration(seconds: float) -> str:
    """Return seconds in the largest suitable units: 0.4 s, 12 s, 3 min 05 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


@contextmanager
def shown_on_stderr(watch: Report | None = None) -> Iterator[Report]:
    """Yield a report for engines to call; a terminal clears the bar at the end of the block.

    Args:
        watch: Receives all progress, too.
    """
    LOOP_SECONDS.clear()
    try:
        with _on_terminal() if sys.stderr.isatty() else _in_lines() as report:
            if watch is None:
                yield report
            else:
                yield lambda progress: (report(progress), watch(progress))[0]
    finally:
        _remark_on_loops()


def _remark_on_loops() -> None:
    """Say how many loops were compiled, if that took a while."""
    loops, seconds = len(LOOP_SECONDS), sum(LOOP_SECONDS.values())
    if seconds >= NOTICED_SECONDS:
        remark(f"kwalk: {loops} loops were compiled for this CPU in {duration(seconds)}; later searches find them.")


@contextmanager
def _in_lines() -> Iterator[Report]:
    """Yield a report that prints a line now and then; phases without a count have their lines, too."""
    lines: Callable[[Progress | str], None] = at_intervals(
        LINE_SECONDS, lambda message: message if isinstance(message, str) else line(message)
    )
    with announcements_to(lambda phase: lines(f"kwalk: {phase} …")):
        yield lines


@contextmanager
def _on_terminal() -> Iterator[Report]:
    """Yield a report that moves a bar."""
    with transient_bar("lifting and compiling, or loading what was compiled …") as (bar, task):
        most = min(COLUMNS, bar.console.width) - BAR - 4
        with announcements_to(lambda phase: bar.update(task, description=f"{phase} …"[:most])):
            yield lambda progress: _update(bar, task, progress, most)


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

    columns = (SpinnerColumn(), BarColumn(bar_width=BAR), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console(sys.stderr), transient=True) as bar:
        yield bar, bar.add_task(description, total=total)


def _update(bar: Bar, task: TaskID, progress: Progress, most: int) -> None:
    """Update the bar: by the total if it is known, otherwise by the time budget."""
    if progress.total:
        done, total = float(progress.done), float(progress.total)
    elif progress.left is not None:
        done, total = progress.seconds, progress.seconds + progress.left
    else:
        bar.update(task, description=line(progress, most))
        return
    bar.update(task, completed=done, total=total, description=line(progress, most))
