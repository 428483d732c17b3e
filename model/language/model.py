"""A model: a scenario with its variant and bounds fixed, and its execution in plain Python.

Plain execution is the definition of a model: Python executes the action on objects. States are exchanged as vectors
(tuples of small ints, see `shapes`), so that the outcomes of all engines can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from enum import Enum
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

from attrs import evolve, fields_dict, frozen

from kwalk.model.language.action import Action, Parametric
from kwalk.model.language.binding import Binding, Bound, Domain, Flag, active_binding, cached
from kwalk.model.language.constraints import Constraint, CutStates
from kwalk.model.language.containers import FifoShape
from kwalk.model.language.display import Displayed
from kwalk.model.language.errors import (
    Abort,
    BoundReached,
    DomainError,
    GuardFailed,
    KwalkError,
    UsageError,
    error_text,
    unknown,
)
from kwalk.model.language.fairness import FairnessConditions, conditions_of
from kwalk.model.language.properties import Kind, Property
from kwalk.model.language.quantifiers import QuantifierElements, counted_quantifiers
from kwalk.model.language.record_sets import SetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.scenario import Scenario
from kwalk.model.language.settings import refuse_undeclared
from kwalk.model.language.shapes import (
    LARGEST,
    Copier,
    Leaf,
    MemberShape,
    NumberShape,
    OptionalShape,
    Reader,
    Shape,
    SubsetShape,
    Writer,
)

Vector = tuple[int, ...]


@frozen
class ActionInstance:
    """An action with an argument for each parameter, and its number in the model."""

    index: int
    action: Action
    args: tuple[Any, ...]

    @property
    def key(self) -> str:
        """Return its name, such as `crash(2)`."""
        return self.action.key(self.args)

    @property
    def actor(self) -> str:
        """Return its lane in a diagram."""
        return self.action.by.lane(self.action, self.args)

    @property
    def description(self) -> str:
        """Return what it does, with the labels of its arguments."""
        return self.action.description.format(**self.action.labels(self.args))


@frozen
class PropertyInstance:
    """A property with an argument for each parameter, and its number in the model."""

    index: int
    declaration: Property
    args: tuple[Any, ...]

    @property
    def key(self) -> str:
        """Return its name, such as `replica_id_matches_zookeeper(0, 0, 1)`."""
        return self.declaration.key(self.args)

    @property
    def kind(self) -> Kind:
        """Return when it is evaluated."""
        return self.declaration.kind

    @property
    def is_stated(self) -> bool:
        """Return whether it says something of its own: it does not count the elements of another one's quantifier."""
        return not isinstance(self.declaration, QuantifierElements)

    @property
    def description(self) -> str:
        """Return its name with its arguments as reports print them."""
        labels = self.declaration.labels(self.args)
        return f"{self.declaration.name}({', '.join(f'{name} {label}' for name, label in labels.items())})"


class StepResult(Enum):
    """The result of an attempt to take a step."""

    DONE = "done"
    DISABLED = "disabled"
    BOUND = "bound reached"


@frozen
class StepOutcome:
    """The result of an attempt; with DONE the vector after the step, with BOUND the name of the bound."""

    result: StepResult
    after: Vector | None = None
    bound: str | None = None


