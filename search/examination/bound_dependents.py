"""Which properties and guards depend on a bound.

A property, or a guard of an action, *depends* on a bound if its source names the bound, or a field that the bound
limits, itself or through a function or method of the model that it calls. A name stands for all that has it (globals,
variables of functions around it, attributes of modules and classes), so a dependence may be listed that does not exist.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from attrs import fields_dict

from kwalk.model.language import Action, Bound, Model, PropertyInstance, require
from kwalk.model.language.binding import DerivedBound
from kwalk.model.language.containers import FreshShape
from kwalk.model.language.errors import LiftError
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import Shape
from kwalk.model.language.source import source_of

NAMES = ast.Name | ast.Attribute


def dependents(model: Model, properties: Iterable[PropertyInstance]) -> dict[str, tuple[str, ...]]:
    """Return by the name of a bound what depends on it: properties, and then guards as "the guard of NAME".

    Args:
        model: The model.
        properties: The properties that are checked.
    """
    with model.active():
        names = _Names(model)
        found: dict[str, dict[str, None]] = {}
        for declaration in dict.fromkeys(prop.declaration for prop in properties if not prop.declaration.only_counts):
            for bound in names.bounds_of(declaration.functions):
                found.setdefault(bound, {})[declaration.title] = None
        for action in model.scenario.actions:
            for bound in names.bounds_of_guards(action):
                found.setdefault(bound, {})[f"the guard of {action.name}"] = None
    return {bound: tuple(users) for bound, users in found.items()}


class _Names:
    """What the names of fields and methods in the state classes of a model stand for."""

    def __init__(self, model: Model) -> None:
        self.limits: dict[str, set[str]] = {}
        """By the name of a field, the bounds that limit it."""
        self.methods: dict[str, list[FunctionType]] = {}
        self._classes: set[type] = set()
        self._things: dict[tuple[FunctionType, str], list[Any]] = {}
        self._add(model.scenario.state)

    def _add(self, cls: type) -> None:
        if cls in self._classes:
            return
        self._classes.add(cls)
        for name, member in vars(cls).items():
            function = getattr(member, "fget", getattr(member, "__func__", member))
            if isinstance(function, FunctionType) and not name.startswith("__"):
                self.methods.setdefault(name, []).append(function)
        for name, shape in shapes_of(cls):
            for inner in _within(shape):
                for attribute in fields_dict(type(inner)):  # type: ignore[arg-type]
                    self.limits.setdefault(name, set()).update(_bound_names(getattr(inner, attribute)))
                if isinstance(inner, FreshShape):
                    self.limits[name].update(_bound_names(inner.domain.bound))
                own = (inner.cls,) if isinstance(inner, RecordShape | ValueShape) else ()
                for part in getattr(inner, "classes", own):
                    self._add(part)

    def bounds_of(self, functions: Iterable[Any]) -> list[str]:
        """Return the bounds that functions name, or whose fields they name; what is no function names none."""
        found: dict[str, None] = {}
        seen: set[Any] = set()
        waiting: list[Any] = list(functions)
        while waiting:
            function = waiting.pop()
            if not isinstance(function, FunctionType) or function in seen or _is_of_language(function):
                continue
            seen.add(function)
            for name in ("", *_names_in(function.__code__)):
                waiting += self._note(function, name, found)
        return list(found)

    def _note(self, function: FunctionType, name: str, bounds: dict[str, None]) -> list[Any]:
        """Note the bounds that a name in a function stands for, or whose fields it names; return what it can call.

        The name "" is that of its defaults.
        """
        if (function, name) not in self._things:
            defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
            reached = _reached(function, name) if name else defaults
            self._things[function, name] = [part for thing in reached for part in _parts(thing)]
        things = self._things[function, name]
        for thing in things:
            bounds |= dict.fromkeys(_bound_names(thing))
        bounds |= dict.fromkeys(self.limits.get(name, ()))
        return [*things, *self.methods.get(name, ())]

    def bounds_of_guards(self, action: Action) -> list[str]:
        """Return the bounds that `require` lines of an action and of what it calls name, or whose fields they name."""
        found: dict[str, None] = {}
        seen: set[Any] = set()
        waiting: list[Any] = [action.function]
        while waiting:
            function = waiting.pop()
            if not isinstance(function, FunctionType) or function in seen or _is_of_language(function):
                continue
            seen.add(function)
            for name in _names_in_guards(function):
                found |= dict.fromkeys(self.bounds_of(self._note(function, name, found)))
            for name in ("", *_names_in(function.__code__)):
                waiting += self._note(function, name, {})
        return list(found)


def _within(shape: Shape) -> Iterator[Shape]:
    yield shape
    for name in fields_dict(type(shape)):  # type: ignore[arg-type]
        inner = getattr(shape, name)
        if isinstance(inner, Shape):
            yield from _within(inner)


def _names_in_guards(function: FunctionType) -> list[str]:
    """Return the names and attributes in the arguments of a function's calls of `require`, under whatever name."""
    try:
        tree = source_of(function)
    except LiftError:
        return []
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    names = ((call, getattr(call.func, "id", getattr(call.func, "attr", ""))) for call in calls)
    guards = (
        call for call, name in names if name == "require" or any(thing is require for thing in _named(function, name))
    )
    nodes = (inner for guard in guards for argument in guard.args for inner in ast.walk(argument))
    return [node.id if isinstance(node, ast.Name) else node.attr for node in nodes if isinstance(node, NAMES)]


def _reached(function: FunctionType, name: str) -> Iterator[Any]:
    """Yield what a name in a function can stand for: a global, a variable around it, an attribute of a place there."""
    yield from _named(function, name)
    for place in _places_in(function):
        if name in vars(place):
            yield vars(place)[name]


def _named(user: FunctionType, name: str) -> Iterator[Any]:
    """Yield the global and the variable around a function that have a name."""
    around = dict(zip(user.__code__.co_freevars, user.__closure__ or (), strict=False))
    with suppress(ValueError):  # a variable that has no value yet
        if name in around:
            yield around[name].cell_contents
    if name in user.__globals__:
        yield user.__globals__[name]


@lru_cache(maxsize=4096)
def _places_in(function: FunctionType) -> tuple[ModuleType | type, ...]:
    """Return the modules and classes that a function names, also as attributes of each other, with base classes."""
    names = tuple(dict.fromkeys(_names_in(function.__code__)))
    found: dict[ModuleType | type, None] = {}
    waiting = [function.__globals__.get(name) for name in names]
    while waiting:
        place = waiting.pop()
        if isinstance(place, ModuleType | type) and place not in found:
            found[place] = None
            waiting += [*getattr(place, "__bases__", ()), *(vars(place)[name] for name in names if name in vars(place))]
    return tuple(found)


def _parts(thing: Any) -> Iterator[Any]:
    """Yield the functions (also of methods) and bounds that a thing is, or that a tuple has."""
    if isinstance(thing, tuple):
        for part in thing:
            yield from _parts(part)
    elif isinstance(thing := getattr(thing, "__func__", thing), FunctionType | Bound):
        yield thing


def _names_in(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_freevars)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_in(each)


def _bound_names(thing: Any) -> Iterator[str]:
    """Yield the name of a bound, or the names of those that it is computed from; nothing for another thing."""
    if isinstance(thing, DerivedBound):
        for operand in thing.operands:
            yield from _bound_names(operand)
    elif isinstance(thing, Bound):
        yield thing.name


def _is_of_language(function: FunctionType) -> bool:
    return str(function.__module__).startswith("kwalk.model.language")
