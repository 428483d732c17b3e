"""Breadth-first search by several workers, with the numbering of one worker.

Words: a *round* is the rest of a level, cut into *blocks*: of hundreds of states, or of thousands on a bit-sliced
kernel (see `block_expansion`). Workers draw blocks by *ticket*, expand them, and look their successors up. A block is
*committed*, its new successors stored, in its *turn*, when all blocks before it are; so states are numbered as by one
worker. Only successors that were not found before wait for the turn. A block of states that must wait is *pending*, and
its worker draws another one; a *snapshot* of the counters is taken before each of them. All workers
meet at a barrier before and after a round. They return together: when the limit is reached, or when a block cannot be
committed because of its *fault*: there is no room, or a violation or an error. Nothing of it counts, nor of later
blocks. After a violation or an error the search `must_serialize`: one worker continues from there state by state, so
that it stops at the same place as a search with one worker. A refused block of a bit-sliced kernel is a fault too: the
workers then expand the states there one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kwalk.search.exhaustive.block_expansion import (
    NO_BLOCKS,
    REFUSED,
    BlockExpansion,
    BlockView,
    add_counts,
    expand_block,
)
from kwalk.search.exhaustive.expansion import (
    compress_successors,
    count_rows,
    expand_states,
    successors_of,
)
from kwalk.search.exhaustive.layout import (
    BATCH,
    BLOCK,
    CounterBuffers,
    Cursor,
    KernelView,
    SearchLayout,
    Status,
    add_cursor,
    batch_of,
    level_end,
)
from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.atomics import (
    BARRIER_CLOSED,
    BARRIER_SIZE,
    address_of_yield,
    atomic_add,
    atomic_load,
    atomic_store,
    compare_and_swap,
    take_ticket,
    wait_at_barrier,
)
from kwalk.search.native.intrinsics import call, get, integer, peek, put
from kwalk.search.native.loops import Int64Array, loop, part
from kwalk.search.native.structures import Structure, isolated_zeros
from kwalk.search.visited.frontier import UnknownKeys, clear_regions, find_unknown, has_room, store_unknown
from kwalk.search.visited.hash_table import REFILL_WORDS, REGIONS, clear_table, refill_table, room_for_keys
from kwalk.search.visited.key_store import STRIDE
from kwalk.search.visited.keys import KeySpace, copy_words
from kwalk.search.visited.visited_set import VisitedSet, key_words

MIN_ROUND = 1024
"""The smallest round that several workers share, in states."""
MAX_PENDING = 8
"""The largest number of pending blocks of a worker."""
MOST_STATES = 2048
"""The most states of a block that is expanded state by state. Large blocks have fewer turns, in which workers wait for
one another: with blocks of 64, a quarter of the CPU time was waiting (perf, 24 million states, two workers)."""
SHARES = 4
"""The least number of blocks of each worker in a round, unless that makes them too small."""

LARGE_PAGE = 1 << 21
"""Bytes of a large page, which the system clears at the first write."""

BOARD_ORDER, BOARD_FIRST, BOARD_END, BOARD_TOUCHED, BOARD_SIZE, BOARD_TICKET, BOARD_TURN, BOARD_FAULT = (
    0,
    1,
    2,
    3,
    4,
    8,
    16,
    17,
)
"""The words of the board: whether to do a round (RUNNING or DONE), its first state and the end of its states, the page
of the store up to which pages are touched ahead, the states of a block, the next ticket, the turn, and the fault (or
RUNNING). Words that change often are on cache lines of their own."""
BOARD_LENGTH = 24

PENDING_BLOCK, PENDING_STATUS = range(2)
"""A pending block (int64): its number, and RUNNING or its fault."""
PENDING_LENGTH = 2


class Rounds(NamedTuple):
    """What workers share: sizes and addresses."""

    workers: int
    yield_thread: int
    """The address of `sched_yield`."""
    cursor: int
    """The cursor of the search, which moves whenever a block is committed."""
    board: int
    barrier: int
    marks: int
    """The marks of the search (see `layout`)."""
    least: int
    """The smallest round, in states."""


class WorkerBuffers(NamedTuple):
    """The buffers of one worker: its number, and addresses."""

    number: int
    cursor: int
    counts: int
    """Its counters."""
    words: int
    """The number of their words."""
    snapshots: int
    """For each pending block: the counters before it."""
    pending: int
    """For each pending block: PENDING_LENGTH int64."""
    unknown: UnknownKeys
    """For each pending block: MOST_STATES states, and `widest` successors."""
    widest: int


@loop
def run_worker(search: SearchLayout, view: BlockView, rounds: Rounds, worker: WorkerBuffers, cursor: Int64Array) -> int:
    """Do rounds with the other workers; return DONE, or the fault that ended the last round.

    `view` is NO_BLOCKS if states are expanded one by one.
    """
    while True:
        if worker.number == 0:
            _begin_round(view, rounds)
        if not wait_at_barrier(rounds.barrier, rounds.workers, rounds.yield_thread):
            return Status.DONE
        if get(rounds.board, BOARD_ORDER) != Status.RUNNING:
            return Status.DONE
        if view.size == 0:
            _do_blocks(search, rounds, worker, cursor)
        else:
            _do_sliced_blocks(search, view, rounds, worker)
        wait_at_barrier(rounds.barrier, rounds.workers, rounds.yield_thread)
        fault = get(rounds.board, BOARD_FAULT)
        if fault != Status.RUNNING:
            return fault


@part
def _begin_round(view: BlockView, rounds: Rounds) -> None:
    """Start the next round, or write to the board that there is none."""
    cursor, board, first = rounds.cursor, rounds.board, get(rounds.cursor, Cursor.NEXT)
    over = first == get(cursor, Cursor.LEVEL_END)
    end = get(cursor, Cursor.STORED) if over else get(cursor, Cursor.LEVEL_END)
    if end - first < rounds.least or first >= get(cursor, Cursor.LIMIT):
        put(board, BOARD_ORDER, Status.DONE)
        return
    if over:
        put(cursor, Cursor.LEVEL_END, end)
        put(cursor, Cursor.DEPTH, get(cursor, Cursor.DEPTH) + 1)
    if end - get(cursor, Cursor.LIMIT) >= rounds.least:
        end = get(cursor, Cursor.LIMIT)
    least, most = integer(STRIDE), integer(MOST_STATES)
    if view.size > 0:
        least, most = view.slices.lanes, view.size
    size = (end - first) // (SHARES * rounds.workers)
    size = max(least, min(most, size - size % least))
    put(board, BOARD_FIRST, first)
    put(board, BOARD_END, end)
    put(board, BOARD_SIZE, size)
    put(board, BOARD_TICKET, first // size)
    put(board, BOARD_TURN, first // size)
    put(board, BOARD_ORDER, Status.RUNNING)


@part
def _do_sliced_blocks(search: SearchLayout, view: BlockView, rounds: Rounds, worker: WorkerBuffers) -> None:
    """Expand blocks on a bit-sliced kernel and commit them in turn, until there are no more or one is refused."""
    board = rounds.board
    blocks = (get(board, BOARD_END) - 1) // get(board, BOARD_SIZE) + 1
    while True:
        _touch_ahead(search.space, rounds)
        block = take_ticket(board + 8 * BOARD_TICKET)
        if block >= blocks:
            return
        first, end = _states_of(rounds, block)
        is_expanded = expand_block(search, view, first, end - first)
        if is_expanded:
            clear_regions(view.unknown)
            find_unknown(search.space, view.successors, view.unknown, search.counters.idle, (first, end - first, 0))
        while atomic_load(board, BOARD_TURN) != np.uint64(block):
            if atomic_load(board, BOARD_FAULT) != np.uint64(Status.RUNNING):
                return
            call(rounds.yield_thread, ())
        size = get(rounds.cursor, Cursor.STORED)
        if not is_expanded or not has_room(search.space, view.unknown.regions, size):
            atomic_store(board, BOARD_FAULT, np.uint64(REFUSED))
            return
        size = store_unknown(search.space, view.unknown, rounds.marks, (first, end - first), size)
        put(rounds.cursor, Cursor.STORED, size)
        put(rounds.cursor, Cursor.NEXT, end)
        atomic_store(board, BOARD_TURN, np.uint64(block + 1))
        add_counts(search, view, worker.cursor, first)


@part
def _do_blocks(search: SearchLayout, rounds: Rounds, worker: WorkerBuffers, cursor: Int64Array) -> None:
    """Expand blocks and commit them in turn, until there are no more or one has a fault."""
    blocks = (get(rounds.board, BOARD_END) - 1) // get(rounds.board, BOARD_SIZE) + 1
    oldest, newest = integer(0), integer(0)
    going = True
    while going or oldest < newest:
        if atomic_load(rounds.board, BOARD_FAULT) != np.uint64(Status.RUNNING):
            _roll_back(worker, oldest, newest)
            return
        if oldest < newest and atomic_load(rounds.board, BOARD_TURN) == peek(_pending(worker, oldest), PENDING_BLOCK):
            oldest += _commit_block(search, rounds, worker, oldest)
        elif going and newest - oldest < MAX_PENDING:
            if oldest == newest:
                _touch_ahead(search.space, rounds)
            block = take_ticket(rounds.board + 8 * BOARD_TICKET)
            going = block < blocks and _expand_block(search, rounds, worker, (cursor, block, newest))
            newest += integer(block < blocks)
        else:
            call(rounds.yield_thread, ())


@part
def _touch_ahead(space: KeySpace, rounds: Rounds) -> None:
    """Write to the next page of the store, once, so that the system clears it outside of any worker's turn."""
    touched, page = (
        atomic_load(rounds.board, BOARD_TOUCHED),
        get(rounds.cursor, Cursor.STORED) * space.stride // LARGE_PAGE + 1,
    )
    wanted = integer(touched) < page and LARGE_PAGE * page < space.capacity * space.stride
    if wanted and compare_and_swap(rounds.board, BOARD_TOUCHED, touched, np.uint64(page)):
        atomic_add(space.store + LARGE_PAGE * page, integer(0), integer(0))


