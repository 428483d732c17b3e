"""The interpreter: plain execution for engines that visit few states. It computes lazily, and nothing twice.

Words: a *visit* is a state under plain execution, with the results that were computed so far. An instance is *blocked*
if only a bound disables it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import cached_property, lru_cache
from typing import Any

from attrs import field, frozen

from kwalk.model.language import (
    Action,
    ActionInstance,
    Kind,
    LiftError,
    Model,
    PropertyInstance,
    StepResult,
    Vector,
)
from kwalk.model.language.model import failure


@frozen
class InstanceOutcome:
    """The outcome of an instance in a state: DONE, with the state after it, or disabled, or blocked by a bound."""

    result: StepResult
    bound: str | None = None
    state: Any = field(default=None, repr=False)

    @property
    def is_enabled(self) -> bool:
        """Return whether the instance is enabled."""
        return self.result is StepResult.DONE


DISABLED = InstanceOutcome(StepResult.DISABLED)
GUARD_CHECKS = 16
"""How many times an action with a false guard is checked for writes before its guard, before the checks get rare."""


class ModelInstances:
    """What all visits of one model share: the instances by action, and how often the guards of each were false."""

    def __init__(self, model: Model) -> None:
        actions, instances = model.scenario.actions, model.instances
        self.instances = {action: tuple(i for i in instances if i.action is action) for action in actions}
        self.system = tuple(instance for instance in instances if instance.action.by.system)
        self.refusals: Counter[Action] = Counter()


_instances_of = lru_cache(maxsize=16)(ModelInstances)


class Visit:
    """A state of a model. Instances are executed on demand, each once.

    The results equal those of `Model.attempt` and `Model.violates`, several times faster: states are copied, not
    rebuilt from vectors, and a copy in which a guard was false is used again for the next instance.
    """

    def __init__(self, model: Model, vector: Vector, state: Any = None) -> None:
        self.model, self.vector = model, vector
        self.outcomes: dict[int, InstanceOutcome] = {}
        """The outcomes that were computed so far, by the number of the instance."""
        self._state = model.state(vector) if state is None else state
        self._model_instances = _instances_of(model)
        self._enabled: dict[Action, tuple[ActionInstance, ...]] = {}
        self._copy: Any = None
        self._after: dict[int, Vector] = {}
        self._predicates: dict[tuple[int, Vector | None], bool | None] = {}
        self._before: tuple[Vector, Any] | None = None

    def attempt(self, instance: ActionInstance) -> InstanceOutcome:
        """Return the outcome of an instance in this state."""
        known = self.outcomes.get(instance.index)
        if known is None:
            known = self.outcomes[instance.index] = self._attempt(instance)
        return known

    def _attempt(self, instance: ActionInstance) -> InstanceOutcome:
        with self.model.active():
            state, self._copy = self._copy or self.model.copy(self._state), None
            result, bound = self.model.execute(instance, state, lambda: self._state)
            if result is StepResult.DISABLED:
                self._reuse(state, instance)
                return DISABLED
            return InstanceOutcome(result, bound=bound, state=state if result is StepResult.DONE else None)

    def _reuse(self, state: Any, instance: ActionInstance) -> None:
        """Reuse a copy for the next instance; now and then, check that the action wrote nothing before its guard."""
        self._copy = state
        self._model_instances.refusals[instance.action] += 1
        count = self._model_instances.refusals[instance.action]
        is_checked = count <= GUARD_CHECKS or count & (count - 1) == 0
        if is_checked and state != self._state:
            raise LiftError(
                f"{instance.action.name} changes the state before a `require` that fails ({instance.key}). "
                "Write every `require` before the first effect."
            )

    def after(self, instance: ActionInstance) -> Vector | None:
        """Return the state after an instance; None if it is not enabled."""
        outcome = self.attempt(instance)
        if outcome.is_enabled and instance.index not in self._after:
            self._after[instance.index] = self.model.vector(outcome.state)
        return self._after.get(instance.index)

    def enabled(self, action: Action) -> tuple[ActionInstance, ...]:
        """Return the enabled instances of an action, in the order of the model."""
        known = self._enabled.get(action)
        if known is None:
            known = tuple(i for i in self._model_instances.instances[action] if self.attempt(i).is_enabled)
            self._enabled[action] = known
        return known

    @property
    def is_end(self) -> bool:
        """Return whether no instance is enabled."""
        return not any(map(self.enabled, self._model_instances.instances))

    @cached_property
    def is_quiescent(self) -> bool:
        """Return whether no system action is enabled; a blocked one counts as enabled."""
        return all(self.attempt(instance).result is StepResult.DISABLED for instance in self._model_instances.system)

    @property
    def is_known_quiescent(self) -> bool:
        """Return whether it is quiescent and that was computed; computing it executes every system instance."""
        return bool(self.__dict__.get("is_quiescent", False))

    @property
    def is_dead(self) -> bool:
        """Return whether no action is enabled or blocked: a deadlock."""
        return all(self.attempt(instance).result is StepResult.DISABLED for instance in self.model.instances)

    def truth(self, prop: PropertyInstance, before: Vector | None = None) -> bool | None:
        """Return whether the property is true here (a step property: of the step from `before`); None if vacuous.

        It is vacuous if its premise is false, for a step property without a step, and for a `when_quiescent` property
        if the state is not quiescent.
        """
        true = self.predicate(prop, before)
        return None if prop.kind is Kind.WHEN_QUIESCENT and not self.is_quiescent else true

    def truth_after(self, prop: PropertyInstance, instance: ActionInstance) -> bool | None:
        """Return the truth of a step property on the step that an enabled instance takes from here."""
        with self.model.active():
            try:
                return prop.declaration.truth(self._state, self.attempt(instance).state, *prop.args)
            except Exception as error:
                raise failure(prop.key, error) from error

    def awaited(self, prop: PropertyInstance) -> tuple[bool, bool]:
        """Return, for a property about behaviours, whether its premise is true here, and whether the rest is."""
        with self.model.active():
            try:
                return prop.declaration.awaited(self._state, *prop.args)
            except Exception as error:
                raise failure(prop.key, error) from error

    def violates(self, prop: PropertyInstance, before: Vector | None = None) -> bool:
        """Return whether the state violates the property. Quiescence is computed last, as it costs most."""
        if prop.kind is Kind.REACHABLE or prop.kind.is_liveness or self.predicate(prop, before) is not False:
            return False
        return prop.kind is not Kind.WHEN_QUIESCENT or self.is_quiescent

    def predicate(self, prop: PropertyInstance, before: Vector | None = None) -> bool | None:
        """Return the truth of a property here, as if the state were quiescent; None if its premise is false."""
        if prop.kind is not Kind.STEP:
            before = None
        elif before is None:
            return None
        if (prop.index, before) not in self._predicates:
            self._predicates[prop.index, before] = self._evaluate(prop, before)
        return self._predicates[prop.index, before]

    def _state_before(self, vector: Vector) -> Any:
        """Return the state before a step, which is built once for all properties of the step."""
        if self._before is None or self._before[0] != vector:
            self._before = vector, self.model.state(vector)
        return self._before[1]

    def _evaluate(self, prop: PropertyInstance, before: Vector | None) -> bool | None:
        states = (self._state,) if before is None else (self._state_before(before), self._state)
        with self.model.active():
            try:
                return prop.declaration.truth(*states, *prop.args)
            except Exception as error:
                raise failure(prop.key, error) from error


class VisitCache:
    """The visits of a model. The last `capacity` of them are cached, as replays visit the same states again."""

    def __init__(self, model: Model, capacity: int = 1000) -> None:
        self.model, self.capacity = model, capacity
        self._known: OrderedDict[Vector, Visit] = OrderedDict()

    def at(self, vector: Vector) -> Visit:
        """Return the visit of a state."""
        return self._known.get(vector) or self._add(Visit(self.model, vector))

    def step(self, visit: Visit, instance: ActionInstance) -> Visit | None:
        """Return the visit of the state after an instance; None if it is not enabled."""
        vector = visit.after(instance)
        if vector is None:
            return None
        return self._known.get(vector) or self._add(Visit(self.model, vector, visit.attempt(instance).state))

    def _add(self, visit: Visit) -> Visit:
        self._known[visit.vector] = visit
        if len(self._known) > self.capacity:
            self._known.popitem(last=False)
        return visit
