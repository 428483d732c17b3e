"""Calls: of functions and methods of the model (run in place), of constructors, and of the few builtins that lift."""
from __future__ import annotations

import ast
import types
from enum import Enum
from typing import Any

import attrs

from model.language.action import Parametric
from model.language.errors import Abort
from model.language.lift import builtin_calls, containers
from model.language.lift.fitting import fit
from model.language.lift.machine import DEPTH, Frame, Machine, Unreachable
from model.language.lift.objects import ArrayObject
from model.language.lift.places import Method, constant, write_attribute
from model.language.lift.source import source_of
from model.language.lift.terms import Term
from model.language.lift.values import Record, Reference, Refused, Set, describe
from model.language.records import RecordShape, shapes_of


def call(m: Machine, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """The result of a call."""
    if isinstance(function, Method):
        return _call_method(m, function, args, keywords)
    if isinstance(function, types.MethodType):
        return call_function(m, function.__func__, [function.__self__, *args], keywords)
    if isinstance(function, Parametric):
        return call_function(m, function.function, args, keywords)
    known = builtin_calls.BUILTINS.get(function) if _hashable(function) else None
    if known is not None:
        return known(m, *args, **keywords)
    if isinstance(function, types.FunctionType):
        return call_function(m, function, args, keywords)
    if isinstance(function, type):
        return _construct(m, function, args, keywords)
    instead = "a function of the model, or a builtin that docs/reference/language.md lists"
    raise Refused(f"a call of {describe(function)}", instead)


def _hashable(function: Any) -> bool:
    return getattr(type(function), "__hash__", None) is not None


def property_value(m: Machine, found: Any) -> Any:
    """What an attribute means when it is read and not called: a property is run."""
    if isinstance(found, Method) and isinstance(found.function, property):
        return call_function(m, found.function.fget, [found.owner], {})
    if isinstance(found, Method) and found.function in ("head", "is_empty", "taken"):
        return containers.OPERATIONS[found.function](m, found.owner)
    return found


def _call_method(m: Machine, method: Method, args: list[Any], keywords: dict[str, Any]) -> Any:
    if isinstance(method.function, str):
        if keywords:
            raise Refused(f"keywords in a call of {method.function}", "the arguments in order")
        return containers.OPERATIONS[method.function](m, method.owner, *args)
    return call_function(m, method.function, [method.owner, *args], keywords)


def call_function(m: Machine, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Run a function of the model in place. Paths that abort leave it; the others join behind the call."""
    if len(m.frames) >= DEPTH:
        what = f"calls nested deeper than {DEPTH} (at {function.__qualname__})"
        raise Refused(what, "a loop; recursion cannot be lifted")
    definition = source_of(function)
    m.coverage.functions.add(function)
    local = _bind_arguments(m, function, definition.args, args, keywords)
    base = m.now
    m.world = base.fork()
    m.world.local = local
    frame, aborted = Frame(function), len(m.aborts)
    m.frames.append(frame)
    m.execute(m, definition.body)
    m.frames.pop()
    for world, _ in m.aborts[aborted:]:
        world.local = base.local.copy()
    ends = frame.returns if m.world is None else [*frame.returns, (m.world, None)]
    for world, _ in ends:
        world.local = {}
    result = m.join(base, ends)
    if m.world is None:
        raise Unreachable
    m.world.local = base.local
    return result


def _bind_arguments(
    m: Machine, function: Any, declared: ast.arguments, args: list[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    if declared.vararg or declared.kwarg:
        raise Refused(f"* or ** in the parameters of {function.__qualname__}", "the parameters written out")
    names = [a.arg for a in (*declared.posonlyargs, *declared.args)]
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
    defaults.update(function.__kwdefaults__ or {})
    known = [*names, *(a.arg for a in declared.kwonlyargs)]
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if len(args) > len(names) or not set(given) <= set(known):
        raise Refused(f"{function.__qualname__} is called with arguments it does not take", "its own parameters")
    bound = {name: constant(value) for name, value in {**defaults, **given}.items()}
    missing = [name for name in known if name not in bound]
    if missing:
        raise Refused(f"{function.__qualname__} is called without {', '.join(missing)}", "all of its parameters")
    return bound


# Constructors.


def _construct(m: Machine, cls: type, args: list[Any], keywords: dict[str, Any]) -> Any:
    kind = getattr(cls, "__kwalk__", None)
    if kind is None:
        if issubclass(cls, Abort):
            return cls
        raise Refused(f"a call of {cls.__name__}", "a @state or @value class")
    names = [f.name for f in attrs.fields(cls)]
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if len(args) > len(names) or not set(given) <= set(names):
        raise Refused(f"{cls.__name__} has no field for one of these arguments", f"its fields: {', '.join(names)}")
    return _record(m, cls, given) if kind == "value" else _object(m, cls, given)


def _record(m: Machine, cls: type, given: dict[str, Any]) -> Record:
    fields = {}
    for name, shape in shapes_of(cls):
        value = given[name] if name in given else shape.default()
        fields[name] = fit(m, shape, value, f"{cls.__name__}.{name}")
    return Record(cls, fields, m.terms.true)


def _object(m: Machine, cls: type, given: dict[str, Any]) -> Reference:
    node = m.objects.make(RecordShape(cls), m.objects.defaults, m.now.store)
    made = Reference(((m.terms.true, node),))
    for name, value in given.items():
        write_attribute(m, made, name, value)
    return made


def make_list(m: Machine, items: list[Any]) -> Reference:
    """A local list: mutable elements, fixed length."""
    cells = [m.objects.cell(None, item, m.now.store) for item in items]
    return Reference(((m.terms.true, ArrayObject(None, list(cells))),))


def make_set(m: Machine, items: list[tuple[Term, Any]]) -> Set:
    """A set of items, each there under a condition."""
    members: dict[int, Term] = {}
    for condition, item in items:
        if isinstance(item, (bool, Enum)) or item is None:
            raise Refused(f"a set that holds {describe(item)}", "a set of a domain's members")
        for number, is_it in m.values.possibilities(item):
            both = m.terms.conjunction((condition, is_it))
            members[number] = m.terms.disjunction((members.get(number, m.terms.false), both))
    return Set(members)
