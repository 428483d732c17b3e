"""The operations of FIFOs and of sources of fresh ids, on references.

Words: a *slot* of a queue is meant by a *position*, which counts from the head; where a position has no element, its
slot holds the default. Parts and sums of queues are new objects, as in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kwalk.model.language.containers import FifoShape, FreshShape
from kwalk.model.language.lift import sets
from kwalk.model.language.lift.access import NUMBERS, fit, refine, write_cell, write_element
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import kind_of
from kwalk.model.language.lift.machine import ConditionKind, SymbolicMachine
from kwalk.model.language.lift.names import outdate_changed
from kwalk.model.language.lift.objects import FifoObject, FreshObject, SetObject, empty_content
from kwalk.model.language.lift.rules import Operation, apply, rule
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import Reference, Refused, VaryingItems, bool_value, describe, int_value


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
    outdate_changed(m, reference)
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
    outdate_changed(m, reference)
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


def index(m: SymbolicMachine, reference: Reference, value: Any) -> Any:
    """Return the position of the first element that equals the value; without one it is an error."""
    t, found, result = m.terms, m.terms.false, m.terms.integer(0)
    for position, (here, item) in reversed(list(enumerate(items(m, reference)))):
        is_it = t.conjunction((here, apply(m, Operation.EQUAL, item, value)))
        found = t.disjunction((found, is_it))
        result = t.choose(is_it, t.integer(position), result)
    m.error(t.negation(found), "index of what a FIFO does not contain")
    return int_value(result)


def clear(m: SymbolicMachine, reference: Reference) -> None:
    """Remove all elements of a FIFO or set."""
    if isinstance(reference.sample, SetObject):
        _change_sets(m, reference, lambda node, condition: empty_content(node.shape))
        return
    empty = reference.sample.shape.element.default()
    outdate_changed(m, reference)
    for condition, fifo in reference.options:
        condition = m.simplify(condition)
        if condition is m.terms.false:
            continue
        for slot in fifo.slots:
            write_cell(m, slot, empty, condition)
        write_cell(m, fifo.length, 0, condition)


def _change_sets(m: SymbolicMachine, reference: Reference, change: Callable[[SetObject, Term], Any]) -> None:
    outdate_changed(m, reference)
    for condition, node in reference.options:
        condition = m.simplify(condition)
        if condition is not m.terms.false:
            write_cell(m, node.content, change(node, condition), condition)


def add(m: SymbolicMachine, reference: Reference, item: Any) -> None:
    """Add a record to a set."""
    sets.must_be_record(item, "add")
    _change_sets(m, reference, lambda node, condition: sets.after_add(m, node, item, condition))


def discard(m: SymbolicMachine, reference: Reference, item: Any) -> None:
    """Remove a record from a set if it is there."""
    sets.must_be_record(item, "discard")
    _change_sets(m, reference, lambda node, _: sets.after_discard(m, node, item))


def remove(m: SymbolicMachine, reference: Reference, item: Any) -> None:
    """Remove a record from a set; an error if it is not there."""
    sets.must_be_record(item, "remove")
    m.error(m.terms.negation(m.values.in_set(item, sets.content(m, reference))), "remove of what a set does not hold")
    discard(m, reference, item)


def update(m: SymbolicMachine, reference: Reference, other: Any) -> None:
    """Add the records of another set."""
    whole, where = apply(m, Operation.OR, reference, other), "a set"
    store = Operation.STORE_RECORD_SET
    _change_sets(m, reference, lambda node, _: apply(m, store, whole, shape=node.shape, where=where))


def take(m: SymbolicMachine, reference: Reference) -> Any:
    """Return the next fresh id; an exhausted source is a bound hit."""
    domain = reference.sample.shape.domain
    count = m.values.number(taken(m, reference))
    m.add_condition(ConditionKind.BOUND, m.terms.equal(count, m.terms.integer(len(domain))), domain.bound.name)
    outdate_changed(m, reference)
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


# Positions, parts and sums.


def _places(m: SymbolicMachine, index: Any, size: Term, slots: int, what: str) -> list[tuple[Term, int]]:
    """Return the slots that an index can mean, each with its condition; add the error of a position without element."""
    m.error(m.values.is_none(index), "None is used as an index")
    t, term = m.terms, m.values.number(index)
    if term.low < 0:
        term = t.choose(t.less(term, t.integer(0)), t.add(term, size), term)
    outside = t.disjunction((t.less(term, t.integer(0)), t.negation(t.less(term, size))))
    m.error(outside, f"an index is outside of {what}")
    found = []
    for slot in range(max(0, term.low), min(slots - 1, term.high) + 1):
        condition = m.simplify(t.equal(term, t.integer(slot)))
        if condition is t.true:
            return [(condition, slot)]
        if condition is not t.false:
            found.append((condition, slot))
    return found


def _positions(m: SymbolicMachine, queue: Reference, index: Any) -> list[tuple[Term, int]]:
    return _places(m, index, m.values.number(length(m, queue)), len(queue.sample.slots), "a FIFO")


@rule(Operation.INDEX, (K.FIFO,), NUMBERS)
def _element(m: SymbolicMachine, queue: Reference, index: Any) -> Any:
    chosen = _positions(m, queue, index)
    if not chosen:
        return queue.sample.shape.element.default()  # there is always the error above, too
    result = _slot(m, queue, chosen[-1][1])
    for condition, slot in reversed(chosen[:-1]):
        result = m.values.choose(condition, _slot(m, queue, slot), result)
    return refine(m, result)


@rule(Operation.INDEX, (K.VARYING,), NUMBERS)
def _element_of_varying(m: SymbolicMachine, sequence: VaryingItems, index: Any) -> Any:
    size, values = numbered(m, sequence.items)
    if not values:
        raise Refused("an index into something that is empty", "a test of its length first")
    chosen = _places(m, index, size, len(values), describe(sequence)) or [(m.terms.true, 0)]
    result = values[chosen[-1][1]]
    for condition, place in reversed(chosen[:-1]):
        result = m.values.choose(condition, values[place], result)
    return refine(m, result)


def store_element(m: SymbolicMachine, owner: Any, index: Any, value: Any) -> None:
    """Execute `owner[index] = value`."""
    if not isinstance(owner, Reference) or not isinstance(owner.sample, FifoObject):
        write_element(m, owner, index, value)
        return
    if kind_of(index) not in NUMBERS:
        raise Refused(f"{describe(index)} is used as an index", "index with a number or a domain's member")
    chosen = _positions(m, owner, index)
    fitting = fit(m, owner.sample.shape.element, value, "an element of a FIFO")
    outdate_changed(m, owner)
    for at, slot in chosen:
        for condition, fifo in owner.options:
            here = m.simplify(m.terms.conjunction((at, condition)))
            if here is not m.terms.false:
                write_cell(m, fifo.slots[slot], fitting, here)


def part(m: SymbolicMachine, queue: Reference, lower: Any, upper: Any) -> Reference:
    """Return `queue[lower:upper]`; an end that is None is the queue's own."""
    t, size = m.terms, m.values.number(length(m, queue))
    low, high = end_of_slice(m, size, lower, t.integer(0)), end_of_slice(m, size, upper, size)
    slots = len(queue.sample.slots)
    count = t.choose(t.less(low, high), t.subtract(high, low), t.integer(0))
    taken = [_value_at(m, queue, t.add(low, t.integer(slot))) for slot in range(slots)]
    return _made(m, queue.sample.shape, t.within(count, 0, slots), taken)


