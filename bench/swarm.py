"""`python -m bench.swarm`: what swarms of walks see of models that can be counted, and how soon they meet known bugs.

Distinct states are estimated by the walks' sketch (standard error 0.8 %), and are per million steps, of walks of at
most a hundred steps, over some seeds. *Uniform* walks take all steps equally likely; *weights* are what each walk
prefers; *tuned* adds what later generations learn of rare actions, *restarts* what they learn of rare states, *all* is
both. Steps to a violation are the median over seeds; a run that ends without one counts with its steps.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

from attrs import evolve, field, frozen

from bench.table import aligned, machine
from bench.unseen import HEAD as UNSEEN_HEAD
from bench.unseen import VISITS, unseen_row
from kwalk.model.examples.ewd840 import Color, Node, Ring, Token
from kwalk.model.language import Model, number
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.interface import Kernel
from kwalk.search.simulation.chunks import WalkCounts, next_generation, run_chunk
from kwalk.search.simulation.hyperloglog import distinct
from kwalk.search.simulation.options import UNIFORM, SimulationOptions
from kwalk.search.simulation.walk import walk

CHOICES = {
    "uniform": evolve(UNIFORM, count_states=True),
    "weights": SimulationOptions(swarm=True, adaptive=False, restarts=False, count_states=True),
    "tuned": SimulationOptions(swarm=True, restarts=False, count_states=True),
    "restarts": SimulationOptions(swarm=True, adaptive=False, count_states=True),
    "all": SimulationOptions(swarm=True, count_states=True),
}
DEPTH = 100
CHUNK = 20_000
"""Walks of a chunk where there are no generations."""


@frozen
class Space:
    """A model whose `states` an exhaustive search has counted; `initial` replaces the scenario's initial function."""

    scenario: str
    states: int
    bounds: Mapping[str, int] = field(factory=dict)
    variant: str | None = None
    initial: Callable[..., None] | None = None

    def __str__(self) -> str:
        return " ".join([self.scenario, *(f"{name} {size}" for name, size in self.bounds.items())])

    def model(self) -> Model:
        scenario = find_scenario(self.scenario)
        begun = scenario if self.initial is None else evolve(scenario, initial=self.initial)
        return Model(begun, self.variant, bounds=self.bounds)


Pattern = Annotated[int, number(0, 7)]


def few_starts(ring: Ring, active: Pattern, black: Pattern, at: Node) -> None:
    """Make any of the first three nodes active, and any of them black; all other nodes are idle and white."""
    for node in range(3):
        ring.process[node].active = active // 2**node % 2 == 1
        ring.process[node].color = Color.BLACK if black // 2**node % 2 == 1 else Color.WHITE
    ring.token = Token(at=at)


SPACES = (
    Space("topic-id-core", 805_904),
    Space("old-client-expansion", 10_942_960, variant="2.8.2"),
    Space("lamport-mutex", 724_274),
    Space("two-phase-commit", 296_448, {"rms": 7}),
    Space("ewd840", 104_718, {"nodes": 7}, initial=few_starts),
)


@frozen
class Bug:
    """A known violation that few walks meet."""

    scenario: str
    variant: str
    invariant: str
    flags: Mapping[str, bool] = field(factory=dict)

    def __str__(self) -> str:
        return " ".join([self.scenario, self.variant, *(f"{name}={on}" for name, on in self.flags.items())])


BUGS = (
    Bug("failover-during-expansion", "2.8.2", "partition_servable", {"zk_fencing": False}),
    Bug("fast-bounce", "2.8.2", "replicas_converge", {"broker_epoch": False}),
    Bug("records-through-failover", "3.9.0", "log_keeps_its_topic_id", {"async_metadata_flush": True}),
    Bug("records-through-failover", "3.9.0", "committed_survives", {"unclean_election": True}),
    Bug("recreated-topic-records", "2.8.2", "elected_log_is_of_its_topic"),
)
MOST_WALKS = 300_000
"""A bug counts as missed after this number of walks."""


