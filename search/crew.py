"""Several workers on one breadth-first search: they find, number and count what one worker would.

Words: a *round* (see `search.loops.rounds`) has three phases, and all workers finish one before the next begins. A
round is *spoiled* if it meets a violation that ends the search, or an error: it is undone, and one worker does it again
state by state, so that the search stops at the same place as ever.
"""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Counts
from search.loops.frontier import (
    DEADLOCKS,
    DEPTH,
    FIRST_DEADLOCK,
    FULL,
    GENERATED,
    GOING,
    LEVEL_END,
    NEXT,
    QUIET,
    SIZE,
    Machine,
    Search,
)
from search.loops.keys import Space
from search.loops.round_arrays import RoundArrays, Worker
from search.loops.rounds import Round, expand_chunks, fits, fresh_in_all, look_up_shares, store_chunks
from search.loops.table import REGIONS, refill
from search.loops.visited import Visited

LEAST_ROUND = 4096
"""States in a round that is worth sharing."""


def level_end(cursor: np.ndarray) -> int:
    """Where the present level ends; the next one, if nothing is left of it."""
    return int(cursor[LEVEL_END] if cursor[NEXT] < cursor[LEVEL_END] else cursor[SIZE])


class Crew:
    """Workers with their arrays. `spoiled` says that only one worker can go on."""

    def __init__(self, kernel: Kernel, workers: int, arrays: RoundArrays, choice_words: int = 0) -> None:
        self.arrays, self.spoiled = arrays, False
        self.workers = [Worker(kernel, choice_words) for _ in range(workers)]
        self.pool = ThreadPoolExecutor(workers - 1)

    @property
    def taken(self) -> int:
        """The bytes that rounds have filled so far."""
        return self.arrays.taken(len(self.workers))

    def wants(self, cursor: np.ndarray) -> bool:
        """Whether what is left of the present level (or the next, if nothing is) is worth sharing."""
        return not self.spoiled and level_end(cursor) - cursor[NEXT] >= LEAST_ROUND

    def make_ready(self, machine: Machine, states: Visited, counts: Counts) -> None:
        """Do a round of no states, so that all loops are compiled; nothing changes."""
        nothing = self.arrays.round(0, 0, 0)
        self._do(machine, states, counts, nothing)
        self._fill(states.space, 0)
        fresh_in_all(nothing)

    def advance(self, machine: Machine, states: Visited, counts: Counts, cursor: np.ndarray) -> None:
        """Do a round, and move the cursor; a spoiled round changes nothing."""
        if cursor[NEXT] == cursor[LEVEL_END]:
            cursor[LEVEL_END] = cursor[SIZE]
            cursor[DEPTH] += 1
        count = min(self.arrays.states, int(cursor[LEVEL_END] - cursor[NEXT]))
        current = self.arrays.round(int(cursor[NEXT]), count, int(cursor[SIZE]))
        for worker in self.workers:
            worker.keep()
        try:
            self.spoiled = not self._do(machine, states, counts, current)
        except BaseException:
            self._restore()
            raise
        if self.spoiled:
            self._restore()
            return
        cursor[NEXT] += count
        cursor[SIZE] += fresh_in_all(current)

    def _restore(self) -> None:
        for worker in self.workers:
            worker.restore()

    def _do(self, machine: Machine, states: Visited, counts: Counts, current: Round) -> bool:
        """The phases of a round; whether it is good."""
        while FULL in (statuses := self._expand(machine, states, current)):
            self._restore()
            if not states.grow(current.size, self._fill):
                return False
        if any(status != GOING for status in statuses):
            return False
        while not fits(states.space, current):
            if not states.grow(current.size, self._fill):
                return False
        self._phase(look_up_shares, *self._same(states.space, current))
        self._phase(store_chunks, *self._same(states.space, counts.tally.marks, current))
        return True

    def _expand(self, machine: Machine, states: Visited, current: Round) -> list[int]:
        """The first phase of a round; what each worker has to say of it."""
        searches = [Search(machine, states.space, states.tree, w.room.batch, w.counts.tally) for w in self.workers]
        return self._phase(expand_chunks, searches, *self._same(current), [worker.cursor for worker in self.workers])

    def _same(self, *arguments: Any) -> list[list[Any]]:
        """The same arguments for every worker."""
        return [[argument] * len(self.workers) for argument in arguments]

    def _fill(self, space: Space, size: int) -> None:
        """Fill a new table, every worker its regions."""
        count = len(self.workers)
        cuts = [REGIONS * number // count for number in range(count + 1)]
        rooms = [worker.scratch.ctypes.data for worker in self.workers]
        self._phase(refill, *self._same(space), rooms, *self._same(size), list(pairwise(cuts)))

    def _phase(self, work: Callable[..., int], *arguments: list[Any]) -> list[int]:
        """Let all workers do their part; what each returns. This thread is one of them."""
        self.arrays.ticket[0] = 0
        first, *others = zip(*arguments, strict=True)
        futures = [self.pool.submit(work, *mine) for mine in others]
        try:
            return [work(*first), *(future.result() for future in futures)]
        finally:
            wait(futures)

    def finish(self, counts: Counts, cursor: np.ndarray) -> None:
        """Add what the workers counted to the search's counts, and let them go."""
        self.pool.shutdown()
        self.add_to(counts, cursor)

    def add_to(self, counts: Counts, cursor: np.ndarray) -> None:
        """Add what the workers counted so far to counts and a cursor, which may be copies."""
        for worker in self.workers:
            counts.include(worker.counts)
            mine = worker.cursor
            if mine[DEADLOCKS] and (not cursor[DEADLOCKS] or mine[FIRST_DEADLOCK] < cursor[FIRST_DEADLOCK]):
                cursor[FIRST_DEADLOCK] = mine[FIRST_DEADLOCK]
            for place in (GENERATED, QUIET, DEADLOCKS):
                cursor[place] += mine[place]
