"""The states that a search has visited, as compact as they get: how states become keys, and where both are kept.

Words: states of one or two words are keys themselves, in as many bytes as their bits need. Longer ones are folded (see
`tree`), and their keys are roots, of one word. The *budget* covers keys, tables, parts and marks.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from model.language import UsageError
from search.loops.keys import Space
from search.loops.shelves import LEAST_WORDS, NO_TREE, Shelves
from search.loops.states import FIRST_REGION, Fill, States
from search.loops.tree import Tree


def key_words(words: int) -> int:
    """Words of the key of a state of so many words."""
    return 1 if words >= LEAST_WORDS else words


class Visited:
    """A set of packed states of `words` words with `bits` bits that stays within `budget` bytes; see `States`."""

    def __init__(self, words: int, bits: int, budget: int, *, widest_step: int) -> None:
        self.words, self.budget = words, budget
        self.shelves = Shelves(words, budget, widest_step=widest_step) if words >= LEAST_WORDS else None
        stride = 8 if self.shelves is not None else max(1, 8 * (words - 1) + 1, -(-bits // 8))
        left = budget - (0 if self.shelves is None else self.shelves.promised)
        self.states = States(key_words(words), max(0, left), widest_step=widest_step, stride=stride)

    @property
    def space(self) -> Space:
        """The keys, as the loops see them."""
        return self.states.space

    @property
    def tree(self) -> Tree:
        """How the loops make keys of states."""
        return NO_TREE if self.shelves is None else self.shelves.tree

    @property
    def most(self) -> int:
        """How many states there may be."""
        return self.states.most

    def add(self, rows: np.ndarray, size: int) -> int | None:
        """Add packed states to the `size` that are there; how many there are then, None if the budget is too small."""
        for first in range(0, len(rows), FIRST_REGION // 2):
            keys = self._keys(np.ascontiguousarray(rows[first : first + FIRST_REGION // 2]))
            if keys is None:
                return None
            while not self.states.has_room(len(keys)):
                if not self.states.grow(size):
                    return None
            size = self.states.add(keys, size)
        return size

    def _keys(self, rows: np.ndarray) -> np.ndarray | None:
        """The keys of packed states, or None if there is no room for their parts."""
        if self.shelves is None:
            return rows
        roots, done = np.zeros(len(rows), np.uint64), 0
        while (done := done + self.shelves.folded(rows[done:], roots[done:])) < len(rows):
            if not self._grow_shelves():
                return None
        return roots

    def grow(self, size: int, fill: Fill | None = None) -> bool:
        """Make more room, for parts or keys, when `size` states are there; False if the budget is used up."""
        if self.shelves is not None:
            if not self.shelves.has_room:
                return self._grow_shelves()
            self.states.allow(self.budget, self.shelves.needed / max(1, size))
        return self.states.grow(size, fill)

    def _grow_shelves(self) -> bool:
        assert self.shelves is not None
        return self.shelves.grow(self.budget - self.states.promised)

    @property
    def parts(self) -> list[int]:
        """How many values there are of each part."""
        return [] if self.shelves is None else [shelf.size for shelf in self.shelves.shelves]

    def kept(self, size: int, parts: list[int] | None = None) -> dict[str, np.ndarray]:
        """The bytes of `size` states, by name: keys, and parts, of which there are as many as now if not said."""
        shelves = [] if self.shelves is None else self.shelves.shelves
        counts = zip(shelves, self.parts if parts is None else parts, strict=True)
        found = {f"part-{number}": shelf.kept(count) for number, (shelf, count) in enumerate(counts)}
        return {"keys": self.states.kept(size), **found}

    def resume(self, size: int, parts: list[int], read: Callable[[str, np.ndarray], None]) -> None:
        """Let `read` write the bytes of `size` states, by name, and fill the tables; UsageError if memory lacks."""
        shelves = [] if self.shelves is None else self.shelves.shelves
        fits = all(shelf.has_space(count) for shelf, count in zip(shelves, parts, strict=True))
        if not fits or size >= self.most:
            raise self._too_small(size)
        for name, target in self.kept(size, parts).items():
            read(name, target)
        for shelf, count in zip(shelves, parts, strict=True):
            shelf.resume(count)
        if self.shelves is not None:
            self.states.allow(self.budget, self.shelves.needed / max(1, size))
        if not self.states.resume(size) or self.taken(size) > self.budget:
            raise self._too_small(size)

    def _too_small(self, size: int) -> UsageError:
        return UsageError(
            f"A memory budget of {self.budget / 1e9:.3g} GB is too small to go on from {size:,} states. Give more with "
            "--memory."
        )

    def taken(self, size: int) -> int:
        """The bytes that are filled when `size` states are there."""
        return self.states.taken(size) + (0 if self.shelves is None else self.shelves.taken)

    @property
    def numbers_are_spent(self) -> bool:
        """Whether parts have had all their numbers of 32 bits, so that more memory would not help."""
        return self.shelves is not None and any(shelf.is_spent for shelf in self.shelves.shelves)

    def rows(self, indices: list[int]) -> np.ndarray:
        """The packed states of these numbers."""
        keys = self.states.rows(indices)
        return keys if self.shelves is None else self.shelves.unfolded(keys[:, 0])
