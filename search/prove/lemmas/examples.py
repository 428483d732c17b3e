"""Guessing what is true of all reachable states from those that are known.

Words: *examples* are reachable states. They *agree* with another state on some leaves where they have the same numbers.
A *guess* is a cube around a state that no example is in. The fewer leaves it speaks of, and the more examples come near
it (agree on all of its leaves but one), the more likely it is that no reachable state is in it. Among likely ones the
largest cube is the best: it excludes the most, so that fewer are needed.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from model.language import Model, Vector
from search.prove.cubes import Cube, Interval

LIKELY = 30.0
"""So many examples are expected in two values at once, if they had nothing to do with each other, for a good guess."""
RATHER = 10.0
"""A guess about three leaves is taken if so many times as many examples speak for it as for the best about two."""
COMPARED = 20
"""So many likely guesses are compared by how large they are."""
WEIGHED = 60
"""Where a state disagrees with the examples in more leaves than that, guesses about three are not looked for."""


class Examples:
    """Reachable states, one row each."""

    def __init__(self, model: Model, vectors: np.ndarray) -> None:
        self.model = model
        self.rows = np.unique(vectors.astype(np.int16), axis=0)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, vectors: np.ndarray) -> None:
        """Know more of them."""
        self.rows = np.concatenate([self.rows, vectors.astype(np.int16)])

    def meets(self, cube: Cube) -> bool:
        """Whether one of them is in a cube."""
        return len(self._inside(cube.items())) > 0

    def agreeing(self, state: Sequence[int], leaves: Sequence[int]) -> Vector | None:
        """An example that agrees with a state on some leaves; None if there is none."""
        inside = self._inside((n, (state[n], state[n])) for n in leaves)
        return tuple(self.rows[inside[0]].tolist()) if len(inside) else None

    def guess(self, state: Sequence[int], leaves: Sequence[int]) -> Cube:
        """The best guess around a state that speaks of some of these leaves, on which no example agrees with it."""
        options = _Patterns(self.rows[:, list(leaves)], [state[n] for n in leaves]).likely()
        cubes = [self._widened({leaves[place]: state[leaves[place]] for place in chosen}) for chosen in options]
        return max(cubes, key=self._share)

    def _share(self, cube: Cube) -> float:
        """How much of the domains is in a cube."""
        domains = ((part, self._domain(n)) for n, part in cube.items())
        return math.prod((part[1] - part[0] + 1) / (domain[1] - domain[0] + 1) for part, domain in domains)

    def _widened(self, numbers: Mapping[int, int]) -> Cube:
        """The cube around some numbers, with each leaf's interval as wide as the examples allow."""
        cube: dict[int, Interval] = {n: (number, number) for n, number in numbers.items()}
        for n, number in numbers.items():
            leaf, near = self.model.leaves[n], self._inside((m, part) for m, part in cube.items() if m != n)
            seen = np.unique(self.rows[near, n])
            below, above = seen[seen < number], seen[seen > number]
            low = int(below.max()) + 1 if len(below) else leaf.low
            high = int(above.min()) - 1 if len(above) else leaf.high
            cube[n] = low, high
        return Cube({n: part for n, part in cube.items() if part != self._domain(n)})

    def _domain(self, n: int) -> Interval:
        return self.model.leaves[n].low, self.model.leaves[n].high

    def _inside(self, parts: Iterable[tuple[int, Interval]]) -> np.ndarray:
        """The numbers of the examples in a cube."""
        rows = np.arange(len(self.rows))
        for n, (low, high) in parts:
            values = self.rows[rows, n]
            rows = rows[(values >= low) & (values <= high)]
        return rows


class _Patterns:
    """Where examples agree with a state: each pattern of agreement once, with the number of examples that have it."""

    def __init__(self, rows: np.ndarray, numbers: Sequence[int]) -> None:
        packed = np.packbits(rows == np.array(numbers, rows.dtype), axis=1)
        patterns, counts = np.unique(packed, axis=0, return_counts=True)
        self.agree = np.unpackbits(patterns, axis=1, count=len(numbers)).astype(float)
        self.counts, self.examples = counts.astype(float), len(rows)

    def likely(self) -> list[list[int]]:
        """The places of the leaves of the guesses that are most likely to be true; at least one guess."""
        alone = self.counts @ self.agree
        if not alone.all():
            return [[place] for place in np.flatnonzero(alone == 0).tolist()]
        both = self.agree.T @ (self.agree * self.counts[:, None])
        expected, pairs = self._pairs(alone, both)
        if expected >= LIKELY:
            return pairs
        backed, three = self._three(both) if len(both) <= WEIGHED else (0.0, [])
        if backed > RATHER * expected:
            return [three]
        return pairs[:1] or [self._cover()]

    def _pairs(self, alone: np.ndarray, both: np.ndarray) -> tuple[float, list[list[int]]]:
        """Pairs of leaves that no example agrees on, and in how many the first would be expected if all were chance."""
        expected = np.where(np.triu(both == 0, 1), np.outer(alone, alone) / self.examples, 0.0).ravel()
        order = np.argsort(-expected, kind="stable")[:COMPARED]
        most = float(expected[order[0]])
        least = min(most, LIKELY)
        return most, [list(divmod(place, len(both))) for place in order.tolist() if most and expected[place] >= least]

    def _three(self, both: np.ndarray) -> tuple[float, list[int]]:
        """Three leaves that no example agrees on, with the least number of those that agree on two of them."""
        best, found = 0.0, list[int]()
        for c in range(len(both)):
            near = self.agree[:, c] > 0
            part = self.agree[near]
            apart = np.triu(part.T @ (part * self.counts[near, None]) == 0, 1)
            apart[: c + 1] = False
            backed = np.where(apart, np.minimum(both, np.minimum.outer(both[c], both[c])), 0.0)
            a, b = divmod(int(np.argmax(backed)), len(both))
            if backed[a, b] > best:
                best, found = float(backed[a, b]), [c, a, b]
        return best, found

    def _cover(self) -> list[int]:
        """Leaves, as few as a greedy choice finds, such that every example disagrees in one of them."""
        chosen: list[int] = []
        left = np.ones(len(self.agree), bool)
        while left.any():
            place = int(np.argmin(self.counts[left] @ self.agree[left]))
            chosen.append(place)
            left &= self.agree[:, place] > 0
        for place in list(chosen):
            others = [other for other in chosen if other != place]
            if others and not self.agree[:, others].all(axis=1).any():
                chosen = others
        return chosen
