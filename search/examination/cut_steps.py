"""Steps that bounds and constraints cut off: which action would take them, and what the state after them is.

Words: a step is *cut off* if it would leave a domain that a bound declares, or a constraint forbids it. The step
*beyond* is the same action without bounds and constraints, in plain Python: a field then holds more than its domain
allows, and the bounds that properties name keep their values.
"""

from __future__ import annotations

import ctypes
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
from attrs import define, frozen

from kwalk.model.language import Abort, Kind, Model, StepResult, Vector
from kwalk.model.language.binding import unlimited
from kwalk.search.base.cache import read_cache, write_cache
from kwalk.search.kernel.compile.compiler import cached_kernel
from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.kernel.model_digest import path_for

ATTEMPTS = 20_000
"""Action instances that the search for cut steps executes in compiled code, breadth first and again in walks."""
ATTEMPTS_OF_PYTHON = 2_000
WALK_DEPTH = 200


@frozen
class CutStep:
    """A step that is cut off, and what the step beyond shows.

    Args:
        bound: The name of the bound, or of the constraint with its prefix.
        action: The name of the action.
        steps: The keys of the action instances from an initial state up to the one that is cut off.
        violated: The keys of the properties that the step beyond violates, of those about states and steps.
        error: Why the step beyond has no meaning; "" if it has one.
    """

    bound: str
    action: str
    steps: tuple[str, ...]
    violated: tuple[str, ...] = ()
    error: str = ""


def cut_steps(model: Model) -> tuple[CutStep, ...]:
    """Return a cut step for each bound and action, if one is met near the initial states or by some random walks.

    They are in the cache.
    """
    path = path_for(model, "cut-steps", __file__)
    with suppress(ValueError, TypeError):
        return tuple(CutStep(b, a, tuple(s), tuple(v), e) for b, a, s, v, e in json.loads(read_cache(path) or b""))
    found = tuple(_Finder(model).run())
    content = [[one.bound, one.action, one.steps, one.violated, one.error] for one in found]
    write_cache(path, json.dumps(content).encode())
    return found


# What the steps are.

Outcome = tuple[int, str | None, Any]
"""The number of an enabled instance, the bound that cuts it off (None: none does), and the state after it."""


class _Compiled:
    """States of a kernel, as bytes."""

    def __init__(self, model: Model, kernel: Kernel) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self.kernel, self.attempts, self.is_finished = kernel, ATTEMPTS, False
        self._guards = ctypes.CFUNCTYPE(None, pointer, pointer)(kernel.guards)
        self._apply = ctypes.CFUNCTYPE(number, number, pointer, pointer)(kernel.apply)
        self.initial = [row.tobytes() for row in kernel.pack(np.array(model.initial, np.int64))]

    def outcomes(self, state: bytes) -> Iterator[Outcome]:
        """Yield the outcomes in a state."""
        row, after = np.zeros(self.kernel.instance_words, np.uint64), np.zeros(self.kernel.words, np.uint64)
        self._guards(state, row.ctypes.data)
        for instance in bit_numbers(row):
            code = self._apply(instance, state, after.ctypes.data)
            if code >= 0:
                yield instance, self.kernel.bounds[code - 1] if code else None, after.tobytes()

    def vector(self, state: bytes) -> Vector:
        """Return the vector of a state."""
        return tuple(self.kernel.unpack(np.frombuffer(state, np.uint64)[None])[0].tolist())


class _Plain:
    """States in plain Python, as vectors."""

    def __init__(self, model: Model) -> None:
        self.model, self.initial = model, list(model.initial)
        self.attempts, self.is_finished = ATTEMPTS_OF_PYTHON, False

    def outcomes(self, state: Vector) -> Iterator[Outcome]:
        """Yield the outcomes in a state."""
        for instance in self.model.instances:
            outcome = self.model.attempt(instance, state)
            if outcome.result is not StepResult.DISABLED:
                yield instance.index, outcome.bound, outcome.after

    def vector(self, state: Vector) -> Vector:
        """Return the vector of a state."""
        return state


@define
class _Finder:
    """Looks for one cut step of each bound and action."""

    model: Model

    def run(self) -> Iterator[CutStep]:
        """Yield the cut steps."""
        kernel = cached_kernel(self.model)
        space: Any = _Plain(self.model) if kernel is None else _Compiled(self.model, kernel)
        found: dict[tuple[str, str], tuple[Any, int, tuple[int, ...]]] = {}
        for state, path, instance, bound in chain(_breadth_first(space), _walks(space)):
            found.setdefault((bound, self.model.instances[instance].action.name), (state, instance, path))
        for (bound, action), (state, instance, path) in found.items():
            steps = tuple(self.model.instances[number].key for number in (*path, instance))
            yield CutStep(bound, action, steps, *_beyond(self.model, space.vector(state), instance))


Cut = tuple[Any, tuple[int, ...], int, str]
"""A state, the instances that lead to it, the instance that is cut off, and by which bound."""


def _breadth_first(space: Any) -> Iterator[Cut]:
    states: list[Any] = list(dict.fromkeys(space.initial))
    came: dict[Any, tuple[Any, int] | None] = dict.fromkeys(states)
    seen: set[tuple[int, str]] = set()
    attempts = 0
    for state in states:
        if attempts > space.attempts:
            return
        for instance, bound, after in space.outcomes(state):
            attempts += 1
            if bound is None:
                if after not in came:
                    came[after] = state, instance
                    states.append(after)
            elif (instance, bound) not in seen:
                seen.add((instance, bound))
                yield state, _path(came, state), instance, bound
    space.is_finished = True


def _path(came: dict[Any, tuple[Any, int] | None], state: Any) -> tuple[int, ...]:
    path: list[int] = []
    while (step := came[state]) is not None:
        state, instance = step
        path.append(instance)
    return tuple(reversed(path))


def _walks(space: Any) -> Iterator[Cut]:
    """Yield what random walks meet, which come further than a search that does not finish."""
    if space.is_finished:
        return
    chance, seen, attempts = random.Random(0), set[tuple[int, str]](), 0
    while attempts < space.attempts:
        state, path = chance.choice(space.initial), list[int]()
        for _ in range(WALK_DEPTH):
            outcomes = list(space.outcomes(state))
            attempts += 1 + len(outcomes)
            for instance, bound, _ in outcomes:
                if bound is not None and (instance, bound) not in seen:
                    seen.add((instance, bound))
                    yield state, tuple(path), instance, bound
            taken = [(instance, after) for instance, bound, after in outcomes if bound is None]
            if not taken:
                break
            instance, state = chance.choice(taken)
            path.append(instance)


def _beyond(model: Model, vector: Vector, instance: int) -> tuple[tuple[str, ...], str]:
    """Return which properties the step beyond violates, and why it has no meaning ("" if it has one)."""
    taken, before, after = model.instances[instance], model.state(vector), model.state(vector)
    violated: list[str] = []
    with model.active(), unlimited():
        try:
            with suppress(Abort):
                taken.action.function(after, *taken.args)
            for prop in model.properties:
                if prop.kind in (Kind.ALWAYS, Kind.STEP) and not prop.declaration.only_counts:
                    states = (before, after) if prop.kind is Kind.STEP else (after,)
                    if prop.declaration.truth(*states, *prop.args) is False:
                        violated.append(prop.key)
        except Exception as error:
            return tuple(violated), f"{type(error).__name__}: {error}"
    return tuple(violated), ""
