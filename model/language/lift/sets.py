"""Sets of @value records: their content as values, what is stored of them, and the changes in place.

Words: the *content* of a set in the state is a `Set`. What is *stored* of it is, for a flagged set, a `Set` with all
records of its domain; for a bounded set, the tuple of its length and its slots, which are in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kwalk.model.language.binding import Bound
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import kind_of
from kwalk.model.language.lift.machine import ConditionKind, SymbolicMachine
from kwalk.model.language.lift.objects import SetObject, empty_content
from kwalk.model.language.lift.rules import MEMBERS, RECORDS, SCALARS, Operation, apply, rule
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import (
    RecordValue,
    Reference,
    Refused,
    Set,
    describe,
    int_value,
    is_constant_member,
    record_class,
)
from kwalk.model.language.record_sets import BoundedSetShape, FlaggedSetShape, SetShape

Item = tuple[Term, Any]
SETS = (K.SET, K.RECORD_SET)


# Content.


def content(m: SymbolicMachine, value: Any) -> Set:
    """Return the members that a set has now: of a value, or of a set in the state."""
    if not isinstance(value, Reference):
        return m.values.as_set(value)
    stored = m.now.store[value.options[-1][1].content.key]
    for condition, other in reversed(value.options[:-1]):
        stored = m.values.choose(condition, m.now.store[other.content.key], stored)
    return content_of(m, value.sample.shape, stored)


def content_of(m: SymbolicMachine, shape: SetShape, stored: Any) -> Set:
    """Return the members of what is stored of a set."""
    if isinstance(shape, BoundedSetShape):
        size = m.values.number(stored[0])
        slots = [(m.terms.less(m.terms.integer(n), size), slot) for n, slot in enumerate(stored[1:])]
        return Set({}, tuple((is_used, slot) for is_used, slot in slots if is_used is not m.terms.false))
    assert isinstance(shape, FlaggedSetShape)
    members = m.values.as_set(stored).members
    return Set({record: members.get(record, m.terms.false) for record in shape.members()})


def items_of_set(m: SymbolicMachine, value: Any) -> list[Item]:
    """Return the members of a set, each once, with their conditions; those of a set in the state are in order."""
    found, t = content(m, value), m.terms
    items: list[Item] = [(c, member) for member, c in found.members.items()]
    if all(type(member) is int for member in found.members):
        items.sort(key=lambda item: item[1])
    are_distinct = isinstance(value, Reference)
    for number, (c, item) in enumerate(found.others):
        if not are_distinct:
            before = Set(found.members, found.others[:number])
            c = t.conjunction((c, t.negation(m.values.in_set(item, before))))
        items.append((c, item))
    return [(condition, item) for condition, item in items if condition is not t.false]


def size_of(m: SymbolicMachine, value: Any) -> Any:
    """Return the number of members."""
    t, total = m.terms, m.terms.integer(0)
    for condition, _ in items_of_set(m, value):
        total = t.add(total, t.choose(condition, t.integer(1), t.integer(0)))
    return int_value(total)


def combined(m: SymbolicMachine, operation: Operation, left: Any, right: Any) -> Set:
    """Return the result of one of |, &, - and ^."""
    x, y, t = m.values.as_set(left), m.values.as_set(right), m.terms

    def only(one: Set, other: Set, *, negated: bool) -> Set:
        def here(c: Term, item: Any) -> Term:
            is_in = m.values.in_set(item, other)
            return t.conjunction((c, t.negation(is_in) if negated else is_in))

        members = {member: here(c, member) for member, c in one.members.items()}
        others = ((here(c, item), item) for c, item in one.others)
        return Set(members, tuple((c, item) for c, item in others if c is not t.false))

    def either(one: Set, other: Set) -> Set:
        keys = dict.fromkeys([*one.members, *other.members])
        pairs = {k: t.disjunction((one.members.get(k, t.false), other.members.get(k, t.false))) for k in keys}
        return Set(pairs, (*one.others, *other.others))

    if operation is Operation.OR:
        return either(x, y)
    if operation is Operation.XOR and not x.others and not y.others:
        keys = dict.fromkeys([*x.members, *y.members])
        return Set({k: t.negation(t.equal(x.members.get(k, t.false), y.members.get(k, t.false))) for k in keys})
    if operation is Operation.XOR:
        return either(only(x, y, negated=True), only(y, x, negated=True))
    return only(x, y, negated=operation is Operation.SUBTRACT)


def made_set(m: SymbolicMachine, items: Iterable[Item]) -> Set:
    """Return a set of ints and records, each with its condition."""
    members: dict[Any, Term] = {}
    others: list[Item] = []
    for condition, item in items:
        for part, is_it in apply(m, Operation.SET_ITEM, item):
            both = m.terms.conjunction((condition, is_it))
            if is_constant_member(part):
                members[part] = m.terms.disjunction((members.get(part, m.terms.false), both))
            else:
                others.append((both, part))
    return Set(members, tuple((c, item) for c, item in others if c is not m.terms.false))


@rule(Operation.SET_ITEM, (K.NONE, K.NUMBER, K.OPTIONAL_NUMBER, *MEMBERS))
def _possibilities(m: SymbolicMachine, item: Any) -> list[tuple[Any, Term]]:
    return m.values.possibilities(item)


@rule(Operation.SET_ITEM, (K.TUPLE,))
def _tuple_item(m: SymbolicMachine, item: tuple[Any, ...]) -> list[tuple[Any, Term]]:
    return [(hashable(m, item), m.terms.true)]


def hashable(m: SymbolicMachine, value: Any) -> Any:
    """Return a part of a tuple in a set, as Python's own object if it does not depend on the state.

    Raises:
        Refused: it is not hashable in Python, or may not be.
    """
    if isinstance(value, tuple):
        return tuple(hashable(m, part) for part in value)
    if type(value) is not frozenset and kind_of(value) not in (*SCALARS, *RECORDS):
        raise Refused(f"a tuple with {describe(value)} in a set", "a tuple of numbers, Enum members, records and None")
    return m.values.constant(value)


@rule(Operation.SET_ITEM, RECORDS)
def _record_item(m: SymbolicMachine, item: Any) -> list[tuple[Any, Term]]:
    if m.simplify(m.values.is_none(item)) is not m.terms.false:
        raise Refused("a record that can be None in a set", "a test `is not None` first")
    return [(_certain(m, item), m.terms.true)]


def _certain(m: SymbolicMachine, record: Any) -> Any:
    """Return a record that is not None here, as Python's own object if it does not depend on the state."""
    if isinstance(record, RecordValue):
        return m.values.constant(RecordValue(record.cls, record.fields, m.terms.true))
    return record