def backwards(m: SymbolicMachine, queue: Reference) -> Reference:
    """Return a new queue with the elements in reverse order."""
    t, size, slots = m.terms, m.values.number(length(m, queue)), len(queue.sample.slots)
    values = [_value_at(m, queue, t.add(size, t.integer(-1 - slot))) for slot in range(slots)]
    return _made(m, queue.sample.shape, size, values)


def end_of_slice(m: SymbolicMachine, size: Term, end: Any, otherwise: Term) -> Term:
    """Return an end of a slice as Python takes it: a negative one counts from the end, one outside is cut off."""
    if end is None:
        return otherwise
    if kind_of(end) is not K.NUMBER:
        raise Refused(f"{describe(end)} as the end of a slice", "a number, after a test of `is not None`")
    t, term = m.terms, m.values.number(end)
    zero = t.integer(0)
    back = t.add(term, size)
    back = t.choose(t.less(back, zero), zero, back)
    forth = t.choose(t.less(size, term), size, term)
    return t.within(t.choose(t.less(term, zero), back, forth), 0, size.high)


def _value_at(m: SymbolicMachine, queue: Reference, position: Term) -> Any:
    """Return the element at a position; any of them where there is no such position."""
    slots = len(queue.sample.slots)
    result = _slot(m, queue, max(0, min(slots - 1, position.high)))
    for slot in reversed(range(max(0, position.low), min(slots - 1, position.high))):
        here = m.simplify(m.terms.equal(position, m.terms.integer(slot)))
        result = m.values.choose(here, _slot(m, queue, slot), result)
    return result


def _made(m: SymbolicMachine, shape: FifoShape, size: Term, values: list[Any]) -> Reference:
    """Return a new queue with the first `size` of some values, which fit its slots."""
    node: FifoObject = m.objects.make(shape, m.objects.defaults, m.now.store)  # type: ignore[assignment]
    m.now.store[node.length.key] = int_value(size)
    for index, (slot, value) in enumerate(zip(node.slots, values, strict=False)):
        is_taken = m.simplify(m.terms.less(m.terms.integer(index), size))
        m.now.store[slot.key] = m.values.choose(is_taken, value, shape.element.default())
    return Reference(((m.terms.true, node),))


