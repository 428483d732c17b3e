"""Calls: of functions and methods of the model (run in place), of constructors, and of the builtins that lift."""
from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

import attrs

from kwalk.model.language.action import Parametric, premise, require
from kwalk.model.language.binding import Domain
from kwalk.model.language.errors import Abort
from kwalk.model.language.lift import containers
from kwalk.model.language.lift.access import Method, constant, enum_like, fit, write_attribute
from kwalk.model.language.lift.comprehensions import Generated, items_of
from kwalk.model.language.lift.machine import DEPTH, ConditionKind, Frame, SymbolicMachine, Unreachable
from kwalk.model.language.lift.objects import ArrayObject, FifoObject
from kwalk.model.language.lift.source import source_of
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import (
    Bool,
    Int,
    RecordValue,
    Reference,
    Refused,
    Set,
    SortedItems,
    bool_value,
    describe,
    int_value,
    record_class,
)
from kwalk.model.language.records import RecordShape, shapes_of

MISSING = object()


def _items(
    m: SymbolicMachine, iterable: Any, stop: Callable[[Term, Any], Term] | None = None
) -> list[tuple[Term, Any]]:
    if isinstance(iterable, Generated):
        return list(iterable.items(stop))
    return items_of(m, iterable)


def _members(
    m: SymbolicMachine, iterable: Any, stop: Callable[[Term, Any], Term] | None = None
) -> list[tuple[Term, Any]]:
    """The items for a builtin to which their order makes no difference: sets have items here too."""
    if isinstance(iterable, (Set, frozenset, set)):
        return _ascending(m, iterable)
    return _items(m, iterable, stop)


def _ascending(m: SymbolicMachine, iterable: Any) -> list[tuple[Term, int]]:
    """The items in ascending order, each with its condition; they must be ints that do not depend on the state."""
    if isinstance(iterable, Set):
        found = [(condition, member) for member, condition in iterable.members.items()]
    elif isinstance(iterable, (frozenset, set)):
        found = [(m.terms.true, member) for member in iterable]
    else:
        found = _items(m, iterable)
    if not all(type(item) is int for _, item in found):
        raise Refused("the order of items that are no members of a domain", "a set of a domain's members")
    here = [(m.simplify(condition), item) for condition, item in found]
    return sorted((pair for pair in here if pair[0] is not m.terms.false), key=lambda pair: pair[1])


def _sorted(m: SymbolicMachine, iterable: Any, *, reverse: bool = False) -> Any:


    if type(reverse) is not bool:
        raise Refused("an order that depends on the state", "reverse=True or reverse=False")
    found = _ascending(m, iterable)[:: -1 if reverse else 1]
    if all(condition is m.terms.true for condition, _ in found):
        return make_list(m, [item for _, item in found])
    return SortedItems(tuple(found))


def _require(m: SymbolicMachine, condition: Any) -> None:
    if m.now.is_written:
        raise Refused("a guard after an effect", "every `require` before the first write to the state")
    m.add_condition(ConditionKind.DISABLED, m.terms.negation(m.values.truth(condition)))


def _premise(m: SymbolicMachine, condition: Any) -> None:
    if m.premises is None:
        _require(m, condition)
    else:
        holds = m.values.truth(condition)
        m.premises.append(m.terms.disjunction((m.terms.negation(m.terms.conjunction(m.now.path)), holds)))


def _any(m: SymbolicMachine, iterable: Any) -> Any:
    found = _members(m, iterable, stop=lambda _, value: m.values.truth(value))
    return bool_value(m.terms.disjunction(m.terms.conjunction((c, m.values.truth(v))) for c, v in found))


def _all(m: SymbolicMachine, iterable: Any) -> Any:
    t = m.terms
    found = _members(m, iterable, stop=lambda _, value: t.negation(m.values.truth(value)))
    return bool_value(t.conjunction(t.disjunction((t.negation(c), m.values.truth(v))) for c, v in found))


