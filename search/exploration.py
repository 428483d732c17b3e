"""One breadth-first search in progress: its arrays, its loop with budgets and progress, and the way back to a state.

Words: a state is *stored* from its discovery on, and *expanded* when its claims are checked and its successors known.
*Depth* is the number of steps from an initial state; a depth is *complete* when all of its states are expanded.
"""
from __future__ import annotations

import time
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from model.language import Claim, Kind, Model, UsageError
from search.checkpoint import Checkpoint, Saving
from search.confirm import Path, path_along
from search.crew import Crew, level_end
from search.explored import Explored
from search.kernel import Kernel
from search.loops import breadth
from search.loops.counts import Counts, Room, Rows
from search.loops.frontier import (
    CURSOR_SIZE,
    DEPTH,
    DONE,
    FAILED,
    FOUND,
    FULL,
    LEVEL_END,
    LIMIT,
    NEXT,
    SIZE,
    STRIDE,
    Machine,
    Search,
)
from search.loops.stubborn import NOTHING
from search.loops.table import ABSENT
from search.loops.visited import Visited
from search.progress import Progress, Report, silent

if TYPE_CHECKING:
    from search.reduction import Reduction

SLICE = 0.2
"""Seconds between looks at signals, budgets and progress."""
LEAST_PACE, MOST_PACE = 64, 1 << 24


class Ending(Enum):
    """Why a search ended; the value is what verdicts say of it."""

    COMPLETE = "exhaustive"
    VIOLATION = "violation"
    FAILURE = "failure"
    TIME = "time budget"
    MEMORY = "memory budget"
    INTERRUPT = "interrupted"


@frozen
class Wish:
    """What a search is asked for. `claims` are the ones to check; `memory` is in bytes, `seconds` may be None."""

    claims: tuple[Claim, ...]
    keep_going: bool = False
    seconds: float | None = None
    memory: int = 1 << 30
    workers: int = 1
    report: Report = field(default=silent, repr=False)
    checkpoint: Checkpoint | None = None
    reduce: bool = False
    """Take only those instances that matter for the claims (see `search.reduction`)."""

    @property
    def checked(self) -> tuple[int, ...]:
        """The numbers of the claims that are checked on states and steps as they are met."""
        return tuple(claim.index for claim in self.claims if claim.kind is not Kind.EVENTUALLY)


