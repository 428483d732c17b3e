"""Cubes: sets of states that are given by intervals, and the facts "no reachable state is in this cube".

Words: a *cube* has an interval for some of the leaves; a state is *in* it if the number of each of these leaves lies in
its interval. A *clause* is the negation of a cube. A *fact* is a clause that is true in every reachable state. *Rows*
are states as an array, one row per state and one column per leaf of a slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kwalk.model.language import Model

Interval = tuple[int, int]
Limit = tuple[int, bool, int]
"""A leaf, whether it is at least (True) or at most (False) the number, and the number."""


class Cube(Mapping[int, Interval]):
    """An interval for each of some leaves. Cubes are values: equal ones have equal hashes."""

    __slots__ = ("_hash", "_intervals")

    def __init__(self, intervals: Mapping[int, Interval] | Iterable[tuple[int, Interval]]) -> None:
        self._intervals: dict[int, Interval] = dict(sorted(dict(intervals).items()))
        self._hash = hash(tuple(self._intervals.items()))

    def __getitem__(self, leaf: int) -> Interval:
        return self._intervals[leaf]

    def __iter__(self) -> Iterator[int]:
        return iter(self._intervals)

    def __len__(self) -> int:
        return len(self._intervals)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cube) and self._intervals == other._intervals

    def without(self, leaf: int) -> Cube:
        """Return the larger cube that does not restrict a leaf."""
        return Cube({n: interval for n, interval in self._intervals.items() if n != leaf})

    def contains(self, other: Cube) -> bool:
        """Whether every state in the other cube is in this one."""
        return all(n in other and low <= other[n][0] and other[n][1] <= high for n, (low, high) in self.items())

    def contains_state(self, state: Sequence[int]) -> bool:
        """Whether a state vector is in it."""
        return all(low <= state[n] <= high for n, (low, high) in self.items())

    def limits(self, model: Model) -> list[Limit]:
        """Return the cube as limits of leaves, without those that the domains imply."""
        found = []
        for n, (low, high) in self.items():
            leaf = model.leaves[n]
            found += [(n, True, low)] if low > leaf.low else []
            found += [(n, False, high)] if high < leaf.high else []
        return found


def cube_of_limits(model: Model, limits: Iterable[Limit]) -> Cube:
    """Return the cube with these limits."""
    intervals: dict[int, Interval] = {}
    for n, is_least, number in limits:
        low, high = intervals.get(n, (model.leaves[n].low, model.leaves[n].high))
        intervals[n] = (max(low, number), high) if is_least else (low, min(high, number))
    return Cube(intervals)


class KnownStates:
    """Reachable states, to reject quickly a clause that is no fact.

    Args:
        rows: int64[n, len(leaves)].
        leaves: The leaf of each column.
    """

    def __init__(self, rows: np.ndarray, leaves: Sequence[int]) -> None:
        self.rows = rows
        self._values: dict[int, list[int]] = {}
        self.column = {leaf: index for index, leaf in enumerate(leaves)}

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, leaf: int) -> list[int]:
        """Return the numbers that a leaf has in them, in order."""
        if leaf not in self._values:
            self._values[leaf] = np.unique(self.rows[:, self.column[leaf]]).tolist()
        return self._values[leaf]

    def inside(self, cube: Cube) -> np.ndarray:
        """Return the rows that are in a cube."""
        left = self.rows
        for n, (low, high) in cube.items():
            values = left[:, self.column[n]]
            left = left[(values >= low) & (values <= high)]
            if not len(left):
                break
        return left

    def intersects(self, cube: Cube) -> bool:
        """Whether one of them is in a cube."""
        return len(self.inside(cube)) > 0


# Descriptions.


def fact_text(model: Model, cube: Cube) -> str:
    """Return the fact that no reachable state is in a cube, as a phrase about the model's own fields."""
    if len(cube) == 1:
        ((n, interval),) = cube.items()
        return f"{_name(model, n)} is never {_values(model, n, interval)}"
    return f"never together: {cube_text(model, cube)}"


def cube_text(model: Model, cube: Cube) -> str:
    """Return what holds in every state of a cube."""
    return ", ".join(f"{_name(model, n)} {_values(model, n, interval)}" for n, interval in cube.items())


def _name(model: Model, n: int) -> str:
    path = model.leaves[n].path
    return f"len({path[:-1]})" if path.endswith("#") else path


def _values(model: Model, n: int, interval: Interval) -> str:
    leaf, (low, high) = model.leaves[n], interval
    with model.active():
        words = {number: leaf.show(number) for number in range(leaf.low, leaf.high + 1)}
    shown = [words[number] for number in range(low, high + 1)]
    others = [words[number] for number in words if not low <= number <= high]
    if len(shown) <= 2:
        return " or ".join(shown)
    if len(others) == 1:
        return f"not {others[0]}"
    if high == leaf.high or low == leaf.low:
        return f"{words[low]} or more" if high == leaf.high else f"{words[high]} or less"
    return f"{words[low]} to {words[high]}"