class Model(Displayed):
    """A scenario in one variant and with fixed bounds. A model is immutable; vectors are its states.

    Args:
        scenario: the scenario.
        variant: the name of a variant; None for the scenario's first.
        bounds: bounds that take precedence over the scenario's.
        flags: settings that take precedence over the variant's.

    Attributes:
        leaves: the scalars of a state, in vector order.
        instances: all action instances; an instance's index is its position.
        properties: all property instances; an instance's index is its position. After those of the scenario come those
            that count what constraints cut, and where quantifiers have elements.
        constraints: the constraints that apply.
        fairness: the fairness conditions on infinite behaviours.

    Raises:
        UsageError: a name is unknown, a value is not allowed, or the model would be too large.
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
        self.bound_overrides = dict(bounds or {})
        self.flag_overrides = dict(flags or {})
        self.binding = scenario.binding(self.variant, self.bound_overrides, self.flag_overrides)
        self.binding.cache[ACTIVE_MODEL] = self
        refuse_undeclared(scenario)
        check_sizes(scenario, self.binding)
        self.shape = RecordShape(scenario.state)
        self.constraints = tuple(
            each for each in scenario.constraints if not each.optional or self.binding.flags[each.name]
        )
        with self.active():
            self.leaves: tuple[Leaf, ...] = tuple(islice(self.shape.leaves(""), MOST_LEAVES + 1))
            _refuse_if_larger(len(self.leaves), MOST_LEAVES, "state variables")
            _refuse_many_instances(_parametric(scenario))
            self.instances = tuple(ActionInstance(i, a, args) for i, (a, args) in enumerate(_chosen(scenario.actions)))
            self.properties = tuple(
                PropertyInstance(i, prop, args)
                for i, (prop, args) in enumerate(_chosen((*scenario.properties, *self._counted())))
            )
            self.fairness: FairnessConditions = conditions_of(scenario.fairness, self.instances)

    @property
    def stated_properties(self) -> tuple[PropertyInstance, ...]:
        """Return the property instances without those that follow from others; see `PropertyInstance.is_stated`."""
        return tuple(prop for prop in self.properties if prop.is_stated)

    def _counted(self) -> Iterator[Property]:
        """Yield the properties that only count: where constraints are violated, and where quantifiers have elements."""
        yield from (CutStates(each) for each in self.constraints if each.states == 1)
        for prop in self.scenario.properties:
            yield from counted_quantifiers(prop)

    def active(self) -> AbstractContextManager[None]:
        """Return the context in which this model's bounds, domains and flags have their values."""
        return self.binding.active()

    def outcome(self, instance: ActionInstance, before: Vector, after: Vector) -> str:
        """Return what a step does where that is not what its description says; see `action`."""
        if instance.action.outcome is None:
            return ""
        states = self.state(before), self.state(after)
        with self.active():
            return instance.action.outcome(*states, *instance.args)

    def relabelled(self, labels: Mapping[str, tuple[str, ...]]) -> Model:
        """Return the model with other labels of domain members; all else of it is the same, and is not made again.

        Args:
            labels: the labels, by the domain's name; they replace those of the scenario.
        """
        found = copy(self)
        found.scenario = evolve(self.scenario, labels=labels)
        found.binding = evolve(self.binding, labels=labels)
        found.binding.cache[ACTIVE_MODEL] = found
        return found

    # States and vectors.

    def vector(self, state: Any) -> Vector:
        """Return the canonical vector of a state."""
        numbers: list[int] = []
        with self.active():
            self._write_state(state, numbers)
        return tuple(numbers)

    @cached_property
    def _write_state(self) -> Writer:
        return self.shape.writer()

    def state(self, vector: Iterable[int]) -> Any:
        """Return a new state object with the given vector."""
        with self.active():
            return self._read_state(iter(vector))

    @cached_property
    def _read_state(self) -> Reader:
        return self.shape.reader()

    @cached_property
    def copy(self) -> Copier:
        """Return what copies a state object; the model must be active."""
        return self.shape.copier()

    def canonical(self, vector: Iterable[int]) -> Vector:
        """Return the vector of the same state in which all that cannot be observed has its default."""
        return self.vector(self.state(vector))

    @cached_property
    def leaf_numbers(self) -> Mapping[str, int]:
        """The places of all leaves in a vector, by path."""
        return {leaf.path: number for number, leaf in enumerate(self.leaves)}

    @cached_property
    def domains(self) -> Mapping[str, int]:
        """Return the sizes of all domains of the state and of parameters, by name."""
        things = [*self.scenario.actions, *self.scenario.properties]
        with self.active():
            return {one.name: len(one) for one in {*domains_of(self.shape), *_parameter_domains(things)}}

    @cached_property
    def initial(self) -> tuple[Vector, ...]:
        """Return the initial states without repetition, in the order of the initial function's parameters.

        Raises:
            UsageError: there is none.
            DomainError: the initial function writes outside of a domain, or returns a value.
        """
        start = Parametric(self.scenario.initial, states=1)
        found: dict[Vector, None] = {}
        with self.active():
            for args in start.arguments():
                state = self.scenario.state()
                try:
                    _execute(start, state, args)
                except GuardFailed:
                    continue
                except Exception as error:
                    raise failure(start.key(args), error) from error
                found[self.vector(state)] = None
        if not found:
            raise UsageError(
                f"Scenario {self.scenario.name!r} has no initial state within its bounds: {start.name} is not "
                "enabled for any of its arguments. Weaken its conditions, or give larger bounds."
            )
        return tuple(found)

    # Steps and truth.

    def attempt(self, instance: ActionInstance, vector: Vector) -> StepOutcome:
        """Execute an action instance on a state.

        Raises:
            DomainError: the action writes outside of a domain, or fails otherwise.
        """
        with self.active():
            state = self._read_state(iter(vector))
            result, bound = self.execute(instance, state, lambda: self._read_state(iter(vector)))
            if result is not StepResult.DONE:
                return StepOutcome(result, bound=bound)
            return StepOutcome(StepResult.DONE, after=self.vector(state))

    def execute(self, instance: ActionInstance, state: Any, before: Callable[[], Any]) -> tuple[StepResult, str | None]:
        """Execute an action instance on a state object in place; the model must be active.

        Args:
            instance: the action instance.
            state: the state. It is changed if the result is DONE, and of no use if it is BOUND.
            before: returns the state as it was before; constraints read it.

        Returns:
            The result, and with BOUND the name of the bound or constraint.

        Raises:
            DomainError: the action writes outside of a domain, or fails otherwise.
        """
        reached: str | None = None
        try:
            _execute(instance.action, state, instance.args)
        except GuardFailed:
            return StepResult.DISABLED, None
        except BoundReached as ended:
            reached = ended.bound  # not the exception: it and this frame would keep each other, and all frames below
        except Abort:
            pass
        except Exception as error:
            cut = self._cutting(before)
            if cut is None:
                raise failure(instance.key, error) from error
            return StepResult.BOUND, cut
        cut = self._cutting(before) or reached
        if cut is not None:
            return StepResult.BOUND, cut
        for each in self.constraints:
            if each.states == 2 and not self._holds(each, before(), state):
                return StepResult.BOUND, each.bound
        return StepResult.DONE, None

    def _cutting(self, before: Callable[[], Any]) -> str | None:
        """Return the name of the first constraint that a state violates; None if it violates none."""
        violated = (one.bound for one in self.constraints if one.states == 1 and not self._holds(one, before()))
        return next(violated, None)

    @staticmethod
    def _holds(one: Constraint, *states: Any) -> bool:
        try:
            return one.holds(*states)
        except Exception as error:
            raise failure(f"The constraint {one.name}", error) from error

    def successors(self, vector: Vector) -> Iterator[tuple[ActionInstance, Vector]]:
        """Yield all steps that are possible in a state, each with the vector after it."""
        for instance in self.instances:
            outcome = self.attempt(instance, vector)
            if outcome.after is not None:
                yield instance, outcome.after

    def is_quiescent(self, vector: Vector) -> bool:
        """Return whether no system action is enabled. One that would hit a bound counts as enabled."""
        return not any(
            instance.action.by.system and self.attempt(instance, vector).result is not StepResult.DISABLED
            for instance in self.instances
        )

    def truth(self, prop: PropertyInstance, vector: Vector, before: Vector | None = None) -> bool | None:
        """Return whether the predicate of a property instance is true in a state; None if its premise is false.

        Args:
            prop: the property instance.
            vector: the state; of a step property the state after the step.
            before: of a step property the state before the step.

        This does not depend on whether the state is quiescent: see `violates`.
        """
        states = [self.state(vector)] if before is None else [self.state(before), self.state(vector)]
        with self.active():
            try:
                return prop.declaration.truth(*states, *prop.args)
            except Exception as error:
                raise failure(prop.key, error) from error

    def awaited(self, prop: PropertyInstance, vector: Vector) -> tuple[bool, bool]:
        """Return, for a property about behaviours, whether its premise is true in a state, and whether the rest is."""
        state = self.state(vector)
        with self.active():
            try:
                return prop.declaration.awaited(state, *prop.args)
            except Exception as error:
                raise failure(prop.key, error) from error

    def violates(self, prop: PropertyInstance, vector: Vector, before: Vector | None = None) -> bool:
        """Return whether this state (or step) violates a property.

        It is false for reachable properties and those about behaviours, which no single state can violate.
        """
        if prop.kind is Kind.REACHABLE or prop.kind.is_liveness or (prop.kind is Kind.STEP) != (before is not None):
            return False
        if self.truth(prop, vector, before) is not False:
            return False
        return prop.kind is not Kind.WHEN_QUIESCENT or self.is_quiescent(vector)

    # Names.

    def instance(self, key: str) -> ActionInstance:
        """Return the action instance of that name.

        Raises:
            UsageError: there is none.
        """
        found = self._by_key.get(key)
        if found is None:
            raise unknown("action instance", key, self._by_key)
        return found

    @cached_property
    def _by_key(self) -> dict[str, ActionInstance]:
        return {instance.key: instance for instance in self.instances}

    def properties_of(self, name: str) -> tuple[PropertyInstance, ...]:
        """Return the instances of the property of that name, or the one instance of that name.

        Raises:
            UsageError: there is none.
        """
        found = tuple(c for c in self.properties if name in (c.declaration.name, c.declaration.title, c.key))
        if not found:
            raise unknown("property", name, (i.name for i in self.scenario.declared_properties))
        return found

    def properties_named(self, names: Iterable[str]) -> tuple[PropertyInstance, ...]:
        """Return the instances of several properties in the order of the model; all if none is named.

        Raises:
            UsageError: one of them does not exist.
        """
        named = {prop.index for name in names for prop in self.properties_of(name)}
        if not named:
            return self.properties
        return self.with_counts(c for c in self.properties if c.index in named)

    def with_counts(self, properties: Iterable[PropertyInstance]) -> tuple[PropertyInstance, ...]:
        """Return some properties, and those that count what constraints cut and where quantifiers have elements."""
        given = tuple(properties)
        declared = {prop.declaration for prop in given}
        counts = (
            prop
            for prop in self.properties
            if isinstance(prop.declaration, CutStates)
            or (isinstance(prop.declaration, QuantifierElements) and prop.declaration.prop in declared)
        )
        return (*given, *(prop for prop in counts if prop.declaration not in declared))

    def show(self, vector: Vector) -> dict[str, str]:
        """Return every leaf of a state as text, by path."""
        with self.active():
            return {leaf.path: leaf.show(number) for leaf, number in zip(self.leaves, vector, strict=True)}


