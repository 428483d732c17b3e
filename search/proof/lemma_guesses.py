"""Guessing lemmas: what is probably true of all reachable states, given some of them.

Words: *examples* are reachable states. An example *agrees* with another state on a leaf if both have the same number. A
*guess* is a cube around a state that has no example in it. It is more likely to be a fact if it restricts few leaves
and if many examples are near it, that is, agree on all of its leaves but one. Of several likely guesses the largest
cube is the best: it excludes the most, so fewer lemmas are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kwalk.model.language import Model, Vector
from kwalk.search.proof.cubes import Cube, Interval

LIKELY_EXAMPLES = 30.0
"""A guess about two leaves is likely if this many examples would have both values if the leaves were independent."""
THREE_LEAF_RATIO = 10.0
"""A guess about three leaves is taken if it has this many times the examples of the best guess about two."""
MAX_COMPARED = 20
"""Likely guesses that are compared by size."""
MAX_LEAVES_FOR_THREE = 60
"""If the reason has more leaves, guesses about three leaves are not considered."""


class Examples:
    """Reachable states, one row each."""

    def __init__(self, model: Model, vectors: np.ndarray) -> None:
        self.model = model
        is_small = all(leaf.low >= -(2**15) and leaf.high < 2**15 for leaf in model.leaves)
        self.rows = np.unique(vectors.astype(np.int16 if is_small else np.int64), axis=0)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, vectors: np.ndarray) -> None:
        """Add examples: int64[n, leaves]."""
        self.rows = np.concatenate([self.rows, vectors.astype(self.rows.dtype)])

    def intersect(self, cube: Cube) -> bool:
        """Whether an example is in a cube."""
        return len(self._inside(cube.items())) > 0

    def agreeing(self, state: Sequence[int], leaves: Sequence[int]) -> Vector | None:
        """Return an example that agrees with a state on all of the leaves, or None."""
        inside = self._inside((n, (state[n], state[n])) for n in leaves)
        return tuple(self.rows[inside[0]].tolist()) if len(inside) else None

    def guess(self, state: Sequence[int], leaves: Sequence[int]) -> Cube:
        """Return the best guess around a state that restricts some of these leaves.

        No example agrees with the state on all of `leaves`.
        """
        options = _AgreementPatterns(self.rows[:, list(leaves)], [state[n] for n in leaves]).likely()
        cubes = [self._widened({leaves[place]: state[leaves[place]] for place in chosen}) for chosen in options]
        return max(cubes, key=self._share)

    def _share(self, cube: Cube) -> float:
        """Return the share of the domains that is in a cube."""
        domains = ((part, self._domain(n)) for n, part in cube.items())
        return math.prod((part[1] - part[0] + 1) / (domain[1] - domain[0] + 1) for part, domain in domains)

    def _widened(self, numbers: Mapping[int, int]) -> Cube:
        """Return the cube around some numbers, with each interval as wide as the examples allow."""
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
        """Return the row numbers of the examples in a cube."""
        rows = np.arange(len(self.rows))
        for n, (low, high) in parts:
            values = self.rows[rows, n]
            rows = rows[(values >= low) & (values <= high)]
        return rows


class _AgreementPatterns:
    """On which leaves examples agree with a state: each pattern once, with the number of examples that have it.

    A *place* is the index of a leaf in the reason.
    """

    def __init__(self, rows: np.ndarray, numbers: Sequence[int]) -> None:
        packed = np.packbits(rows == np.array(numbers, rows.dtype), axis=1)
        patterns, counts = np.unique(packed, axis=0, return_counts=True)
        self.agree = np.unpackbits(patterns, axis=1, count=len(numbers)).astype(float)
        self.counts, self.examples = counts.astype(float), len(rows)

    def likely(self) -> list[list[int]]:
        """Return the places of the leaves of the most likely guesses; at least one guess."""
        alone = self.counts @ self.agree
        if not alone.all():
            return [[place] for place in np.flatnonzero(alone == 0).tolist()]
        both = self.agree.T @ (self.agree * self.counts[:, None])
        expected, pairs = self._pairs(alone, both)
        if expected >= LIKELY_EXAMPLES:
            return pairs
        backed, three = self._three(both) if len(both) <= MAX_LEAVES_FOR_THREE else (0.0, [])
        if backed > THREE_LEAF_RATIO * expected:
            return [three]
        return pairs[:1] or [self._cover()]

    def _pairs(self, alone: np.ndarray, both: np.ndarray) -> tuple[float, list[list[int]]]:
        """Return pairs of leaves that no example agrees on, and how many examples independence predicts at most."""
        expected = np.where(np.triu(both == 0, 1), np.outer(alone, alone) / self.examples, 0.0).ravel()
        order = np.argsort(-expected, kind="stable")[:MAX_COMPARED]
        most = float(expected[order[0]])
        least = min(most, LIKELY_EXAMPLES)
        return most, [list(divmod(place, len(both))) for place in order.tolist() if most and expected[place] >= least]

    def _three(self, both: np.ndarray) -> tuple[float, list[int]]:
        """Return three leaves that no example agrees on, and the least number of examples that agree on two of them."""
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
        """Return few leaves, by a greedy choice, such that every example disagrees on one of them."""
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