def _sum(m: SymbolicMachine, iterable: Any, start: Any = 0) -> Any:
    total = m.values.number(start)
    for condition, value in _members(m, iterable):
        m.error(m.terms.conjunction((condition, m.values.is_none(value))), "sum of None")
        total = m.terms.add(total, m.terms.choose(condition, m.values.number(value), m.terms.integer(0)))
    return int_value(total)


def _length(m: SymbolicMachine, thing: Any) -> Any:
    if isinstance(thing, Reference) and isinstance(thing.sample, FifoObject):
        return containers.length(m, thing)
    if isinstance(thing, Reference) and isinstance(thing.sample, ArrayObject):
        return len(thing.sample.items)
    if isinstance(thing, Set):
        return _sum(m, tuple(bool_value(c) for c in thing.members.values()))
    if isinstance(thing, SortedItems):
        return _sum(m, tuple(bool_value(c) for c, _ in thing.items))
    if isinstance(thing, (Domain, range, tuple, frozenset, set, type)):
        return len(thing)  # type: ignore[arg-type]
    raise Refused(f"len of {describe(thing)}", "len of a set, Fifo, Array, Domain or tuple")


def _extreme(m: SymbolicMachine, args: tuple[Any, ...], default: Any, *, least: bool) -> Any:
    found = [(m.terms.true, a) for a in args] if len(args) > 1 else _members(m, args[0])
    best, exists = (None if default is MISSING else default), m.terms.false
    for condition, value in found:
        m.error(m.terms.conjunction((condition, m.values.is_none(value))), "min or max of None")
        a, b = m.values.number(value), m.values.number(best)
        better = m.terms.less(a, b) if least else m.terms.less(b, a)
        wins = m.terms.conjunction((condition, m.terms.disjunction((m.terms.negation(exists), better))))
        best = m.values.choose(wins, value, best)
        exists = m.terms.disjunction((exists, condition))
    if default is MISSING:
        m.error(m.terms.negation(exists), "min or max of nothing")
        if isinstance(best, Int) and best.nullable:
            best = int_value(m.terms.within(best.term, 0, best.term.high), enum=best.enum)
    return best


def _min(m: SymbolicMachine, *args: Any, default: Any = MISSING) -> Any:
    return _extreme(m, args, default, least=True)


def _max(m: SymbolicMachine, *args: Any, default: Any = MISSING) -> Any:
    return _extreme(m, args, default, least=False)


def _next(m: SymbolicMachine, iterable: Any, default: Any = MISSING) -> Any:
    if default is MISSING:
        raise Refused("next without a default", "next((…), None)")
    if not isinstance(iterable, Generated):
        raise Refused(f"next of {describe(iterable)}, which is no iterator", "next((x for x in …), None)")
    result = default
    for condition, value in reversed(_items(m, iterable, stop=lambda *_: m.terms.true)):
        result = m.values.choose(condition, value, result)
    return result


def _abs(m: SymbolicMachine, value: Any) -> Any:
    term = m.values.number(value)
    below = m.terms.less(term, m.terms.integer(0))
    return int_value(m.terms.choose(below, m.terms.subtract(m.terms.integer(0), term), term))


def _int(m: SymbolicMachine, value: Any) -> Any:
    if isinstance(value, (Bool, Int, bool, int)):
        m.error(m.values.is_none(value), "int of None")
        return int_value(m.values.number(value))
    raise Refused(f"int of {describe(value)}", "int of a number or truth value")


def _bool(m: SymbolicMachine, value: Any) -> Any:
    return bool_value(m.values.truth(value))


def _frozenset(m: SymbolicMachine, iterable: Any = ()) -> Any:


    if isinstance(iterable, (Set, frozenset, set)):
        return iterable
    found = _items(m, iterable)
    return make_set(m, found) if found else frozenset()


def _list(m: SymbolicMachine, iterable: Any = ()) -> Any:


    return make_list(m, list(_tuple(m, iterable)))