# Rules of sets in the state: those of their content.


def _by_content(operation: Operation) -> None:
    @rule(operation, (K.RECORD_SET,), SETS)
    @rule(operation, (K.SET,), (K.RECORD_SET,))
    def of_two(m: SymbolicMachine, left: Any, right: Any, **more: Any) -> Any:
        return apply(m, operation, content(m, left), content(m, right), **more)


for _operation in (Operation.ORDER, Operation.OR, Operation.AND, Operation.SUBTRACT, Operation.XOR):
    _by_content(_operation)


@rule(Operation.TRUTH, (K.RECORD_SET,))
def _has_any(m: SymbolicMachine, value: Reference) -> Term:
    return m.values.truth(content(m, value))


# What is stored.


@rule(Operation.STORE_RECORD_SET, SETS)
def _fit_records(m: SymbolicMachine, value: Any, *, shape: SetShape, where: str) -> Any:
    return stored_as(m, shape, content(m, value), where)


def stored_as(m: SymbolicMachine, shape: SetShape, value: Set, where: str) -> Any:
    """Return what a set of this shape stores of these members; notes the errors and bound hits of plain Python."""
    t = m.terms
    items = [*((c, member) for member, c in value.members.items()), *value.others]
    for condition, item in items:
        if record_class(item) not in shape.classes:
            m.error(condition, f"{where} is given {describe(item)}")
    fitting = [(condition, item) for condition, item in items if record_class(item) in shape.classes]
    if isinstance(shape, FlaggedSetShape):
        some = Set(
            {i: c for c, i in fitting if not isinstance(i, RecordValue)},
            tuple((c, i) for c, i in fitting if isinstance(i, RecordValue)),
        )
        return Set({record: m.values.in_set(record, some) for record in shape.members()})
    assert isinstance(shape, BoundedSetShape)
    stored, over = empty_content(shape), t.false
    for condition, item in fitting:
        stored, is_full = _inserted(m, shape, stored, item, condition)
        over = t.disjunction((over, is_full))
    _refuse_over(m, shape, over, where)
    return stored