def _content(m: SymbolicMachine, sequence: Any) -> tuple[Term, list[Any]]:
    """Return the length of a queue, list or tuple, and its elements; a queue has some beyond its length, too."""
    if isinstance(sequence, VaryingItems):
        if sequence.of is range:
            raise Refused("a range in place of elements of a Fifo", "a list of its numbers, `list(range(…))`")
        return numbered(m, sequence.items)
    values = [item() for _, item in apply(m, Operation.ITERATE, sequence)]
    if kind_of(sequence) is K.FIFO:
        return m.values.number(length(m, sequence)), values
    return m.terms.integer(len(values)), values


def numbered(m: SymbolicMachine, items: Sequence[tuple[Term, Any]]) -> tuple[Term, list[Any]]:
    """Return how many of some items are there, and for each n the n-th item of those."""
    t, (there, before), values = m.terms, counted(m, items), []
    for number in range(len(there)):
        value = there[-1][1]
        for place in reversed(range(number, len(there) - 1)):
            condition, item = there[place]
            here = t.conjunction((condition, t.equal(before[place], t.integer(number))))
            value = m.values.choose(m.simplify(here), item, value)
        values.append(value)
    return before[-1], values


def counted(m: SymbolicMachine, items: Sequence[tuple[Term, Any]]) -> tuple[list[tuple[Term, Any]], list[Term]]:
    """Return the items that can be there; and for each, how many of those before it are there, and last of all."""
    t = m.terms
    there = [(m.simplify(condition), item) for condition, item in items]
    there = [(condition, item) for condition, item in there if condition is not t.false]
    before = [t.integer(0)]
    for condition, _ in there:
        before.append(t.add(before[-1], t.choose(condition, t.integer(1), t.integer(0))))
    return there, before


def _fitting(m: SymbolicMachine, shape: FifoShape, size: Term, values: list[Any]) -> list[Any]:
    """Return the first `size` of some values as the slots of a queue store them."""
    found = []
    for index, value in enumerate(values):
        is_taken = m.simplify(m.terms.less(m.terms.integer(index), size))
        if is_taken is m.terms.false:
            break
        with m.assuming(is_taken):
            found.append(fit(m, shape.element, value, "an element of a FIFO"))
    return found


def _must_have_room(m: SymbolicMachine, shape: FifoShape, size: Term) -> None:
    more = m.terms.less(m.terms.integer(int(shape.capacity)), size)
    m.add_condition(ConditionKind.BOUND, more, shape.capacity.name)


@rule(Operation.STORE_FIFO, (K.FIFO, K.LIST, K.TUPLE, K.VARYING))
def _fit_queue(m: SymbolicMachine, value: Any, *, shape: FifoShape, where: str) -> Reference:
    if kind_of(value) is K.FIFO and value.sample.shape == shape:
        found: Reference = value
        return found
    size, values = _content(m, value)
    _must_have_room(m, shape, size)
    return _made(m, shape, size, _fitting(m, shape, size, values))


@rule(Operation.STORE_FRESH, (K.FRESH,))
def _fit_source(m: SymbolicMachine, value: Any, *, shape: FreshShape, where: str) -> Reference:
    if value.sample.shape != shape:
        raise Refused(f"{where} is given a Fresh of another domain", "one of the same domain")
    found: Reference = value
    return found


@rule(Operation.ADD, (K.FIFO,), (K.FIFO, K.LIST, K.TUPLE, K.VARYING))
@rule(Operation.ADD, (K.LIST, K.TUPLE, K.VARYING), (K.FIFO,))
def _joined(m: SymbolicMachine, left: Any, right: Any) -> Reference:
    t, shape = m.terms, (left if kind_of(left) is K.FIFO else right).sample.shape
    (size, first), (more, second) = _content(m, left), _content(m, right)
    _must_have_room(m, shape, t.add(size, more))
    first, second = _fitting(m, shape, size, first), _fitting(m, shape, more, second)
    values = []
    for slot in range(min(int(shape.capacity), len(first) + len(second))):
        value = first[slot] if slot < len(first) else shape.element.default()
        for index, other in enumerate(second[: slot + 1]):
            is_here = m.simplify(t.equal(size, t.integer(slot - index)))
            value = m.values.choose(is_here, other, value)
        values.append(value)
    return _made(m, shape, t.within(t.add(size, more), 0, int(shape.capacity)), values)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "push": push,
    "pop": pop,
    "head": head,
    "is_empty": is_empty,
    "starts_with": starts_with,
    "clear": clear,
    "index": index,
    "add": add,
    "discard": discard,
    "remove": remove,
    "update": update,
    "take": take,
    "taken": taken,
}
