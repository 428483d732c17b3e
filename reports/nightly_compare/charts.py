"""The charts of a nightly page: the coverage heatmap, and the growth of distinct states.

Words: a *cell* of the heatmap is an action in a task, all of its instances together. Its *level*, from 1 to LEVELS, is
the logarithm of how often it was taken; the most frequent action of a task has the highest level. A *growth curve* is
drawn in units of the drawing, with y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen

from kwalk.search.night.results import GrowthCurve, TaskResult

LEVELS = 6
"""The number of colours of the heatmap."""


@frozen
class HeatCell:
    """An action in a task; `level` is 0 if it was never taken."""

    task: TaskResult
    action: str
    enabled: int = 0
    taken: int = 0
    changed: int = 0
    level: int = 0

    @property
    def mark(self) -> str:
        """The text of the cell."""
        if self.taken:
            return _short(self.taken) if self.changed else "="
        return "–" if self.enabled else "∅"

    @property
    def kind(self) -> str:
        """The class of the cell in the stylesheet."""
        if self.taken and self.changed:
            return f"level{self.level}"
        return "unchanging" if self.taken else ("skipped" if self.enabled else "never")

    @property
    def description(self) -> str:
        """The counts of the cell."""
        counts = f"enabled {self.enabled:,}, taken {self.taken:,}, changed the state {self.changed:,} times"
        return f"{self.action} in {self.task.name}: {counts}"


@frozen
class HeatRow:
    """An action in all tasks; None for a task without it."""

    action: str
    actor: str
    cells: tuple[HeatCell | None, ...]


def heatmap_rows(tasks: Sequence[TaskResult]) -> list[HeatRow]:
    """Return the heatmap of some tasks: a row per action, by actor and in the order of the models."""
    columns = [{cell.action: cell for cell in _cells(task)} for task in tasks]
    actors: dict[str, str] = {}
    for task in tasks:
        for instance in task.actions:
            actors.setdefault(instance.action, _group(instance.actor))
    order = list(dict.fromkeys(actors.values()))
    names = sorted(actors, key=lambda name: order.index(actors[name]))
    return [HeatRow(name, actors[name], tuple(column.get(name) for column in columns)) for name in names]


def _cells(task: TaskResult) -> Iterator[HeatCell]:
    """Yield the cells of a task."""
    sums: dict[str, list[int]] = {}
    for instance in task.actions:
        counts = sums.setdefault(instance.action, [0, 0, 0])
        for place, count in enumerate((instance.enabled, instance.taken, instance.changed)):
            counts[place] += count
    most = max((taken for _, taken, _ in sums.values()), default=0)
    for name, (enabled, taken, changed) in sums.items():
        yield HeatCell(task, name, enabled, taken, changed, _level(taken, most))


def _level(count: int, most: int) -> int:
    """Return the level of a count: one less for each half of a power of ten below the most."""
    return max(1, LEVELS - int(2 * math.log10(most / count))) if count else 0


def _group(actor: str) -> str:
    """Return an actor without its number: broker 1 and broker 2 are one group."""
    name, _, member = actor.rpartition(" ")
    return name if name and any(c.isdigit() for c in member) else actor


def _short(count: int) -> str:
    """Return a count in at most four characters."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.0f}{letter}" if count >= 10 * size else f"{count / size:.1f}{letter}"
    return str(count)


WIDTH, HEIGHT = 300.0, 110.0
"""The size of a drawing, in its units."""


@frozen
class Curve:
    """The growth curve of a task, and that of an earlier run if there is one, as SVG paths."""

    task: TaskResult
    line: str
    area: str
    earlier: str
    most_steps: int
    """The steps at the right end of the drawing."""
    most_states: float
    """The states at its top."""

    @property
    def late(self) -> float | None:
        """The part of the states that the last quarter of a task's walks added; None if that is unknown."""
        growth = self.task.growth
        if self.task.levels or len(growth.steps) < 4 or not growth.states[-1]:
            return None
        points, late = zip(growth.steps, growth.states, strict=True), 0.75 * growth.steps[-1]
        before = max((states for steps, states in points if steps <= late), default=0.0)
        return max(0.0, 1 - before / growth.states[-1])


def curve(task: TaskResult, earlier: TaskResult | None) -> Curve | None:
    """Return the curve of a task, None if nothing was counted."""
    growth, old = task.growth, earlier.growth if earlier is not None else GrowthCurve()
    if not growth.steps:
        return None
    across, up = max(*growth.steps, *old.steps, 1), max(*growth.states, *old.states, 1.0)
    line = _path(growth, across, up)
    right = WIDTH * growth.steps[-1] / across
    return Curve(task, line, f"{line} L{right:.1f} {HEIGHT:.1f} L0 {HEIGHT:.1f} Z", _path(old, across, up), across, up)


def _path(growth: GrowthCurve, across: float, up: float) -> str:
    """Return the commands of an SVG path from zero through all points."""
    if not growth.steps:
        return ""
    points = [(0.0, HEIGHT)]
    points += [(WIDTH * s / across, HEIGHT - HEIGHT * n / up) for s, n in zip(growth.steps, growth.states, strict=True)]
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in _apart(points))


def _apart(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points without those at the place of the one before."""
    return [points[0], *(b for a, b in pairwise(points) if abs(a[0] - b[0]) + abs(a[1] - b[1]) >= 0.05)]