def _tuple(m: SymbolicMachine, iterable: Any = ()) -> tuple[Any, ...]:
    found = _items(m, iterable)
    if any(condition is not m.terms.true for condition, _ in found):
        raise Refused("a tuple or list whose length depends on the state", "a set, or any/all/sum with an `if`")
    return tuple(value for _, value in found)


def _range(m: SymbolicMachine, *args: Any) -> range:
    if all(type(a) is int for a in args):
        return range(*args)
    raise Refused("a range that depends on the state", "a loop over the whole domain with an `if` inside")


def _enumerate(m: SymbolicMachine, iterable: Any, start: int = 0) -> tuple[Any, ...]:
    return tuple(enumerate(_tuple(m, iterable), start))


def _zip(m: SymbolicMachine, *iterables: Any, strict: bool = False) -> tuple[Any, ...]:
    return tuple(zip(*(_tuple(m, i) for i in iterables), strict=strict))


def _reversed(m: SymbolicMachine, iterable: Any) -> tuple[Any, ...]:
    return tuple(reversed(_tuple(m, iterable)))


def _isinstance(m: SymbolicMachine, value: Any, cls: Any) -> Any:
    if isinstance(value, RecordValue):
        return bool_value(value.present) if value.cls is cls else False
    if isinstance(value, (Bool, Int, Set, Reference)):
        raise Refused(f"isinstance of {describe(value)}", "a choice field that says which kind it is")
    return isinstance(value, cls)


def _evolve(m: SymbolicMachine, record: Any, **changes: Any) -> Any:
    cls = record_class(record)
    if cls is None:
        raise Refused(f"evolve of {describe(record)}", "evolve of a @value record; write to fields of a @state object")
    source = m.values.as_record(record, cls)
    m.error(m.terms.negation(source.present), "evolve of None")
    shapes = dict(shapes_of(cls))
    fitting = {name: fit(m, shapes[name], constant(value), f"{cls.__name__}.{name}") for name, value in changes.items()}
    return RecordValue(cls, {**source.fields, **fitting}, m.terms.true)


BUILTINS: dict[Any, Callable[..., Any]] = {
    require: _require,
    premise: _premise,
    any: _any,
    all: _all,
    sum: _sum,
    len: _length,
    min: _min,
    max: _max,
    next: _next,
    abs: _abs,
    int: _int,
    bool: _bool,
    frozenset: _frozenset,
    set: _frozenset,
    list: _list,
    tuple: _tuple,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    sorted: _sorted,
    isinstance: _isinstance,
    attrs.evolve: _evolve,
}


