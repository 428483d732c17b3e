"""Random walks by plain execution, as material for shrinking: they are long and full of what does not matter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from kwalk.model.language import Model, PropertyInstance
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.interpreter import VisitCache
from kwalk.search.results.confirmation import Origin, PackedPath, confirmed_trace
from kwalk.search.results.trace import Trace
from kwalk.search.simulation.chunks import SimulationPlan, path_of, run_chunk

CHUNK = 2000


def violating_walks(model: Model, prop: PropertyInstance | None, seed: int, longest: int = 200) -> Iterator[Trace]:
    """Yield walks, without end, that violate the property in the last state (without a property: end in a deadlock)."""
    rng, visits = random.Random(seed), VisitCache(model, capacity=20_000)
    while True:
        trace = _walk(model, visits, prop, rng, longest)
        if trace is not None:
            yield trace


def _walk(
    model: Model, visits: VisitCache, prop: PropertyInstance | None, rng: random.Random, longest: int
) -> Trace | None:
    states, actions = [rng.choice(model.initial)], []
    order = list(model.instances)
    for _ in range(longest):
        rng.shuffle(order)
        here = visits.at(states[-1])
        step = next((i for i in order if here.attempt(i).is_enabled), None)
        if step is None:
            return trace_of(model, states, actions, None) if prop is None and here.is_dead else None
        states.append(here.after(step))
        actions.append(step.key)
        if prop is not None and visits.at(states[-1]).violates(prop, states[-2]):
            return trace_of(model, states, actions, prop.key)
    return None


def trace_of(model: Model, states: list, actions: list[str], prop: str | None) -> Trace:
    """A trace of what a walk did."""
    return Trace(
        scenario=model.scenario.name,
        variant=model.variant,
        bounds=model.binding.bounds,
        states=tuple(states),
        actions=tuple(actions),
        prop=prop,
        found_by="walk",
    )


def walks_by_kernel(
    model: Model, kernel: Kernel, properties: Sequence[PropertyInstance], depth: int
) -> Iterator[Trace]:
    """Yield random walks of up to `depth` steps, each up to its first violation, in the order of their numbers."""
    for prop, path in paths_by_kernel(model, kernel, properties, depth):
        yield confirmed_trace(model, kernel, path, prop=prop, origin=Origin("walk"))


def paths_by_kernel(
    model: Model, kernel: Kernel, properties: Sequence[PropertyInstance], depth: int
) -> Iterator[tuple[PropertyInstance, PackedPath]]:
    """The same, as a kernel has them, which is much quicker."""
    starts = kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
    plan = SimulationPlan(starts, tuple(prop.index for prop in properties), seed=0, depth=depth)
    for first in range(0, 1 << 40, CHUNK):
        walks = run_chunk(kernel, plan, range(first, first + CHUNK), collect=True)
        for number, steps, prop in walks.findings.tolist():
            yield model.properties[prop], path_of(kernel, plan, number, steps)
