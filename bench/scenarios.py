"""`python -m bench.scenarios`: kwalk alone, random walks in steps a second and searches in distinct states a second."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Mapping

from attrs import field, frozen

from bench.measure import Sample, sample
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.interface import Kernel
from kwalk.search.simulation.walk import walk

MEMORY = 1 << 30
"""Bytes for an exhaustive search."""


@frozen
class Subject:
    """A model to measure on. `states` and `generated` are what a complete search must count, if it is complete."""

    scenario: str
    steps: int
    bounds: Mapping[str, int] = field(factory=dict)
    states: int | None = None
    generated: int | None = None


SUBJECTS = (
    Subject("topic-id-core", steps=20_000_000, states=805_904, generated=4_390_996),
    Subject("old-client-expansion", steps=2_000_000),
)
DEPTH = 100


class WrongCount(Exception):
    """A search counted what the model does not have: its speed means nothing."""


def walks(model: Model, kernel: Kernel, steps: int) -> Callable[[], int]:
    """Run random walks of about `steps` steps in all, with every property checked at each step."""
    pilot = walk(model, kernel=kernel, walks=1000, depth=DEPTH, keep_going=True)
    number = max(1, steps * 1000 // (pilot.steps or 1))
    return lambda: walk(model, kernel=kernel, walks=number, depth=DEPTH, keep_going=True).steps or 0


def states(model: Model, kernel: Kernel, subject: Subject, workers: int) -> Callable[[], int]:
    """Search exhaustively, all properties checked in each state, for ten seconds at most."""

    def work() -> int:
        verdict = exhaust(model, kernel=kernel, keep_going=True, workers=workers, memory_bytes=MEMORY, seconds=10)
        counted = (verdict.distinct_states, verdict.generated_states)
        if subject.states is not None and counted != (subject.states, subject.generated):
            raise WrongCount(f"{subject.scenario}: {counted} states, instead of {subject.states, subject.generated}.")
        return verdict.distinct_states or 0

    return work


def measure(subject: Subject, runs: int, workers: int) -> None:
    """Print what one subject gives."""
    model = Model(find_scenario(subject.scenario), bounds=subject.bounds)
    kernel = fast_kernel_for(model)
    bits = int(kernel.widths.sum())
    print(f"{subject.scenario}: {bits} bits, {kernel.instances} instances, {kernel.properties} properties")
    _print_rates("random walks, steps/s", sample(walks(model, kernel, subject.steps), runs))
    for number in sorted({1, workers}):
        label = "exhaustive, distinct states/s" + (f", {number} workers" if number > 1 else "")
        _print_rates(label, sample(states(model, kernel, subject, number), runs))


def _print_rates(label: str, rates: Sample) -> None:
    print(f"  {label:<42} {rates}", flush=True)


def main() -> int:
    """Measure, and say on what; 1 if a count is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.scenarios", description=__doc__)
    parser.add_argument("scenario", nargs="*", help="only these scenarios")
    parser.add_argument("--runs", type=int, default=5, help="runs of each work; the median is printed, with the spread")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="also search with this many workers")
    options = parser.parse_args()
    where = f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    print(f"{where}; {options.runs} runs of each")
    known = {subject.scenario: subject for subject in SUBJECTS}
    subjects = [known.get(name, Subject(name, steps=1_000_000)) for name in options.scenario] or SUBJECTS
    try:
        for subject in subjects:
            measure(subject, options.runs, options.workers)
    except WrongCount as wrong:
        print(f"Wrong count: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
