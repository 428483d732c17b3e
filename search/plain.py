"""Plain execution for searches that look at few states: ask a state only what is needed, and nothing twice.

Words: a *visit* is a state under plain execution, with what has been asked about it so far. An instance that is
*blocked* would run past a bound: it is disabled here, and the hit is counted.
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from model.language import Action, Claim, Instance, Kind, Model, Outcome, Result, Vector
from model.language.errors import PremiseFailed


class Visit:
    """A state of a model. Steps are tried when somebody asks, and each instance at most once."""

    def __init__(self, model: Model, vector: Vector, before: Vector | None = None) -> None:
        self.model, self.vector, self.before = model, vector, before
        self._outcomes: dict[int, Outcome] = {}

    def attempt(self, instance: Instance) -> Outcome:
        """What becomes of taking a step here."""
        known = self._outcomes.get(instance.index)
        if known is None:
            known = self._outcomes[instance.index] = self.model.attempt(instance, self.vector)
        return known

    @property
    def attempts(self) -> dict[int, Outcome]:
        """What has been tried here so far, by the number of the instance."""
        return self._outcomes

    def after(self, instance: Instance) -> Visit | None:
        """The visit of the state that a step leads to; None where it is not enabled."""
        vector = self.attempt(instance).after
        return None if vector is None else Visit(self.model, vector, self.vector)

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
    def is_dead(self) -> bool:
        """Whether no action at all is enabled or blocked: a deadlock."""
        return all(self.attempt(instance).result is Result.DISABLED for instance in self.model.instances)

    def truth(self, claim: Claim) -> bool | None:
        """Whether the claim is true here (a step claim: of the step that led here); None if it says nothing.

        It says nothing where its premise is false, before the first step of a step claim, and while a `when quiet`
        claim's state is not quiet.
        """
        true = self._predicate(claim)
        return None if claim.kind is Kind.WHEN_QUIET and not self.is_quiet else true

    def violates(self, claim: Claim) -> bool:
        """Whether this is a counterexample to the claim; quietness is looked at last, as it costs most."""
        if claim.kind is Kind.REACHABLE or self._predicate(claim) is not False:
            return False
        return claim.kind is not Kind.WHEN_QUIET or self.is_quiet

    def _predicate(self, claim: Claim) -> bool | None:
        states = self._states(claim)
        if not states:
            return None
        with self.model.active():
            try:
                return bool(claim.invariant.function(*states, *claim.args))
            except PremiseFailed:
                return None

    def _states(self, claim: Claim) -> tuple[Any, ...]:
        if claim.kind is not Kind.STEP:
            return (self._state,)
        return () if self._state_before is None else (self._state_before, self._state)

    @cached_property
    def _state(self) -> Any:
        return self.model.state(self.vector)

    @cached_property
    def _state_before(self) -> Any:
        return None if self.before is None else self.model.state(self.before)
