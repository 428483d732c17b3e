"""Steppers: execution of one action instance at a time, by the interpreter or by a kernel, with one interface.

Words: a *stepper* belongs to a model and a *target*: one or more properties to violate, or a deadlock. Replays use
steppers; one that runs a kernel executes a few hundred thousand instances a second.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from kwalk.model.language import Kind, Model, PropertyInstance, StepResult, Vector
from kwalk.search.kernel.calls import function_of
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.interpreter import VisitCache

IN_STATES = (Kind.ALWAYS, Kind.WHEN_QUIESCENT)
"""Kinds of properties that one state can violate."""


Outcome = tuple[int, str | None, Any]
"""The number of an instance, the bound that disables it (None: none does), and the state after it, if there is one."""


class Stepper(Protocol):
    """Executes action instances. States are hashable, and equal if they are the same state."""

    needs_quiescent: bool
    """Whether the target occurs in quiescent states only."""
    in_steps: bool
    """Whether the target is a step rather than a state."""
    search_limit: int
    """How many states a search may visit at little cost."""

    def start(self, vector: Vector) -> Any:
        """Return the state of a vector."""

    def step(self, instance: int, state: Any) -> Any | None:
        """Return the state after an instance; None if it is disabled or blocked by a bound."""

    def shows(self, state: Any, before: Any | None) -> bool:
        """Return whether the target occurs here (for step properties: in the step from `before`)."""

    def symptoms(self, state: Any) -> frozenset[str]:
        """Return the names of all properties of the model that a state violates, without step properties."""

    def outcomes(self, state: Any, *, system: bool = False) -> Iterator[Outcome]:
        """Yield the outcomes of the instances (with `system`: of the system) whose guard is true."""

    def vector(self, state: Any) -> Vector:
        """Return the vector of a state."""

    def successors(self, state: Any, *, system: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield the enabled instances (with `system`: of the system) in the model's order, with their successors."""


class PlainStepper:
    """A stepper that uses the interpreter."""

    search_limit = 50

    def __init__(self, model: Model, properties: Sequence[PropertyInstance]) -> None:
        self.model, self.properties = model, properties
        self.in_steps = any(prop.kind is Kind.STEP for prop in properties)
        self.needs_quiescent = any(prop.kind is Kind.WHEN_QUIESCENT for prop in properties)
        self._visits = VisitCache(model)

    def start(self, vector: Vector) -> Vector:
        return tuple(vector)

    def step(self, instance: int, state: Vector) -> Vector | None:
        visit = self._visits.step(self._visits.at(state), self.model.instances[instance])
        return None if visit is None else visit.vector

    def shows(self, state: Vector, before: Vector | None) -> bool:
        visit = self._visits.at(state)
        if not self.properties:
            return visit.is_dead
        return any(
            visit.truth(prop) is True if prop.kind is Kind.REACHABLE else visit.violates(prop, before)
            for prop in self.properties
        )

    def symptoms(self, state: Vector) -> frozenset[str]:
        visit = self._visits.at(state)
        return frozenset(
            prop.declaration.name
            for prop in self.model.properties
            if prop.kind in IN_STATES and visit.violates(prop, None)
        )

    def outcomes(self, state: Vector, *, system: bool = False) -> Iterator[Outcome]:
        visit = self._visits.at(state)
        for instance in self.model.instances:
            if instance.action.by.system or not system:
                outcome = visit.attempt(instance)
                if outcome.result is not StepResult.DISABLED:
                    yield instance.index, outcome.bound, self.step(instance.index, state)

    def vector(self, state: Vector) -> Vector:
        return state

    def successors(self, state: Vector, *, system: bool = False) -> Iterator[tuple[int, Vector]]:
        for instance in self.model.instances:
            if instance.action.by.system or not system:
                after = self.step(instance.index, state)
                if after is not None:
                    yield instance.index, after


class KernelStepper:
    """A stepper that runs machine code. A state is the bytes of its packed row."""

    search_limit = 3000

    def __init__(self, model: Model, properties: Sequence[PropertyInstance], kernel: Kernel) -> None:
        self.kernel = kernel
        self.needs_quiescent = any(prop.kind is Kind.WHEN_QUIESCENT for prop in properties)
        self._wanted = sum(1 << prop.index for prop in properties)
        self._names = {prop.index: prop.declaration.name for prop in model.properties if prop.kind in IN_STATES}
        self.in_steps = any(prop.kind is Kind.STEP for prop in properties)
        self._system = int.from_bytes(np.ascontiguousarray(kernel.system_row).tobytes(), "little")
        row, property_row = 8 * kernel.instance_words, 8 * kernel.property_words
        self._after = ctypes.create_string_buffer(8 * kernel.words)
        self._row = ctypes.create_string_buffer(row)
        self._false, self._premise = (
            ctypes.create_string_buffer(property_row),
            ctypes.create_string_buffer(property_row),
        )
        self._guards_at, self._apply = function_of(kernel, "guards"), function_of(kernel, "apply")
        self._check, self._check_step = function_of(kernel, "check"), function_of(kernel, "check_step")

    def start(self, vector: Vector) -> bytes:
        return self.kernel.pack(np.array([vector], np.int64)).tobytes()

    def _guards(self, state: bytes) -> int:
        self._guards_at(state, self._row)
        return int.from_bytes(self._row.raw, "little")

    def step(self, instance: int, state: bytes) -> bytes | None:
        if not self._guards(state) >> instance & 1 or self._apply(instance, state, self._after):
            return None
        return self._after.raw

    def shows(self, state: bytes, before: bytes | None) -> bool:
        if not self._wanted:
            return self._guards(state) == 0
        if not self.in_steps:
            quiescent = self.needs_quiescent and not self._guards(state) & self._system
            self._check(state, quiescent, self._false, self._premise)
        elif before is not None:
            self._check_step(before, state, self._false, self._premise)
        else:
            return False
        return bool(int.from_bytes(self._false.raw, "little") & self._wanted)

    def symptoms(self, state: bytes) -> frozenset[str]:
        self._check(state, not self._guards(state) & self._system, self._false, self._premise)
        false = int.from_bytes(self._false.raw, "little")
        return frozenset(name for number, name in self._names.items() if false >> number & 1)

    def outcomes(self, state: bytes, *, system: bool = False) -> Iterator[Outcome]:
        for instance in self._enabled(state, system):
            code = self._apply(instance, state, self._after)
            yield instance, self.kernel.bounds[code - 1] if code > 0 else None, None if code else self._after.raw

    def successors(self, state: bytes, *, system: bool = False) -> Iterator[tuple[int, bytes]]:
        for instance in self._enabled(state, system):
            if self._apply(instance, state, self._after) == 0:
                yield instance, self._after.raw

    def _enabled(self, state: bytes, system: bool) -> list[int]:
        """Return the instances (with `system`: of the system) whose guard is true."""
        row, found = self._guards(state) & (self._system if system else -1), []
        while row:
            found.append((row & -row).bit_length() - 1)
            row &= row - 1
        return found

    def vector(self, state: bytes) -> Vector:
        return tuple(self.kernel.unpack(np.frombuffer(state, np.uint64).reshape(1, -1))[0].tolist())
