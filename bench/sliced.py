"""`python -m bench.sliced`: walks on bit-sliced code beside walks on the kernel, which are the same walks.

Both run in turn, five times; the figures are the medians, and with each ratio the lowest and the highest of five. Rates
are millions of steps in a CPU second of one thread, all properties checked, in walks of at most 100 steps. *Many* are
walks with equal chances that take the kernel about two seconds, *swarm* as many walks of one generation of a swarm that
also estimates the distinct states, *short* 10,000 walks, the default of `kwalk walk`. *Made* is the CPU seconds of all
threads to lift the model and to compile the bit-sliced code.

With `--loops`, walks that wait in queues run in turn with walks that stay in their lanes, whichever the model takes.
With `--widths`, code for narrower registers of x86-64 runs as well: *many* walks on each, and how many times as fast
as the kernel.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from attrs import evolve

from bench.scenarios import DEPTH
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.compile.slices import compile_slices, sliced_kernel_of
from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.processor import cpu
from kwalk.search.simulation import swarm
from kwalk.search.simulation.chunks import SimulationPlan, run_chunk
from kwalk.search.simulation.options import SimulationOptions

RUNS, SECONDS = 5, 2.0
SCENARIOS = (
    "two-phase-commit",
    "topic-id-core",
    "chang-roberts",
    "paxos",
    "old-client-expansion",
    "old-client-expansion-in-detail",
)
OF_BOTH_LOOPS = (
    "two-phase-commit",
    "topic-id-core",
    "paxos",
    "buffered-file",
    "ensemble-growth",
    "consumer-group",
    "stray-log",
    "b-tree",
    "old-client-expansion",
)
WIDTHS = {"SSE2": ("x86-64 +sse2", 128), "AVX2": ("haswell +avx2,+bmi2,+popcnt", 256), "AVX-512": ("", 512)}
"""The name and the features of a CPU ("": of this one), and the lanes of its planes."""
UNIFORM = SimulationOptions(keep_going=True, depth=DEPTH)
HEAD = ("scenario", "made, s", "many: kernel", "sliced", "ratio", "swarm: kernel", "sliced", "ratio", "short: ratio")
HEAD_OF_LOOPS = ("scenario", "tables", "instances", "many: queues", "lanes", "ratio", "swarm: queues", "lanes", "ratio")


def timed(run: Callable[[], int]) -> float:
    """Millions of steps in a CPU second."""
    began = time.thread_time()
    steps = run()
    return steps / (time.thread_time() - began) / 1e6


def side_by_side(kernels: tuple[Kernel, Kernel], plan: SimulationPlan, walks: int) -> tuple[list[float], list[float]]:
    """The rates of both kernels, and the ratios."""
    runs = [lambda k=kernel: run_chunk(k, plan, range(walks)).steps for kernel in kernels]
    for run in runs:
        run()  # the loops are compiled by then
    rates = [[timed(run) for run in runs] for _ in range(RUNS)]
    return [statistics.median(column) for column in zip(*rates, strict=True)], [b / a for a, b in rates]


def cells(name: str) -> Iterator[str]:
    """The row of a scenario."""
    model = Model(find_scenario(name))
    kernel = fast_kernel_for(model)
    began = time.process_time()
    code = compile_slices(model)
    yield f"{time.process_time() - began:.1f}"
    kernels = kernel, evolve(kernel, sliced=sliced_kernel_of(model, code))
    yield from many_and_swarm(model, kernels)
    yield _ratio(side_by_side(kernels, UNIFORM.plan(model, kernel), 10_000)[1])


def cells_of_loops(name: str) -> Iterator[str]:
    """The row of a scenario with both loops."""
    model = Model(find_scenario(name))
    kernel, code = fast_kernel_for(model), compile_slices(model)
    sliced = sliced_kernel_of(model, code)
    yield from (f"{code.tables:,}", f"{kernel.instances:,}")
    queues, lanes = (evolve(kernel, sliced=evolve(sliced, is_resident=way)) for way in (False, True))
    yield from many_and_swarm(model, (queues, lanes))


def cells_of_widths(name: str) -> Iterator[str]:
    """The row of a scenario with code for several CPUs."""
    model = Model(find_scenario(name))
    kernel = fast_kernel_for(model)
    for features, lanes in WIDTHS.values():
        target = f"{cpu().split()[0]} {features} -" if features else ""
        sliced = sliced_kernel_of(model, compile_slices(model, target=target, lanes=lanes))
        rates, ratios = side_by_side((kernel, evolve(kernel, sliced=sliced)), UNIFORM.plan(model, kernel), 1_000_000)
        yield from (f"{rates[1]:.2f}", _ratio(ratios))


def many_and_swarm(model: Model, kernels: tuple[Kernel, Kernel]) -> Iterator[str]:
    """The rates and ratios of two kernels, without a swarm and as one; the first takes about SECONDS."""
    first, walks = kernels[0], 4000
    plan = UNIFORM.plan(model, first)
    walks = max(
        10_000,
        int(
            walks
            * SECONDS
            * timed(lambda: run_chunk(first, plan, range(walks)).steps)
            * 1e6
            / run_chunk(first, plan, range(walks)).steps
        ),
    )
    swarm.FIRST_GENERATION = walks
    for options in (UNIFORM, evolve(UNIFORM, swarm=True, count_states=True)):
        rates, ratios = side_by_side(kernels, options.plan(model, first), walks)
        yield from (f"{rate:.2f}" for rate in rates)
        yield _ratio(ratios)


def _ratio(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def main() -> int:
    """Print a table with a row for each scenario."""
    parser = argparse.ArgumentParser(prog="python -m bench.sliced", description=__doc__)
    parser.add_argument("scenario", nargs="*", help="these scenarios")
    parser.add_argument("--loops", action="store_true", help="compare both loops of bit-sliced walks")
    parser.add_argument("--widths", action="store_true", help="compare code for narrower registers")
    given = parser.parse_args()
    names, head, row = (OF_BOTH_LOOPS, HEAD_OF_LOOPS, cells_of_loops) if given.loops else (SCENARIOS, HEAD, cells)
    if given.widths:
        head = ("scenario", *(cell for name in WIDTHS for cell in (name, "ratio")))
        names, row = SCENARIOS[:2], cells_of_widths
    print(f"| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    for name in given.scenario or names:
        print(f"| {' | '.join([name, *row(name)])} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
