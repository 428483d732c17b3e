"""The table by which the loops find representatives, from how permutations act on vectors. Words: see `orbits`."""
from __future__ import annotations

import numpy as np

from search.kernel import Kernel
from search.loops.orbits import (
    ALIVE,
    ALIVE_WIDTH,
    LEAST,
    MOVE_WORDS,
    NAMES,
    RENAMED,
    SOURCE,
    TARGET,
    WIDTH,
    Orbits,
    permuted_rows,
    represent_rows,
    states_behind,
)
from search.symmetry.permutations import Permutation, Place, Renaming, packed_names


class OrbitTable:
    """What all permutations of a domain do to packed states. Keep it as long as its address is used."""

    def __init__(self, renaming: Renaming, kernel: Kernel) -> None:
        self.renaming, self.kernel, self.permutations = renaming, kernel, renaming.permutations
        self._names: list[np.ndarray] = []
        changed = [place for place in renaming.places if self._changes(place) and kernel.widths[place.leaf]]
        head = [len(self.permutations), len(changed), *self._what_stays(changed)]
        moves = [self._move(place, permutation) for permutation in self.permutations for place in changed]
        self._table = np.concatenate([np.array(head, np.uint64), *moves])
        self.orbits = Orbits(self._table.ctypes.data, kernel.words)

    def _changes(self, place: Place) -> bool:
        return place.holds or any(self.renaming.target(place, swap) != place.leaf for swap in self.renaming.swaps)

    def _what_stays(self, changed: list[Place]) -> list[int]:
        """A mask for each word of a packed state: the bits that no permutation touches."""
        masks = [(1 << 64) - 1] * self.kernel.words
        for place in changed:
            offset, width = int(self.kernel.offsets[place.leaf]), int(self.kernel.widths[place.leaf])
            masks[offset // 64] &= ~(((1 << width) - 1) << offset % 64)
        return masks

    def _move(self, place: Place, permutation: Permutation) -> np.ndarray:
        kernel, target = self.kernel, self.renaming.target(place, permutation)
        move = np.zeros(MOVE_WORDS, np.uint64)
        move[SOURCE], move[TARGET] = kernel.offsets[place.leaf], kernel.offsets[target]
        move[WIDTH], move[RENAMED] = kernel.widths[place.leaf], place.holds
        if place.holds:
            self._names.append(packed_names(permutation, int(kernel.lows[place.leaf])))
            move[NAMES] = self._names[-1].ctypes.data
        if place.witness is not None:
            move[ALIVE], move[ALIVE_WIDTH] = kernel.offsets[place.witness], kernel.widths[place.witness]
            move[LEAST] = place.above + 1
        return move

    def represented(self, rows: np.ndarray) -> np.ndarray:
        """The representatives of packed states."""
        made = np.ascontiguousarray(rows, np.uint64).copy()
        represent_rows(self.orbits, made)
        return made

    def states_behind(self, rows: np.ndarray) -> int:
        """How many states the orbits of these packed states have, all together."""
        return int(states_behind(self.orbits, np.ascontiguousarray(rows, np.uint64)))

    def permuted(self, row: np.ndarray) -> np.ndarray:
        """What each permutation makes of a packed state, in their order."""
        made = np.zeros((len(self.permutations), self.kernel.words), np.uint64)
        permuted_rows(self.orbits, np.ascontiguousarray(row, np.uint64), made)
        return made
