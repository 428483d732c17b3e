"""A model: a scenario with its variant and bounds fixed, and its plain execution.

Plain execution is the meaning of a model: Python runs the action on real objects. States travel as vectors (tuples of
small ints, see `shapes`), so that the outcomes of all engines can be compared.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from enum import Enum
from functools import cached_property
from typing import Any

from attrs import frozen

from model.language.action import Action, Parametric
from model.language.binding import Bound, Domain, Flag
from model.language.errors import (
    Abort,
    BoundReached,
    DomainError,
    GuardFailed,
    KwalkError,
    UsageError,
    told,
    unknown,
)
from model.language.invariant import Invariant, Kind
from model.language.records import RecordShape
from model.language.scenario import Scenario
from model.language.shapes import Leaf
from model.language.sizes import check_sizes

Vector = tuple[int, ...]


@frozen
class Instance:
    """An action with its parameters chosen, and its number in the model."""

    index: int
    action: Action
    args: tuple[Any, ...]

    @property
    def key(self) -> str:
        """Its name, such as `crash(2)`."""
        return self.action.key(self.args)

    @property
    def actor(self) -> str:
        """Its lane in a diagram."""
        return self.action.by.lane(self.action, self.args)

    @property
    def says(self) -> str:
        """What it does, in the field's words."""
        return self.action.says.format(**self.action.labels(self.args))


@frozen
class Claim:
    """An invariant with its parameters chosen, and its number in the model."""

    index: int
    invariant: Invariant
    args: tuple[Any, ...]

    @property
    def key(self) -> str:
        """Its name, such as `replica_id_matches_zookeeper(0, 0, 1)`."""
        return self.invariant.key(self.args)

    @property
    def kind(self) -> Kind:
        """When it is evaluated."""
        return self.invariant.kind

    @property
    def says(self) -> str:
        """Its name with its arguments as reports print them."""
        labels = self.invariant.labels(self.args)
        return f"{self.invariant.name}({', '.join(f'{name} {label}' for name, label in labels.items())})"


class Result(Enum):
    """What became of an attempt to take a step."""

    DONE = "done"
    DISABLED = "disabled"
    BOUND = "bound reached"


@frozen
class Outcome:
    """The result of an attempt; with DONE the vector after the step, with BOUND the name of the bound."""

    result: Result
    after: Vector | None = None
    bound: str | None = None


