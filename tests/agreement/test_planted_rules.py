"""The walk over the table of rules detects a wrong rule: each mistake is planted, and must be found."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import product

import pytest

from kwalk.model.language import LiftError
from kwalk.model.language.lift import (
    access,
    calls,
    comprehensions,
    containers,
    expressions,
    machine,
    operators,
    sets,
    statements,
)
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.objects import FifoObject
from kwalk.model.language.lift.rules import RULES, Operation
from kwalk.model.language.lift.terms import Terms
from kwalk.model.language.lift.values import OnceItems, Reference, Set, Values, bool_value, int_value
from tests.agreement.snippets import HELPERS, Bench, Snippet, snippets, source_text
from tests.agreement.written import model_of, written
from tests.states import random_states

RIGHT = {operation: dict(rules) for operation, rules in RULES.items()}
LOCALS = (
    "if w.f:\n    x = 1\nreturn x",
    "if w.f:\n    x = 1\nelif w.g:\n    x = 2\nelse:\n    x = 3\nreturn x",
    "for n in CELLS:\n    if w.c == n:\n        x = n\nreturn x",
    "for x in w.q:\n    y = x\nreturn y",
    "x = [1, 2, 3]\nfor y in x:\n    x[1] = w.n\n    z = y * 2\nreturn (x[1], z)",
    "z = 0\nx = [1, 2]\nfor y in x:\n    x[1] = 7\n    z = z + y\nreturn z",
    "x = 5\nfor n in (1, 2, 3):\n    if w.n == n:\n        x = n\n        break\nreturn x",
    "LIM = LIM + 1\nreturn LIM",
    "a = (1, 2)\ng = (n for n in a)\na = (7,)\nreturn sum(g)",
    "g = (n for n in (1, 2))\nreturn (sum(g), sum(g))",
    "try:\n    if w.f:\n        raise Stop\n    x = 1\nexcept Stop:\n    x = 2\nreturn x",
    "x = 1\nif w.f:\n    x = 2\nif w.g:\n    x = x + 3\nreturn x",
    "return ([n for n in (1, 2)][w.n], (4, 5, 6)[w.m])",
    "x = [0, 0]\nx[w.n] = 1\nreturn (x[0], x[1])",
    "x = [n for n in w.r if n] if w.f else [w.n, w.c, 2][w.m :]\nreturn (len(x), sum(x[w.n :]), len((1, w.n)[: w.c]))",
    "w.mail.add(w.sure)\nreturn (w.mail, len(w.mail))",
    "w.mail.discard(w.sure)\nreturn (w.mail, bool(w.mail))",
    "w.pair.add(Note(n=w.n % 3))\nreturn w.pair",
    "w.pair.discard(w.sure)\nw.pair.add(w.sure)\nreturn (w.pair, len(w.pair))",
    "w.few.add(NOTE)\nw.few.add(w.sure)\nw.few.add(Note(n=1, f=True))\nreturn w.few",
    "w.mail.remove(w.sure)\nreturn w.mail",
    "w.pair.remove(NOTE)\nreturn w.pair",
    "w.mail.update({w.sure, NOTE})\nreturn w.mail",
    "x = {m for m in w.pair if m.f} | {w.sure}\nreturn (sum(m.n for m in x), len(x), any(m.f for m in x))",
    "z = 0\nfor m in w.mail:\n    z = z * 3 + m.n\nreturn z",
    "z = 0\nfor m in w.pair:\n    z = z * 3 + m.n\n    w.pair.discard(m)\nreturn (z, len(w.pair))",
    "w.pair = {w.sure, NOTE}\nz = 0\nfor m in w.pair:\n    z = z * 3 + m.n\nreturn z",
    "w.pair = {w.sure, NOTE}\nreturn (w.pair == w.few, w.pair <= w.mail, len(w.pair))",
    "x = w.mail\nx.clear()\nreturn (w.mail, bool(x))",
    "w.mail = {w.sure}\nx = w.mail\nreturn (x, len(x))",
    "return all(isinstance(m, (Note, Light)) and m.n < 2 for m in w.mail)",
    "return (w.r[w.m:w.n], w.r[1:], w.q[:-1])",
    "return w.r[: len(w.q)] == w.q",
    "return w.r[w.c:] == w.r[:-1]",
    "x = w.r[:]\nx[0] = w.n\nx[-1] += 1\nreturn (x, w.r)",
    "w.r[w.c] = 3\nreturn w.r",
    "return [w.n] + w.r[1:] + (0,)",
    "w.q = w.r\nreturn w.q",
    "w.r = [w.n, w.m]\nreturn w.r",
    "x = 0\nfor i, y in enumerate(w.r):\n    x = x * 4 + i + y\nreturn x",
    "return sum(y for x, y in zip(w.q, w.r))",
    "w.r = [x for x in w.r if x != w.n]\nreturn w.r",
    "return w.q[:1] + tuple(x for x in w.r if x > w.c)",
    "return tuple(i * 4 + x for i, x in enumerate(sorted(w.s), 1))",
    "return tuple(reversed([x for x in w.r if x]))",
    "return (tuple(range(w.m, w.n)), [w.r[i] for i in range(len(w.r))])",
    "x = 0\nfor y in reversed(w.r):\n    x = x * 4 + y\nreturn x",
)
"""Bodies with local variables, loops and indexes."""


def a_rule(operation, function, *kinds: Iterable[K]):
    """Plant a function as the rule for some kinds; it gets the right rule of these kinds, if there is one."""

    def plant(patch):
        for combination in product(*kinds):
            right = RIGHT[operation].get(combination)
            wrong = lambda m, *v, right=right, **more: function(m, right, *v, **more)  # noqa: E731
            patch.setitem(RULES[operation], combination, wrong)

    return operation, plant


def a_part(module, name, function, about):
    """Plant a function in place of a part of the rules of an operation (None: of local variables)."""
    return about, lambda patch: patch.setattr(module, name, function)


def true(m, right, *v, **more):
    return m.terms.true


def false(m, right, *v, **more):
    return m.terms.false


def negated(m, right, *v, **more):
    return m.terms.negation(right(m, *v, **more))


def swapped(m, right, a, b, **more):
    return right(m, b, a, **more)


def unchecked(m, right, *v, **more):
    """The right rule, but None is no error: it is the number -1 that stands for it."""
    numbers = [int_value(m.values.number(one)) for one in v]
    return right(m, *numbers, **more)


def first(m, right, value, *rest, **more):
    return value


def truncated(m, right, a, b):
    """// towards 0, as in C."""
    if type(b) is int and b > 0:
        t, number = m.terms, m.values.number(a)
        negative = t.less(number, t.integer(0))
        down = t.subtract(t.integer(0), t.quotient(t.subtract(t.integer(0), number), b))
        return int_value(t.choose(negative, down, t.quotient(number, b)))
    return right(m, a, b)