def walked(model: Model, kernel: Kernel, choice: SimulationOptions, seed: int, steps: int) -> WalkCounts:
    """Return the counts of walks with about this number of steps together."""
    options = evolve(choice, properties=(), seed=seed, depth=DEPTH, keep_going=True)
    plan = options.plan(model, kernel)
    total = run_chunk(kernel, plan, range(100))
    while total.steps < steps:
        wanted = (steps - total.steps) * total.walks // total.steps + 1
        last = min(total.walks + wanted, plan.last or total.walks + CHUNK)
        total += run_chunk(kernel, plan, range(total.walks, last))
        if total.walks == plan.last:
            plan = next_generation(kernel, plan, total)
    return total


def seen_rows(space: Space, steps: int, seeds: int) -> Iterator[tuple[str, ...]]:
    """One row per choice: distinct states per million steps, relative to uniform walks and to all states, and speed."""
    model = space.model()
    kernel = fast_kernel_for(model)
    walked(model, kernel, CHOICES["all"], 0, 1000)
    base = 0.0
    for name, choice in CHOICES.items():
        began = time.process_time()
        totals = [walked(model, kernel, choice, seed, steps) for seed in range(seeds)]
        cpu = time.process_time() - began
        rate = statistics.mean(distinct(total.sketch) / total.steps * 1e6 for total in totals)
        base = base or rate
        share = rate * steps / 1e6 / space.states
        speed = sum(total.steps for total in totals) / cpu / 1e6
        yield (
            str(space),
            f"{space.states:,}",
            name,
            f"{rate:,.0f}",
            f"{rate / base:.2f}",
            f"{100 * share:.1f} %",
            f"{speed:.1f}",
        )


def bug_row(bug: Bug, seeds: int) -> tuple[str, ...]:
    """The median steps to a first violation for each choice of steps; how many seeds found none, if any."""
    model = Model(find_scenario(bug.scenario), bug.variant, flags=bug.flags)
    kernel, properties = fast_kernel_for(model), model.properties_of(bug.invariant)
    row = [str(bug), bug.invariant]
    for name, choice in CHOICES.items():
        found = [
            walk(model, choice, kernel=kernel, properties=properties, seed=seed, depth=DEPTH, walks=MOST_WALKS)
            for seed in range(seeds)
        ]
        missed = sum(verdict.counterexample is None for verdict in found)
        median = f"{statistics.median(verdict.steps or 0 for verdict in found):,.0f}"
        row.append(median + (f" ({missed} missed)" if missed else ""))
        print(f"{bug} {name}: {row[-1]}", file=sys.stderr, flush=True)
    return tuple(row)


def page(spaces: Sequence[Space], bugs: Sequence[Bug], steps: int, seeds: int, visits: int = VISITS) -> Iterator[str]:
    """Yield the lines of the page; estimators are tried after a number of `visits`."""
    yield from (f"Measured on {machine()}.", "")
    head = ("model", "states", "walks", "distinct per M steps", "× uniform", "of all states", "M steps/s of CPU")
    yield from (f"{steps:,} steps, {min(3, seeds)} seeds:", "")
    yield from aligned([head, *(row for space in spaces for row in seen_rows(space, steps, min(3, seeds)))])
    yield from ("", f"Steps to the first violation, median of {seeds} seeds, at most {MOST_WALKS:,} walks:", "")
    yield from aligned([("bug", "invariant", *CHOICES), *(bug_row(bug, seeds) for bug in bugs)])
    yield from ("", f"After {visits:,} visits of uniform walks, every state of them kept:", "")
    unseen = (unseen_row(str(space), space.model(), space.states, visits) for space in spaces)
    yield from aligned([UNSEEN_HEAD, *unseen])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.swarm", description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000_000, help="steps for each model, choice of steps and seed")
    parser.add_argument("--seeds", type=int, default=9, help="seeds for each bug; at most 3 of them for states")
    parser.add_argument("--spaces", type=int, default=len(SPACES), help="the number of models")
    parser.add_argument("--bugs", type=int, default=len(BUGS), help="the number of bugs")
    asked = parser.parse_args()
    for line in page(SPACES[: asked.spaces], BUGS[: asked.bugs], asked.steps, asked.seeds):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
