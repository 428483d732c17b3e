"""Beam searches along a behaviour, by a kernel: the widest of them finds the shortest way in most cases.

What is kept of each level are the states most like those that the behaviour comes to next, so that a way is found that
does the same in another order, or with other steps, and saves some. See `search.loops.beam`.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.kernel import Kernel, bit_row
from search.loops import beam as loops
from search.loops.beam import DROPPED, LAST, LIMIT, MET, NOTHING, SIZE, STEP, WIDTH, Beam
from search.loops.memory import reserve
from search.loops.replays import Quest
from search.loops.states import States
from search.shrink.behaviour import Behaviour
from search.shrink.shrinker import STARTS, Shrinker

BRANCHING = 8
"""New states for each one that is expanded, at most on average: what room is made for."""
MOST = 1 << 21
"""States that there is room for, at most."""


class BeamSearch:
    """Beam searches of one width; room is made when the first one needs it, and used again by the next."""

    def __init__(self, kernel: Kernel, width: int) -> None:
        self.kernel, self.width = kernel, width
        self.successors = np.zeros((kernel.instances + 1, kernel.words), np.uint64)
        self.taken = np.zeros(kernel.instances + 1, np.uint16)
        self.row = np.zeros(kernel.instance_words, np.uint64)
        self.allowed = np.zeros(kernel.instance_words, np.uint64)
        self.hits = np.zeros(len(kernel.bounds) + 1, np.int64)
        self.shares = np.zeros(64 * kernel.words + 1, np.int64)
        self.most = 0
        self.was_exhaustive = False

    def _make_room(self, wanted: int) -> None:
        self.most = min(MOST, 1 << (wanted - 1).bit_length())
        bytes_per_state = 8 * self.kernel.words + 8
        self.states = States(self.kernel.words, self.most * bytes_per_state, widest_step=self.kernel.instances)
        while self.states.grow(0):
            pass
        self.parents, self.steps, self.distances = (reserve(self.states.most, np.int64) for _ in range(3))
        self.kept = np.zeros(max(self.width, self.states.most // BRANCHING), np.int64)

    def search(self, quest: Quest, shrinker: Shrinker, best: Behaviour) -> Behaviour | None:
        """A shorter behaviour than the best, from any start that the shrinker has."""
        if not best.steps:
            return None
        starts = list(dict.fromkeys((best.states[0], *shrinker.starts[:STARTS])))
        allowed = (step for step in range(self.kernel.instances) if shrinker.allows(step))
        self.allowed[:] = bit_row(allowed, self.kernel.instance_words)
        found = self.shorter(quest, best, starts)
        if found is not None:
            return shrinker.replay(Behaviour((), (starts[found[0]],)), found[1], len(best))
        if self.was_exhaustive and set(shrinker.starts) <= set(starts):
            shrinker.is_proved = True
        return None

    def shorter(self, quest: Quest, best: Behaviour, starts: Sequence[bytes]) -> tuple[int, tuple[int, ...]] | None:
        """The number of the start, and fewer steps from there that show the same; None if the beam meets none."""
        wanted = len(starts) + BRANCHING * self.width * len(best)
        if self.most < min(MOST, wanted):
            self._make_room(wanted)
        trail = packed(best.states, self.kernel.words)
        cursor = self._begin(starts, len(best) - 1)
        became = loops.follow(self._beam(quest, trail), cursor)
        self.was_exhaustive = became == NOTHING and cursor[DROPPED] == 0
        if became != MET:
            return None
        return self._way(int(cursor[LAST]), int(cursor[STEP]), len(starts))

    def _begin(self, starts: Sequence[bytes], limit: int) -> np.ndarray:
        """The cursor of a search that has only stored its starts."""
        self.states.table[:] = 0
        self.states.filled[:] = 0
        cursor = np.zeros(loops.CURSOR_SIZE, np.int64)
        cursor[SIZE] = self.states.add(packed(starts, self.kernel.words), 0)
        cursor[LIMIT], cursor[WIDTH] = limit, self.width
        return cursor

    def _beam(self, quest: Quest, trail: np.ndarray) -> Beam:
        return Beam(
            quest=quest, space=self.states.space, trail=trail, allowed=self.allowed.ctypes.data,
            successors=self.successors.ctypes.data, taken=self.taken.ctypes.data, row=self.row.ctypes.data,
            hits=self.hits.ctypes.data, parents=self.parents, steps=self.steps, distances=self.distances,
            kept=self.kept, shares=self.shares,
        )  # fmt: skip

    def _way(self, index: int, last_step: int, starts: int) -> tuple[int, tuple[int, ...]]:
        """The start, and the steps from there to what was met."""
        steps = [last_step]
        while index >= starts:
            steps.append(int(self.steps[index]))
            index = int(self.parents[index])
        return index, tuple(reversed(steps))


def packed(states: Sequence[bytes], words: int) -> np.ndarray:
    """Packed states as rows."""
    return np.frombuffer(b"".join(states), np.uint64).reshape(-1, words)
