"""Actions: the steps of a model, as functions of the state and of parameters with bounded domains.

Words: an *action* is a function; an *action instance* is an action with an argument for each parameter. A *guard* is
the conjunction of its `require` conditions, which come before the first effect. An *actor* takes the steps. Steps of
*system* actors are taken whenever they are enabled; those of others (clients, operators, faults) may be taken or not. A
state is *quiescent* if no system action is enabled.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import cached_property
from itertools import product
from reprlib import repr as brief
from string import Formatter
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from attrs import frozen

from kwalk.model.language.binding import Domain
from kwalk.model.language.containers import Array, ArrayShape, FifoShape, FreshShape
from kwalk.model.language.declared import a_name, check_declared, decorator, kind_of_class, text, truth_value
from kwalk.model.language.errors import GuardFailed, LiftError, PremiseFailed, UsageError, one_of
from kwalk.model.language.record_sets import BoundedSetShape, FlaggedSetShape
from kwalk.model.language.records import RecordShape, ValueShape, token_of
from kwalk.model.language.shapes import ChoiceShape, FlagShape, MemberShape, Scalar, Shape, SubsetShape


def require(condition: object) -> None:
    """Disable the action where the condition is false. Write it before the first effect.

    Raises:
        GuardFailed: the condition is false; the model's execution handles it.
    """
    if not condition:
        raise GuardFailed


def premise(condition: object) -> None:
    """Restrict a property to the states in which the condition is true; engines count these states.

    Raises:
        PremiseFailed: the condition is false; the evaluation of the property handles it.
    """
    if not condition:
        failed = _FAILED.get()
        if failed is None:
            raise PremiseFailed
        failed.append(condition)


_FAILED: ContextVar[list[object] | None] = ContextVar("failed premises", default=None)
"""Where false premises are noted instead of raised, so that the rest of a predicate is evaluated all the same."""


@contextmanager
def premises_noted() -> Iterator[list[object]]:
    """Yield a list to which false premises are added instead of ending the evaluation."""
    failed: list[object] = []
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)


@frozen
class Actor:
    """An actor, such as a broker or a client.

    Attributes:
        name: its name in diagrams.
        system: whether its steps are taken whenever they are enabled; false for clients, operators and faults.
        of: the domain whose members are several actors of this kind; an action's first parameter over it is the actor.
    """

    name: str
    system: bool = True
    of: Domain | None = None

    def __attrs_post_init__(self) -> None:
        of = "of", self.of, self.of is None or isinstance(self.of, Domain), "a Domain, whose members are the actors"
        check_declared(f"Actor({brief(self.name)})", a_name(self.name), truth_value("system", self.system), of)

    def lane(self, action: Action, args: tuple[int, ...]) -> str:
        """Return the name of this actor in a diagram for one action instance, such as "broker 2"."""
        for parameter, arg in zip(action.parameters, args, strict=True):
            if self.of is not None and parameter.domain is self.of:
                return f"{self.name} {self.of.label(arg)}"
        return self.name


class Mark(Enum):
    """What an action does to a process or its session, as diagrams mark it.

    The process is that of the action's actor, and that of its first argument over the domain of an actor.
    """

    CRASH = "crashes"
    STOP = "stops"
    START = "starts"
    SESSION_EXPIRED = "session expires"
    SESSION_ESTABLISHED = "session is established"


@frozen
class Parameter:
    """A parameter of an action or property: over a domain, an Enum, the two Boolean values, or the values of a shape.

    The shape is that of a @value record, a subset, a set of records, an array, a sequence or a number; its values never
    change.
    """

    name: str
    domain: Domain | type[Enum] | type[bool] | Shape

    @property
    def values(self) -> list[Any]:
        """Return all arguments in order."""
        if self.domain is bool:
            return [False, True]
        return list(self.domain.values() if isinstance(self.domain, Shape) else self.domain)

    @property
    def count(self) -> int:
        """Return how many arguments there are."""
        if isinstance(self.domain, Shape):
            return self.domain.count()
        return 2 if self.domain is bool else len(self.domain)

    @property
    def over(self) -> str | None:
        """Return the name of its domain; None for a parameter that is not over a domain."""
        return self.domain.name if isinstance(self.domain, Domain) else None

    def label(self, value: Any) -> str:
        """Return an argument as reports print it."""
        if isinstance(self.domain, Domain):
            return self.domain.label(value)
        if isinstance(self.domain, Shape):
            return self.domain.text(value)
        return value.name.lower() if isinstance(value, Enum) else ("yes" if value else "no")

    def token(self, value: Any) -> str:
        """Return an argument as the names of instances contain it; `parse` is the inverse."""
        return argument_token(value)

    def parse(self, token: str) -> Any:
        """Return the argument with that token.

        Raises:
            UsageError: no argument has it.
        """
        for value in self.values:
            if self.token(value) == token:
                return value
        raise UsageError(f"{token!r} is no {self.name}; allowed: {', '.join(map(self.token, self.values))}.")


def argument_token(value: Any) -> str:
    """Return an argument as text without spaces; of an array or sequence `[0,1]`."""
    return f"[{','.join(map(argument_token, value))}]" if isinstance(value, (Array, tuple)) else token_of(value)


def place_of(function: Callable[..., Any]) -> str:
    """Return file and line of a function, for messages."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