def never_negative(m, right, a, b):
    return right(m, a, abs(b)) if type(b) is int else right(m, a, b)


def by_zero_too(m, right, a, b):
    return right(m, a, 1 if b == 0 and type(b) is int else b)


def replaced_by(operation):
    return lambda m, right, a, b: RIGHT[operation][K.NUMBER, K.NUMBER](m, a, b)


def set_replaced_by(operation):
    return lambda m, right, a, b: RIGHT[operation][K.SET, K.SET](m, a, b)


def strict(m, right, a, b, *, op):
    return right(m, a, b, op={ast.LtE: ast.Lt(), ast.GtE: ast.Gt()}.get(type(op), op))


def lenient(m, right, a, b, *, op):
    return right(m, a, b, op={ast.Lt: ast.LtE(), ast.Gt: ast.GtE()}.get(type(op), op))


def one_more(m, right, container, item):
    return right(m, range(len(container) + 1), item)


def all_but_last(m, right, *v):
    return right(m, *v)[:-1]


def some_rounds_late(m, right, iterable):
    """The items of an Array or list are read before the first round."""
    return comprehensions.constant_rounds(m, [item() for _, item in right(m, iterable)])


def shorter_counts(m, right, a, b):
    return m.terms.conjunction(operators.equal(m, x, y) for x, y in zip(a, b, strict=False))


