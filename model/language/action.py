"""Actions: the steps of a model, as functions of the state and of parameters over domains.

Words: an *action* is a function; an *instance* is an action with its parameters chosen. A *guard* is what `require`
asks for; it comes before the first effect. An *actor* is who does it. *System* actors act by themselves whenever they
can; the others (clients, operators, faults) act at will. A state is *quiet* when no system action is enabled.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import cached_property
from itertools import product
from string import Formatter
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from attrs import frozen

from model.language.binding import Domain
from model.language.errors import GuardFailed, LiftError, PremiseFailed, UsageError, one_of


def require(condition: object) -> None:
    """The action is enabled only where the condition holds. Write it before the first effect."""
    if not condition:
        raise GuardFailed


def premise(condition: object) -> None:
    """The invariant speaks only about states where the condition holds; engines count how often that was."""
    if not condition:
        failed = _FAILED.get()
        if failed is None:
            raise PremiseFailed
        failed.append(condition)


_FAILED: ContextVar[list[object] | None] = ContextVar("failed premises", default=None)
"""Where false premises are noted instead of raised, so that the rest of a predicate is evaluated all the same."""


@contextmanager
def premises_noted() -> Iterator[list[object]]:
    """In here a false premise ends nothing: it is added to the list."""
    failed: list[object] = []
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)


@frozen
class Actor:
    """Who acts. `of` names the domain of the first parameter that tells several actors of the kind apart."""

    name: str
    system: bool = True
    of: Domain | None = None

    def lane(self, action: Action, args: tuple[int, ...]) -> str:
        """The name of this actor in a diagram, for one action instance: "broker 2"."""
        for parameter, arg in zip(action.parameters, args, strict=True):
            if self.of is not None and parameter.domain is self.of:
                return f"{self.name} {self.of.label(arg)}"
        return self.name


@frozen
class Parameter:
    """A parameter of an action or invariant: ranges over a domain, an Enum, or the two truth values."""

    name: str
    domain: Domain | type[Enum] | type[bool]

    @property
    def values(self) -> list[Any]:
        """All arguments that it takes, in order."""
        if self.domain is bool:
            return [False, True]
        return list(self.domain)  # type: ignore[arg-type]

    @property
    def over(self) -> str | None:
        """The name of the domain whose members it takes; None for an Enum and the truth values."""
        return self.domain.name if isinstance(self.domain, Domain) else None

    def label(self, value: Any) -> str:
        """An argument as reports print it."""
        if isinstance(self.domain, Domain):
            return self.domain.label(value)
        return value.name.lower() if isinstance(value, Enum) else ("yes" if value else "no")

    def token(self, value: Any) -> str:
        """An argument as instance names write it; `parse` reads it back."""
        return value.name if isinstance(value, Enum) else str(int(value))

    def parse(self, token: str) -> Any:
        """The argument that a token stands for."""
        for value in self.values:
            if self.token(value) == token:
                return value
        raise UsageError(f"{token!r} is no {self.name}; allowed: {', '.join(map(self.token, self.values))}.")


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


class Parametric:
    """A function of one or more states and of parameters over domains."""

    def __init__(self, function: Callable[..., Any], states: int) -> None:
        self.function, self.states = function, states
        self.name = function.__name__
        self.about = inspect.getdoc(function) or ""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters after the state (or states), from their annotations."""
        hints = self._hints()
        names = list(inspect.signature(self.function).parameters)[self.states :]
        return tuple(Parameter(name, self._domain(name, hints.get(name))) for name in names)

    def _hints(self) -> dict[str, Any]:
        try:
            return get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError, AttributeError, SyntaxError) as error:
            raise LiftError(
                f"{_place(self.function)}: an annotation of {self.name} has no meaning: {error}. "
                "Import what it names, or correct it."
            ) from error

    def _domain(self, name: str, hint: Any) -> Any:
        if get_origin(hint) is Annotated:
            for note in get_args(hint)[1:]:
                if isinstance(note, Domain):
                    return note
        if isinstance(hint, type) and (issubclass(hint, Enum) or hint is bool):
            return hint
        raise LiftError(
            f"{_place(self.function)}: parameter {name!r} of {self.name} has no domain "
            f"(its annotation is {hint!r}). Annotate it with Annotated[int, SOME_DOMAIN], an Enum, or bool."
        )

    def arguments(self) -> Iterator[tuple[Any, ...]]:
        """All tuples of arguments, in lexicographic order."""
        return product(*(parameter.values for parameter in self.parameters))

    def key(self, args: tuple[Any, ...]) -> str:
        """The name of an instance, such as `crash(2)`: what traces store and commands take."""
        return f"{self.name}({', '.join(p.token(a) for p, a in zip(self.parameters, args, strict=True))})"

    def labels(self, args: tuple[Any, ...]) -> dict[str, str]:
        """The arguments of an instance as reports print them, by parameter name."""
        return {p.name: p.label(a) for p, a in zip(self.parameters, args, strict=True)}

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


class Action(Parametric):
    """A step of the model. Call it like the function that it is, or let a Model run it."""

    def __init__(self, function: Callable[..., None], by: Actor, says: str, source: str, tags: tuple[str, ...]) -> None:
        super().__init__(function, states=1)
        self.by, self.source, self.tags = by, source, tags
        self.says = says or self.name.replace("_", " ")
        self._check_words()

    def _check_words(self) -> None:
        """UsageError if `says` names something that is no parameter: better now than when a trace is told."""
        known = list(inspect.signature(self.function).parameters)[self.states :]
        try:
            named = [name for _, name, _, _ in Formatter().parse(self.says) if name is not None]
        except ValueError as error:
            raise UsageError(f"`says` of {self.name}: {error}. Write {{{{ for a brace.") from error
        for name in named:
            if name not in known:
                raise UsageError(f"`says` of {self.name} names {{{name}}}, and that is no parameter. {one_of(known)}")

    def __repr__(self) -> str:
        return f"<action {self.name}>"


def action(
    *, by: Actor, says: str = "", source: str = "", tags: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Action]:
    """Declare an action.

    `by` is its actor; `says` what it does in the field's words, with {parameter} for labels; `source` the function of
    the real system that it stands for; `tags` name groups that searches can keep or leave out.
    """
    return lambda function: Action(function, by, says, source, tags)