@part
def _roll_back(worker: WorkerBuffers, oldest: int, newest: int) -> None:
    """Restore the counters from before the pending blocks."""
    if oldest < newest:
        copy_words(worker.counts, _snapshot(worker, oldest), worker.words)


@part
def _pending(worker: WorkerBuffers, number: int) -> int:
    """Return the address of a pending block; `number` counts the blocks of the worker."""
    return worker.pending + 8 * PENDING_LENGTH * (number % MAX_PENDING)


@part
def _snapshot(worker: WorkerBuffers, number: int) -> int:
    """Return the address of the snapshot before a block of the worker."""
    return worker.snapshots + 8 * worker.words * (number % MAX_PENDING)


@part
def _unknown(search: SearchLayout, worker: WorkerBuffers, number: int) -> UnknownKeys:
    """Return the arrays for the unknown successors of a block of the worker."""
    of, place = worker.unknown, number % MAX_PENDING
    at, state = 8 * worker.widest * place, 8 * MOST_STATES * place
    keys = of.keys + at * search.space.words
    return UnknownKeys(keys, of.hashes + at, of.slots + at, of.begins + state, of.ends + state, of.regions)


@part
def _states_of(rounds: Rounds, block: int) -> tuple[int, int]:
    """Return the first state of a block in the round, and the end of its states."""
    size = get(rounds.board, BOARD_SIZE)
    return max(get(rounds.board, BOARD_FIRST), size * block), min(get(rounds.board, BOARD_END), size * (block + 1))


