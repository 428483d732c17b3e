"""Samples of reachable states, which no supporting fact may exclude.

A breadth-first part covers what is near the initial states, random walks what is far. The kernel takes all steps.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import define

from kwalk.model.language import Model, Vector
from kwalk.search.kernel.calls import way_to
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.stepping import KernelStepper

MAX_STATES = 30_000
"""States in a sample; a third of them breadth first, unless that is all."""
WALK_LENGTH = 300
CPU_SECONDS = 20.0
"""CPU time for a sample."""

Origins = dict[bytes, tuple[bytes, int] | None]
"""Packed states, each with the state and the instance that led to it first; an initial state with None."""


@define(eq=False)
class ReachableSample:
    """Reachable states."""

    vectors: np.ndarray
    """int64[n, leaves]."""
    is_complete: bool
    """Whether these are all reachable states."""
    _origins: Origins

    def add(self, origins: Origins, stepper: PackedStepper) -> np.ndarray:
        """Add reachable states, each with an origin that is known or comes before it; return the new vectors."""
        new = {state: origin for state, origin in origins.items() if state not in self._origins}
        self._origins.update(new)
        vectors = stepper.unpack(new) if new else self.vectors[:0]
        self.vectors = np.concatenate([self.vectors, vectors])
        return vectors

    def states(self) -> list[tuple[bytes, bytes | None]]:
        """Return the packed states, each with one from which a step leads to it; None for an initial state."""
        return [(state, None if origin is None else origin[0]) for state, origin in self._origins.items()]

    def path_to(self, state: bytes) -> tuple[bytes, tuple[int, ...]]:
        """Return a behaviour to a packed state of the sample: its packed initial state and its instances."""
        return way_to(state, self._origins)


class PackedStepper:
    """The steps of a model's kernel between packed states, from any state of the domains."""

    def __init__(self, model: Model, kernel: Kernel | None = None) -> None:
        self.kernel = kernel or kernel_for(model)
        self.model, self.stepper = model, KernelStepper(model, (), self.kernel)

    def pack(self, vector: Vector) -> bytes:
        """Return the packed state of a vector."""
        packed: bytes = self.stepper.start(vector)
        return packed

    def unpack(self, states: Iterable[bytes]) -> np.ndarray:
        """Return the vectors of packed states: int64[n, leaves]."""
        return self.kernel.unpack(np.frombuffer(b"".join(states), np.uint64).reshape(-1, self.kernel.words))

    def steps(self, state: bytes) -> list[tuple[int, bytes]]:
        """Return the steps from a state: the instance and the state after it."""
        return list(self.stepper.successors(state))


def sample_states(
    stepper: PackedStepper, states: int = MAX_STATES, seconds: float = CPU_SECONDS, seed: int = 0
) -> ReachableSample:
    """Return reachable states, at least the initial ones; the same for the same seed unless the CPU time runs out."""
    end = time.process_time() + seconds
    known: Origins = dict.fromkeys(stepper.pack(vector) for vector in stepper.model.initial)
    is_complete = _breadth_first(stepper, known, states // 3, end)
    if not is_complete:
        _walk(stepper, known, states, end, random.Random(seed))
    return ReachableSample(stepper.unpack(known), is_complete, known)


def _breadth_first(stepper: PackedStepper, origins: Origins, limit: int, end: float) -> bool:
    """Add the nearest states to those there are, and return whether these are all."""
    frontier: Sequence[bytes] = list(origins)
    while frontier:
        following: dict[bytes, None] = {}
        for state in frontier:
            if len(origins) >= limit or time.process_time() > end:
                return False
            for instance, after in stepper.steps(state):
                if after not in origins:
                    origins[after] = state, instance
                    following[after] = None
        frontier = list(following)
    return True


def _walk(stepper: PackedStepper, origins: Origins, limit: int, end: float, chance: random.Random) -> None:
    """Add the states of random walks; a walk ends where nothing is enabled."""
    starts = [stepper.pack(vector) for vector in stepper.model.initial[:1000]]
    for _ in range(2 * limit // WALK_LENGTH):
        state = chance.choice(starts)
        for _ in range(WALK_LENGTH):
            following = stepper.steps(state)
            if len(origins) >= limit or time.process_time() > end:
                return
            if not following:
                break
            before = state
            instance, state = chance.choice(following)
            origins.setdefault(state, (before, instance))
