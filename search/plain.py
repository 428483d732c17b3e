"""Plain execution for searches that look at few states: ask a state only what is needed, and nothing twice.

Words: a *visit* is a state under plain execution, with what has been asked about it so far. A *try* is what became of
one instance there. An instance that is *blocked* would run past a bound: it is disabled here, and the hit is counted.
"""
from __future__ import annotations

from collections import Counter, OrderedDict
from functools import cached_property, lru_cache
from typing import Any

from attrs import field, frozen

from model.language import Abort, Action, Claim, DomainError, Instance, Kind, LiftError, Model, Result, Vector
from model.language.errors import BoundReached, GuardFailed


@frozen
class Try:
    """What became of an instance in a state: DONE, with the state after it, or disabled, or blocked by a bound."""

    result: Result
    bound: str | None = None
    state: Any = field(default=None, repr=False)

    @property
    def is_enabled(self) -> bool:
        """Whether the step can be taken."""
        return self.result is Result.DONE


DISABLED = Try(Result.DISABLED)
PROBATION = 200
"""How often the guards of an action are false before it is trusted to write nothing before they are."""


class Rules:
    """What all visits of one model share: its instances by action, and how often the guards of each were false."""

    def __init__(self, model: Model) -> None:
        actions, instances = model.scenario.actions, model.instances
        self.instances = {action: tuple(i for i in instances if i.action is action) for action in actions}
        self.system = tuple(instance for instance in instances if instance.action.by.system)
        self.refusals: Counter[Action] = Counter()


_rules_of = lru_cache(maxsize=16)(Rules)


class Visit:
    """A state of a model. Steps are tried when somebody asks, and nothing is asked of the model twice.

    It says what `Model.attempt` and `Model.violates` say, several times faster: states are copied, not rebuilt from
    vectors, and a copy in which a guard was false serves the next try.
    """

    def __init__(self, model: Model, vector: Vector, state: Any = None) -> None:
        self.model, self.vector = model, vector
        self.tries: dict[int, Try] = {}
        """What has been tried here so far, by the number of the instance."""
        self._state = model.state(vector) if state is None else state
        self._rules = _rules_of(model)
        self._enabled: dict[Action, tuple[Instance, ...]] = {}
        self._copy: Any = None
        self._after: dict[int, Vector] = {}
        self._predicates: dict[tuple[int, Vector | None], bool | None] = {}

    def attempt(self, instance: Instance) -> Try:
        """What becomes of taking a step here."""
        known = self.tries.get(instance.index)
        if known is None:
            known = self.tries[instance.index] = self._attempt(instance)
        return known

    def _attempt(self, instance: Instance) -> Try:
        with self.model.active():
            state, self._copy = self._copy or self.model.shape.copy(self._state), None
            try:
                instance.action.function(state, *instance.args)
            except GuardFailed:
                self._keep(state, instance)
                return DISABLED
            except BoundReached as hit:
                return Try(Result.BOUND, bound=hit.bound)
            except Abort:
                pass
            except DomainError as error:
                raise DomainError(f"{instance.key} leaves its domain: {error}") from error
            return Try(Result.DONE, state=state)

    def _keep(self, state: Any, instance: Instance) -> None:
        """Keep a copy for the next try, after a look that the action has written nothing before it gave up."""
        self._copy = state
        self._rules.refusals[instance.action] += 1
        if self._rules.refusals[instance.action] <= PROBATION and state != self._state:
            raise LiftError(
                f"{instance.action.name} changes the state before a `require` that fails ({instance.key}). "
                "Write every `require` before the first effect."
            )

    def after(self, instance: Instance) -> Vector | None:
        """The state that a step leads to; None where it is not enabled."""
        tried = self.attempt(instance)
        if tried.is_enabled and instance.index not in self._after:
            self._after[instance.index] = self.model.vector(tried.state)
        return self._after.get(instance.index)

    def enabled(self, action: Action) -> tuple[Instance, ...]:
        """The enabled instances of an action, in the order of the model."""
        known = self._enabled.get(action)
        if known is None:
            known = tuple(i for i in self._rules.instances[action] if self.attempt(i).is_enabled)
            self._enabled[action] = known
        return known

    @property
    def is_end(self) -> bool:
        """Whether no step can be taken."""
        return not any(map(self.enabled, self._rules.instances))

    @cached_property
    def is_quiet(self) -> bool:
        """Whether no system action is enabled; a blocked one counts as enabled."""
        return all(self.attempt(instance).result is Result.DISABLED for instance in self._rules.system)

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
        if claim.kind in (Kind.REACHABLE, Kind.EVENTUALLY) or self._predicate(claim, before) is not False:
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
            return claim.invariant.truth(*states, *claim.args)


class Visits:
    """The visits of a model; it remembers the last `capacity` of them, as replays come by the same states again."""

    def __init__(self, model: Model, capacity: int = 1000) -> None:
        self.model, self.capacity = model, capacity
        self._known: OrderedDict[Vector, Visit] = OrderedDict()

    def at(self, vector: Vector) -> Visit:
        """The visit of a state."""
        return self._known.get(vector) or self._add(Visit(self.model, vector))

    def step(self, visit: Visit, instance: Instance) -> Visit | None:
        """The visit of the state that a step leads to; None where it is not enabled."""
        vector = visit.after(instance)
        if vector is None:
            return None
        return self._known.get(vector) or self._add(Visit(self.model, vector, visit.attempt(instance).state))

    def _add(self, visit: Visit) -> Visit:
        self._known[visit.vector] = visit
        if len(self._known) > self.capacity:
            self._known.popitem(last=False)
        return visit