def _refuse_over(m: SymbolicMachine, shape: BoundedSetShape, over: Term, where: str) -> None:
    if isinstance(shape.capacity, Bound):
        m.add_condition(ConditionKind.BOUND, over, shape.capacity.name)
    else:
        m.error(over, f"{where} holds at most {shape.capacity} records")


def _less(m: SymbolicMachine, shape: BoundedSetShape, a: Any, b: Any) -> Term:
    """Return whether a record comes before another one in the order of vectors."""
    t, result = m.terms, m.terms.false
    pairs = zip(m.objects.value_layout(shape.element, a), m.objects.value_layout(shape.element, b), strict=True)
    for x, y in reversed(list(pairs)):
        here = t.conjunction((t.negation(x), y)) if x.is_bool else t.less(x, y)
        result = t.disjunction((here, t.conjunction((t.equal(x, y), result))))
    return result


def _inserted(m: SymbolicMachine, shape: BoundedSetShape, stored: Any, item: Any, condition: Term) -> tuple[Any, Term]:
    """Return what is stored after a record is inserted where a condition is true, and where there is no place."""
    t, (length, *slots) = m.terms, stored
    size = m.values.number(length)
    used = [t.less(t.integer(n), size) for n in range(len(slots))]
    is_there = t.disjunction(
        t.conjunction((here, m.values.equal(slot, item))) for here, slot in zip(used, slots, strict=True)
    )
    full = t.equal(size, t.integer(len(slots)))
    inserts = t.conjunction((condition, t.negation(is_there)))
    is_before = [t.conjunction((here, _less(m, shape, slot, item))) for here, slot in zip(used, slots, strict=True)]
    made = []
    for n, slot in enumerate(slots):
        moved = slots[n - 1] if n else item
        at = m.values.choose(is_before[n - 1], item, moved) if n else item
        made.append(m.values.choose(t.conjunction((inserts, t.negation(is_before[n]))), at, slot))
    grown = t.within(t.add(size, t.choose(inserts, t.integer(1), t.integer(0))), 0, len(slots))
    return (int_value(grown), *made), t.conjunction((inserts, full))


# Changes in place.


def _changing(m: SymbolicMachine, reference: Reference) -> list[tuple[Term, SetObject]]:
    simplified = ((m.simplify(condition), node) for condition, node in reference.options)
    return [(condition, node) for condition, node in simplified if condition is not m.terms.false]


def after_add(m: SymbolicMachine, node: SetObject, item: Any, condition: Term) -> Any:
    """Return what is stored of a set after a record is added where the condition is true."""
    stored, t = m.now.store[node.content.key], m.terms
    where = "a set"
    m.error(t.conjunction((condition, m.values.is_none(item))), f"{where} is given None")
    if record_class(item) not in node.shape.classes:
        m.error(condition, f"{where} is given {describe(item)}")
        return stored
    record = _certain(m, item)
    if isinstance(node.shape, BoundedSetShape):
        made, over = _inserted(m, node.shape, stored, record, t.true)
        _refuse_over(m, node.shape, t.conjunction((condition, over)), where)
        return made
    members = content_of(m, node.shape, stored).members
    if not isinstance(record, RecordValue):
        return Set({**members, record: t.true})
    return Set({one: t.disjunction((c, m.values.equal(record, one))) for one, c in members.items()})


def after_discard(m: SymbolicMachine, node: SetObject, item: Any) -> Any:
    """Return what is stored of a set after a record is removed, if it is there."""
    t, stored = m.terms, m.now.store[node.content.key]
    if isinstance(node.shape, FlaggedSetShape):
        members = content_of(m, node.shape, stored).members
        return Set({one: t.conjunction((c, t.negation(m.values.equal(item, one)))) for one, c in members.items()})
    length, *slots = stored
    size = m.values.number(length)
    empty = node.shape.element.default()  # type: ignore[attr-defined]
    found, made = t.false, []
    for n, slot in enumerate(slots):
        here = t.conjunction((t.less(t.integer(n), size), m.values.equal(slot, item)))
        found = t.disjunction((found, here))
        made.append(m.values.choose(found, slots[n + 1] if n + 1 < len(slots) else empty, slot))
    left = t.within(t.subtract(size, t.choose(found, t.integer(1), t.integer(0))), 0, len(slots))
    return (int_value(left), *made)


def must_be_record(item: Any, name: str) -> None:
    """Refuse an argument of a set's method that is no record.

    Raises:
        Refused: it is none.
    """
    if kind_of(item) not in (*RECORDS, K.NONE):
        raise Refused(f"{name} of {describe(item)}", "a record of the set's classes")
