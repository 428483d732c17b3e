"""`python -m bench.shrink [WALKS [FINDINGS]]`: how short random walks become, how long that takes, and how many shapes.

The first table is of the first violating walks of 100 steps of a scenario and an invariant, each minimized by itself
(the first ones only) or by a minimizer with a cache: how many come to the shortest length of their property, which an
exhaustive search finds, and the CPU time of one. The second one is of the first findings of all properties, by shape.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from statistics import mean, median

import numpy as np

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model, PropertyInstance, Scenario
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interface import Kernel
from kwalk.search.minimize.shrink import Minimizer
from kwalk.search.results.confirmation import Origin, confirmed_trace
from kwalk.search.results.trace import Trace
from kwalk.search.simulation.chunks import SimulationPlan, path_of, run_chunk
from kwalk.search.simulation.walk import walk

WORKS: tuple[tuple[Scenario, dict[str, int], str], ...] = (
    (REFERENCE, {}, "disk_matches_znode"),
    (REFERENCE, {}, "leaders_when_settled"),
    (OLD_CLIENT_EXPANSION, {"brokers": 2}, "topic_id_stable"),
    (OLD_CLIENT_EXPANSION, {"brokers": 2}, "replica_id_matches_zookeeper"),
    (OLD_CLIENT_EXPANSION, {}, "replica_id_matches_zookeeper"),
)
CHUNK, DEPTH, GIB = 2000, 100, 1 << 30
ALONE = 60
"""Walks that are minimized by themselves."""


def main(walks: int, findings: int) -> None:
    heading(
        "scenario",
        "bounds",
        "invariant",
        "keeping",
        "at the shortest, each alone",
        "median",
        "mean",
        "at the shortest, with a cache",
        "median",
        "mean",
    )
    for scenario, bounds, invariant in WORKS:
        model = Model(scenario, None, bounds)
        kernel, properties = kernel_for(model), model.properties_of(invariant)
        searched = exhaust(model, properties=properties, kernel=kernel, memory_bytes=GIB, keep_going=True)
        lengths = {f.prop: f.trace.length for f in searched.findings if f.trace is not None}
        found = list(islice(violating(model, kernel, properties), walks))
        for same in ("instance", "property"):
            wanted = lengths if same == "instance" else dict.fromkeys(lengths, min(lengths.values()))
            alone = minimized(Minimizer(model, kernel), found[:ALONE], same, wanted)
            remembered = minimized(Minimizer(model, kernel, cached=True), found, same, wanted)
            row(scenario.name, bounds or "", invariant, same, *alone, *remembered)
    print()
    heading("scenario", "findings", "walks", "shapes", "in the five largest", "CPU, walks included")
    for scenario in (REFERENCE, OLD_CLIENT_EXPANSION):
        row(scenario.name, *grouped(scenario, findings))


def minimized(minimizer: Minimizer, found: list[Trace], same: str, wanted: dict[str, int]) -> tuple[str, str, str]:
    """How many traces come to the wanted length, and the median and mean CPU time of one."""
    times, short = [], 0
    for trace in found:
        began = time.process_time()
        small = minimizer.minimize(trace, same=same)
        times.append(1000 * (time.process_time() - began))
        short += small.length == wanted[trace.prop or ""]
    return f"{short} of {len(found)}", f"{median(times):.2g} ms", f"{mean(times):.2g} ms"


def grouped(scenario: Scenario, findings: int) -> tuple[object, ...]:
    """How many shapes the first findings have."""
    model = Model(scenario)
    began, walks = time.process_time(), findings
    verdict = walk(model, walks=walks, depth=DEPTH, keep_going=True, minimize=findings)
    while sum(group.count for group in verdict.groups) < findings:
        walks, began = 2 * walks, time.process_time()
        verdict = walk(model, walks=walks, depth=DEPTH, keep_going=True, minimize=findings)
    counts = [group.count for group in verdict.groups]
    spent = time.process_time() - began
    return f"{findings:,}", f"{walks:,}", len(counts), f"{sum(counts[:5]) / findings:.1%}", f"{spent:.1f} s"


def violating(model: Model, kernel: Kernel, properties: tuple[PropertyInstance, ...]) -> Iterator[Trace]:
    starts = kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
    plan = SimulationPlan(starts, tuple(prop.index for prop in properties), 0, DEPTH)
    for first in range(0, 1 << 30, CHUNK):
        walks = run_chunk(kernel, plan, range(first, first + CHUNK), collect=True)
        for number, steps, prop in walks.findings.tolist():
            path = path_of(kernel, plan, number, steps)
            yield confirmed_trace(model, kernel, path, prop=model.properties[prop], origin=Origin("walk"))


def heading(*words: str) -> None:
    row(*words)
    print("|---" * len(words) + "|")


def row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*(*numbers, *(500, 10_000)[len(numbers) :]))
