"""Many nights in one folder: how states, rates and findings change, and in which night a group was first seen.

Words: the *history* of a run is the runs in one folder that started before it, the earliest first. A task has the same
key in each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path

from attrs import field, frozen

from kwalk.model.language import UsageError
from kwalk.reports.escaping import visible
from kwalk.reports.nightly_compare.phrases import suspect_commits
from kwalk.search.night.folder import MANIFEST
from kwalk.search.night.results import RunResult, TaskResult, read_run
from kwalk.search.night.tables import FindingRow

NIGHTS = 60
"""The most runs of a history that are read: the latest ones."""
WIDTH, HEIGHT = 220.0, 48.0


@frozen
class History:
    """The runs before a run, the earliest first, then the run itself; and what of the folder could not be read."""

    runs: tuple[RunResult, ...]
    unread: tuple[str, ...] = ()
    _tasks: dict[tuple[str, ...], tuple[tuple[RunResult, TaskResult], ...]] = field(init=False, repr=False)

    @_tasks.default
    def _by_key(self) -> dict[tuple[str, ...], tuple[tuple[RunResult, TaskResult], ...]]:
        found: dict[tuple[str, ...], list[tuple[RunResult, TaskResult]]] = {}
        for run in self.runs:
            for task in run.tasks:
                found.setdefault(task.key, []).append((run, task))
        return {key: tuple(nights) for key, nights in found.items()}

    def nights_of(self, task: TaskResult) -> tuple[tuple[RunResult, TaskResult], ...]:
        """Return the runs with this task, and the task in each."""
        return self._tasks.get(task.key, ())

    def first_seen(self, task: TaskResult, group: FindingRow) -> str:
        """Return the night in which a group was first seen, and between which commits, in words."""
        before: RunResult | None = None
        for run, same in self.nights_of(task):
            if any(each.group == group.group for each in same.groups):
                if before is None:
                    return f"seen in {visible(run.path.name)} already, the first of these nights with this task"
                suspects = suspect_commits(before, run)
                between = f"; suspect commits {suspects}" if suspects else ""
                return f"first seen in {visible(run.path.name)}, not in {visible(before.path.name)}{between}"
            before = run
        return ""


def history_of(run: RunResult, folder: Path) -> History:
    """Return the history of a run in a folder of runs; UsageError if the folder cannot be read."""
    try:
        places = sorted(path for path in folder.iterdir() if (path / MANIFEST).is_file())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"The folder of runs {visible(str(folder))!r} cannot be read: {why}.") from error
    found, unread = [], []
    for path in places:
        if path.resolve() == run.path.resolve():
            continue
        try:
            found.append(read_run(path))
        except UsageError as error:
            unread.append(str(error))
    started = run.text_of("started")
    earlier = sorted((one for one in found if one.text_of("started") < started), key=lambda one: one.text_of("started"))
    return History((*earlier[-NIGHTS:], run), tuple(unread))


@frozen
class Trend:
    """One figure of a task over the nights: a title with its unit, the last value as text, and the drawing."""

    title: str
    last: str
    svg: str


def trends(history: History, short: Callable[[float | None], str]) -> Iterator[tuple[str, list[Trend]]]:
    """Yield for each task of the last run that an earlier one has its name and its trends."""
    for task in history.runs[-1].tasks:
        nights = history.nights_of(task)
        if len(nights) > 1:
            unit = "steps" if task.walks else "successors"
            figures: tuple[tuple[str, list[float | None]], ...] = (
                ("distinct states", [night.distinct for _, night in nights]),
                (f"{unit} a second", [night.rate for _, night in nights]),
                ("groups of findings", [float(len(night.groups)) for _, night in nights]),
            )
            names = [run.path.name for run, _ in nights]
            drawn = [_trend(title, values, names, short) for title, values in figures if values[-1] is not None]
            yield task.name, drawn


def _trend(
    title: str, values: Sequence[float | None], names: Sequence[str], short: Callable[[float | None], str]
) -> Trend:
    known = [(number, value) for number, value in enumerate(values) if value is not None]
    most, wide = max(value for _, value in known) or 1.0, max(1, len(values) - 1)
    points = [(WIDTH * number / wide, HEIGHT - HEIGHT * value / most) for number, value in known]
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"><title>{escape(visible(names[number]))}: {short(value)}</title>'
        "</circle>"
        for (x, y), (number, value) in zip(points, known, strict=True)
    )
    way = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    label = escape(f"{title}: {', '.join(short(value) for value in values)}")
    svg = (
        f'<svg class="trend" viewBox="-4 -4 {WIDTH + 8:.0f} {HEIGHT + 8:.0f}" role="img" aria-label="{label}">'
        f'<path class="axis" d="M0 {HEIGHT:.0f}H{WIDTH:.0f}"/><path class="line" d="M{way}"/>{dots}</svg>'
    )
    return Trend(title, f"{short(known[0][1])} → {short(known[-1][1])}, at most {short(most)}", svg)
