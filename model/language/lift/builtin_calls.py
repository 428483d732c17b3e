"""The builtins that lift: each as a function of the machine and of values."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from model.language.action import premise, require
from model.language.binding import Domain
from model.language.lift import containers
from model.language.lift.comprehensions import Generated, items_of
from model.language.lift.fitting import fit
from model.language.lift.machine import Machine, Owed
from model.language.lift.objects import ArrayObject, FifoObject
from model.language.lift.places import constant
from model.language.lift.terms import Term
from model.language.lift.values import (
    Bool,
    Int,
    Record,
    Reference,
    Refused,
    Set,
    bool_value,
    describe,
    int_value,
    record_class,
)
from model.language.records import shapes_of

MISSING = object()


def _items(m: Machine, iterable: Any, stop: Callable[[Term, Any], Term] | None = None) -> list[tuple[Term, Any]]:
    if isinstance(iterable, Generated):
        return list(iterable.items(stop))
    return items_of(m, iterable)


def _require(m: Machine, condition: Any) -> None:
    if m.now.touched:
        raise Refused("a guard after an effect", "every `require` before the first write to the state")
    m.owe(Owed.DISABLED, m.terms.negation(m.values.truth(condition)))


def _premise(m: Machine, condition: Any) -> None:
    if m.premises is None:
        _require(m, condition)
    else:
        holds = m.values.truth(condition)
        m.premises.append(m.terms.disjunction((m.terms.negation(m.terms.conjunction(m.now.path)), holds)))


def _any(m: Machine, iterable: Any) -> Any:
    found = _items(m, iterable, stop=lambda _, value: m.values.truth(value))
    return bool_value(m.terms.disjunction(m.terms.conjunction((c, m.values.truth(v))) for c, v in found))


def _all(m: Machine, iterable: Any) -> Any:
    t = m.terms
    found = _items(m, iterable, stop=lambda _, value: t.negation(m.values.truth(value)))
    return bool_value(t.conjunction(t.disjunction((t.negation(c), m.values.truth(v))) for c, v in found))


def _sum(m: Machine, iterable: Any, start: Any = 0) -> Any:
    total = m.values.number(start)
    for condition, value in _items(m, iterable):
        m.error(m.terms.conjunction((condition, m.values.is_none(value))), "sum of None")
        total = m.terms.add(total, m.terms.choose(condition, m.values.number(value), m.terms.integer(0)))
    return int_value(total)


def _length(m: Machine, thing: Any) -> Any:
    if isinstance(thing, Reference) and isinstance(thing.sample, FifoObject):
        return containers.length(m, thing)
    if isinstance(thing, Reference) and isinstance(thing.sample, ArrayObject):
        return len(thing.sample.items)
    if isinstance(thing, Set):
        return _sum(m, tuple(bool_value(c) for c in thing.members.values()))
    if isinstance(thing, (Domain, range, tuple, frozenset, set, type)):
        return len(thing)  # type: ignore[arg-type]
    raise Refused(f"len of {describe(thing)}", "len of a set, Fifo, Array, Domain or tuple")


def _extreme(m: Machine, args: tuple[Any, ...], default: Any, *, least: bool) -> Any:
    found = [(m.terms.true, a) for a in args] if len(args) > 1 else _items(m, args[0])
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


def _min(m: Machine, *args: Any, default: Any = MISSING) -> Any:
    return _extreme(m, args, default, least=True)


def _max(m: Machine, *args: Any, default: Any = MISSING) -> Any:
    return _extreme(m, args, default, least=False)


def _next(m: Machine, iterable: Any, default: Any = MISSING) -> Any:
    if default is MISSING:
        raise Refused("next without a default", "next((…), None)")
    result = default
    for condition, value in reversed(_items(m, iterable, stop=lambda *_: m.terms.true)):
        result = m.values.choose(condition, value, result)
    return result


def _abs(m: Machine, value: Any) -> Any:
    term = m.values.number(value)
    below = m.terms.less(term, m.terms.integer(0))
    return int_value(m.terms.choose(below, m.terms.subtract(m.terms.integer(0), term), term))


def _int(m: Machine, value: Any) -> Any:
    if isinstance(value, (Bool, Int, bool, int)):
        m.error(m.values.is_none(value), "int of None")
        return int_value(m.values.number(value))
    raise Refused(f"int of {describe(value)}", "int of a number or truth value")


def _bool(m: Machine, value: Any) -> Any:
    return bool_value(m.values.truth(value))


def _frozenset(m: Machine, iterable: Any = ()) -> Any:
    from model.language.lift.calls import make_set

    if isinstance(iterable, (Set, frozenset, set)):
        return iterable
    found = _items(m, iterable)
    return make_set(m, found) if found else frozenset()


def _list(m: Machine, iterable: Any = ()) -> Any:
    from model.language.lift.calls import make_list

    return make_list(m, list(_tuple(m, iterable)))


def _tuple(m: Machine, iterable: Any = ()) -> tuple[Any, ...]:
    found = _items(m, iterable)
    if any(condition is not m.terms.true for condition, _ in found):
        raise Refused("a tuple or list whose length depends on the state", "a set, or any/all/sum with an `if`")
    return tuple(value for _, value in found)


def _range(m: Machine, *args: Any) -> range:
    if all(type(a) is int for a in args):
        return range(*args)
    raise Refused("a range that depends on the state", "a loop over the whole domain with an `if` inside")


def _enumerate(m: Machine, iterable: Any, start: int = 0) -> tuple[Any, ...]:
    return tuple(enumerate(_tuple(m, iterable), start))


def _zip(m: Machine, *iterables: Any, strict: bool = False) -> tuple[Any, ...]:
    return tuple(zip(*(_tuple(m, i) for i in iterables), strict=strict))


def _reversed(m: Machine, iterable: Any) -> tuple[Any, ...]:
    return tuple(reversed(_tuple(m, iterable)))


def _isinstance(m: Machine, value: Any, cls: Any) -> Any:
    if isinstance(value, Record):
        return bool_value(value.present) if value.cls is cls else False
    if isinstance(value, (Bool, Int, Set, Reference)):
        raise Refused(f"isinstance of {describe(value)}", "a choice field that says which kind it is")
    return isinstance(value, cls)


def _evolve(m: Machine, record: Any, **changes: Any) -> Any:
    cls = record_class(record)
    if cls is None:
        raise Refused(f"evolve of {describe(record)}", "evolve of a @value record; write to fields of a @state object")
    source = m.values.as_record(record, cls)
    m.error(m.terms.negation(source.present), "evolve of None")
    shapes = dict(shapes_of(cls))
    fitting = {name: fit(m, shapes[name], constant(value), f"{cls.__name__}.{name}") for name, value in changes.items()}
    return Record(cls, {**source.fields, **fitting}, m.terms.true)


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
    isinstance: _isinstance,
    attrs.evolve: _evolve,
}
