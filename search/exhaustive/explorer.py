"""A breadth-first search in progress: its arrays, its loop with budgets and progress, and the paths to its states.

What only long searches, or searches with certain options, need is imported there: a short search ends sooner.

Words: a state is *stored* from its discovery on, and *expanded* when its properties are checked and its successors
stored. *Depth* is the number of steps from an initial state; a depth is *complete* when all of its states are expanded.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kwalk.model.language import Kind, Model, UsageError
from kwalk.search.base import pacing
from kwalk.search.base.components import entry
from kwalk.search.base.options import CheckpointOptions, SearchOptions, StopReason
from kwalk.search.base.pacing import next_pace
from kwalk.search.base.progress import Progress
from kwalk.search.exhaustive import expansion as breadth
from kwalk.search.exhaustive.first_firings import SHORT, FirstFirings, first_firing
from kwalk.search.exhaustive.interfaces import StateReduction
from kwalk.search.exhaustive.layout import (
    BLOCK,
    NO_REDUCTION,
    CounterBuffers,
    Cursor,
    KernelView,
    RowBuffers,
    SearchLayout,
    Status,
    batch_of,
    level_end,
)
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import CompiledRecord, RecordMaker
from kwalk.search.kernel.sampling import LAST, StateSampler, candidates
from kwalk.search.results.confirmation import PackedPath, extended_path
from kwalk.search.results.verdict_builder import steps_by_action
from kwalk.search.visited.hash_table import ABSENT
from kwalk.search.visited.key_store import STRIDE
from kwalk.search.visited.tree_compression import LEAST_WORDS
from kwalk.search.visited.visited_set import VisitedSet

if TYPE_CHECKING:
    from kwalk.search.exhaustive.block_expansion import BlockExpansion
    from kwalk.search.exhaustive.checkpoint import StateCheckpoints
    from kwalk.search.exhaustive.parallel_expansion import WorkerPool
    from kwalk.search.exhaustive.same_length import PropertyHit


class CheckpointResult(Protocol):
    """The checkpoints of a search."""

    before: float
    """Seconds that the search took before it was resumed."""

    def notes(self, command: str, *, over: bool) -> Iterator[str]:
        """Yield what is saved, and how to resume unless the search is `over`."""


class StateStore(Protocol):
    """The stored states."""

    @property
    def numbers_exhausted(self) -> bool:
        """Whether 32-bit numbers were used up, not bytes."""


class ExplorationResult(Protocol):
    """A search that has ended. States are numbered from 0 in the order of their discovery."""

    model: Model
    kernel: Kernel
    options: SearchOptions
    counts: CounterBuffers
    cursor: np.ndarray
    """The cursor of the whole search, see `kwalk.search.exhaustive.layout`."""
    states: StateStore
    initial: int
    """The number of initial states."""
    reduction: StateReduction | None
    saving: CheckpointResult | None
    stop_reason: StopReason
    found_ahead: tuple[PropertyHit, ...] = ()
    """Violations in what is as short as what ended the search, or shorter, and not expanded."""
    failed_state: int | None = None
    """The state where the model has an error that ended the search; None if there is none."""
    seconds: float
    """Seconds since the search was started or resumed."""
    sampler: StateSampler

    @property
    def sliced_states(self) -> int | None:
        """The number of states that were expanded by bit-sliced functions; None if the search never uses them."""
        return None

    @property
    def states_by_depth(self) -> tuple[int, ...]:
        """The number of states of each depth whose states are all known, of at most MOST_DEPTHS depths."""

    @property
    def compared(self) -> Compared | None:
        """How much was compared with plain Python."""
        return self.sampler.compared if self.options.compare else None

    @property
    def stored(self) -> int:
        """The number of distinct states."""
        return int(self.cursor[Cursor.STORED])

    @property
    def expanded(self) -> int:
        """The number of expanded states."""
        return int(self.cursor[Cursor.NEXT])

    @property
    def total_seconds(self) -> float:
        """Seconds of the whole search, with those before it was resumed."""
        return self.seconds + (0 if self.saving is None else self.saving.before)

    def notes(self) -> Iterator[str]:
        """Yield notes for the verdict."""

    def shortest_path(self, index: int) -> PackedPath:
        """Return a shortest path to a state."""

    def path_to(self, index: int, last_step: int | None = None) -> PackedPath:
        """Return a shortest path to a state, extended by the instance `last_step` if it is given."""
        path = self.shortest_path(index)
        return path if last_step is None else extended_path(self.kernel, path, (last_step,))


LEAST_SLICED_SECONDS = 1.0
"""Seconds after which a search uses bit-sliced functions that the cache has; loading them takes some of that."""
MOST_DEPTHS = 1000
"""The search pauses after each of so many depths and counts their states; it does not count those of greater depths."""
MIN_PACE, MAX_PACE = 64, 1 << 24
"""Bounds of the number of states that are expanded in one slice."""


class Explorer(ExplorationResult):
    """A search over the states of a model. Call `run` once, then read `stop_reason`, `counts` and paths."""

    states: VisitedSet
    saving: StateCheckpoints | None

    def __init__(self, model: Model, kernel: Kernel, options: SearchOptions) -> None:
        self.model, self.kernel, self.options = model, kernel, options
        self.reduction = self._reduction() if options.reduce else None
        workspace = 0 if self.reduction is None else self.reduction.workspace_words(kernel)
        self.pool = self._worker_pool(workspace) if options.workers > 1 else None
        self.states = VisitedSet(kernel.words, kernel.bits, options.memory, widest_step=kernel.instances)
        self.counts = CounterBuffers(kernel, self.states.most)
        self.room, self.rows = batch_of(kernel, workspace_words=workspace), RowBuffers(kernel, options.checked)
        self.kernel_view = self._kernel_view()
        self.blocks = self._block_expansion()
        self.cursor = self.counts.cursor
        self.level_ends: list[int] = []
        self.sampler, self._records, self._offered = StateSampler(model), RecordMaker(kernel), 0
        self._firings = FirstFirings(kernel.instances)
        self._has_tried_slices, self._cached_slices = kernel.sliced is not None or not kernel.can_be_sliced, False
        self.saving = None if options.checkpoint is None else self._checkpoint_writer(options.checkpoint)
        resumes = self.saving is not None and self.saving.manifest is not None
        self.initial = self.saving.restore() if self.saving and resumes else self._store_initial()
        self.stop_reason = StopReason.COMPLETE
        self._warm_up()
        self.started = time.monotonic()
        self.seconds = 0.0

    def _worker_pool(self, workspace_words: int) -> WorkerPool:
        from kwalk.search.exhaustive.parallel_expansion import WorkerPool

        return WorkerPool(self.kernel, self.options.workers, workspace_words)

    def _checkpoint_writer(self, checkpoint: CheckpointOptions) -> StateCheckpoints:
        from kwalk.search.exhaustive.checkpoint import StateCheckpoints

        return StateCheckpoints(self, checkpoint)

    def _store_initial(self) -> int:
        """Store the initial states; return how many there are."""
        packed = self._initial_rows()
        if len(packed) + self.kernel.instances > self.states.most or self.states.used_bytes(0) > self.options.memory:
            raise UsageError(self._budget_error(len(packed)))
        size = self.states.add(packed, 0)
        if size is None:
            raise UsageError(self._budget_error(len(packed)))
        self.cursor[Cursor.STORED] = self.cursor[Cursor.LEVEL_END] = size
        return size

    def _initial_rows(self) -> np.ndarray:
        """Return the packed initial states, uint64[n, words]."""
        return self.kernel.pack(np.array(self.model.initial, np.int64).reshape(len(self.model.initial), -1))

    def _budget_error(self, initial: int) -> str:
        return (
            f"A memory budget of {self.options.memory:,} bytes is too small to start: there are {initial:,} initial "
            f"states, with up to {self.kernel.instances:,} successors each. Give at least one MiB."
        )

    def _kernel_view(self) -> KernelView:
        deadlock = self.model.scenario.deadlock_is_error
        reduction = NO_REDUCTION if self.reduction is None else self.reduction.functions(self.kernel)
        return self.rows.kernel_view(
            self.kernel, stop=not self.options.keep_going, deadlock=deadlock, reduction=reduction
        )

    @property
    def _can_expand_blocks(self) -> bool:
        """Whether bit-sliced functions can be used."""
        return not self.options.reduce and self.options.symmetry is None

    def _block_expansion(self) -> BlockExpansion | None:
        """Return the expansion of blocks; None where states are expanded one by one."""
        if self.kernel.sliced is None or not self._can_expand_blocks:
            return None
        from kwalk.search.exhaustive.block_expansion import BlockExpansion

        if self.pool is not None:
            self.pool.take_slices(self.kernel)
        return BlockExpansion(self.kernel, compare=self.options.compare)

    @property
    def sliced_states(self) -> int:
        """The number of states that were expanded by bit-sliced functions."""
        alone = 0 if self.blocks is None else self.blocks.expanded
        return alone + (0 if self.pool is None else self.pool.sliced_states)

    @property
    def states_by_depth(self) -> tuple[int, ...]:
        """The number of states of each depth whose states are all known, of at most MOST_DEPTHS depths."""
        return tuple(end - first for first, end in pairwise([0, *self.level_ends]) if end > first)

    def _reduction(self) -> StateReduction:
        reduction: StateReduction = entry("Reduction")(
            self.model, self.kernel, self.options.properties, self.options.report
        )
        return reduction

    def _begin_depth(self) -> None:
        """Between two depths, drop goals that were reached, and switch to the sleep sets of the next depth."""
        found = [c.index for c in self.options.properties if any(one.first_state[c.index] for one in self._all_counts)]
        assert self.reduction is not None
        self.reduction.close(found)
        first, sleep_sets = int(self.cursor[Cursor.NEXT]), self.reduction.sleep_sets
        room = self.options.memory - self.states.used_bytes(self.stored) - sleep_sets.next.nbytes
        sleep_sets.begin_depth(first, level_end(self.cursor) - first, room // 2)  # new states will need some

    def _take_faster_kernel(self) -> None:
        """Switch to a faster kernel. The time to compile it does not count as time of the search."""
        began = time.monotonic()
        assert self.kernel.faster is not None
        self.options.report(self._progress("faster code is compiled"))
        self.kernel = self.kernel.faster()
        self._records = RecordMaker(self.kernel)
        self.kernel_view = self._kernel_view()
        self.started += time.monotonic() - began

    def _is_worth_slicing(self) -> bool:
        """Whether the search has taken as long as it takes to make bit-sliced functions, and is about to take longer.

        Short states are expanded and stored in less time than it takes to move their bits.
        """
        if self._has_tried_slices or self.kernel.words < LEAST_WORDS or not self._can_expand_blocks:
            return False
        if self.stored - self.expanded < BLOCK or self.seconds < LEAST_SLICED_SECONDS:
            return False
        from kwalk.search.kernel.compile.slices import has_cached_slices, slicing_seconds

        self._cached_slices = self._cached_slices or has_cached_slices(self.kernel)
        least = LEAST_SLICED_SECONDS if self._cached_slices else slicing_seconds(self.kernel)
        return self.seconds >= least and (self.options.seconds is None or self.options.seconds - self.seconds >= least)

    def _take_sliced_kernel(self) -> None:
        """Continue with bit-sliced functions. The time to compile them does not count as time of the search."""
        from kwalk.search.kernel.compile.slices import with_slices

        began, self._has_tried_slices = time.monotonic(), True
        self.options.report(self._progress("bit-sliced code is compiled"))
        self.kernel = with_slices(self.model, self.kernel, self.seconds)
        self.blocks = self._block_expansion()
        if self.blocks is not None:
            self.blocks.warm_up(self.search, self.cursor)
        self.started += time.monotonic() - began

    def _warm_up(self) -> None:
        """Compile the loops, or read them from Numba's cache, which does not count as time of the search."""
        self.cursor[Cursor.LIMIT] = self.cursor[Cursor.NEXT]
        breadth.explore(self.search, self.cursor)
        if self.pool is not None:
            self.pool.warm_up(self.kernel_view, self.states, self.counts, self.cursor)

    @property
    def search(self) -> SearchLayout:
        """The argument of the loops."""
        return SearchLayout(self.kernel_view, self.states.space, self.states.tree, self.room.layout, self.counts.layout)

    def run(self) -> None:
        """Search until there is a reason to stop. Ctrl-C is one."""
        pace = MIN_PACE
        try:
            while (stop_reason := self._advance_noting(pace)) is None:
                spent = time.monotonic() - self.started - self.seconds
                most = max(MIN_PACE, min(MAX_PACE, 2 * self.expanded))  # the first levels are small
                was_cut = self.expanded == self.level_ends[-1]  # at the end of a depth, which says little of the rate
                pace = pace if was_cut and spent < pacing.SLICE else next_pace(pace, spent, least=MIN_PACE, most=most)
                self.seconds += spent
                if self.options.seconds is not None and self.seconds >= self.options.seconds:
                    stop_reason = StopReason.TIME
                    break
                if self._sleep_sets_exceed_memory():
                    stop_reason = StopReason.MEMORY
                    break
                if spent >= pacing.SLICE / 4:
                    self.options.report(self._progress())
                self._compare_with_python()
                if self.saving is not None:
                    self.saving.take_if_due()
                if self._is_worth_slicing():
                    self._take_sliced_kernel()
                elif self.kernel.is_worth_replacing(self.seconds, self.options.seconds):
                    self._take_faster_kernel()
            self._compare_with_python()
            stop_reason = self.look_ahead(stop_reason)
            self._compare_last()
        except KeyboardInterrupt:
            stop_reason = StopReason.INTERRUPT
        if self.saving is not None and self._is_resumable(stop_reason):
            self.options.report(self._progress("a checkpoint is saved"))
            self.saving.take()
        if self.pool is not None:
            self.pool.finish(self.counts, self.cursor)
        self.stop_reason = stop_reason
        self.seconds = time.monotonic() - self.started

    def look_ahead(self, stop_reason: StopReason) -> StopReason:
        """Check what is as short as what ended the search, or shorter; a violation there goes before an error."""
        if stop_reason is StopReason.FAILURE:
            self.failed_state = self.expanded
        elif stop_reason is not StopReason.VIOLATION or self._violated(but=Kind.STEP):
            return stop_reason
        from kwalk.search.exhaustive.same_length import hits_of, is_error_of_state, together

        first, end, stored = map(int, self.cursor[[Cursor.NEXT, Cursor.LEVEL_END, Cursor.STORED]])
        search, checked = self.search, self.options.properties
        found = hits_of(self.kernel, [(search, first, end)], checked)
        is_over = bool(found or self._violated()) and not self.options.keep_going
        if self.failed_state is not None and not is_over:
            failed = self.states.rows([self.failed_state])[0]
            if not is_error_of_state(self.kernel, failed, self.rows.state_row):
                found += hits_of(self.kernel, [(search, first, end)], checked, after=True)
                found += hits_of(self.kernel, [(search, end, stored)], checked)
        self.found_ahead = together(found)
        return StopReason.VIOLATION if found or self._violated() else stop_reason

    def _violated(self, but: Kind | None = None) -> bool:
        """Whether a state or step that was expanded is a violation, of a property of another kind than `but`."""
        bad = [prop.index for prop in self.options.properties if prop.kind not in (Kind.REACHABLE, but)]
        dead = self.model.scenario.deadlock_is_error and any(one[Cursor.DEADLOCKS] for one in self._cursors)
        return bool(dead) or any(one.first_state[bad].any() for one in self._all_counts)

    @property
    def _all_counts(self) -> list[CounterBuffers]:
        """The counters of this thread and of all workers."""
        return [self.counts, *(worker.counts for worker in (self.pool.workers if self.pool else ()))]

    @property
    def _cursors(self) -> list[np.ndarray]:
        return [self.cursor, *(worker.cursor for worker in (self.pool.workers if self.pool else ()))]

    def _compare_with_python(self) -> None:
        """Compare some of the expanded states, as they are stored: the kernel takes every enabled instance there."""
        if not self.options.compare:
            return
        end = min(self.stored, self.expanded + 1)  # with the state where the search stopped
        self.sampler.offer(candidates(self._offered, end))
        self._offered = max(self._offered, end)
        self.sampler.compare(time.monotonic() - self.started, self.kernel, self._record)

    def _compare_last(self) -> None:
        """Compare what a sample is likely to miss: instances that fired rarely, violations, the last levels."""
        if not self.options.compare:
            return
        elapsed = time.monotonic() - self.started
        search, functions = self._uncounted(), (self.kernel.guards, self.kernel.apply)
        firings = (
            (instance, partial(first_firing, search, states, instance, functions))
            for instance, states in self._firings.instances
            if len(states) <= SHORT or self.sampler.has_time(elapsed)
        )
        self.sampler.compare_firings(elapsed, self.kernel, self._record, firings)
        violating = {int(self.counts.first_state[prop.index]) - 1 for prop in self.options.properties} - {-1}
        last = range(self.level_ends[-3] if len(self.level_ends) > 2 else 0, self.expanded)
        chosen = random.Random(self.expanded).sample(last, min(LAST, len(last)))
        self.sampler.compare_last(elapsed, self.kernel, self._record, [*sorted(violating), *chosen])

    def _record(self, index: int) -> CompiledRecord:
        packed = self.states.rows([index])[0]
        if self.reduction is not None:
            self.reduction.check(self.kernel, packed)
        return self._records.record(packed)

    def _sleep_sets_exceed_memory(self) -> bool:
        """Whether the states and their sleep sets exceed the memory budget."""
        sleepers = 0 if self.reduction is None else self.reduction.sleep_sets.nbytes
        return sleepers > 0 and self.states.used_bytes(self.stored) + sleepers > self.options.memory

    def _is_resumable(self, stop_reason: StopReason) -> bool:
        """Whether a search that stopped for this reason has work left."""
        waits = any(prop.kind.is_liveness for prop in self.options.properties)
        return stop_reason in (StopReason.TIME, StopReason.MEMORY, StopReason.INTERRUPT) or (
            waits and stop_reason is StopReason.COMPLETE
        )

    def snapshot(self) -> tuple[np.ndarray, dict[str, list[int]]]:
        """Return the cursor and the counts of all workers so far."""
        cursor, counts = self.cursor.copy(), CounterBuffers(self.kernel, 0)
        counts.include(self.counts)
        if self.pool is not None:
            self.pool.add_to(counts, cursor)
        return cursor, counts.saved()

    def _advance_noting(self, pace: int) -> StopReason | None:
        """Do as `_advance` does, and note which instances have fired since the last time."""
        begin = self.expanded
        stop_reason = self._advance(pace)
        if self.options.compare:
            self._firings.note(self._taken(), begin, min(self.stored, self.expanded + 1))
        return stop_reason

    def _advance(self, pace: int) -> StopReason | None:
        """Expand up to `pace` states; return the reason to stop, None if there is none."""
        pool, cursor = self.pool, self.cursor
        cursor[Cursor.LIMIT] = cursor[Cursor.NEXT] + pace
        is_new = cursor[Cursor.NEXT] in (0, cursor[Cursor.LEVEL_END])
        is_counted = len(self.level_ends) < MOST_DEPTHS
        if is_new and is_counted:
            self.level_ends.append(level_end(cursor))
        if self.reduction is not None and is_new:
            self._begin_depth()
        if self.reduction is not None or is_counted:
            cursor[Cursor.LIMIT] = max(cursor[Cursor.NEXT] + 1, min(cursor[Cursor.LIMIT], level_end(cursor)))
        if pool is not None and pool.is_worth_sharing(cursor):
            if self.blocks is not None and self.blocks.compares_next and pool.expands_blocks(cursor):
                return self._expand_compared_block()
            while cursor[Cursor.NEXT] < cursor[Cursor.LIMIT] and pool.is_worth_sharing(cursor):
                pool.advance(self.kernel_view, self.states, self.counts, cursor)
            return None
        if pool is not None and not pool.must_serialize:
            cursor[Cursor.LIMIT] = max(cursor[Cursor.NEXT] + 1, min(cursor[Cursor.LIMIT], level_end(cursor)))
        return self._expand_alone()

    def _expand_compared_block(self) -> StopReason | None:
        """Expand a block in this thread, and compare it with the kernel."""
        cursor = self.cursor
        cursor[Cursor.LIMIT] = min(cursor[Cursor.LIMIT], cursor[Cursor.NEXT] + BLOCK)
        return self._expand_alone()

    def _expand_alone(self) -> StopReason | None:
        """Expand states in this thread up to the limit of the cursor; return the reason to stop, if there is one."""
        if self.blocks is not None:
            status = self.blocks.explore(self.search, self.counts, self.cursor)
        else:
            status = breadth.explore(self.search, self.cursor)
        self.kernel.raise_pending()
        if status == Status.FULL:
            return None if self.states.grow(self.stored) else StopReason.MEMORY
        return _STOP_REASONS.get(Status(status))

    def _progress(self, note: str = "") -> Progress:
        budget = self.options.seconds
        return Progress(
            engine="exhaust",
            done=self.expanded,
            unit="states",
            seconds=self.seconds,
            left=None if budget is None else max(0.0, budget - self.seconds),
            note=note,
            depth=int(self.cursor[Cursor.DEPTH]),
            frontier=self.stored - self.expanded,
            memory=self.states.used_bytes(self.stored),
            memory_budget=self.options.memory,
            count_steps=self._steps_by_action if self.reduction is None else None,
        )

    def _steps_by_action(self) -> dict[str, int]:
        """Return how often each action was taken so far."""
        return steps_by_action(self.model, self._taken())

    def _taken(self) -> np.ndarray:
        """Return how often each instance was taken so far, int64[instances or more]."""
        taken: np.ndarray = sum(one.enabled_totals - one.blocked for one in self._all_counts)
        return taken

    def notes(self) -> Iterator[str]:
        """Yield nothing: a plain search has no special notes."""
        yield from ()

    def shortest_path(self, index: int) -> PackedPath:
        """Return a shortest path to a stored state."""
        indices: list[int] = [index]
        instances: list[int] = []
        while index >= self.initial:
            index, instance = self._parent(index)
            indices.append(index)
            instances.append(instance)
        return PackedPath(self.states.rows(indices[::-1]), tuple(instances[::-1]))

    def _parent(self, index: int) -> tuple[int, int]:
        """Return the state from which a state was discovered, and the instance of that step."""
        marks = self.counts.marks[: -(-self.expanded // STRIDE)]
        block = int(np.searchsorted(marks, index, side="right")) - 1
        first, last = block * STRIDE, min((block + 1) * STRIDE, self.expanded)
        wanted = np.array([first, last, index, 0], np.int64)
        parent = breadth.find_parent(self._uncounted(), wanted)
        if parent == ABSENT:
            raise AssertionError(f"No state in {first} … {last - 1} leads to state {index}; the store is corrupt.")
        return int(parent), int(wanted[3])

    def _uncounted(self) -> SearchLayout:
        """The argument of the loops, with bound hits counted in a copy that is discarded."""
        self._discarded_hits = self.counts.hits.copy()
        search = self.search
        return search._replace(counters=search.counters._replace(hits=self._discarded_hits.ctypes.data))


_STOP_REASONS = {
    Status.DONE: StopReason.COMPLETE,
    Status.VIOLATION: StopReason.VIOLATION,
    Status.FAILED: StopReason.FAILURE,
}
