"""`python -m bench.cores`: what more cores add to an exhaustive search, simulated from measured times of its blocks.

A search by several workers (`kwalk.search.exhaustive.parallel_expansion`) expands blocks side by side, and stores what
is new in turns. One worker does both here, and the time of each part of each block is measured. Then workers are
simulated: each draws the next block when it is free, waits for its turn, and meets the others at the end of each level;
a larger table is filled by all. So the figures have what the algorithm loses to turns and to levels that end. They do
not have what cores lose to each other in memory and caches: *GB/s* are the cache lines that lookups read at that speed,
to be compared with what a machine can deliver.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import asdict

from bench.reference import SCENARIO, SIZES
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.base.options import SearchOptions
from kwalk.search.exhaustive.block_expansion import (
    BlockExpansion,
    BlockView,
    add_counts,
    expand_block,
)
from kwalk.search.exhaustive.expansion import (
    compress_successors,
    count_rows,
    expand_states,
    explore,
    successors_of,
)
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.layout import BATCH, BLOCK, Cursor, SearchLayout, Status
from kwalk.search.exhaustive.parallel_expansion import MAX_PENDING, MOST_STATES, SHARES
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.compile.slices import with_slices
from kwalk.search.native.intrinsics import get, integer, put
from kwalk.search.native.loops import Int64Array, intrinsic, loop
from kwalk.search.native.structures import Structure
from kwalk.search.visited.frontier import UnknownKeys, clear_regions, find_unknown, has_room, store_unknown
from kwalk.search.visited.hash_table import REGIONS, room_for_keys
from kwalk.search.visited.key_store import STRIDE
from kwalk.search.visited.visited_set import key_words

CORES = (1, 2, 4, 8, 16, 32, 64, 128)
FIRST, STATES, EXPANSION, INSERTION = range(4)
"""The times of a block, int64: its first state and its states, and the ticks of both parts."""
LINE = 64
"""Bytes of a cache line."""
LINES = 2
"""Cache lines that looking a successor up reads: one of the table, and one of the store."""


@intrinsic(int)
def ticks(builder: Any) -> Any:
    """Return the time stamp counter of the core."""
    from llvmlite import ir

    kind = ir.FunctionType(ir.IntType(64), [])
    return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", (), kind), [])


@loop
def measure_states(search: SearchLayout, unknown: UnknownKeys, cursor: Int64Array, times: Int64Array) -> int:
    """Expand a block of states one by one, and store its successors; return a status.

    It begins at cursor[Cursor.NEXT] and ends before cursor[Cursor.LIMIT]; nothing is done without room.
    """
    first, began = cursor[Cursor.NEXT], ticks()
    count = cursor[Cursor.LIMIT] - first
    if room_for_keys(search.space, cursor[Cursor.STORED]) < count * search.kernel.instances:
        return Status.FULL
    times[EXPANSION] = times[INSERTION] = 0
    while cursor[Cursor.NEXT] < cursor[Cursor.LIMIT]:
        begin, began = cursor[Cursor.NEXT], ticks()
        batch = min(BATCH, cursor[Cursor.LIMIT] - begin)
        if expand_states(search, cursor, batch) != Status.RUNNING or not compress_successors(search, batch):
            return Status.FAILED
        count_rows(search, batch)
        states = integer(begin), integer(batch)
        find_unknown(search.space, successors_of(search), unknown, search.counters.idle, (states[0], states[1], 0))
        found, size = ticks(), integer(cursor[Cursor.STORED])
        cursor[Cursor.STORED] = store_unknown(search.space, unknown, search.counters.marks, states, size)
        times[EXPANSION] += found - began
        times[INSERTION] += ticks() - found
    return Status.RUNNING


@loop
def measure_block(search: SearchLayout, view: BlockView, cursor: int, times: int) -> int:
    """Do the same for a block on bit-sliced functions."""
    first, began = get(cursor, Cursor.NEXT), ticks()
    count = get(cursor, Cursor.LIMIT) - first
    if not expand_block(search, view, first, count):
        return Status.FULL
    clear_regions(view.unknown)
    find_unknown(search.space, view.successors, view.unknown, search.counters.idle, (first, count, 0))
    found, size = ticks(), get(cursor, Cursor.STORED)
    if not has_room(search.space, view.unknown.regions, size):
        return Status.FULL
    size = store_unknown(search.space, view.unknown, search.counters.marks, (first, count), size)
    put(cursor, Cursor.STORED, size)
    put(cursor, Cursor.NEXT, first + count)
    inserted = ticks()
    add_counts(search, view, cursor, first)
    put(times, EXPANSION, found - began + ticks() - inserted)
    put(times, INSERTION, inserted - found)
    return integer(Status.RUNNING)


class Measured(NamedTuple):
    """A search by one worker."""

    blocks: np.ndarray
    """int64[n, 4]: the times of the blocks."""
    level_ends: list[int]
    alone: float
    """Seconds for levels that one worker expands."""
    growth: float
    """Seconds in which larger tables were filled."""
    tick: float
    """Seconds of a tick."""
    generated: int
    size: int
    """The states of the smallest block."""
    is_sliced: bool


def measured(model: Model, most: int, *, slices: bool) -> Measured:
    """Search until `most` states are expanded, or all."""
    kernel = fast_kernel_for(model)
    kernel = with_slices(model, kernel) if slices else kernel
    options = SearchOptions(model.properties, memory=8 << 30, keep_going=True, compare=False)
    search = Explorer(model, kernel, options)
    blocks = BlockExpansion(kernel, compare=False, shared=True) if kernel.sliced else None
    sizes = {"unknown": BATCH * kernel.instances, "key_words": key_words(kernel.words), "states": BATCH}
    unknown = Structure(UnknownKeys, sizes | {"regions": REGIONS})
    size = blocks.view.lanes if blocks else STRIDE
    least, cursor, times = 2 * max(size, 512), search.cursor, np.zeros(4, np.int64)
    rows, level_ends, alone, growth = [], [], 0.0, 0.0
    while cursor[Cursor.NEXT] < min(most, cursor[Cursor.STORED]):
        first = int(cursor[Cursor.NEXT])
        if first == cursor[Cursor.LEVEL_END]:
            cursor[Cursor.LEVEL_END] = cursor[Cursor.STORED]
            level_ends.append(first)
        end = int(cursor[Cursor.LEVEL_END])
        if end - first < least and (not level_ends or first == level_ends[-1]):
            cursor[Cursor.LIMIT], start = end, time.perf_counter()
            status = explore(search.search, cursor)
            alone += time.perf_counter() - start
        else:
            cursor[Cursor.LIMIT] = min(end, first - first % size + size)
            times[FIRST], times[STATES] = first, cursor[Cursor.LIMIT] - first
            if blocks:
                status = measure_block(search.search, blocks.view, cursor.ctypes.data, times.ctypes.data)
            else:
                status = measure_states(search.search, unknown.layout, cursor, times)
            if status == Status.RUNNING:
                rows.append(times.copy())
        if status == Status.FULL:
            start = time.perf_counter()
            if not search.states.grow(search.stored):
                raise SystemExit("The search needs more than 8 GiB: ask for fewer states.")
            growth += time.perf_counter() - start
    table = np.array(rows)
    return Measured(
        table, level_ends, alone, growth, _seconds_of_tick(), int(cursor[Cursor.GENERATED]), size, blocks is not None
    )


@loop
def read_ticks() -> int:
    """Return the time stamp counter."""
    return ticks()


def _seconds_of_tick() -> float:
    first, began = read_ticks(), time.perf_counter()
    time.sleep(0.2)
    return (time.perf_counter() - began) / (read_ticks() - first)


def simulated(run: Measured, workers: int, *, insertion: float = 1.0) -> float:
    """Return the seconds of a search by some workers, whose insertions take `insertion` times as long."""
    seconds = run.alone + run.growth / workers
    levels = np.searchsorted(run.blocks[:, FIRST], run.level_ends)
    for level in np.split(run.blocks, levels):
        if len(level):
            seconds += run.tick * _level(_shared(run, level, workers), workers, insertion, run.is_sliced)
    return seconds


def _shared(run: Measured, level: np.ndarray, workers: int) -> np.ndarray:
    """Return the ticks of the blocks into which workers cut a level, int64[n, 2]."""
    most = BLOCK if run.is_sliced else MOST_STATES
    together = max(1, min(most, int(level[:, STATES].sum()) // (SHARES * workers)) // run.size)
    return np.add.reduceat(level[:, EXPANSION:], np.arange(0, len(level), together))


def _level(blocks: np.ndarray, workers: int, insertion: float, is_sliced: bool) -> float:
    """Return the ticks of a level: workers that wait for a turn expand further blocks, if these are small."""
    free, pending, turn = [0.0] * workers, [[] for _ in range(workers)], 0.0
    owners: list[tuple[int, float]] = []
    for expansion, stored in blocks.tolist():
        worker = min(range(workers), key=free.__getitem__)
        ready = free[worker] + expansion
        turn = max(turn, ready) + insertion * stored
        owners.append((worker, turn))
        waiting: list[float] = pending[worker]
        waiting.append(turn)
        room = 1 if is_sliced else MAX_PENDING
        free[worker] = max(ready, waiting[-room]) if len(waiting) >= room else ready
        free[worker] += 0.0 if is_sliced else insertion * stored
    return turn


def table(run: Measured) -> list[str]:
    """Return the lines of the table."""
    alone = simulated(run, 1)
    parts = run.blocks[:, EXPANSION:].sum(0) * run.tick
    lines = [
        f"{int(run.blocks[:, STATES].sum()):,} states in {len(run.blocks):,} blocks; of {alone:.2f} s, {parts[1]:.2f} "
        f"s are turns, {run.growth:.2f} s larger tables, {run.alone:.2f} s short levels.",
        "",
        "| cores | speed-up | without turns | GB/s |",
        "|---:|---:|---:|---:|",
    ]
    for workers in CORES:
        seconds = simulated(run, workers)
        traffic = run.generated * LINES * LINE / seconds / 1e9
        free = simulated(run, workers, insertion=0)
        lines.append(f"| {workers} | {alone / seconds:.2f} | {alone / free:.1f} | {traffic:.1f} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for the reference model, and one for each of some scenarios."""
    parser = argparse.ArgumentParser(prog="python -m bench.cores", description=__doc__)
    parser.add_argument("scenario", nargs="*", default=["old-client-expansion"], help="these scenarios")
    parser.add_argument("--size", choices=SIZES, default="2.5M", help="the size of the reference model (2.5M)")
    parser.add_argument("--states", type=int, default=10_000_000, help="how many states are expanded at most")
    options = parser.parse_args(arguments)
    reference = Model(find_scenario(SCENARIO), bounds=asdict(SIZES[options.size].bounds))
    models = {f"{SCENARIO}, {options.size}": (reference, False)}
    models |= {name: (Model(find_scenario(name)), True) for name in options.scenario}
    for name, (model, slices) in models.items():
        measured(model, 100_000, slices=slices)  # the loops are loaded by then
        print("\n".join(["", f"## {name}", "", *table(measured(model, options.states, slices=slices))]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
