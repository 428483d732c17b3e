"""How often each action was taken in each task, as a map: the more often the stronger its colour.

Words: a *cell* is an action in a task, all of its instances together. Its *heat* goes from 1 to HEATS with the
logarithm of how often it was taken; the most frequent action of the task is hottest.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from attrs import frozen

from search.nightly.reading.results import TaskResult

HEATS = 6


@frozen
class Cell:
    """An action in a task; `heat` is 0 where it was never taken."""

    task: TaskResult
    action: str
    enabled: int = 0
    taken: int = 0
    changed: int = 0
    heat: int = 0

    @property
    def mark(self) -> str:
        """What is written into the cell."""
        if self.taken:
            return _short(self.taken) if self.changed else "="
        return "–" if self.enabled else "∅"

    @property
    def kind(self) -> str:
        """Its look."""
        if self.taken and self.changed:
            return f"heat{self.heat}"
        return "still" if self.taken else ("passed" if self.enabled else "never")

    @property
    def says(self) -> str:
        """The cell in words."""
        counts = f"enabled {self.enabled:,}, taken {self.taken:,}, changed the state {self.changed:,} times"
        return f"{self.action} in {self.task.name}: {counts}"


@frozen
class HeatRow:
    """An action in all tasks; None where a task does not have it."""

    action: str
    actor: str
    cells: tuple[Cell | None, ...]


def heat_rows(tasks: Sequence[TaskResult]) -> list[HeatRow]:
    """The map of some tasks, an action a row, by actor and in the order of the models."""
    columns = [{cell.action: cell for cell in _cells(task)} for task in tasks]
    actors: dict[str, str] = {}
    for task in tasks:
        for rule in task.rules:
            actors.setdefault(rule.name, _group(rule.actor))
    order = list(dict.fromkeys(actors.values()))
    names = sorted(actors, key=lambda name: order.index(actors[name]))
    return [HeatRow(name, actors[name], tuple(column.get(name) for column in columns)) for name in names]


def _cells(task: TaskResult) -> Iterator[Cell]:
    """The cells of a task."""
    sums: dict[str, list[int]] = {}
    for rule in task.rules:
        counts = sums.setdefault(rule.name, [0, 0, 0])
        for place, count in enumerate((rule.enabled, rule.taken, rule.changed)):
            counts[place] += count
    most = max((taken for _, taken, _ in sums.values()), default=0)
    for name, (enabled, taken, changed) in sums.items():
        yield Cell(task, name, enabled, taken, changed, _heat(taken, most))


def _heat(taken: int, most: int) -> int:
    """A step less for each half of a power of ten below the most."""
    return max(1, HEATS - int(2 * math.log10(most / taken))) if taken else 0


def _group(actor: str) -> str:
    """An actor without the number of its member: broker 1 and broker 2 are one group."""
    name, _, member = actor.rpartition(" ")
    return name if name and any(c.isdigit() for c in member) else actor


def _short(count: int) -> str:
    """A count in at most four characters."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.0f}{letter}" if count >= 10 * size else f"{count / size:.1f}{letter}"
    return str(count)
