"""Cubes: sets of states that are given by intervals, and the facts "no reachable state is in this cube".

Words: a *cube* has an interval for some of the leaves; a state is *in* it if the number of each of these leaves lies in
its interval. A *clause* is the negation of a cube. A *fact* is a clause that is true in every reachable state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
