"""`python -m bench.shrink [WALKS]`: how short random walks of 100 steps become, and how long that takes.

For each scenario and invariant it minimizes the first violating walks, and prints how many come to the shortest length
that an exhaustive search finds, and the median CPU time of one.
"""
from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from statistics import median

import numpy as np

from invariants.scenarios import OLD_CLIENT_EXPANSION
from model.examples.reference import REFERENCE
from model.language import Claim, Model
from search.compile import kernel_for
from search.confirm import Origin, confirmed
from search.exhaust import exhaust
from search.kernel import Kernel
from search.shrink import Minimizer
from search.trace import Trace
from search.walks.chunks import Course, path_of, run_chunk

WORKS = (
    (REFERENCE, {}, "disk_matches_znode"),
    (REFERENCE, {}, "leaders_when_settled"),
    (OLD_CLIENT_EXPANSION, {"brokers": 2}, "topic_id_stable"),
    (OLD_CLIENT_EXPANSION, {"brokers": 2}, "replica_id_matches_zookeeper"),
    (OLD_CLIENT_EXPANSION, {}, "replica_id_matches_zookeeper"),
)
CHUNK, DEPTH, GIB = 2000, 100, 1 << 30


def main(walks: int) -> None:
    headings = ("scenario", "bounds", "invariant", "keeping", "given, median", "at the shortest", "median of one")
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for scenario, bounds, invariant in WORKS:
        model = Model(scenario, None, bounds)
        kernel, claims = kernel_for(model), model.claims_of(invariant)
        exhausted = {c.key: exhaust(model, claims=(c,), kernel=kernel, memory_bytes=GIB) for c in claims}
        lengths = {key: v.counterexample.length for key, v in exhausted.items() if v.counterexample is not None}
        found = list(islice(violating(model, kernel, claims), walks))
        for same in ("claim", "invariant"):
            minimizer, times, short = Minimizer(model, kernel), [], 0
            for trace in found:
                began = time.process_time()
                small = minimizer.minimized(trace, same=same)
                times.append(time.process_time() - began)
                short += small.length == (lengths[trace.claim] if same == "claim" else min(lengths.values()))
            print(
                f"| {scenario.name} | {bounds or ''} | {invariant} | {same} | {median(t.length for t in found):g} "
                f"| {short} of {len(found)} | {1000 * median(times):.1f} ms |", flush=True,
            )  # fmt: skip


def violating(model: Model, kernel: Kernel, claims: tuple[Claim, ...]) -> Iterator[Trace]:
    starts = kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
    course = Course(starts, tuple(claim.index for claim in claims), 0, DEPTH)
    for first in range(0, 1 << 30, CHUNK):
        walks = run_chunk(kernel, course, range(first, first + CHUNK), collect=True)
        for number, steps, claim in walks.findings.tolist():
            path = path_of(kernel, course, number, steps)
            yield confirmed(model, kernel, path, claim=model.claims[claim], origin=Origin("walk"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