ACTIVE_MODEL = "model"
"""The key of the model in the cache of its binding."""


def active_model() -> Model:
    """Return the model whose binding is active.

    Raises:
        UsageError: none is.
    """
    found = active_binding().cache.get(ACTIVE_MODEL)
    if isinstance(found, Model):
        return found
    raise UsageError("No model is active. Run this through a Model, or inside `with model.active():`.")


def _chosen(things: Iterable[Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for thing in things:
        for args in thing.arguments():
            yield thing, args


def _execute(declaration: Parametric, state: Any, args: tuple[Any, ...]) -> None:
    """Execute a function that changes a state; one that returns another state in place of that has no effect."""
    if declaration.function(state, *args) is not None:
        raise TypeError("it returns a value; it changes the state that it is given, and returns nothing")


def failure(what: str, error: Exception) -> KwalkError:
    """Return the error for a function of the model, named by its instance, that ended with an exception."""
    if isinstance(error, DomainError):
        return DomainError(f"{what} leaves its domain: {error}")
    if isinstance(error, KwalkError):
        return type(error)(f"{what}: {error}")
    return DomainError(f"{what} cannot be run: {error_text(error)} Correct the model there.")


__all__ = [
    "ActionInstance",
    "Bound",
    "Domain",
    "Flag",
    "Model",
    "PropertyInstance",
    "StepOutcome",
    "StepResult",
    "Vector",
]


MOST_LEAVES = 100_000
MOST_INSTANCES = 200_000


def check_sizes(scenario: Scenario, binding: Binding) -> None:
    """Refuse sizes that no engine can search, before a model is built with them.

    Raises:
        UsageError: a domain would be empty, or a bound, range or default has no meaning.
    """
    for name, size in binding.bounds.items():
        if size > LARGEST:
            raise UsageError(f"Bound {name!r} is {size:,}; at most {LARGEST:,} is taken.")
    with binding.active():
        things = _parametric(scenario)
        for domain in {*domains_of(RecordShape(scenario.state)), *_parameter_domains(things)}:
            len(domain)  # reading the size of an empty domain is refused
        for shape in _shapes_in(RecordShape(scenario.state)):
            _refuse_sizes(shape)


def _parametric(scenario: Scenario) -> list[Parametric]:
    """Return what has an instance for each of its arguments: actions, properties and the initial function."""
    return [*scenario.actions, *scenario.properties, Parametric(scenario.initial, states=1)]


def _refuse_many_instances(things: Sequence[Parametric]) -> None:
    """Refuse more arguments than a model can have instances; they are counted, and not made."""
    counts = {thing: prod(p.count for p in thing.parameters) for thing in things}
    largest = max(counts, key=lambda thing: counts[thing])
    each = " x ".join(f"{p.count:,} of {p.name}" for p in largest.parameters)
    most = f" ({largest.name} alone has {counts[largest]:,}: {each})" if each else ""
    _refuse_if_larger(sum(counts.values()), MOST_INSTANCES, f"instances of actions and properties{most}")


def _refuse_if_larger(count: int, most: int, what: str) -> None:
    if count > most:
        raise UsageError(f"These bounds make a model with more than {most:,} {what}. Give smaller bounds.")


def _parameter_domains(things: Iterable[Parametric]) -> Iterator[Domain]:
    for parameter in (p for thing in things for p in thing.parameters):
        if isinstance(parameter.domain, Domain):
            yield parameter.domain
        elif isinstance(parameter.domain, Shape):
            yield from domains_of(parameter.domain)


def _refuse_sizes(shape: Shape) -> None:
    """Refuse a range, capacity or default that has no meaning under the active binding."""
    if isinstance(shape, (NumberShape, MemberShape)):
        low, start, high = shape.low(), shape.default(), shape.high()
        if max(-low, high) > LARGEST:
            raise UsageError(f"These bounds make a field with the values {low:,} … {high:,}; give smaller bounds.")
        if not low <= start <= high:
            raise UsageError(
                f"These bounds make a field with the default {start} and the values {low} … {high}. Give another "
                "default, or bounds for which the range contains it."
            )
    elif isinstance(shape, OptionalShape) and shape.inner.low() < 0:
        raise UsageError(
            f"These bounds make an optional number that is at least {shape.inner.low()}, and it must be 0 or more. "
            "Shift the range, or give other bounds."
        )
    elif isinstance(shape, FifoShape) and int(shape.capacity) < 0:
        raise UsageError(f"These bounds make a queue for {int(shape.capacity)} elements; give larger bounds.")
    elif isinstance(shape, SubsetShape):
        try:
            shape.check(shape.default(), "the default of a subset")
        except DomainError as error:
            raise UsageError(f"{error} Give another default, or larger bounds.") from None


def _shapes_in(shape: Shape) -> tuple[Shape, ...]:
    """Return a shape and all shapes within it, each once, as they are under the active binding."""
    return cached(("shapes", shape), lambda: _shapes_within(shape))


def _shapes_within(shape: Shape) -> tuple[Shape, ...]:
    within = [getattr(shape, name) for name in fields_dict(type(shape))]  # type: ignore[arg-type]
    if isinstance(shape, SetShape):
        within += [ValueShape(cls) for cls in shape.classes]
    if isinstance(shape, (RecordShape, ValueShape)):
        within += [one for _, one in shapes_of(shape.cls)]
    inner = (each for one in within if isinstance(one, Shape) for each in _shapes_in(one))
    return tuple(dict.fromkeys((shape, *inner)))


def domains_of(shape: Shape) -> Iterator[Domain]:
    """Yield all domains over which a shape, or a shape within it, ranges."""
    for inner in _shapes_in(shape):
        for name in fields_dict(type(inner)):  # type: ignore[arg-type]
            if isinstance(getattr(inner, name), Domain):
                yield getattr(inner, name)