def one_field(self, a, b, cls):
    x, y = self.as_record(a, cls), self.as_record(b, cls)
    return self.equal(*(next(iter(one.fields.values())) for one in (x, y)))


def no_wrap(m, index, size, *, wraps, right=access.positions):
    return right(m, index, size, wraps=False)


def always_wrap(m, index, size, *, wraps, right=access.positions):
    return right(m, index, size, wraps=True)


def one_too_far(m, index, size, *, wraps):
    """-1 becomes the position before the last one."""
    t, term = m.terms, m.values.number(index)
    moved = t.choose(t.less(term, t.integer(0)), t.add(term, t.integer(-1)), term)
    return POSITIONS(m, int_value(moved), size, wraps=wraps)


def clamped(m, index, size, *, wraps):
    t, term = m.terms, m.values.number(index)
    last = t.integer(size - 1)
    return POSITIONS(m, int_value(t.choose(t.less(last, term), last, term)), size, wraps=wraps)


POSITIONS = access.positions


def swapped_choice(values, condition, a, b, right=machine._choose_local):
    return right(values, condition, b, a)


def wrong_order(terms, base, conditions):
    return list(reversed(conditions[:-1]))


def unassigned_is_fine(m, name, value):
    return value.value if isinstance(value, machine.Partial) else value


def unchanged(m, node):
    """A generator expression without a check of what changed since."""
    return OnceItems(lambda stop=None, **_: comprehensions.generate(m, node, stop), None)


def as_often_as_wanted(self):
    return self


def counts_possible_members(m, right, thing):
    return len(thing.members) if isinstance(thing, Set) else right(m, thing)


def capacity(m, right, queue):
    return len(queue.sample.slots)


def none_is_a_record(m, right, value, cls):
    return bool_value(m.terms.true)


def record_as_is(m, right, record, *, changes):
    return m.values.as_record(record, type(record)) if not hasattr(record, "fields") else record


def unranged(m, right, value, **more):
    return value if value is not None else 0


def optional_as_zero(m, right, value, **more):
    t, term = m.terms, m.values.number(value)
    return right(m, int_value(t.choose(m.values.is_none(value), t.integer(0), term)), **more)


def negated_flag(m, right, value, **more):
    return bool_value(m.terms.negation(m.values.truth(value)))


def full_set(m, right, value, *, shape, where):
    return Set(dict.fromkeys(shape.domain, m.terms.true))


def forwards(m, right, value):
    rounds = comprehensions.rounds_of(m, value)
    return OnceItems(lambda stop=None, **_: iter([(condition, item()) for condition, item in rounds]), rounds)


def last_stays(m, queue, index):
    """A position past the end is the last one."""
    t, term, size = m.terms, m.values.number(index), m.values.number(containers.length(m, queue))
    last = t.add(size, t.integer(-1))
    return QUEUE_POSITIONS(m, queue, int_value(t.choose(t.less(last, term), last, term)))


def without_errors(m, index, size, slots, what):
    """Any position that there may be."""
    with m.assuming(m.terms.true):
        before = len(m.side_conditions)
        found = PLACES(m, index, size, slots, what)
        del m.side_conditions[before:]
    return found


def from_the_capacity(m, queue, index):
    """-1 is the last slot, whether it has an element or not."""
    t, term = m.terms, m.values.number(index)
    wrapped = t.add(term, t.integer(len(queue.sample.slots)))
    return QUEUE_POSITIONS(m, queue, int_value(t.choose(t.less(term, t.integer(0)), wrapped, term)))


def first_position(m, queue, index):
    return [(m.terms.true, QUEUE_POSITIONS(m, queue, index)[0][1])]


def unchecked_position(m, right, queue, index):
    return right(m, queue, int_value(m.values.number(index)))


