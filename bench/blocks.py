"""`python -m bench.blocks`: exhaustive search in blocks on bit-sliced code beside a search state by state.

Both expand the same number of states in turn, a few times; the figures are medians, and with the ratio the lowest and
the highest. Rates are millions of distinct states in a CPU second of one thread, all properties checked, from the
initial states on: short levels are expanded state by state in both, *%* is the share of the others. *Bytes* are those
of a state, all tables included. After the first pair all states, marks and counts are compared; a difference ends the
program. With `--workers N` the pair is one worker and N workers, both in blocks, and rates are by the clock.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from kwalk.model.language import Model
from kwalk.model.language.registry import announced, find_scenario
from kwalk.search.base.options import SearchOptions
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.layout import Cursor
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.compile.slices import with_slices
from kwalk.search.kernel.interface import Kernel
from kwalk.search.visited.key_store import STRIDE

STATES, RUNS, SLICE = 3_000_000, 3, 1 << 17
SCENARIOS = ("old-client-expansion", "old-client-expansion-in-detail")
Timed = tuple[Explorer, float]
HEAD = ("scenario", "states", "steps", "{0}", "{1}", "ratio", "%", "bytes", "{1}")


def explored(model: Model, kernel: Kernel, most: int, workers: int, clock: Callable[[], float]) -> Timed:
    """A search that has expanded `most` states or all, and its seconds."""
    search = Explorer(model, kernel, SearchOptions(model.properties, memory=8 << 30, keep_going=True, workers=workers))
    began = clock()
    while search.expanded < most and search._advance(min(SLICE, most - search.expanded)) is None:
        pass
    seconds = clock() - began
    if search.pool is not None:
        search.pool.finish(search.counts, search.cursor)
    return search, seconds


def compare(one: Explorer, other: Explorer) -> None:
    """End the program if two searches differ in a state, a mark or a count."""
    one.cursor[Cursor.LIMIT] = other.cursor[Cursor.LIMIT] = 0
    equal = one.cursor.tolist() == other.cursor.tolist() and one.counts.saved() == other.counts.saved()
    marks = -(-one.expanded // STRIDE)
    equal = equal and np.array_equal(one.counts.marks[:marks], other.counts.marks[:marks])
    for first in range(0, one.stored if equal else 0, SLICE):
        numbers = list(range(first, min(one.stored, first + SLICE)))
        equal = equal and np.array_equal(one.states.rows(numbers), other.states.rows(numbers))
    if not equal:
        raise SystemExit(f"{one.model.scenario.name}: the searches differ.")


def row(name: str, most: int, runs: int, workers: int) -> list[str]:
    """The row of a scenario."""
    model = Model(find_scenario(name))
    kernel = fast_kernel_for(model)
    sliced, clock = with_slices(model, kernel), time.thread_time if workers == 1 else time.perf_counter
    searches = ((kernel if workers == 1 else sliced, 1), (sliced, workers))
    for each in searches:
        explored(model, each[0], 2 * SLICE, each[1], clock)  # the loops are loaded by then
    seconds = []
    for number in range(runs):
        (one, first), (other, second) = (explored(model, each[0], most, each[1], clock) for each in searches)
        seconds.append((first, second))
        if number == 0:
            compare(one, other)
    rates = [one.stored / statistics.median(column) / 1e6 for column in zip(*seconds, strict=True)]
    ratios = [first / second for first, second in seconds]
    each = [search.states.used_bytes(search.stored) / search.stored for search in (one, other)]
    return [
        name,
        f"{one.stored:,}",
        f"{int(one.cursor[Cursor.GENERATED]):,}",
        *(f"{rate:.2f}" for rate in rates),
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        f"{100 * (other.sliced_states or 0) / other.expanded:.0f}",
        *(f"{size:.1f}" for size in each),
    ]


def main() -> int:
    """Print a table with a row for each scenario."""
    parser = argparse.ArgumentParser(prog="python -m bench.blocks", description=__doc__)
    parser.add_argument("scenario", nargs="*", default=SCENARIOS, help="these scenarios")
    parser.add_argument("--all", action="store_true", help="all announced scenarios")
    parser.add_argument("--states", type=int, default=STATES, help="how many states are expanded")
    parser.add_argument("--runs", type=int, default=RUNS, help="how often")
    parser.add_argument("--workers", type=int, default=1, help="compare one worker with so many")
    options = parser.parse_args()
    names = ("state by state", "in blocks") if options.workers == 1 else ("one worker", f"{options.workers} workers")
    print(f"| {' | '.join(HEAD).format(*names)} |\n|---|{'---:|' * (len(HEAD) - 1)}")
    for name in announced() if options.all else options.scenario:
        print(f"| {' | '.join(row(name, options.states, options.runs, options.workers))} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
