"""How the number of distinct states grew, as curves: points of a drawing, in its units, with y downwards."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import frozen

from search.nightly.reading.results import Growth, TaskResult

WIDTH, HEIGHT = 300.0, 110.0
"""Units of a drawing."""


@frozen
class Curve:
    """The growth of a task, drawn, and that of an earlier run beside it, if there is one."""

    task: TaskResult
    line: str
    area: str
    earlier: str
    most_steps: int
    most_states: float

    @property
    def late(self) -> float | None:
        """Which part of the states came in the last quarter of a task's walks; None where that cannot be told."""
        growth = self.task.growth
        if self.task.levels or len(growth.steps) < 4 or not growth.states[-1]:
            return None
        points, late = zip(growth.steps, growth.states, strict=True), 0.75 * growth.steps[-1]
        before = max((states for steps, states in points if steps <= late), default=0.0)
        return max(0.0, 1 - before / growth.states[-1])


def curve(task: TaskResult, earlier: TaskResult | None) -> Curve | None:
    """The curve of a task, None if nothing was counted."""
    growth, old = task.growth, earlier.growth if earlier is not None else Growth()
    if not growth.steps:
        return None
    across, up = max(*growth.steps, *old.steps, 1), max(*growth.states, *old.states, 1.0)
    line = _path(growth, across, up)
    right = WIDTH * growth.steps[-1] / across
    return Curve(
        task, line, f"{line} L{right:.1f} {HEIGHT:.1f} L0 {HEIGHT:.1f} Z", _path(old, across, up), across, up
    )


def _path(growth: Growth, across: float, up: float) -> str:
    """The commands of an SVG path from nothing through all points."""
    if not growth.steps:
        return ""
    points = [(0.0, HEIGHT)]
    points += [(WIDTH * s / across, HEIGHT - HEIGHT * n / up) for s, n in zip(growth.steps, growth.states, strict=True)]
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in _apart(points))


def _apart(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points without those that lie on the one before."""
    return [points[0], *(b for a, b in pairwise(points) if abs(a[0] - b[0]) + abs(a[1] - b[1]) >= 0.05)]
