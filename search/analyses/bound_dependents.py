"""Which properties and guards depend on a bound.

A property, or a guard of an action, *depends* on a bound if its source names the bound, or a field that the bound
limits, itself or through a function or method of the model that it calls. Names stand for all that have them, so a
dependence may be listed that does not exist, and none is missed.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from attrs import fields_dict

from kwalk.model.language import Action, Bound, Model, PropertyInstance
from kwalk.model.language.binding import DerivedBound
from kwalk.model.language.errors import LiftError
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import Shape
from kwalk.model.language.source import source_of


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
        self._add(model.scenario.state)

    def _add(self, cls: type) -> None:
        if cls in self._classes:
            return
        self._classes.add(cls)
        for name, member in vars(cls).items():
            function = getattr(member, "fget", member)
            if isinstance(function, FunctionType) and not name.startswith("__"):
                self.methods.setdefault(name, []).append(function)
        for name, shape in shapes_of(cls):
            for inner in _within(shape):
                for attribute in fields_dict(type(inner)):  # type: ignore[arg-type]
                    self.limits.setdefault(name, set()).update(_bound_names(getattr(inner, attribute)))
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
            for name in _names_in(function.__code__):
                thing = function.__globals__.get(name)
                waiting += [thing, *self.methods.get(name, ())]
                found |= dict.fromkeys((*_bound_names(thing), *self.limits.get(name, ())))
        return list(found)

    def bounds_of_guards(self, action: Action) -> list[str]:
        """Return the bounds that the `require` lines of an action name, or whose fields they name."""
        function, found = action.function, dict[str, None]()
        try:
            tree = source_of(function)
        except LiftError:
            return []
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        guards = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "require")
        for node in (inner for guard in guards for argument in guard.args for inner in ast.walk(argument)):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            thing = function.__globals__.get(name)
            found |= dict.fromkeys((*_bound_names(thing), *self.limits.get(name, ())))
            found |= dict.fromkeys(self.bounds_of([thing, *self.methods.get(name, ())]))
        return list(found)


def _within(shape: Shape) -> Iterator[Shape]:
    yield shape
    for name in fields_dict(type(shape)):  # type: ignore[arg-type]
        inner = getattr(shape, name)
        if isinstance(inner, Shape):
            yield from _within(inner)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
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
    return function.__module__.startswith("kwalk.model.language")
