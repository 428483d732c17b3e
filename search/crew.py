"""Several workers on one breadth-first search: they find, number and count what one worker would.

Words: a *round* (see `search.loops.rounds`) has two parts, and all workers finish one before the next begins. A round
is *spoiled* if it meets a violation that ends the search, or an error: it is undone, and one worker does it again state
by state, so that the search stops at the same place as ever.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Counts
from search.loops.frontier import (
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
from search.loops.rounds import CRAMPED, FAULT, LEAST_ROUND, ORDER, TIGHT, Rounds, take_part, undo
from search.loops.table import REGIONS, refill
from search.loops.visited import Visited


def level_end(cursor: np.ndarray) -> int:
    """Where the present level ends; the next one, if nothing is left of it."""
    return int(cursor[LEVEL_END] if cursor[NEXT] < cursor[LEVEL_END] else cursor[SIZE])


class Crew:
    """Workers with their arrays. `spoiled` says that only one worker can go on."""

    def __init__(self, kernel: Kernel, workers: int, arrays: RoundArrays, choice_words: int = 0) -> None:
        self.arrays, self.spoiled = arrays, False
        self.workers = [Worker(number, kernel, choice_words) for number in range(workers)]
        self.pool = ThreadPoolExecutor(workers - 1)

    @property
    def taken(self) -> int:
        """The bytes that rounds have filled so far."""
        return self.arrays.taken

    def wants(self, cursor: np.ndarray) -> bool:
        """Whether what is left of the present level (or the next, if nothing is) is worth sharing."""
        return not self.spoiled and level_end(cursor) - cursor[NEXT] >= LEAST_ROUND

    def make_ready(self, machine: Machine, states: Visited, counts: Counts, cursor: np.ndarray) -> None:
        """Do no round, so that all loops are compiled and all threads started; the cursor's limit is passed."""
        rounds = self._rounds(counts, cursor)
        self._take_part(machine, states, rounds)
        undo(states.space, rounds._replace(filled=states.space.filled))
        refill(states.space, self.workers[0].scratch.ctypes.data, 0, (0, 0))

    def advance(self, machine: Machine, states: Visited, counts: Counts, cursor: np.ndarray) -> None:
        """Do rounds until the cursor's limit is reached or something must change first; a spoiled one is undone."""
        rounds, board = self._rounds(counts, cursor), self.arrays.board
        try:
            self._take_part(machine, states, rounds)
        finally:
            fault = int(board[FAULT])
            if fault != GOING:
                self._undo(states.space, rounds)
        if fault not in (GOING, FULL):
            self.spoiled = True
        elif (fault or board[ORDER] == TIGHT) and not states.grow(int(cursor[SIZE]), self._fill):
            self.spoiled = fault == FULL or bool(board[CRAMPED])
            board[CRAMPED] = 1

    def _rounds(self, counts: Counts, cursor: np.ndarray) -> Rounds:
        return self.arrays.rounds(len(self.workers), cursor, counts.marks)

    def _take_part(self, machine: Machine, states: Visited, rounds: Rounds) -> None:
        """Let all workers do rounds. If there is an exception, no round has begun or all have come back."""
        self.arrays.make_ready()
        space, tree = states.space, states.tree
        tasks = [(Search(machine, space, tree, w.room.batch, w.counts.tally), rounds, w.hand, w.cursor)
                 for w in self.workers]  # fmt: skip
        self._together(take_part, tasks, self.arrays.let_go)

    def _undo(self, space: Space, rounds: Rounds) -> None:
        undo(space, rounds)
        for worker in self.workers:
            worker.restore()

    def _fill(self, space: Space, size: int) -> None:
        """Fill a new table, every worker its regions."""
        count = len(self.workers)
        cuts = [REGIONS * number // count for number in range(count + 1)]
        rooms = [worker.scratch.ctypes.data for worker in self.workers]
        self._together(refill, [(space, room, size, span) for room, span in zip(rooms, pairwise(cuts), strict=True)])

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
            for place in (GENERATED, QUIET, DEADLOCKS):
                cursor[place] += mine[place]
