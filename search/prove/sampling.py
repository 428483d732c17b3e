"""States that are really reachable: what no supporting fact may exclude.

A breadth-first part shows what is near the beginning, random walks what is far from it. All steps are the kernel's.
"""
from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import define

from model.language import Model, Vector
from search.compile import kernel_for
from search.kernel import Kernel
from search.prove.cubes import Rows
from search.prove.slicing import Slice
from search.stepping import KernelStepper

STATES = 30_000
"""So many states are looked at, at most; a third of them breadth first unless that is all."""
WALK = 300
"""Steps of a random walk."""
SECONDS = 20.0
"""CPU time that is spent on them at most."""


Found = dict[bytes, tuple[bytes, int] | None]
"""Packed states, each with the state and the instance that it was found by; an initial state with None."""


@define(eq=False)
class Sample:
    """Reachable states; `is_complete` says that these are all."""

    vectors: np.ndarray
    is_complete: bool
    _known: Found

    def rows(self, part: Slice) -> Rows:
        """What a slice sees of them, without repetition."""
        columns = self.vectors[:, list(part.varying)]
        return Rows(np.unique(columns, axis=0) if columns.shape[1] else columns[:1], part.varying)

    def add(self, found: Found, stepping: Stepping) -> np.ndarray:
        """Know more reachable states, each found from one that is known or comes before it; those that are new."""
        new = {state: origin for state, origin in found.items() if state not in self._known}
        self._known.update(new)
        vectors = stepping.unpack(new) if new else self.vectors[:0]
        self.vectors = np.concatenate([self.vectors, vectors])
        return vectors

    def path_to(self, state: bytes) -> tuple[bytes, tuple[int, ...]]:
        """A behaviour to a packed state that is known: its packed initial state and its instances."""
        instances: list[int] = []
        while (origin := self._known[state]) is not None:
            state, instance = origin
            instances.append(instance)
        return state, tuple(reversed(instances))


class Stepping:
    """The steps of a model by its kernel, from any in-domain state."""

    def __init__(self, model: Model, kernel: Kernel | None = None) -> None:
        self.kernel = kernel or kernel_for(model)
        self.model, self.stepper = model, KernelStepper(model, (), self.kernel)
        self._word, self._shift = self.kernel.offsets // 64, (self.kernel.offsets % 64).astype(np.uint64)
        self._mask = (np.uint64(1) << self.kernel.widths.astype(np.uint64)) - np.uint64(1)

    def pack(self, vector: Vector) -> bytes:
        """The packed state of a vector."""
        packed: bytes = self.stepper.start(vector)
        return packed

    def unpack(self, states: Iterable[bytes]) -> np.ndarray:
        """The vectors of packed states, one row each."""
        words = np.frombuffer(b"".join(states), np.uint64).reshape(-1, self.kernel.words)
        return (words[:, self._word] >> self._shift & self._mask).astype(np.int64) + self.kernel.lows

    def successors(self, state: bytes) -> list[bytes]:
        """Where the steps from a state lead."""
        return [after for _, after in self.stepper.successors(state)]

    def steps(self, state: bytes) -> list[tuple[int, bytes]]:
        """The same, with the instances that lead there."""
        return list(self.stepper.successors(state))


def sample(stepping: Stepping, states: int = STATES, seconds: float = SECONDS, seed: int = 0) -> Sample:
    """Reachable states, at least the initial ones; the same for the same seed unless time ends first."""
    end = time.process_time() + seconds
    known: Found = dict.fromkeys(stepping.pack(vector) for vector in stepping.model.initial)
    is_complete = _breadth_first(stepping, known, states // 3, end)
    if not is_complete:
        _walk(stepping, known, states, end, random.Random(seed))
    return Sample(stepping.unpack(known), is_complete, known)


def _breadth_first(stepping: Stepping, known: Found, most: int, end: float) -> bool:
    """Add states to those known, nearest first; whether these are all."""
    waiting: Sequence[bytes] = list(known)
    while waiting:
        following: dict[bytes, None] = {}
        for state in waiting:
            if len(known) >= most or time.process_time() > end:
                return False
            for instance, after in stepping.steps(state):
                if after not in known:
                    known[after] = state, instance
                    following[after] = None
        waiting = list(following)
    return True


def _walk(stepping: Stepping, known: Found, most: int, end: float, chance: random.Random) -> None:
    """Add the states of random walks; a walk ends where nothing is enabled."""
    starts = [stepping.pack(vector) for vector in stepping.model.initial[:1000]]
    for _ in range(2 * most // WALK):
        state = chance.choice(starts)
        for _ in range(WALK):
            following = stepping.steps(state)
            if len(known) >= most or time.process_time() > end:
                return
            if not following:
                break
            before = state
            instance, state = chance.choice(following)
            known.setdefault(state, (before, instance))
