"""Random walks by plain execution, as material for shrinking: they are long and full of what does not matter."""
from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from model.language import Claim, Model
from search.confirm import Origin, Path, confirmed
from search.kernel import Kernel
from search.plain import Visits
from search.trace import Trace
from search.walks.chunks import Course, path_of, run_chunk

CHUNK = 2000


def violating_walks(model: Model, claim: Claim | None, seed: int, longest: int = 200) -> Iterator[Trace]:
    """Walks that end where the claim is violated (without a claim: in a deadlock), for ever more of them."""
    rng, visits = random.Random(seed), Visits(model, capacity=20_000)
    while True:
        trace = _walk(model, visits, claim, rng, longest)
        if trace is not None:
            yield trace


def _walk(model: Model, visits: Visits, claim: Claim | None, rng: random.Random, longest: int) -> Trace | None:
    states, actions = [rng.choice(model.initial)], []
    order = list(model.instances)
    for _ in range(longest):
        rng.shuffle(order)
        here = visits.at(states[-1])
        step = next((i for i in order if here.attempt(i).is_enabled), None)
        if step is None:
            return trace_of(model, states, actions, None) if claim is None and here.is_dead else None
        states.append(here.after(step))
        actions.append(step.key)
        if claim is not None and visits.at(states[-1]).violates(claim, states[-2]):
            return trace_of(model, states, actions, claim.key)
    return None


def trace_of(model: Model, states: list, actions: list[str], claim: str | None) -> Trace:
    """A trace of what a walk did."""
    return Trace(
        scenario=model.scenario.name,
        variant=model.variant,
        bounds=model.binding.bounds,
        states=tuple(states),
        actions=tuple(actions),
        claim=claim,
        found_by="walk",
    )


def walks_by_kernel(model: Model, kernel: Kernel, claims: Sequence[Claim], depth: int) -> Iterator[Trace]:
    """Random walks of up to `depth` steps, each up to where it violates one of the claims, in their order."""
    for claim, path in paths_by_kernel(model, kernel, claims, depth):
        yield confirmed(model, kernel, path, claim=claim, origin=Origin("walk"))


def paths_by_kernel(
    model: Model, kernel: Kernel, claims: Sequence[Claim], depth: int
) -> Iterator[tuple[Claim, Path]]:
    """The same, as a kernel has them, which is much quicker."""
    starts = kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
    course = Course(starts, tuple(claim.index for claim in claims), seed=0, depth=depth)
    for first in range(0, 1 << 40, CHUNK):
        walks = run_chunk(kernel, course, range(first, first + CHUNK), collect=True)
        for number, steps, claim in walks.findings.tolist():
            yield model.claims[claim], path_of(kernel, course, number, steps)
