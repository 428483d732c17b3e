"""Several workers on one breadth-first search: they find, number and count what one worker would.

Words: see `search.loops.rounds`. A crew is *spoiled* when a block has a violation that ends the search, or an error, or
finds no room: nothing of that block counts, and one worker goes on from there state by state, so that the search stops
at the same place as ever.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Counts
from search.loops.frontier import (
    ASLEEP,
    DEADLOCKS,
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
from search.loops.rounds import FAULT, LEAST_ROUND, Rounds, take_part
from search.loops.table import REGIONS, clear, refill
from search.loops.visited import Visited


def level_end(cursor: np.ndarray) -> int:
    """Where the present level ends; the next one, if nothing is left of it."""
    return int(cursor[LEVEL_END] if cursor[NEXT] < cursor[LEVEL_END] else cursor[SIZE])


class Crew:
    """Workers with their arrays. `spoiled` says that only one worker can go on."""

    def __init__(self, kernel: Kernel, workers: int, choice_words: int = 0) -> None:
        self.arrays, self.spoiled = RoundArrays(), False
        self.workers = [Worker(number, kernel, choice_words) for number in range(workers)]
        self.pool = ThreadPoolExecutor(workers - 1)

    def wants(self, cursor: np.ndarray) -> bool:
        """Whether what is left of the present level (or the next, if nothing is) is worth sharing."""
        return not self.spoiled and level_end(cursor) - cursor[NEXT] >= LEAST_ROUND

    def make_ready(self, machine: Machine, states: Visited, counts: Counts, cursor: np.ndarray) -> None:
        """Do no round, so that all loops are compiled and all threads started; the cursor's limit is passed."""
        self._take_part(machine, states, self._rounds(counts, cursor))
        clear(states.space, 0, 0)
        refill(states.space, self.workers[0].scratch.ctypes.data, (0, 0), 1)

    def advance(self, machine: Machine, states: Visited, counts: Counts, cursor: np.ndarray) -> None:
        """Do rounds until the cursor's limit is reached or something must change first."""
        self._take_part(machine, states, self._rounds(counts, cursor))
        fault = self.arrays.board[FAULT]
        if fault != GOING:
            self.spoiled = fault != FULL or not states.grow(int(cursor[SIZE]), self._fill)

    def _rounds(self, counts: Counts, cursor: np.ndarray) -> Rounds:
        return self.arrays.rounds(len(self.workers), cursor, counts.marks)

    def _take_part(self, machine: Machine, states: Visited, rounds: Rounds) -> None:
        """Let all workers do rounds. If there is an exception, no round has begun or all have come back."""
        self.arrays.make_ready()
        space, tree = states.space, states.tree
        tasks = [(Search(machine, space, tree, w.room.batch, w.counts.tally), rounds, w.hand, w.cursor)
                 for w in self.workers]  # fmt: skip
        self._together(take_part, tasks, self.arrays.let_go)

    def _fill(self, space: Space, size: int) -> None:
        """Fill a new table, every worker its share."""
        self._together(clear, [(space, *share) for share in self._shares(REGIONS)])
        rooms, count = [worker.scratch.ctypes.data for worker in self.workers], len(self.workers)
        shares = zip(rooms, self._shares(size), strict=True)
        self._together(refill, [(space, room, share, count) for room, share in shares])

    def _shares(self, count: int) -> Iterator[tuple[int, int]]:
        """What falls to each worker of so many things: from where to where."""
        return pairwise(count * number // len(self.workers) for number in range(len(self.workers) + 1))

    def _together(
        self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], let_go: Callable[[], None] = lambda: None
    ) -> None:
        """Let each worker do a task; this thread is the first. `let_go` lets the others go if it does not come."""
        mine, *others = tasks
        futures = []
        try:
            futures += [self.pool.submit(work, *task) for task in others]
            work(*mine)
        except BaseException:
            let_go()
            raise
        finally:
            wait(futures)
        for future in futures:
            future.result()

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
            for place in (GENERATED, QUIET, DEADLOCKS, ASLEEP):
                cursor[place] += mine[place]