def call(m: SymbolicMachine, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Return the result of a call."""
    if isinstance(function, Method):
        return _call_method(m, function, args, keywords)
    if isinstance(function, types.MethodType):
        return call_function(m, function.__func__, [function.__self__, *args], keywords)
    if isinstance(function, Parametric):
        return call_function(m, function.function, args, keywords)
    known = BUILTINS.get(function) if _hashable(function) else None
    if known is not None:
        return _operate(m, known, function.__name__, args, keywords)
    if isinstance(function, types.FunctionType):
        return call_function(m, function, args, keywords)
    if isinstance(function, type):
        return _construct(m, function, args, keywords)
    instead = "a function of the model, or a builtin that docs/reference/language.md lists"
    raise Refused(f"a call of {describe(function)}", instead)


def _hashable(function: Any) -> bool:
    return getattr(type(function), "__hash__", None) is not None


def property_value(m: SymbolicMachine, found: Any) -> Any:
    """Return the value of an attribute that is read and not called: a property is executed."""
    if isinstance(found, Method) and isinstance(found.function, property):
        return call_function(m, found.function.fget, [found.owner], {})
    if isinstance(found, Method) and found.function in ("head", "is_empty", "taken"):
        return containers.OPERATIONS[found.function](m, found.owner)
    return found


def _operate(
    m: SymbolicMachine, operation: Callable[..., Any], name: str, args: list[Any], keywords: dict[str, Any]
) -> Any:
    """Call a builtin's or container's operation; arguments that it does not take are refused."""
    try:
        return operation(m, *args, **keywords)
    except TypeError:
        parameters = inspect.signature(operation)
        try:
            parameters.bind(m, *args, **keywords)
        except TypeError:
            raise Refused(
                f"{name} with these arguments", ARGUMENTS.get(name, "the arguments that the reference lists")
            ) from None
        raise


ARGUMENTS = {
    "pop": "`pop()`, which takes the oldest element of a Fifo",
    "push": "`push(x)`, which appends one element",
    "sorted": "`sorted(x)` or `sorted(x, reverse=True)`, without a key",
}
"""What to write in place of a call with arguments that an operation does not take."""


def _call_method(m: SymbolicMachine, method: Method, args: list[Any], keywords: dict[str, Any]) -> Any:
    if isinstance(method.function, str):
        if keywords:
            raise Refused(f"keywords in a call of {method.function}", "the arguments in order")
        return _operate(m, containers.OPERATIONS[method.function], method.function, [method.owner, *args], {})
    return call_function(m, method.function, [method.owner, *args], keywords)


def call_function(m: SymbolicMachine, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Execute a function of the model in place. Paths that abort leave it; the others join after the call."""
    if len(m.frames) >= DEPTH:
        what = f"calls nested deeper than {DEPTH} (at {function.__qualname__})"
        raise Refused(what, "a loop; recursion cannot be lifted")
    definition = source_of(function)
    m.coverage.functions.add(function)
    local = _bind_arguments(m, function, definition.args, args, keywords)
    base = m.now
    m.state = base.fork()
    m.state.local = local
    frame, aborted = Frame(function), len(m.aborts)
    m.frames.append(frame)
    m.execute(m, definition.body)
    m.frames.pop()
    for state, _ in m.aborts[aborted:]:
        state.local = base.local.copy()
    ends = frame.returns if m.state is None else [*frame.returns, (m.state, None)]
    for state, _ in ends:
        state.local = {}
    result = m.join(base, ends)
    if m.state is None:
        raise Unreachable
    m.state.local = base.local
    return result


def _bind_arguments(
    m: SymbolicMachine, function: Any, declared: ast.arguments, args: list[Any], keywords: dict[str, Any]
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


def _construct(m: SymbolicMachine, cls: type, args: list[Any], keywords: dict[str, Any]) -> Any:
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


def _record(m: SymbolicMachine, cls: type, given: dict[str, Any]) -> RecordValue:
    fields = {}
    for name, shape in shapes_of(cls):
        value = given[name] if name in given else shape.default()
        fields[name] = fit(m, shape, value, f"{cls.__name__}.{name}")
    return RecordValue(cls, fields, m.terms.true)


def _object(m: SymbolicMachine, cls: type, given: dict[str, Any]) -> Reference:
    node = m.objects.make(RecordShape(cls), m.objects.defaults, m.now.store)
    made = Reference(((m.terms.true, node),))
    for name, value in given.items():
        write_attribute(m, made, name, value)
    return made


def make_list(m: SymbolicMachine, items: list[Any]) -> Reference:
    """Return a local list: mutable elements, fixed length."""
    cells = [m.objects.cell(None, item, m.now.store) for item in items]
    return Reference(((m.terms.true, ArrayObject(None, list(cells))),))


def make_set(m: SymbolicMachine, items: list[tuple[Term, Any]]) -> Set:
    """Return a set of items, each with its condition."""
    members: dict[int, Term] = {}
    for condition, item in items:
        if isinstance(item, (bool, Bool)) or item is None or enum_like(item):
            raise Refused(f"a set that holds {describe(item)}", "a set of a domain's members")
        for number, is_it in m.values.possibilities(item):
            both = m.terms.conjunction((condition, is_it))
            members[number] = m.terms.disjunction((members.get(number, m.terms.false), both))
    return Set(members)