def stores_first(m, owner, index, value):
    is_queue = isinstance(owner.sample, FifoObject)
    STORE_ELEMENT(m, owner, 0 if is_queue else index, value)


def end_is_not_wrapped(m, size, end, otherwise):
    zero, term = m.terms.integer(0), otherwise if end is None else m.values.number(end)
    found = m.terms.choose(m.terms.less(size, term), size, term)
    return m.terms.choose(m.terms.less(found, zero), zero, found)


def keeps_free_slots(m, shape, size, values):
    made = MADE(m, shape, size, values)
    for slot, value in zip(made.sample.slots, values, strict=False):
        m.now.store[slot.key] = value
    return made


def of_full_length(m, shape, size, values):
    return MADE(m, shape, m.terms.integer(min(len(values), int(shape.capacity))), values)


def is_the_first(m, right, left, other):
    return left if isinstance(left, Reference) else other


def not_checked(m, shape, size, values):
    return list(values)


def with_absent_items(m, items):
    return m.terms.integer(len(items)), [item for _, item in items]


def the_first_ones(m, items):
    return NUMBERED(m, items)[0], [item for _, item in items]


def to_the_stop(m, *args):
    *start, stop = args
    return RANGE(m, *start, int_value(m.terms.add(m.values.number(stop), m.terms.integer(1))))


def from_zero(m, *args):
    return RANGE(m, args[-1])


def all_slots(m, iterable):
    return [(m.terms.true, item) for _, item in comprehensions.rounds_of(m, iterable)]


def counts_twice(m, value):
    found = sets.content(m, value)
    number = [bool_value(condition) for condition in (*found.members.values(), *(c for c, _ in found.others))]
    return int_value(sum_of(m, number))


def sum_of(m, values):
    total = m.terms.integer(0)
    for value in values:
        total = m.terms.add(total, m.values.number(value))
    return total


def stays(m, node, *_):
    return m.now.store[node.content.key]


def keeps_twice(m, shape, stored, item, condition):
    """A record is inserted also where the set holds it."""
    made, is_full = INSERTED(m, shape, stored, item, condition)
    size = m.values.number(stored[0])
    grown = m.terms.within(m.terms.add(size, m.terms.integer(1)), 0, len(stored) - 1)
    return (int_value(m.terms.choose(condition, grown, size)), *made[1:]), is_full


def holds_all(m, right, value, *, shape, where):
    stored = right(m, value, shape=shape, where=where)
    return Set(dict.fromkeys(stored.members, m.terms.true)) if isinstance(stored, Set) else stored


def replaces(m, reference, other):
    node = reference.sample
    stored = sets.stored_as(m, node.shape, sets.content(m, other), "a set")
    containers._change_sets(m, reference, lambda *_: stored)


def an_operation(name, function):
    """Plant an operation of containers."""
    return None, lambda patch: patch.setitem(containers.OPERATIONS, name, function)


