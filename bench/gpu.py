"""`python -m bench.gpu`: the walks of `kwalk walk` as a program for a GPU, held to the same walks on the CPU.

A thread of the GPU has 32 walks: the gates of bit slices (`kwalk.search.kernel.compile.planes`) are written as C++, and
`bench/gpu/walks.cu` has the loop around them. It needs CUDA's compiler, and counts what a report of walks says: each of
its counts must be that of kwalk, for each of ten seeds, before anything is measured. Rates are millions of steps a
second by the clock of the GPU, all properties checked, walks of at most 100 steps; *made* is the seconds to compile the
program. With `--on-cpu` the same text becomes a program for the CPU, which is compared and not measured.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from bench.scenarios import DEPTH, WrongCount
from bench.table import machine
from kwalk.model.language import Kind, Model
from kwalk.model.language.lift import lift
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.compile.gates import FALSE, Bits, GateNetwork, Literal, TermGates, cover
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.compile.planes import SliceWriter
from kwalk.search.kernel.compile.slices import MOST_INSTANCES, with_slices
from kwalk.search.kernel.interface import Kernel
from kwalk.search.simulation.chunks import SLICED_WALKS, SimulationPlan, mixed_seed, run_chunk
from kwalk.search.simulation.options import SimulationOptions
from kwalk.search.simulation.walk import walk

SCENARIOS = ("two-phase-commit", "topic-id-core", "paxos", "old-client-expansion")
SOURCES = Path(__file__).with_suffix("")
UNIFORM = SimulationOptions(keep_going=True, depth=DEPTH)
SEEDS, WALKS = range(10), 20_000
RUNS, SECONDS, CPU_SECONDS = 5, 1.0, 3.0
COUNTED = ("visits", "steps", "dead_ends", "quiescent", "enabled", "taken", "changed", "premises", "property_hits")
HEAD = (
    "scenario",
    "tables",
    "made, s",
    "compared steps",
    "GPU",
    "one core",
    "two cores",
    "ratio",
    "registers",
    "warps",
    "memory",
    "spilled",
)
MEDIUM, LARGE = 2_000, 10_000
"""The tables from which on a model is of medium size, and large; see `walks.cu`."""
THREADS = (256, 256, 128)
"""The threads of a block of the GPU, for small models, those of medium size, and large ones."""
STEP_BITS = 20
"""The bits of the step in the number of a violation, as in `walks.cu`."""
RANK = 1 << 20
"""The first input that is a bit of the rank, behind those of the candidates."""

Place = Callable[[int], tuple[str, int]]


class Refused(Exception):
    """A model whose walks have no program for a GPU, and why."""


class TableWriter(SliceWriter):
    """Writes the bit-sliced functions of a model as C++: each takes arrays of words, and a table is one operation."""

    def _function(self, head: str, lines: Iterable[str]) -> str:
        name = head.split("slice.")[1].split("(")[0].replace(".", "_")
        arrays = ", ".join(f"word *{pointer}" for pointer in re.findall(r"%(\w+)", head))
        return f"MODEL void {name}({arrays}) {{\n" + "\n".join([*lines, "}", ""])

    def _lines(self, gates: TermGates, stores: Iterable[tuple[str, int, Literal]], place: Place) -> list[str]:
        return self.written(gates.network, stores, place)

    def written(self, network: GateNetwork, stores: Iterable[tuple[str, int, Literal]], place: Place) -> list[str]:
        """Return the statements that write literals to arrays, after all have been computed."""
        wanted, lines = list(stores), []
        names = {FALSE >> 1: "0u"}

        def name(gate: int) -> str:
            if gate not in names:
                pointer, number = place(network.gates[gate][1])
                names[gate] = f"t{gate}"
                lines.append(f"  word t{gate} = {pointer[1:]}[{number}];")
            return names[gate]

        for table in cover(network, [literal for _, _, literal in wanted]):
            inputs = [*map(name, table.inputs), "0u", "0u"][:3]
            names[table.gate] = f"t{table.gate}"
            lines.append(f"  word t{table.gate} = table<{table.rows}>({', '.join(inputs)});")
            self.tables += 1
        values = [f"{'~' * (literal & 1)}{name(literal >> 1)}" for _, _, literal in wanted]
        return lines + [f"  {pointer[1:]}[{at}] = {one};" for (pointer, at, _), one in zip(wanted, values, strict=True)]

    def begin(self, start: Sequence[int]) -> str:
        """Return the function that writes the initial state, given as packed words, in chosen lanes."""
        network = GateNetwork()
        chosen, planes = network.input(self.bits), range(self.bits)
        bits = [int(start[plane // 64]) >> plane % 64 & 1 for plane in planes]
        stores = [("%planes", n, network.choice(chosen, bits[n], network.input(n))) for n in planes]

        def place(number: int) -> tuple[str, int]:
            return ("%chosen", 0) if number == self.bits else ("%planes", number)

        return self._function("slice.begin(%planes, %chosen)", self.written(network, stores, place))

    def choice(self) -> Iterator[str]:
        """Yield the function that counts the candidates of each lane, and the one that leaves the one of a rank.

        Counts are added in a tree, whose nodes say on which side the rank is.
        """
        network, instances = GateNetwork(), len(self.lifted.actions)
        sums: dict[tuple[int, int], Bits] = {}

        def total(low: int, high: int) -> Bits:
            if (low, high) not in sums:
                middle = (low + high) // 2
                sums[low, high] = (
                    [network.input(low)]
                    if high - low == 1
                    else network.sum(total(low, middle), total(middle, high), (high - low).bit_length())
                )
            return sums[low, high]

        def chosen(low: int, high: int, here: Literal, rank: Bits) -> Iterator[tuple[str, int, Literal]]:
            if high - low == 1:
                yield "%out", low, here
                return
            middle = (low + high) // 2
            below = total(low, middle)
            is_below = network.less(rank, below)
            yield from chosen(low, middle, network.conjunction(here, is_below), rank[: len(below)])
            above = network.minus(rank, below, len(total(middle, high)))
            yield from chosen(middle, high, network.conjunction(here, is_below ^ 1), above)

        def place(number: int) -> tuple[str, int]:
            return ("%ranks", number - RANK) if number >= RANK else ("%candidates", number)

        counts = total(0, instances)
        lines = self.written(network, [("%counts", n, bit) for n, bit in enumerate(counts)], place)
        yield self._function("slice.count(%candidates, %counts)", lines)
        rank = [network.input(RANK + n) for n in range(len(counts))]
        stores = chosen(0, instances, network.equal(counts, []) ^ 1, rank)
        yield self._function("slice.choose(%candidates, %ranks, %out)", self.written(network, stores, place))


def model_text(model: Model, plan: SimulationPlan) -> str:
    """Return `model.h` of the walks of a plan; Refused if the program has no such walks."""
    lifted, layout = lift(model), layout_of(model.leaves)
    actions, properties, plain = lifted.actions, lifted.properties, plan.allowed is None and plan.swarm is None
    if len(plan.starts) != 1 or not plain or len(actions) > MOST_INSTANCES or not 0 < len(properties) < 64:
        raise Refused(
            "The program begins in one state, takes all instances, at most 255, and checks 1 to 63 properties."
        )
    writer = TableWriter(lifted, layout, 64)
    functions = [writer.guards(), writer.check(), *writer.check_step(), writer.begin(plan.starts[0]), *writer.choice()]
    functions += [writer.action(number, action) for number, action in enumerate(actions)]
    of_steps = {one.prop.index for one in properties if one.prop.kind is Kind.STEP}
    checked = [sum(1 << index for index in plan.properties if (index in of_steps) is steps) for steps in (False, True)]
    size = sum(writer.tables >= least for least in (MEDIUM, LARGE))
    numbers = {
        "SIZE": size,
        "MODEL": "APART" if size == 2 else "INLINE",
        "TABLES": writer.tables,
        "THREADS": THREADS[size],
        "PLANES": writer.bits,
        "INSTANCES": len(actions),
        "COUNT_BITS": len(actions).bit_length(),
        "PROPERTIES": len(properties),
        "ROW": writer.rows,
        "BOUNDS": len(lifted.bounds),
        "DEPTH": plan.depth,
        "LEFT_BITS": plan.depth.bit_length(),
        "DEADLOCK": int(plan.deadlock),
        "CHECKS_STATES": int(bool(checked[0])),
        "CHECKS_STEPS": int(bool(checked[1])),
        "STATE_CHECKED": f"{checked[0]}ull",
        "STEP_CHECKED": f"{checked[1]}ull",
        "FOR_EACH_INSTANCE(X)": " ".join(f"X({n})" for n in range(len(actions))),
    }
    return "\n".join([*(f"#define {name} {value}" for name, value in numbers.items()), *functions])


@frozen
class Program:
    """A program that walks: the seconds that it took to compile, and the bytes that its kernel spills to memory."""

    path: Path
    made: float
    spilled: int = 0

    def run(self, seed: int, walks: int) -> dict[str, Any]:
        """Run the walks from 0 on; what it counted, and what it says of the device."""
        arguments = [self.path, mixed_seed(seed) % 2**64, 0, walks]
        return dict(json.loads(subprocess.check_output(list(map(str, arguments)))))


def compiled(text: str, folder: Path, *, on_cpu: bool = False) -> Program:
    """Compile the program of a model in a folder; Refused if there is no compiler."""
    name = "g++" if on_cpu else "nvcc"
    compiler = shutil.which(name)
    if compiler is None:
        raise Refused(f"There is no {name} on the path.")
    (folder / "model.h").write_text(text)
    options = ("-O1", "-x", "c++") if on_cpu else ("-O3", "-std=c++17", "-arch=native", "-Xptxas=-v")
    began, path = time.perf_counter(), folder / "walks"
    command = [compiler, *options, "-I", str(folder), "-o", str(path), str(SOURCES / "walks.cu")]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    spills = re.search(r"properties for \w*kernel\w*\n.* (\d+) bytes spill stores", said)
    return Program(path, time.perf_counter() - began, int(spills[1]) if spills else 0)


def differences(counted: dict[str, Any], kernel: Kernel, plan: SimulationPlan, walks: int) -> list[str]:
    """Return what a program counted differently from kwalk, in as many walks from 0 on."""
    counts = run_chunk(kernel, plan, range(walks))
    wanted = {name: getattr(counts, name) for name in COUNTED}
    wanted |= {"bound_hits": counts.bound_hits[: len(kernel.bounds)], "failed": 0}
    wanted["first"] = np.where(counts.first_walk < 0, -1, counts.first_walk << STEP_BITS | counts.first_step)
    return [name for name, one in wanted.items() if not np.array_equal(_counts(counted[name]), one)]


def _counts(printed: Any) -> np.ndarray:
    return np.array(printed, np.uint64).astype(np.int64)


def compared(program: Program, kernel: Kernel, plan: SimulationPlan, walks: int) -> int:
    """Compare a program with kwalk, for ten seeds; return how many steps were, WrongCount if anything differs."""
    steps = 0
    for seed in SEEDS:
        counted = program.run(seed, walks)
        steps += counted["steps"]
        different = differences(counted, kernel, evolve(plan, seed=seed), walks)
        if different:
            raise WrongCount(f"Of {walks:,} walks with seed {seed}, the program counts other {', '.join(different)}.")
    return steps


def cells(name: str, *, on_cpu: bool) -> Iterator[str]:
    """The row of a scenario."""
    model = Model(find_scenario(name))
    kernel = with_slices(model, fast_kernel_for(model))
    plan = UNIFORM.plan(model, kernel)
    text = model_text(model, plan)
    yield f"{int(re.findall('TABLES (.*)', text)[0]):,}"
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(text, Path(folder), on_cpu=on_cpu)
        yield f"{program.made:.1f}"
        yield f"{compared(program, kernel, plan, WALKS):,}"
        if not on_cpu:
            yield from _measured(program, model, kernel)


def _measured(program: Program, model: Model, kernel: Kernel) -> Iterator[str]:
    """The rates of a program and of `kwalk walk` on the CPU, and what the program takes of the GPU."""
    pilot = program.run(0, 100 * WALKS)
    walks = int(100 * WALKS * SECONDS / pilot["seconds"])
    runs = [program.run(0, walks) for _ in range(RUNS)]
    rates = [run["steps"] / run["seconds"] / 1e6 for run in runs]
    of_cpu = [_rate(model, kernel, workers) for workers in (1, 2)]
    yield f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})"
    yield from (f"{rate:,.0f}" for rate in of_cpu)
    yield f"{statistics.median(rates) / of_cpu[0]:,.0f}"
    warps = pilot["blocks"] * pilot["threads"] // 32
    yield from (str(pilot["registers"]), str(warps), f"{pilot['local_bytes']:,}", f"{program.spilled:,}")


def _rate(model: Model, kernel: Kernel, workers: int) -> float:
    """Millions of steps in a second by the clock, with some threads; the median."""
    walk(model, UNIFORM, kernel=kernel, walks=2 * SLICED_WALKS, workers=workers)
    verdicts = [walk(model, UNIFORM, kernel=kernel, seconds=CPU_SECONDS, workers=workers) for _ in range(RUNS)]
    return statistics.median((one.steps or 0) / (one.seconds or CPU_SECONDS) / 1e6 for one in verdicts)


def main() -> int:
    """Print a table with a row for each scenario."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("scenario", nargs="*", default=SCENARIOS, help="these scenarios")
    parser.add_argument("--on-cpu", action="store_true", help="compare the program on the CPU, and measure nothing")
    given = parser.parse_args()
    head = HEAD[:4] if given.on_cpu else HEAD
    print(f"{machine()}\n\n| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    try:
        for name in given.scenario:
            print(f"| {' | '.join([name, *cells(name, on_cpu=given.on_cpu)])} |", flush=True)
    except (Refused, WrongCount) as wrong:
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