class Model:
    """A scenario in one variant and with fixed bounds. Everything about it is a constant; vectors are the states.

    `bounds` and `flags` are asked for in place of the scenario's and the variant's own.
    """

    def __init__(
        self,
        scenario: Scenario,
        variant: str | None = None,
        bounds: Mapping[str, int] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> None:
        self.scenario = scenario
        self.variant = variant or scenario.default_variant
        self.asked_bounds = dict(bounds or {})
        self.asked_flags = dict(flags or {})
        self.binding = scenario.binding(self.variant, self.asked_bounds, self.asked_flags)
        check_sizes(scenario, self.binding)
        self.shape = RecordShape(scenario.state)
        with self.active():
            self.leaves: tuple[Leaf, ...] = tuple(self.shape.leaves(""))
            self.instances = tuple(
                Instance(i, a, args) for i, (a, args) in enumerate(_chosen(scenario.actions))
            )
            self.claims = tuple(
                Claim(i, inv, args) for i, (inv, args) in enumerate(_chosen(scenario.invariants))
            )

    def active(self) -> AbstractContextManager[None]:
        """The context in which this model's bounds, domains and flags have their values."""
        return self.binding.active()

    # States and vectors.

    def vector(self, state: Any) -> Vector:
        """The canonical vector of a state."""
        numbers: list[int] = []
        with self.active():
            self.shape.flatten(state, numbers)
        return tuple(numbers)

    def state(self, vector: Iterable[int]) -> Any:
        """A new state object with the given vector."""
        with self.active():
            return self.shape.rebuild(iter(vector))

    def canonical(self, vector: Iterable[int]) -> Vector:
        """The vector of the same state, with the parts that nobody can see set to their defaults."""
        return self.vector(self.state(vector))

    @cached_property
    def initial(self) -> tuple[Vector, ...]:
        """The initial states, without repetition, in the order of the initial function's parameters."""
        start = Parametric(self.scenario.initial, states=1)
        found: dict[Vector, None] = {}
        with self.active():
            for args in start.arguments():
                state = self.scenario.state()
                try:
                    start.function(state, *args)
                except GuardFailed:
                    continue
                except Exception as error:
                    raise _failure(start.key(args), error) from error
                found[self.vector(state)] = None
        if not found:
            raise UsageError(
                f"Scenario {self.scenario.name!r} has no initial state within its bounds: {start.name} requires "
                "what no choice of its parameters gives. Loosen that, or give larger bounds."
            )
        return tuple(found)

    # Steps and truth.

    def attempt(self, instance: Instance, vector: Vector) -> Outcome:
        """Run an action on a state; DomainError names the action if it leaves its domain."""
        state = self.state(vector)
        with self.active():
            try:
                instance.action.function(state, *instance.args)
            except GuardFailed:
                return Outcome(Result.DISABLED)
            except BoundReached as hit:
                return Outcome(Result.BOUND, bound=hit.bound)
            except Abort:
                pass
            except Exception as error:
                raise _failure(instance.key, error) from error
            return Outcome(Result.DONE, after=self.vector(state))

    def successors(self, vector: Vector) -> Iterator[tuple[Instance, Vector]]:
        """All steps that are possible in a state."""
        for instance in self.instances:
            outcome = self.attempt(instance, vector)
            if outcome.after is not None:
                yield instance, outcome.after

    def is_quiet(self, vector: Vector) -> bool:
        """Whether no system action is enabled. One that would hit a bound counts as enabled."""
        return not any(
            instance.action.by.system and self.attempt(instance, vector).result is not Result.DISABLED
            for instance in self.instances
        )

    def truth(self, claim: Claim, vector: Vector, before: Vector | None = None) -> bool | None:
        """Whether the claim's predicate is true in a state (or over a step); None if its premise is false.

        Quietness is not looked at here: see `violates`.
        """
        states = [self.state(vector)] if before is None else [self.state(before), self.state(vector)]
        with self.active():
            try:
                return claim.invariant.truth(*states, *claim.args)
            except Exception as error:
                raise _failure(claim.key, error) from error

    def awaited(self, claim: Claim, vector: Vector) -> tuple[bool, bool]:
        """Of an `eventually` claim in a state: whether its premise holds, and whether what it awaits is there."""
        state = self.state(vector)
        with self.active():
            try:
                return claim.invariant.awaited(state, *claim.args)
            except Exception as error:
                raise _failure(claim.key, error) from error

    def violates(self, claim: Claim, vector: Vector, before: Vector | None = None) -> bool:
        """Whether this state (or step) is a counterexample to the claim. Never so for `reachable` and `eventually`."""
        if claim.kind in (Kind.REACHABLE, Kind.EVENTUALLY) or (claim.kind is Kind.STEP) != (before is not None):
            return False
        if self.truth(claim, vector, before) is not False:
            return False
        return claim.kind is not Kind.WHEN_QUIET or self.is_quiet(vector)

    # Names.

    def instance(self, key: str) -> Instance:
        """The action instance of that name."""
        found = self._by_key.get(key)
        if found is None:
            raise unknown("action instance", key, self._by_key)
        return found

    @cached_property
    def _by_key(self) -> dict[str, Instance]:
        return {instance.key: instance for instance in self.instances}

    def claims_of(self, name: str) -> tuple[Claim, ...]:
        """The instances of the invariant of that name, or the one instance of that key."""
        found = tuple(c for c in self.claims if name in (c.invariant.name, c.key))
        if not found:
            raise unknown("invariant", name, (i.name for i in self.scenario.invariants))
        return found

    def show(self, vector: Vector) -> dict[str, str]:
        """Every leaf of a state in words, by path."""
        with self.active():
            return {leaf.path: leaf.show(number) for leaf, number in zip(self.leaves, vector, strict=True)}


def _chosen(things: Iterable[Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for thing in things:
        for args in thing.arguments():
            yield thing, args


def _failure(what: str, error: Exception) -> KwalkError:
    """The error for people when a function of the model, named by its instance, ends with an exception."""
    if isinstance(error, DomainError):
        return DomainError(f"{what} leaves its domain: {error}")
    if isinstance(error, KwalkError):
        return type(error)(f"{what}: {error}")
    return DomainError(f"{what} cannot be run: {told(error)} Mend the model there.")


__all__ = ["Bound", "Claim", "Domain", "Flag", "Instance", "Model", "Outcome", "Result", "Vector"]
