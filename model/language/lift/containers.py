"""The operations of FIFOs and of sources of fresh ids, on references."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwalk.model.language.lift.access import fit, refine, write_cell
from kwalk.model.language.lift.machine import ConditionKind, SymbolicMachine
from kwalk.model.language.lift.objects import FifoObject, FreshObject
from kwalk.model.language.lift.rules import Operation, apply
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import Reference, bool_value, int_value


def _length(m: SymbolicMachine, fifo: FifoObject) -> Term:
    return m.values.number(m.now.store[fifo.length.key])


def length(m: SymbolicMachine, reference: Reference) -> Any:
    """Return len(fifo)."""
    result = _length(m, reference.options[-1][1])
    for condition, fifo in reversed(reference.options[:-1]):
        result = m.terms.choose(condition, _length(m, fifo), result)
    return refine(m, int_value(result))


def items(m: SymbolicMachine, reference: Reference) -> list[tuple[Term, Any]]:
    """Return the slots in order, each with the condition that the queue reaches it."""
    found = []
    size = m.values.number(length(m, reference))
    for index in range(len(reference.sample.slots)):
        present = m.simplify(m.terms.less(m.terms.integer(index), size))
        if present is not m.terms.false:
            found.append((present, _slot(m, reference, index)))
    return found


def _slot(m: SymbolicMachine, reference: Reference, index: int) -> Any:
    if not reference.sample.slots:
        return reference.sample.shape.element.default()  # a capacity of 0: there is always an error or bound hit, too
    value = m.now.store[reference.options[-1][1].slots[index].key]
    for condition, fifo in reversed(reference.options[:-1]):
        value = m.values.choose(condition, m.now.store[fifo.slots[index].key], value)
    return refine(m, value)


def _must_not_be_empty(m: SymbolicMachine, reference: Reference) -> None:
    size = m.values.number(length(m, reference))
    m.error(m.terms.equal(size, m.terms.integer(0)), "head or pop of an empty FIFO")


def push(m: SymbolicMachine, reference: Reference, value: Any) -> None:
    """Append an element; a full queue is a bound hit."""
    shape = reference.sample.shape
    full = int(shape.capacity)
    size = m.values.number(length(m, reference))
    m.add_condition(ConditionKind.BOUND, m.terms.equal(size, m.terms.integer(full)), shape.capacity.name)
    if full == 0:
        return
    fitting = fit(m, shape.element, value, "an element of a FIFO")
    for condition, fifo in reference.options:
        condition = m.simplify(condition)
        if condition is m.terms.false:
            continue
        size = _length(m, fifo)
        for index, slot in enumerate(fifo.slots):
            here = m.simplify(m.terms.conjunction((condition, m.terms.equal(size, m.terms.integer(index)))))
            if here is not m.terms.false:
                write_cell(m, slot, fitting, here)
        grown = m.terms.within(m.terms.add(size, m.terms.integer(1)), 1, full)
        write_cell(m, fifo.length, int_value(grown), condition)


def pop(m: SymbolicMachine, reference: Reference) -> Any:
    """Remove the head and return it; later elements move up, and the free slot gets its default."""
    _must_not_be_empty(m, reference)
    first = _slot(m, reference, 0)
    if not reference.sample.slots:
        return first
    empty = reference.sample.shape.element.default()
    for condition, fifo in reference.options:
        condition = m.simplify(condition)
        if condition is m.terms.false:
            continue
        following = [m.now.store[slot.key] for slot in fifo.slots[1:]] + [empty]
        for slot, value in zip(fifo.slots, following, strict=True):
            write_cell(m, slot, value, condition)
        shrunk = m.terms.add(_length(m, fifo), m.terms.integer(-1))
        write_cell(m, fifo.length, int_value(m.terms.within(shrunk, 0, len(fifo.slots) - 1)), condition)
    return first


def head(m: SymbolicMachine, reference: Reference) -> Any:
    """Return the oldest element."""
    _must_not_be_empty(m, reference)
    return _slot(m, reference, 0)


def is_empty(m: SymbolicMachine, reference: Reference) -> Any:
    """Return whether the length is 0."""
    size = m.values.number(length(m, reference))
    return bool_value(m.simplify(m.terms.equal(size, m.terms.integer(0))))


def starts_with(m: SymbolicMachine, reference: Reference, value: Any) -> Any:
    """Return whether there is an oldest element, and it equals the value."""
    size = m.values.number(length(m, reference))
    empty = m.terms.equal(size, m.terms.integer(0))
    same: Term = apply(m, Operation.EQUAL, _slot(m, reference, 0), value)
    return bool_value(m.simplify(m.terms.conjunction((m.terms.negation(empty), same))))


def clear(m: SymbolicMachine, reference: Reference) -> None:
    """Remove all elements."""
    empty = reference.sample.shape.element.default()
    for condition, fifo in reference.options:
        condition = m.simplify(condition)
        if condition is m.terms.false:
            continue
        for slot in fifo.slots:
            write_cell(m, slot, empty, condition)
        write_cell(m, fifo.length, 0, condition)


def take(m: SymbolicMachine, reference: Reference) -> Any:
    """Return the next fresh id; an exhausted source is a bound hit."""
    domain = reference.sample.shape.domain
    count = m.values.number(taken(m, reference))
    m.add_condition(ConditionKind.BOUND, m.terms.equal(count, m.terms.integer(len(domain))), domain.name)
    for condition, source in reference.options:
        more = m.terms.add(m.values.number(m.now.store[source.taken.key]), m.terms.integer(1))
        write_cell(m, source.taken, int_value(m.terms.within(more, 1, len(domain))), m.simplify(condition))
    return int_value(m.terms.within(count, 0, len(domain) - 1))


def taken(m: SymbolicMachine, reference: Reference) -> Any:
    """Return the number of ids that were given out."""
    source: FreshObject = reference.options[-1][1]
    value = m.now.store[source.taken.key]
    for condition, other in reversed(reference.options[:-1]):
        value = m.values.choose(condition, m.now.store[other.taken.key], value)
    return refine(m, value)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "push": push,
    "pop": pop,
    "head": head,
    "is_empty": is_empty,
    "starts_with": starts_with,
    "clear": clear,
    "take": take,
    "taken": taken,
}