@part
def _expand_block(
    search: SearchLayout, rounds: Rounds, worker: WorkerBuffers, what: tuple[Int64Array, int, int]
) -> bool:
    """Expand the states of a block and probe for their successors; whether there is no fault."""
    cursor, block, number = what
    copy_words(_snapshot(worker, number), worker.counts, worker.words)
    begin, end = _states_of(rounds, block)
    status, unknown = integer(Status.RUNNING), _unknown(search, worker, number)
    for first in range(begin, end, BATCH):
        count = min(BATCH, end - first)
        cursor[Cursor.NEXT] = first
        status = expand_states(search, cursor, count)
        if status != Status.RUNNING:
            break
        count_rows(search, count)
        if not compress_successors(search, count):
            status = integer(Status.FULL)
            break
        states = first, count, first - begin
        find_unknown(search.space, successors_of(search), unknown, search.counters.idle, states)
    put(_pending(worker, number), PENDING_BLOCK, block)
    put(_pending(worker, number), PENDING_STATUS, status)
    return status == Status.RUNNING


@part
def _commit_block(search: SearchLayout, rounds: Rounds, worker: WorkerBuffers, number: int) -> int:
    """Store the new successors of a block in its turn and return 1; or write its fault to the board, return 0."""
    cursor, block, status = (
        rounds.cursor,
        get(_pending(worker, number), PENDING_BLOCK),
        get(_pending(worker, number), PENDING_STATUS),
    )
    size, (begin, end) = get(cursor, Cursor.STORED), _states_of(rounds, block)
    unknown = _unknown(search, worker, number)
    if status == Status.RUNNING and room_for_keys(search.space, size) < get(unknown.ends, end - begin - 1):
        status = integer(Status.FULL)  # as of one worker: the fullest region decides
    if status != Status.RUNNING:
        atomic_store(rounds.board, BOARD_FAULT, np.uint64(status))
        return 0
    size = store_unknown(search.space, unknown, rounds.marks, (begin, end - begin), size)
    put(cursor, Cursor.STORED, size)
    put(cursor, Cursor.NEXT, end)
    atomic_store(rounds.board, BOARD_TURN, np.uint64(block + 1))
    return 1


