"""`python -m bench.night`: a task of a night beside the same walks in one process.

Both run in turn, `--runs` times; the process has as many threads as the night has workers, since cores that work at the
same time slow each other down. Rates are millions of steps in a CPU second of all processes: the driver and its workers
(with `--master` Java, too); or the one process. Only the last two thirds of the
steps count, when bit-sliced code has been made and rounds are long: in *rounds* of so many CPU seconds. *Ratio* is the
night's rate by the rate in process: the median, the lowest and the highest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from attrs import evolve

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.reports.nightly.result import Watcher
from kwalk.search.base.progress import Progress
from kwalk.search.night.config import Config, TaskTable
from kwalk.search.night.run import ExecutionTarget, begin_run
from kwalk.search.simulation.options import SimulationOptions
from kwalk.search.simulation.walk import walk

SCENARIOS = ("topic-id-core", "lamport-mutex", "old-client-expansion")
TICK = 1 / os.sysconf("SC_CLK_TCK")
Readings = list[tuple[int, float]]
"""Steps, and the CPU seconds until then."""


def tree_seconds() -> float:
    """The CPU seconds of this process, and of its descendants and their children that have ended."""
    spent: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            spent[int(entry.name)] = sum(map(int, words[11:15])) * TICK
            children.setdefault(int(words[1]), []).append(int(entry.name))
    waiting, total = [os.getpid()], 0.0
    while waiting:
        process = waiting.pop()
        total += spent.get(process, 0.0)
        waiting += children.get(process, [])
    return total


def in_process(scenario: str, options: SimulationOptions) -> Readings:
    """The readings of walks in this process."""
    readings: Readings = []

    def report(progress: Progress) -> None:
        if progress.engine == "walk":
            readings.append((progress.done, time.process_time()))

    walk(Model(find_scenario(scenario)), options, minimize=1, report=report)
    return readings


def night(scenario: str, options: SimulationOptions, target: ExecutionTarget) -> Readings:
    """The readings of the same walks as a task of a night: after each round."""
    readings: Readings = []
    watcher = Watcher(lambda event: readings.append((event.steps, tree_seconds())), lambda text: None)
    task = TaskTable((scenario,), walks=options.walks, depth=options.depth, swarm=options.swarm)
    with tempfile.TemporaryDirectory() as folder:
        begin_run(Config((task,), options.seed), "the bench", Path(folder) / "run", target, watcher)
    return readings


def rate(readings: Readings, first: int) -> float:
    """Millions of steps in a CPU second after the first ones."""
    steps, seconds = zip(*readings, strict=True)
    return float((steps[-1] - first) / (seconds[-1] - np.interp(first, steps, seconds)) / 1e6)


def cells(
    scenario: str, options: SimulationOptions, seconds: float, runs: int, target: ExecutionTarget
) -> Iterator[str]:
    """The row of a scenario."""
    verdict = walk(Model(find_scenario(scenario)), options, seconds=seconds, minimize=1)
    options, rates, rounds = evolve(options, walks=verdict.walks), [], []
    for _ in range(runs):
        nightly, alone = night(scenario, options, target), in_process(scenario, options)
        assert nightly[-1][0] == alone[-1][0], "Both take the same walks."
        first = next(steps for steps, _ in nightly if steps >= nightly[-1][0] / 3)
        rates.append((rate(alone, first), rate(nightly, first)))
        late = [seconds for steps, seconds in nightly if steps >= first]
        rounds.append((late[-1] - late[0]) / (len(late) - 1))
    ratios = [b / a for a, b in rates]
    yield f"{verdict.walks:,}"
    yield f"{statistics.median(rounds):.1f}"
    yield from (f"{statistics.median(column):.2f}" for column in zip(*rates, strict=True))
    yield f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> int:
    """Print a table with a row for each scenario."""
    parser = argparse.ArgumentParser(prog="python -m bench.night", description=__doc__)
    parser.add_argument("scenario", nargs="*", default=SCENARIOS, help="these scenarios")
    parser.add_argument("--workers", type=int, default=1, help="processes of the night")
    parser.add_argument("--master", help="a Spark master, such as local[2], in place of processes")
    parser.add_argument("--seconds", type=float, default=60.0, help="about how long the walks take in one process")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--depth", type=int, default=200)
    parser.add_argument("--uniform", action="store_true", help="walks with equal chances, not a swarm")
    given = parser.parse_args()
    options = SimulationOptions(
        keep_going=True, swarm=not given.uniform, count_states=True, seed=1, depth=given.depth, workers=given.workers
    )
    print("| scenario | workers | walks | rounds, s | in process | night | ratio |\n|---|" + "---:|" * 6)
    target = ExecutionTarget(given.workers, given.master)
    for name in given.scenario:
        row = cells(name, options, given.seconds, given.runs, target)
        print(f"| {' | '.join([name, str(given.workers), *row])} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
