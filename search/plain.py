"""Plain execution for searches that look at few states: ask a state only what is needed, and nothing twice.

Words: a *visit* is a state under plain execution, with what has been asked about it so far. An instance that is
*blocked* would run past a bound: it is disabled here, and the hit is counted.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from typing import Any

from model.language import Action, Claim, Instance, Kind, Model, Outcome, Result, Vector
from model.language.errors import PremiseFailed


class Visit:
    """A state of a model. Steps are tried when somebody asks, and nothing is asked of the model twice."""

    def __init__(self, model: Model, vector: Vector) -> None:
        self.model, self.vector = model, vector
        self.attempts: dict[int, Outcome] = {}
        """What has been tried here so far, by the number of the instance."""
        self._predicates: dict[tuple[int, Vector | None], bool | None] = {}

    def attempt(self, instance: Instance) -> Outcome:
        """What becomes of taking a step here."""
        known = self.attempts.get(instance.index)
        if known is None:
            known = self.attempts[instance.index] = self.model.attempt(instance, self.vector)
        return known

    def offers(self, action: Action) -> bool:
        """Whether some instance of the action is enabled."""
        return next(self._enabled(action), None) is not None

    def enabled(self, action: Action) -> list[Instance]:
        """The enabled instances of an action, in the order of the model."""
        return list(self._enabled(action))

    def _enabled(self, action: Action) -> Iterator[Instance]:
        for instance in self.model.instances:
            if instance.action is action and self.attempt(instance).after is not None:
                yield instance

    @cached_property
    def is_quiet(self) -> bool:
        """Whether no system action is enabled; a blocked one counts as enabled."""
        return all(
            self.attempt(instance).result is Result.DISABLED
            for instance in self.model.instances
            if instance.action.by.system
        )

    @property
    def is_known_quiet(self) -> bool:
        """Whether it is quiet and somebody has asked; asking costs a try of every system instance."""
        return self.__dict__.get("is_quiet", False)

    @property
    def is_dead(self) -> bool:
        """Whether no action at all is enabled or blocked: a deadlock."""
        return all(self.attempt(instance).result is Result.DISABLED for instance in self.model.instances)

    def truth(self, claim: Claim, before: Vector | None = None) -> bool | None:
        """Whether the claim is true here (a step claim: of the step from `before`); None if it says nothing.

        It says nothing where its premise is false, before the first step of a step claim, and while a `when quiet`
        claim's state is not quiet.
        """
        true = self._predicate(claim, before)
        return None if claim.kind is Kind.WHEN_QUIET and not self.is_quiet else true

    def violates(self, claim: Claim, before: Vector | None = None) -> bool:
        """Whether this is a counterexample to the claim; quietness is looked at last, as it costs most."""
        if claim.kind is Kind.REACHABLE or self._predicate(claim, before) is not False:
            return False
        return claim.kind is not Kind.WHEN_QUIET or self.is_quiet

    def _predicate(self, claim: Claim, before: Vector | None) -> bool | None:
        if claim.kind is not Kind.STEP:
            before = None
        elif before is None:
            return None
        if (claim.index, before) not in self._predicates:
            self._predicates[claim.index, before] = self._evaluate(claim, before)
        return self._predicates[claim.index, before]

    def _evaluate(self, claim: Claim, before: Vector | None) -> bool | None:
        states = (self._state,) if before is None else (self.model.state(before), self._state)
        with self.model.active():
            try:
                return bool(claim.invariant.function(*states, *claim.args))
            except PremiseFailed:
                return None

    @cached_property
    def _state(self) -> Any:
        return self.model.state(self.vector)


class Visits:
    """The visits of a model; it remembers the last `capacity` of them, as replays come by the same states again."""

    def __init__(self, model: Model, capacity: int = 4096) -> None:
        self.at: Callable[[Vector], Visit] = lru_cache(maxsize=capacity)(partial(Visit, model))
        """The visit of a state."""