class Exploration(Explored):
    """A search over the states of a model with its kernel. `run` once, then read `ending`, `counts` and paths."""

    states: Visited
    saving: Saving | None

    def __init__(self, model: Model, kernel: Kernel, wish: Wish) -> None:
        self.model, self.kernel, self.wish = model, kernel, wish
        self.reduction = self._reduction() if wish.reduce else None
        choice = 0 if self.reduction is None else self.reduction.room(kernel)
        self.crew = Crew(kernel, wish.workers, choice) if wish.workers > 1 else None
        self.states = Visited(kernel.words, kernel.bits, wish.memory, widest_step=kernel.instances)
        self.counts = Counts(kernel, self.states.most)
        self.room, self.rows = Room(kernel, choice_words=choice), Rows(kernel, wish.checked)
        self.machine = self._machine()
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)
        self.saving = None if wish.checkpoint is None else Saving(self, wish.checkpoint)
        self.initial = self._begin() if self.saving is None or self.saving.found is None else self.saving.restore()
        self.ending = Ending.COMPLETE
        self._make_ready()
        self.started = time.monotonic()
        self.seconds = 0.0

    def _begin(self) -> int:
        """Store the initial states; how many there are."""
        packed = self._starts()
        if len(packed) + self.kernel.instances > self.states.most or self.states.taken(0) > self.wish.memory:
            raise UsageError(self._too_few(len(packed)))
        size = self.states.add(packed, 0)
        if size is None:
            raise UsageError(self._too_few(len(packed)))
        self.cursor[SIZE] = self.cursor[LEVEL_END] = size
        return size

    def _starts(self) -> np.ndarray:
        """The packed states to begin with."""
        return self.kernel.pack(np.array(self.model.initial, np.int64).reshape(len(self.model.initial), -1))

    def _too_few(self, initial: int) -> str:
        return (
            f"A memory budget of {self.wish.memory:,} bytes holds too few states to begin ({initial:,} initial states, "
            f"at most {self.kernel.instances:,} successors of each). Give at least a megabyte."
        )

    def _machine(self) -> Machine:
        deadlock = self.model.scenario.deadlock_is_error
        stubborn = NOTHING if self.reduction is None else self.reduction.stubborn(self.kernel)
        return self.rows.machine(self.kernel, stop=not self.wish.keep_going, deadlock=deadlock, stubborn=stubborn)

    def _reduction(self) -> Reduction:
        from search.reduction import Reduction

        return Reduction(self.model, self.kernel, self.wish.claims, self.wish.report)

    def _begin_depth(self) -> None:
        """Between two depths: what was found need not be sought any more, and sleep sets are those of the next one."""
        tallies = [self.counts, *(worker.counts for worker in (self.crew.workers if self.crew else ()))]
        found = [c.index for c in self.wish.claims if any(tally.first_state[c.index] for tally in tallies)]
        assert self.reduction is not None
        self.reduction.close(found)
        first, sleep_sets = int(self.cursor[NEXT]), self.reduction.sleep_sets
        room = self.wish.memory - self.states.taken(self.stored) - sleep_sets.next.nbytes
        sleep_sets.begin_depth(first, level_end(self.cursor) - first, room // 2)  # new states will need some

    def _take_faster_kernel(self) -> None:
        """Go on with a faster kernel. The time that it takes to make is not time of the search."""
        began = time.monotonic()
        assert self.kernel.faster is not None
        self.wish.report(self._progress("faster code is compiled"))
        self.kernel = self.kernel.faster()
        self.machine = self._machine()
        self.started += time.monotonic() - began

    def _make_ready(self) -> None:
        """Let the loops be compiled or read from Numba's cache, which must not count as time of the search."""
        self.cursor[LIMIT] = self.cursor[NEXT]
        breadth.explore(self.search, self.cursor)
        if self.crew is not None:
            self.crew.make_ready(self.machine, self.states, self.counts, self.cursor)

    @property
    def search(self) -> Search:
        """The argument of the loops."""
        return Search(self.machine, self.states.space, self.states.tree, self.room.batch, self.counts.tally)

    def run(self) -> None:
        """Search until something ends it; Ctrl-C is one of the endings."""
        pace = LEAST_PACE
        try:
            while (ending := self._advance(pace)) is None:
                spent = time.monotonic() - self.started - self.seconds
                pace = min(next_pace(pace, spent), max(LEAST_PACE, 2 * self.expanded))  # first levels are cut short
                self.seconds += spent
                if self.wish.seconds is not None and self.seconds >= self.wish.seconds:
                    ending = Ending.TIME
                    break
                if self._has_no_room_to_sleep():
                    ending = Ending.MEMORY
                    break
                if spent >= SLICE / 4:
                    self.wish.report(self._progress())
                if self.saving is not None:
                    self.saving.take_if_due()
                if self.kernel.is_worth_replacing(self.seconds, self.wish.seconds):
                    self._take_faster_kernel()
        except KeyboardInterrupt:
            ending = Ending.INTERRUPT
        if self.saving is not None and self._may_go_on(ending):
            self.wish.report(self._progress("a checkpoint is saved"))
            self.saving.take()
        if self.crew is not None:
            self.crew.finish(self.counts, self.cursor)
        self.ending = ending
        self.seconds = time.monotonic() - self.started

    def _has_no_room_to_sleep(self) -> bool:
        """Whether the states and their sleep sets take more memory than there may be."""
        sleepers = 0 if self.reduction is None else self.reduction.sleep_sets.taken
        return sleepers > 0 and self.states.taken(self.stored) + sleepers > self.wish.memory

    def _may_go_on(self, ending: Ending) -> bool:
        """Whether a search that ended so has something left to do."""
        waits = any(claim.kind is Kind.EVENTUALLY for claim in self.wish.claims)
        return ending in (Ending.TIME, Ending.MEMORY, Ending.INTERRUPT) or (waits and ending is Ending.COMPLETE)

    def counted(self) -> tuple[np.ndarray, dict[str, list[int]]]:
        """The cursor and the counts of all workers so far."""
        cursor, counts = self.cursor.copy(), Counts(self.kernel, 0)
        counts.include(self.counts)
        if self.crew is not None:
            self.crew.add_to(counts, cursor)
        return cursor, counts.saved()

    def _advance(self, pace: int) -> Ending | None:
        """Expand up to `pace` states; None if the search goes on."""
        crew, cursor = self.crew, self.cursor
        cursor[LIMIT] = cursor[NEXT] + pace
        if self.reduction is not None:
            if cursor[NEXT] in (0, cursor[LEVEL_END]):
                self._begin_depth()
            cursor[LIMIT] = max(cursor[NEXT] + 1, min(cursor[LIMIT], level_end(cursor)))
        if crew is not None and crew.wants(cursor):
            while cursor[NEXT] < cursor[LIMIT] and crew.wants(cursor):
                crew.advance(self.machine, self.states, self.counts, cursor)
            return None
        if crew is not None and not crew.spoiled:
            cursor[LIMIT] = max(cursor[NEXT] + 1, min(cursor[LIMIT], level_end(cursor)))
        status = breadth.explore(self.search, self.cursor)
        if status == FULL:
            return None if self.states.grow(self.stored) else Ending.MEMORY
        return _ENDINGS.get(status)

    def _progress(self, note: str = "") -> Progress:
        budget = self.wish.seconds
        return Progress(
            engine="exhaust", done=self.expanded, unit="states", seconds=self.seconds,
            left=None if budget is None else max(0.0, budget - self.seconds),
            note=note or f"depth {self.cursor[DEPTH]}, {self.stored - self.expanded:,} states wait",
        )  # fmt: skip

    def notes(self) -> Iterator[str]:
        """Sentences for people on how this search is special; none."""
        yield from ()

    def path_to(self, index: int, last_step: int | None = None) -> Path:
        """A shortest path to a stored state, and on by one more instance if `last_step` gives it."""
        indices: list[int] = [index]
        instances: list[int] = []
        while index >= self.initial:
            index, instance = self._parent(index)
            indices.append(index)
            instances.append(instance)
        path = Path(self.states.rows(indices[::-1]), tuple(instances[::-1]))
        if last_step is None:
            return path
        onward = path_along(self.kernel, path.states[-1], (last_step,))
        return Path(np.vstack([path.states, onward.states[1:]]), path.instances + onward.instances)

    def _parent(self, index: int) -> tuple[int, int]:
        """The state from which this one was discovered, and the instance that led from there to here."""
        marks = self.counts.marks[: -(-self.expanded // STRIDE)]
        block = int(np.searchsorted(marks, index, side="right")) - 1
        first, last = block * STRIDE, min((block + 1) * STRIDE, self.expanded)
        wanted = np.array([first, last, index, 0], np.int64)
        parent = breadth.find_step(self._aside(), wanted)
        if parent == ABSENT:
            raise AssertionError(f"No state in {first} … {last - 1} leads to state {index}; the store is corrupt.")
        return int(parent), int(wanted[3])

    def _aside(self) -> Search:
        """The argument of the loops, with bound hits counted in a copy that nobody reads."""
        self._unread = self.counts.hits.copy()
        search = self.search
        return search._replace(tally=search.tally._replace(hits=self._unread.ctypes.data))


_ENDINGS = {DONE: Ending.COMPLETE, FOUND: Ending.VIOLATION, FAILED: Ending.FAILURE}


def next_pace(pace: int, spent: float) -> int:
    """How many states to expand in the next slice."""
    wanted = 2 * pace if spent < SLICE / 2 else int(pace * SLICE / spent)
    return max(LEAST_PACE, min(wanted, MOST_PACE))