class RoundArrays:
    """The arrays that workers share."""

    def __init__(self) -> None:
        self.board, self.barrier = isolated_zeros(BOARD_LENGTH, np.int64), isolated_zeros(BARRIER_SIZE, np.int64)
        self.yield_thread = address_of_yield()

    def rounds(self, workers: int, cursor: np.ndarray, marks: np.ndarray, least: int = MIN_ROUND) -> Rounds:
        """Return the addresses for `workers` workers that move a cursor and write marks, and the smallest round."""
        return Rounds(
            workers=workers,
            yield_thread=self.yield_thread,
            cursor=cursor.ctypes.data,
            marks=marks.ctypes.data,
            least=least,
            board=self.board.ctypes.data,
            barrier=self.barrier.ctypes.data,
        )

    def release(self) -> None:
        """Close the barrier: workers that wait there return."""
        self.barrier[BARRIER_CLOSED] = 1

    def warm_up(self) -> None:
        """Open the barrier, and clear the board."""
        self.barrier[:] = 0
        self.board[BOARD_ORDER], self.board[BOARD_FAULT] = Status.DONE, Status.RUNNING


class Worker:
    """The arrays of one worker: counters, a cursor, bit rows and pending blocks."""

    def __init__(self, number: int, kernel: Kernel, workspace_words: int = 0) -> None:
        self.counts = CounterBuffers(kernel, 0)
        self.room = batch_of(kernel, workspace_words)
        self.cursor, self.scratch = self.counts.cursor, isolated_zeros(REFILL_WORDS)
        words = len(self.counts.block)
        self.snapshots, self.pending = (
            isolated_zeros(MAX_PENDING * words, np.int64),
            isolated_zeros(MAX_PENDING * PENDING_LENGTH, np.int64),
        )
        widest, key = MOST_STATES * kernel.instances, key_words(kernel.words)
        sizes = {"states": MAX_PENDING * MOST_STATES, "unknown": MAX_PENDING * widest, "regions": REGIONS}
        self.unknown = Structure(UnknownKeys, sizes | {"key_words": key})
        self.blocks: BlockExpansion | None = None
        self.worker = WorkerBuffers(
            number=number,
            cursor=self.cursor.ctypes.data,
            counts=self.counts.block.ctypes.data,
            words=words,
            snapshots=self.snapshots.ctypes.data,
            pending=self.pending.ctypes.data,
            unknown=self.unknown.layout,
            widest=widest,
        )