ARGUMENTS = (Scalar, SubsetShape, ValueShape, ArrayShape)
"""The shapes whose values can be arguments, beside sequences of them, which are tuples."""


NAMES: dict[type, str] = {
    BoundedSetShape: "bounded_set",
    FifoShape: "fifo in an array or fifo",
    FlaggedSetShape: "subset of @value classes in an array or fifo",
    FreshShape: "source of ids",
    RecordShape: "@state class",
}
"""How messages name shapes whose values are no arguments."""


def _parts_of(shape: Shape) -> Iterator[Shape]:
    """Yield a shape and the shapes of the elements of an array."""
    yield shape
    if isinstance(shape, ArrayShape):
        yield from _parts_of(shape.element)


class Parametric:
    """A function of one or more states and of parameters over domains."""

    def __init__(self, function: Callable[..., Any], states: int) -> None:
        self.function, self.states = function, states
        self.name = function.__name__
        self.about = inspect.getdoc(function) or ""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters after the state (or states), from their annotations.

        Raises:
            LiftError: an annotation names no domain.
        """
        hints = self._hints()
        names = list(inspect.signature(self.function).parameters)[self.states :]
        return tuple(Parameter(name, self._domain(name, hints.get(name))) for name in names)

    def _hints(self) -> dict[str, Any]:
        try:
            return get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError, AttributeError, SyntaxError) as error:
            raise LiftError(
                f"{place_of(self.function)}: an annotation of {self.name} has no meaning: {error}. "
                "Import what it names, or correct it."
            ) from error

    def _domain(self, name: str, hint: Any) -> Any:
        if get_origin(hint) is Annotated:
            for note in get_args(hint)[1:]:
                if isinstance(note, Domain):
                    return note
                if "shape" in getattr(note, "metadata", {}):
                    return self._range(name, note.metadata["shape"])
        if isinstance(hint, type) and (issubclass(hint, Enum) or hint is bool):
            return hint
        if kind_of_class(hint) == "value":
            return self._range(name, ValueShape(hint))
        raise LiftError(
            f"{place_of(self.function)}: parameter {name!r} of {self.name} has no domain "
            f"(its annotation is {hint!r}). Annotate it with Annotated[int, SOME_DOMAIN], an Enum, bool, a @value "
            "class, or a field as in Annotated[frozenset[int], subset(SOME_DOMAIN)]."
        )

    def _range(self, name: str, shape: Shape) -> Domain | type[Enum] | type[bool] | Shape:
        """Return what a parameter is over, of the shape of a field.

        Raises:
            LiftError: values of this shape are no arguments.
        """
        if isinstance(shape, MemberShape | ChoiceShape | FlagShape):
            return shape.domain if isinstance(shape, MemberShape) else getattr(shape, "enum", bool)
        if isinstance(shape, FlaggedSetShape):
            return shape
        parts = _parts_of(shape.element if isinstance(shape, FifoShape) else shape)
        wrong = next((part for part in parts if not isinstance(part, ARGUMENTS)), None)
        if wrong is not None:
            raise LiftError(
                f"{place_of(self.function)}: parameter {name!r} of {self.name} has no domain: it cannot be a "
                f"{NAMES.get(type(wrong), 'field with when=')}. A parameter is a number, member, Enum, flag, subset "
                "of a domain, @value record, one of these or None, an array or fifo of them, without when=, or a "
                "subset of @value classes."
            )
        return shape

    def arguments(self) -> Iterator[tuple[Any, ...]]:
        """Return all tuples of arguments, in lexicographic order."""
        return product(*(parameter.values for parameter in self.parameters))

    def key(self, args: tuple[Any, ...]) -> str:
        """Return the name of an instance, such as `crash(2)`, which traces store and commands accept."""
        return f"{self.name}({', '.join(p.token(a) for p, a in zip(self.parameters, args, strict=True))})"

    def labels(self, args: tuple[Any, ...]) -> dict[str, str]:
        """Return the arguments of an instance as reports print them, by parameter name."""
        return {p.name: p.label(a) for p, a in zip(self.parameters, args, strict=True)}

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


class Action(Parametric):
    """An action of the model. It can be called as the function that it is, or executed by a Model."""

    def __init__(
        self,
        function: Callable[..., None],
        by: Actor,
        description: str,
        source: str,
        *,
        group: str = "",
        mark: Mark | None = None,
        outcome: Callable[..., str] | None = None,
    ) -> None:
        super().__init__(function, states=1)
        self.by, self.source, self.group, self.mark, self.outcome = by, source, group, mark, outcome
        self.description = description or self.name.replace("_", " ")
        self._check_words()

    def _check_words(self) -> None:
        """Raise UsageError if `description` names something that is no parameter."""
        known = list(inspect.signature(self.function).parameters)[self.states :]
        try:
            named = [name for _, name, _, _ in Formatter().parse(self.description) if name is not None]
        except ValueError as error:
            raise UsageError(f"`description` of {self.name}: {error}. Write {{{{ for a brace.") from error
        for name in named:
            if name not in known:
                problem = f"`description` of {self.name} names {{{name}}}, and that is no parameter."
                raise UsageError(f"{problem} {one_of(known)}")

    def only(self, **values: Any) -> ActionSubset:
        """Return this action for some of its arguments, for a declaration of fairness.

        Args:
            **values: for some parameters, by name, a value or a tuple of values.

        Raises:
            UsageError: there is no such parameter.
        """
        known = list(inspect.signature(self.function).parameters)[self.states :]
        for name in values:
            if name not in known:
                hint = one_of(known) if known else "It has no parameters."
                problem = f"{self.name}.only names the parameter {name!r}, which the action does not have."
                raise UsageError(f"{problem} {hint}")
        given = {name: value if isinstance(value, tuple) else (value,) for name, value in values.items()}
        return ActionSubset(self, tuple(given.items()))

    def __repr__(self) -> str:
        return f"<action {self.name}>"


@frozen
class ActionSubset:
    """An action with the arguments that `Action.only` selects: by parameter name, the allowed values."""

    action: Action
    values: tuple[tuple[str, tuple[Any, ...]], ...]

    def includes(self, args: tuple[Any, ...]) -> bool:
        """Return whether arguments are selected."""
        given = dict(zip((parameter.name for parameter in self.action.parameters), args, strict=True))
        return all(given[name] in values for name, values in self.values)

    def check(self) -> None:
        """Raise UsageError if a selected value is no argument under the active binding, or if there is none."""
        for parameter in self.action.parameters:
            for name, values in self.values:
                for value in values if name == parameter.name else ():
                    if not any(value == known and type(value) is type(known) for known in parameter.values):
                        raise UsageError(
                            f"{self.action.name}.only({name}={value!r}): {value!r} is no {name}. "
                            f"{one_of(map(parameter.token, parameter.values))}"
                        )
                if name == parameter.name and not values:
                    raise UsageError(f"{self.action.name}.only({name}=()) selects no value. Give one or more.")


def action(
    *,
    by: Actor,
    description: str = "",
    source: str = "",
    group: str = "",
    mark: Mark | None = None,
    outcome: Callable[..., str] | None = None,
) -> Callable[[Callable[..., None]], Action]:
    """Declare an action.

    Args:
        by: its actor.
        description: what it does, for reports; `{parameter}` becomes the argument's label.
        source: the function of the real system that it models.
        group: the name of the group of actions that it joins: see `actions_of`.
        mark: what it does to a process or its session, for diagrams.
        outcome: a function of the states before and after a step and of its arguments, which returns what the step
            does where that is not what `description` says, such as "refuses t-0: …", and "" elsewhere; for reports.

    Returns:
        A decorator for a function of the state and of parameters that are annotated with domains.
    """
    check_declared(
        "@action(…)",
        ("by", by, isinstance(by, Actor), 'an Actor, such as CLERK = Actor("clerk")'),
        text("description", description),
        text("source", source),
        text("group", group),
        ("mark", mark, mark is None or isinstance(mark, Mark), "a member of Mark, such as Mark.CRASH"),
        ("outcome", outcome, outcome is None or callable(outcome), "a function of two states and the arguments"),
    )
    return decorator(
        "action(…)",
        lambda function: Action(function, by, description, source, group=group, mark=mark, outcome=outcome),
    )


def actions_of(*modules: ModuleType, group: str | None = None) -> tuple[Action, ...]:
    """Return the actions that modules declare, module by module, in the order of their declarations.

    This order gives action instances their numbers. Actions that a module imports are those of another module.

    Args:
        *modules: the modules.
        group: only actions that join the group of this name; by default all.

    Raises:
        UsageError: there is none.
    """
    declared = [
        thing
        for module in modules
        for thing in vars(module).values()
        if isinstance(thing, Action) and thing.function.__module__ == module.__name__
    ]
    found = tuple(one for one in declared if group in (None, one.group))
    if not found:
        names = ", ".join(module.__name__ for module in modules)
        groups = list(dict.fromkeys(one.group for one in declared if one.group))
        problem = f"No action of {names or 'no module'}" + (f" joins the group {group!r}." if group else ".")
        raise UsageError(f"{problem} {one_of(groups) if groups else 'Declare one with @action(by=…).'}")
    return found
