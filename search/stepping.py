"""Taking steps one at a time, by plain execution or by a kernel, behind one face.

Words: a *stepper* knows a model and what is looked for: one or more claims, or a deadlock. It is what replays need; one
that runs a kernel takes a few hundred thousand steps a second.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from model.language import Claim, Kind, Model, Vector
from search.kernel import Kernel
from search.plain import Visits

IN_STATES = (Kind.ALWAYS, Kind.WHEN_QUIET)
"""Kinds of claims that one state can violate."""


class Stepper(Protocol):
    """One way to take steps. States are hashable, and equal where they are the same state."""

    needs_quiet: bool
    """Whether what is looked for shows only in quiet states."""
    in_steps: bool
    """Whether it shows in a step rather than in a state."""
    patience: int
    """How many states it is no trouble to search through."""

    def start(self, vector: Vector) -> Any:
        """A state, from its vector."""

    def step(self, instance: int, state: Any) -> Any | None:
        """The state that an instance leads to; None where it is disabled or blocked by a bound."""

    def shows(self, state: Any, before: Any | None) -> bool:
        """Whether what is looked for shows here (for step claims: in the step from `before`)."""

    def symptoms(self, state: Any) -> frozenset[str]:
        """The names of all invariants of the model that are violated in a state, but for those about steps."""

    def successors(self, state: Any, *, system: bool = False) -> Iterator[tuple[int, Any]]:
        """The steps that can be taken here, in the order of the model, and where they lead; or only the system's."""


class PlainStepper:
    """Steps by plain execution."""

    patience = 50

    def __init__(self, model: Model, claims: Sequence[Claim]) -> None:
        self.model, self.claims = model, claims
        self.in_steps = any(claim.kind is Kind.STEP for claim in claims)
        self.needs_quiet = any(claim.kind is Kind.WHEN_QUIET for claim in claims)
        self._visits = Visits(model)

    def start(self, vector: Vector) -> Vector:
        return tuple(vector)

    def step(self, instance: int, state: Vector) -> Vector | None:
        visit = self._visits.step(self._visits.at(state), self.model.instances[instance])
        return None if visit is None else visit.vector

    def shows(self, state: Vector, before: Vector | None) -> bool:
        visit = self._visits.at(state)
        if not self.claims:
            return visit.is_dead
        return any(
            visit.truth(claim) is True if claim.kind is Kind.REACHABLE else visit.violates(claim, before)
            for claim in self.claims
        )

    def symptoms(self, state: Vector) -> frozenset[str]:
        visit = self._visits.at(state)
        return frozenset(
            claim.invariant.name
            for claim in self.model.claims
            if claim.kind in IN_STATES and visit.violates(claim, None)
        )

    def successors(self, state: Vector, *, system: bool = False) -> Iterator[tuple[int, Vector]]:
        for instance in self.model.instances:
            if instance.action.by.system or not system:
                after = self.step(instance.index, state)
                if after is not None:
                    yield instance.index, after


class KernelStepper:
    """Steps by machine code. A state is the bytes of its packed row."""

    patience = 3000

    def __init__(self, model: Model, claims: Sequence[Claim], kernel: Kernel) -> None:
        self.kernel = kernel
        self.needs_quiet = any(claim.kind is Kind.WHEN_QUIET for claim in claims)
        self._wanted = sum(1 << claim.index for claim in claims)
        self._names = {claim.index: claim.invariant.name for claim in model.claims if claim.kind in IN_STATES}
        self.in_steps = any(claim.kind is Kind.STEP for claim in claims)
        self._system = int.from_bytes(np.ascontiguousarray(kernel.system_row).tobytes(), "little")
        row, claim_row = 8 * kernel.instance_words, 8 * kernel.claim_words
        self._after = ctypes.create_string_buffer(8 * kernel.words)
        self._row = ctypes.create_string_buffer(row)
        self._false, self._premise = ctypes.create_string_buffer(claim_row), ctypes.create_string_buffer(claim_row)
        pointer, number = ctypes.c_char_p, ctypes.c_int64
        self._guards_at = ctypes.CFUNCTYPE(None, pointer, pointer)(kernel.guards)
        self._apply = ctypes.CFUNCTYPE(number, number, pointer, pointer)(kernel.apply)
        self._check = ctypes.CFUNCTYPE(None, pointer, number, pointer, pointer)(kernel.check)
        self._check_step = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer)(kernel.check_step)

    def start(self, vector: Vector) -> bytes:
        return self.kernel.pack(np.array([vector], np.int64)).tobytes()

    def _guards(self, state: bytes) -> int:
        self._guards_at(state, self._row)
        return int.from_bytes(self._row.raw, "little")

    def step(self, instance: int, state: bytes) -> bytes | None:
        return self._leads(instance, state) if self._guards(state) >> instance & 1 else None

    def _leads(self, instance: int, state: bytes) -> bytes | None:
        return None if self._apply(instance, state, self._after) else self._after.raw

    def shows(self, state: bytes, before: bytes | None) -> bool:
        if not self._wanted:
            return self._guards(state) == 0
        if not self.in_steps:
            quiet = self.needs_quiet and not self._guards(state) & self._system
            self._check(state, quiet, self._false, self._premise)
        elif before is not None:
            self._check_step(before, state, self._false, self._premise)
        else:
            return False
        return bool(int.from_bytes(self._false.raw, "little") & self._wanted)

    def symptoms(self, state: bytes) -> frozenset[str]:
        self._check(state, not self._guards(state) & self._system, self._false, self._premise)
        false = int.from_bytes(self._false.raw, "little")
        return frozenset(name for number, name in self._names.items() if false >> number & 1)

    def successors(self, state: bytes, *, system: bool = False) -> Iterator[tuple[int, bytes]]:
        row = self._guards(state) & (self._system if system else -1)
        while row:
            instance = (row & -row).bit_length() - 1
            row &= row - 1
            after = self._leads(instance, state)
            if after is not None:
                yield instance, after