class WorkerPool:
    """The threads of a search, with their arrays."""

    def __init__(self, kernel: Kernel, workers: int, workspace_words: int = 0) -> None:
        from concurrent.futures import ThreadPoolExecutor, wait  # a search on one core ends sooner without them

        self.arrays, self.must_serialize = RoundArrays(), False
        self.sliced_states = 0
        """The number of states that were expanded by bit-sliced functions."""
        self._refused = -1
        self.workers = [Worker(number, kernel, workspace_words) for number in range(workers)]
        self.threads, self._wait = ThreadPoolExecutor(workers - 1), wait

    def is_worth_sharing(self, cursor: np.ndarray) -> bool:
        """Whether the rest of the present level (or the next one) is large enough to share."""
        return not self.must_serialize and level_end(cursor) - cursor[Cursor.NEXT] >= MIN_ROUND

    def take_slices(self, kernel: Kernel) -> None:
        """Expand blocks on the bit-sliced functions of a kernel from now on, where levels are large enough."""
        for worker in self.workers:
            worker.blocks = BlockExpansion(kernel, compare=False, shared=True)

    def expands_blocks(self, cursor: np.ndarray) -> bool:
        """Whether bit-sliced functions expand what is left of the present level (or the next one)."""
        blocks = self.workers[0].blocks
        if blocks is None or self.must_serialize or cursor[Cursor.NEXT] < self._refused:
            return False
        return level_end(cursor) - int(cursor[Cursor.NEXT]) >= self._least_round(blocks)

    def _least_round(self, blocks: BlockExpansion) -> int:
        return 2 * len(self.workers) * max(blocks.view.slices.lanes, blocks.view.least)

    def warm_up(self, kernel: KernelView, states: VisitedSet, counts: CounterBuffers, cursor: np.ndarray) -> None:
        """Compile all loops and start all threads, without a round: the limit of the cursor is reached already."""
        self._run_workers(kernel, states, self.arrays.rounds(len(self.workers), cursor, counts.marks))
        clear_table(states.space, 0, 0)
        refill_table(states.space, self.workers[0].scratch.ctypes.data, (0, 0), 1)

    def advance(self, kernel: KernelView, states: VisitedSet, counts: CounterBuffers, cursor: np.ndarray) -> None:
        """Do rounds until the limit of the cursor is reached, or the search must serialize or grow."""
        limit, first = int(cursor[Cursor.LIMIT]), int(cursor[Cursor.NEXT])
        if self.expands_blocks(cursor):
            self._advance_in_blocks(kernel, states, counts, cursor)
            self.sliced_states += int(cursor[Cursor.NEXT]) - first
            return
        cursor[Cursor.LIMIT] = min(limit, max(self._refused, first)) if self._refused > first else limit
        self._run_workers(kernel, states, self.arrays.rounds(len(self.workers), cursor, counts.marks))
        cursor[Cursor.LIMIT] = limit
        fault = self.arrays.board[BOARD_FAULT]
        if fault != Status.RUNNING:
            self.must_serialize = fault != Status.FULL or not states.grow(int(cursor[Cursor.STORED]), self._fill)

    def _advance_in_blocks(
        self, kernel: KernelView, states: VisitedSet, counts: CounterBuffers, cursor: np.ndarray
    ) -> None:
        """Do rounds on bit-sliced functions until the limit of the cursor is reached, or a block is refused."""
        blocks = [worker.blocks for worker in self.workers if worker.blocks is not None]
        rounds = self.arrays.rounds(len(self.workers), cursor, counts.marks, self._least_round(blocks[0]))
        self._run_workers(kernel, states, rounds, [each.view for each in blocks])
        for worker, each in zip(self.workers, blocks, strict=True):
            each.move_totals(worker.counts)
        if self.arrays.board[BOARD_FAULT] != Status.RUNNING:
            self._refused = int(cursor[Cursor.NEXT]) + BLOCK

    def _run_workers(
        self, kernel: KernelView, states: VisitedSet, rounds: Rounds, views: Sequence[BlockView] = ()
    ) -> None:
        """Let all workers do rounds. At an exception, no round has started or all workers have returned."""
        self.arrays.warm_up()
        space, tree = states.space, states.tree
        views = views or [NO_BLOCKS] * len(self.workers)
        tasks = [
            (SearchLayout(kernel, space, tree, w.room.layout, w.counts.layout), view, rounds, w.worker, w.cursor)
            for w, view in zip(self.workers, views, strict=True)
        ]
        self._run_all(run_worker, tasks, self.arrays.release)

    def _fill(self, space: KeySpace, size: int) -> None:
        """Fill a new table with all workers."""
        self._run_all(clear_table, [(space, *share) for share in self._shares(REGIONS)])
        rooms, count = [worker.scratch.ctypes.data for worker in self.workers], len(self.workers)
        shares = zip(rooms, self._shares(size), strict=True)
        self._run_all(refill_table, [(space, room, share, count) for room, share in shares])

    def _shares(self, count: int) -> Iterator[tuple[int, int]]:
        """Return the range of each worker, of `count` things."""
        return pairwise(count * number // len(self.workers) for number in range(len(self.workers) + 1))

    def _run_all(
        self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], release: Callable[[], None] = lambda: None
    ) -> None:
        """Run a task in each worker; this thread is the first. `release` releases the others at an exception."""
        mine, *others = tasks
        futures = []
        try:
            futures += [self.threads.submit(work, *task) for task in others]
            work(*mine)
        except BaseException:
            release()
            raise
        finally:
            self._wait(futures)
        for future in futures:
            future.result()

    def finish(self, counts: CounterBuffers, cursor: np.ndarray) -> None:
        """Add the counts of the workers to those of the search, and end the threads."""
        self.threads.shutdown()
        self.add_to(counts, cursor)

    def add_to(self, counts: CounterBuffers, cursor: np.ndarray) -> None:
        """Add the counts of the workers so far to counts and a cursor, which may be copies."""
        for worker in self.workers:
            counts.include(worker.counts)
            add_cursor(cursor, worker.cursor)