INSERTED = sets._inserted
NUMBERED, RANGE = containers.numbered, calls.BUILTINS[range]
PLACES, QUEUE_POSITIONS = containers._places, containers._positions
MADE, STORE_ELEMENT = containers._made, containers.store_element
NUMBERS = (K.NUMBER, K.OPTIONAL_NUMBER)
PLANTED = {
    "a queue is always true": a_rule(Operation.TRUTH, true, (K.FIFO,)),
    "an empty queue is true": a_rule(Operation.TRUTH, negated, (K.FIFO,)),
    "a list is always true": a_rule(Operation.TRUTH, true, (K.LIST,)),
    "a tuple is always true": a_rule(Operation.TRUTH, true, (K.TUPLE,)),
    "a number is always true": a_rule(Operation.TRUTH, true, NUMBERS),
    "only None is false": a_rule(Operation.TRUTH, lambda m, r, v: m.values.is_not_none(v), (K.OPTIONAL_NUMBER,)),
    "a member or None is always true": a_rule(Operation.TRUTH, true, (K.OPTIONAL_MEMBER,)),
    "a record or None is always true": a_rule(Operation.TRUTH, true, (K.OPTIONAL_RECORD,)),
    "a set is always true": a_rule(Operation.TRUTH, true, (K.SET,)),
    "a list of varying length is always true": a_rule(Operation.TRUTH, true, (K.VARYING,)),
    "a member is false": a_rule(Operation.TRUTH, false, (K.MEMBER,)),
    "an Array is false": a_rule(Operation.TRUTH, false, (K.ARRAY,)),
    "a Fresh is false": a_rule(Operation.TRUTH, false, (K.FRESH,)),
    "numbers are never equal": a_rule(Operation.EQUAL, false, NUMBERS, NUMBERS),
    "None is never equal to None": a_rule(Operation.EQUAL, false, (K.OPTIONAL_NUMBER,), (K.OPTIONAL_MEMBER,)),
    "None equals 0": a_rule(
        Operation.EQUAL, lambda m, r, a, b: m.terms.equal(m.values.number(b), m.terms.integer(0)), (K.NONE,), NUMBERS
    ),
    "queues of unlike capacity are equal": a_part(
        operators, "_same_queue", lambda m, a, b: m.terms.true, Operation.EQUAL
    ),
    "a list equals an Array": a_rule(Operation.EQUAL, true, (K.LIST,), (K.ARRAY,)),
    "a set equals a tuple": a_rule(Operation.EQUAL, true, (K.SET,), (K.TUPLE,)),
    "a list of varying length equals a tuple": a_rule(Operation.EQUAL, true, (K.VARYING,), (K.TUPLE,)),
    "lists of varying length are equal": a_rule(Operation.EQUAL, true, (K.VARYING,), (K.VARYING,)),
    "tuples of unlike length are equal": a_rule(Operation.EQUAL, shorter_counts, (K.TUPLE,), (K.TUPLE,)),
    "records are equal in one field": a_part(Values, "_equal_records", one_field, Operation.EQUAL),
    "is None is negated": a_rule(Operation.IS, negated, (K.OPTIONAL_NUMBER,), (K.NONE,)),
    "members are never the same": a_rule(Operation.IS, false, (K.MEMBER, K.OPTIONAL_MEMBER), (K.MEMBER,)),
    "< accepts None": a_rule(Operation.ORDER, unchecked, (K.OPTIONAL_NUMBER,), (K.NUMBER,)),
    "< is >": a_rule(Operation.ORDER, swapped, (K.NUMBER,), (K.NUMBER,)),
    "<= is <": a_rule(Operation.ORDER, strict, (K.NUMBER,), (K.NUMBER,)),
    "a proper subset is a subset": a_rule(Operation.ORDER, lenient, (K.SET,), (K.SET,)),
    "a domain has one member more": a_rule(Operation.CONTAINS, one_more, (K.DOMAIN, K.RANGE), (K.NUMBER,)),
    "None is in a set": a_rule(Operation.CONTAINS, true, (K.SET,), (K.NONE,)),
    "a tuple has no members": a_rule(Operation.CONTAINS, false, (K.TUPLE,), (K.NUMBER,)),
    "a queue has all members": a_rule(Operation.CONTAINS, true, (K.FIFO,), (K.NUMBER,)),
    "+ accepts None": a_rule(Operation.ADD, unchecked, (K.OPTIONAL_NUMBER,), (K.NUMBER,)),
    "- is swapped": a_rule(Operation.SUBTRACT, swapped, (K.NUMBER,), (K.NUMBER,)),
    "- of sets is swapped": a_rule(Operation.SUBTRACT, swapped, (K.SET,), (K.SET,)),
    "* of a truth value is the other one": a_rule(Operation.MULTIPLY, lambda m, r, a, b: b, (K.TRUTH,), (K.NUMBER,)),
    "// rounds towards 0": a_rule(Operation.DIVIDE, truncated, (K.NUMBER,), (K.NUMBER,)),
    "% is never negative": a_rule(Operation.REMAINDER, never_negative, (K.NUMBER,), (K.NUMBER,)),
    "// by 0 is no error": a_rule(Operation.DIVIDE, by_zero_too, (K.NUMBER,), (K.TRUTH, K.NUMBER)),
    "** is *": a_rule(Operation.POWER, replaced_by(Operation.MULTIPLY), (K.NUMBER,), (K.NUMBER,)),
    "<< is >>": a_rule(Operation.SHIFT_LEFT, replaced_by(Operation.SHIFT_RIGHT), (K.NUMBER,), (K.NUMBER,)),
    "& is |": a_rule(Operation.AND, replaced_by(Operation.OR), (K.NUMBER,), (K.NUMBER,)),
    "| is ^": a_rule(Operation.OR, set_replaced_by(Operation.XOR), (K.SET,), (K.SET,)),
    "a minus is dropped": a_rule(Operation.NEGATE, first, (K.NUMBER,)),
    "a minus accepts None": a_rule(Operation.NEGATE, unchecked, (K.OPTIONAL_NUMBER,)),
    "+ keeps a truth value": a_rule(Operation.PLUS, first, (K.TRUTH,)),
    "abs accepts None": a_rule(Operation.ABS, unchecked, (K.OPTIONAL_NUMBER,)),
    "abs does nothing": a_rule(Operation.ABS, first, (K.NUMBER,)),
    "int keeps a truth value": a_rule(Operation.INT, first, (K.TRUTH,)),
    "int of a member is its position": a_rule(
        Operation.INT, lambda m, r, v: int_value(m.values.number(v)), (K.MEMBER,)
    ),
    "sum counts None": a_rule(Operation.SUM, lambda m, r, v, **more: m.values.number(v), (K.OPTIONAL_NUMBER,)),
    "max accepts None": a_rule(Operation.EXTREME, lambda m, r, v, **more: None, (K.OPTIONAL_NUMBER,)),
    "max compares members": a_rule(Operation.EXTREME, lambda m, r, v, **more: None, (K.OPTIONAL_MEMBER, K.MEMBER)),
    "the length of a queue is its capacity": a_rule(Operation.LENGTH, capacity, (K.FIFO,)),
    "the length of a set counts all": a_rule(Operation.LENGTH, counts_possible_members, (K.SET,)),
    "a loop misses the last item": a_rule(Operation.ITERATE, all_but_last, (K.TUPLE, K.LIST, K.ARRAY, K.FIFO)),
    "reversed is not": a_rule(Operation.REVERSED, forwards, (K.TUPLE, K.ARRAY)),
    "a set leaves None out": a_rule(
        Operation.SET_ITEM, lambda m, r, v: [one for one in r(m, v) if one[0] is not None], (K.OPTIONAL_NUMBER,)
    ),
    "a set takes None for a number": a_rule(
        Operation.SET_ITEM, lambda m, r, v: [(-1 if n is None else n, c) for n, c in r(m, v)], (K.NONE,)
    ),
    "a set of an item is empty": a_rule(Operation.SET_ITEM, lambda m, r, v: [], (K.NUMBER,)),
    "None is of every class": a_rule(Operation.ISINSTANCE, none_is_a_record, (K.OPTIONAL_RECORD,), (K.CLASS,)),
    "evolve changes nothing": a_rule(Operation.EVOLVE, record_as_is, (K.OPTIONAL_RECORD,)),
    "an index does not wrap": a_part(access, "positions", no_wrap, None),
    "an index of an Array wraps": a_part(access, "positions", always_wrap, Operation.INDEX),
    "an index wraps one too far": a_part(access, "positions", one_too_far, None),
    "an index past the end is the last": a_part(access, "positions", clamped, None),
    "a stored flag is negated": a_rule(Operation.STORE_FLAG, negated_flag, (K.TRUTH,)),
    "a stored number has no range": a_rule(Operation.STORE_NUMBER, unranged, (K.NONE, K.NUMBER)),
    "a stored None is 0": a_rule(Operation.STORE_OPTIONAL, optional_as_zero, (K.OPTIONAL_NUMBER,)),
    "a stored member can be None": a_rule(Operation.STORE_CHOICE, lambda m, r, v, **more: v, (K.OPTIONAL_MEMBER,)),
    "a stored set is full": a_rule(Operation.STORE_SUBSET, full_set, (K.SET,)),
    "a stored record can be None": a_rule(Operation.STORE_RECORD, lambda m, r, v, **more: v, (K.OPTIONAL_RECORD,)),
    "a number is stored as a flag": a_rule(
        Operation.STORE_FLAG, lambda m, r, v, **more: bool_value(m.values.truth(v)), (K.NUMBER,)
    ),
    "a local may have no value": a_part(expressions, "_assigned", unassigned_is_fine, None),
    "locals of branches are swapped": a_part(machine, "_choose_local", swapped_choice, None),
    "ends are joined in the wrong order": a_part(machine, "_conditions_in_order", wrong_order, None),
    "no name is local": a_part(expressions, "local_names", lambda definition: frozenset(), None),
    "a generator sees old values": a_part(expressions, "generator", unchanged, None),
    "an iterator is used twice": a_part(OnceItems, "use", as_often_as_wanted, None),
    "a position past the end is the last": a_part(containers, "_positions", last_stays, Operation.INDEX),
    "-1 is the last slot": a_part(containers, "_positions", from_the_capacity, Operation.INDEX),
    "every position is the first": a_part(containers, "_positions", first_position, None),
    "a position that is None is -1": a_rule(Operation.INDEX, unchecked_position, (K.FIFO,), (K.OPTIONAL_NUMBER,)),
    "a negative end is 0": a_part(containers, "end_of_slice", end_is_not_wrapped, None),
    "free slots of a part keep their values": a_part(containers, "_made", keeps_free_slots, None),
    "a part fills its slots": a_part(containers, "_made", of_full_length, None),
    "a part is the whole": a_part(containers, "part", lambda m, queue, lower, upper: queue, None),
    "a sum is one of both": a_rule(Operation.ADD, is_the_first, (K.FIFO,), (K.FIFO, K.LIST)),
    "a sum has no capacity": a_part(containers, "_must_have_room", lambda m, shape, size: None, Operation.ADD),
    "what is stored in a queue has no range": a_part(containers, "_fitting", not_checked, None),
    "a queue is stored in another one as it is": a_rule(
        Operation.STORE_FIFO, lambda m, r, v, **more: r(m, containers.part(m, v, None, 1), **more), (K.FIFO,)
    ),
    "reversed of a queue is not": a_part(containers, "backwards", lambda m, queue: queue, None),
    "enumerate and zip go past the end": a_part(calls, "_numbered_rounds", all_slots, None),
    "an element is written to the first slot": a_part(statements, "store_element", stores_first, None),
    "a set of records is always true": a_rule(Operation.TRUTH, true, (K.RECORD_SET,)),
    "sets of records are never equal": a_rule(Operation.EQUAL, false, (K.RECORD_SET,), (K.RECORD_SET, K.SET)),
    "a proper subset of records is a subset": a_rule(Operation.ORDER, lenient, (K.RECORD_SET,), (K.RECORD_SET,)),
    "a set holds no record": a_rule(Operation.CONTAINS, false, (K.RECORD_SET,), (K.RECORD,)),
    "None is in a set of records": a_rule(Operation.CONTAINS, true, (K.RECORD_SET,), (K.NONE,)),
    "- of sets of records is swapped": a_rule(Operation.SUBTRACT, swapped, (K.RECORD_SET,), (K.RECORD_SET,)),
    "^ of records is -": a_rule(
        Operation.XOR,
        lambda m, r, a, b: RIGHT[Operation.SUBTRACT][K.RECORD_SET, K.SET](m, a, b),
        (K.RECORD_SET,),
        (K.SET,),
    ),
    "equal records are counted twice": a_part(sets, "size_of", counts_twice, Operation.LENGTH),
    "a loop misses the last record": (None, a_rule(Operation.ITERATE, all_but_last, (K.RECORD_SET,))[1]),
    "a loop takes records backwards": (
        None,
        a_rule(Operation.ITERATE, lambda m, r, v: r(m, v)[::-1], (K.RECORD_SET,))[1],
    ),
    "add changes nothing": a_part(sets, "after_add", stays, None),
    "discard changes nothing": a_part(sets, "after_discard", stays, None),
    "a bounded set is in the order of its changes": a_part(sets, "_less", lambda m, *_: m.terms.true, None),
    "a bounded set holds a record twice": a_part(sets, "_inserted", keeps_twice, None),
    "a bounded set has no bound": a_part(sets, "_refuse_over", lambda *_: None, None),
    "a set in the state holds all that it can": a_rule(Operation.STORE_RECORD_SET, holds_all, (K.SET, K.RECORD_SET)),
    "remove of what is not there is no error": an_operation("remove", containers.discard),
    "clear changes nothing": an_operation("clear", lambda m, reference: None),
    "update replaces what is there": an_operation("update", replaces),
    "a list has its absent items, too": a_part(containers, "numbered", with_absent_items, None),
    "a list begins with its absent items": a_part(containers, "numbered", the_first_ones, None),
    "an element of a list of varying length is the first": a_rule(
        Operation.INDEX, lambda m, r, v, index: r(m, v, 0), (K.VARYING,), NUMBERS
    ),
    "a position past the end of a list of varying length is no error": a_part(
        containers, "_places", without_errors, Operation.INDEX
    ),
    "a part of a list is the whole": a_part(calls, "part", lambda m, sequence, lower, upper: sequence, None),
    "a choice between lists is the first": a_part(Values, "_choose_varying", lambda self, condition, a, b: a, None),
    "a range includes its stop": (None, lambda patch: patch.setitem(calls.BUILTINS, range, to_the_stop)),
    "a range begins at 0": (None, lambda patch: patch.setitem(calls.BUILTINS, range, from_zero)),
    "a loop reads its list at first": (None, a_rule(Operation.ITERATE, some_rounds_late, (K.LIST, K.ARRAY))[1]),
}
"""Each wrong rule by its effect: the operation whose snippets show it (None: those with locals), and what plants it."""


@pytest.fixture(scope="module")
def bench_of(tmp_path_factory):
    made: dict[Operation | None, tuple[list[Snippet], Bench]] = {}

    def make(operation: Operation | None) -> tuple[list[Snippet], Bench]:
        if operation not in made:
            found = [Snippet(None, (), body) for body in LOCALS] if operation is None else list(snippets([operation]))
            module = written(tmp_path_factory.mktemp("planted"), HELPERS + source_text(found))
            made[operation] = found, Bench(model_of(module), module)
        return made[operation]

    return make


@pytest.fixture(scope="module")
def states(bench_of):
    return random_states(bench_of(None)[1].model, 25, seed=13)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("wrong", PLANTED)
def test_a_planted_wrong_rule_is_caught(wrong, bench_of, states, monkeypatch):
    operation, plant = PLANTED[wrong]
    found, bench = bench_of(operation)
    plant(monkeypatch)
    bench.terms = Terms()  # nothing that was lifted by right rules
    ruled = [n for n, snippet in enumerate(found) if operation is None or snippet.kinds in RULES[operation]]
    assert any(bench.difference(number, states) for number in ruled), f"not detected: {wrong}"


def test_without_a_planted_mistake_locals_agree_or_are_refused(bench_of, states):
    found, bench = bench_of(None)
    bench.terms = Terms()
    assert [bench.difference(number, states) for number, _ in enumerate(found)] == [None] * len(found)
    refused = []
    for number, snippet in enumerate(found):
        try:
            bench.lifted(number)
        except LiftError:
            refused.append(snippet.body.split("\n", maxsplit=1)[0])
    assert refused == ["LIM = LIM + 1", "a = (1, 2)", "g = (n for n in (1, 2))"]
