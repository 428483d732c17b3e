"""Comparisons and arithmetic: operators with one or two operands."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from kwalk.model.language.binding import Domain, Flag
from kwalk.model.language.errors import KwalkError
from kwalk.model.language.lift import calls, containers, sets
from kwalk.model.language.lift.access import children
from kwalk.model.language.lift.comprehensions import items_of
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import kind_of
from kwalk.model.language.lift.machine import SymbolicMachine
from kwalk.model.language.lift.objects import ArrayObject, FifoObject, LeafCell, SetObject
from kwalk.model.language.lift.rules import ARITHMETIC, DATA, RECORDS, SCALARS, Operation, apply, refusal, rule
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import MOST, Reference, Refused, Set, VaryingItems, digits, enum_of, int_value

# Comparisons.

ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def compare(m: SymbolicMachine, op: ast.cmpop, left: Any, right: Any) -> Term:
    """Return the term of one comparison."""
    if isinstance(op, ORDERS):
        ordered: Term = apply(m, Operation.ORDER, left, right, op=op)
        return ordered
    if isinstance(op, (ast.In, ast.NotIn)):
        found: Term = apply(m, Operation.CONTAINS, right, left)
    elif isinstance(op, (ast.Is, ast.IsNot)):
        found = apply(m, Operation.IS, left, right)
    else:
        found = equal(m, left, right)
    return m.terms.negation(found) if isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn)) else found


def equal(m: SymbolicMachine, left: Any, right: Any) -> Term:
    """Return the term of Python's ==."""
    term: Term = apply(m, Operation.EQUAL, left, right)
    return term


@rule(Operation.EQUAL, DATA, DATA)
@rule(Operation.EQUAL, (K.VARYING,), DATA)
@rule(Operation.EQUAL, DATA, (K.VARYING,))
def _equal_unlike(m: SymbolicMachine, left: Any, right: Any) -> Term:
    """Values of kinds for which there is no other rule are never equal, as a set and a tuple."""
    return m.terms.false


@rule(Operation.EQUAL, (*SCALARS, *RECORDS), (*SCALARS, *RECORDS))
@rule(Operation.EQUAL, (K.SET,), (K.SET,))
def _equal_values(m: SymbolicMachine, left: Any, right: Any) -> Term:
    return m.values.equal(left, right)


@rule(Operation.EQUAL, (K.RECORD_SET,), (K.SET, K.RECORD_SET))
@rule(Operation.EQUAL, (K.SET,), (K.RECORD_SET,))
def _equal_sets(m: SymbolicMachine, left: Any, right: Any) -> Term:
    return m.values.equal(sets.content(m, left), sets.content(m, right))


@rule(Operation.EQUAL, (K.TUPLE,), (K.TUPLE,))
def _equal_tuples(m: SymbolicMachine, left: Any, right: Any) -> Term:
    if len(left) != len(right):
        return m.terms.false
    return m.terms.conjunction(equal(m, x, y) for x, y in zip(left, right, strict=True))


@rule(Operation.EQUAL, (K.VARYING,), (K.VARYING, K.LIST, K.TUPLE, K.RANGE, K.ARRAY, K.FIFO))
@rule(Operation.EQUAL, (K.LIST, K.TUPLE, K.RANGE, K.ARRAY, K.FIFO), (K.VARYING,))
@rule(Operation.EQUAL, (K.ARRAY, K.FIFO), (K.LIST, K.TUPLE))
@rule(Operation.EQUAL, (K.LIST, K.TUPLE), (K.ARRAY, K.FIFO))
def _equal_varying(m: SymbolicMachine, left: Any, right: Any) -> Term:
    """Compare the items of sequences, of which one has a length that depends on the state, or is of the state."""
    t, classes = m.terms, {_sequence_class(left), _sequence_class(right)}
    if len(classes) > 1 and (Reference not in classes or range in classes):
        return t.false
    (size, first), (other, second) = (containers.numbered(m, items_of(m, one)) for one in (left, right))
    parts = [t.equal(size, other)]
    for index, (x, y) in enumerate(zip(first, second, strict=False)):
        is_beyond = m.simplify(t.negation(t.less(t.integer(index), size)))
        parts.append(t.disjunction((is_beyond, equal(m, x, y))))
    return t.conjunction(parts)


def _sequence_class(value: Any) -> type:
    """Return list, tuple or range; Reference for an Array or Fifo, which equals a list or tuple of its elements."""
    if isinstance(value, VaryingItems):
        return value.of
    if isinstance(value, Reference):
        return list if kind_of(value) is K.LIST else Reference
    return type(value)


@rule(Operation.EQUAL, (K.RANGE,), (K.RANGE,))
@rule(Operation.EQUAL, (K.TEXT,), (K.TEXT,))
def _equal_constants(m: SymbolicMachine, left: Any, right: Any) -> Term:
    return m.terms.boolean(left == right)


@rule(Operation.EQUAL, (K.SETTING,), (K.SETTING, K.TEXT))
@rule(Operation.EQUAL, (K.TEXT,), (K.SETTING,))
def _equal_settings(m: SymbolicMachine, left: Flag | str, right: Flag | str) -> Term:
    try:
        return m.terms.boolean(left == right)
    except KwalkError as problem:
        raise Refused(str(problem).rstrip("."), "one of the flag's settings") from None


@rule(Operation.EQUAL, (K.OBJECT,), (K.OBJECT,))
@rule(Operation.EQUAL, (K.ARRAY,), (K.ARRAY,))
@rule(Operation.EQUAL, (K.LIST,), (K.LIST,))
@rule(Operation.EQUAL, (K.FIFO,), (K.FIFO,))
@rule(Operation.EQUAL, (K.FRESH,), (K.FRESH,))
def _equal_objects(m: SymbolicMachine, left: Reference, right: Reference) -> Term:
    """Return whether two mutable objects have equal content."""
    cases = []
    for a_holds, a in left.options:
        for b_holds, b in right.options:
            cases.append(m.terms.conjunction((a_holds, b_holds, _same_content(m, a, b))))
    return m.terms.disjunction(cases)


def _same_content(m: SymbolicMachine, a: Any, b: Any) -> Term:
    if isinstance(a, LeafCell) and isinstance(b, LeafCell):
        return equal(m, m.now.store[a.key], m.now.store[b.key])
    if isinstance(a, SetObject) and isinstance(b, SetObject):
        one, other = (sets.content_of(m, node.shape, m.now.store[node.content.key]) for node in (a, b))
        return m.values.equal(one, other)
    if type(a) is not type(b) or getattr(a, "cls", None) is not getattr(b, "cls", None):
        return m.terms.false
    if isinstance(a, ArrayObject) and (a.shape is None) is not (b.shape is None):
        return m.terms.false
    if isinstance(a, FifoObject) and a.shape != b.shape:
        return _same_queue(m, a, b)
    pairs = list(zip(children(a), children(b), strict=False))
    if len(children(a)) != len(children(b)):
        return m.terms.false
    return m.terms.conjunction(_same_content(m, x, y) for x, y in pairs)


def _same_queue(m: SymbolicMachine, a: FifoObject, b: FifoObject) -> Term:
    """Compare queues of unlike capacity or elements slot by slot: a free slot holds the default of its own shape."""
    t = m.terms
    size, other = (m.values.number(m.now.store[fifo.length.key]) for fifo in (a, b))
    parts = [t.equal(size, other)]
    for index, (x, y) in enumerate(zip(a.slots, b.slots, strict=False)):
        is_free = t.negation(t.less(t.integer(index), size))
        parts.append(t.disjunction((is_free, _same_content(m, x, y))))
    return t.conjunction(parts)


@rule(Operation.ORDER, ARITHMETIC, ARITHMETIC)
def _order_numbers(m: SymbolicMachine, left: Any, right: Any, *, op: ast.cmpop) -> Term:
    for side in (left, right):
        m.error(m.values.is_none(side), "None is compared by size")
    a, b = m.values.number(left), m.values.number(right)
    if isinstance(op, ast.Lt):
        return m.terms.less(a, b)
    if isinstance(op, ast.Gt):
        return m.terms.less(b, a)
    return m.terms.negation(m.terms.less(b, a) if isinstance(op, ast.LtE) else m.terms.less(a, b))


@rule(Operation.ORDER, (K.SET,), (K.SET,))
def _order_sets(m: SymbolicMachine, left: Any, right: Any, *, op: ast.cmpop) -> Term:
    return _subset(m, op, left, right)


def _subset(m: SymbolicMachine, op: ast.cmpop, left: Any, right: Any) -> Term:
    small, large = (left, right) if isinstance(op, (ast.Lt, ast.LtE)) else (right, left)
    inside, t = m.values.subset(small, large), m.terms
    if isinstance(op, (ast.LtE, ast.GtE)):
        return inside
    return t.conjunction((inside, t.negation(m.values.equal(small, large))))


# Membership.


@rule(Operation.CONTAINS, (K.DOMAIN, K.RANGE), SCALARS)
def _in_range(m: SymbolicMachine, container: Domain | range, item: Any) -> Term:
    m.count_rounds(len(container))
    return m.terms.disjunction(m.values.equal(item, n) for n in container)


@rule(Operation.CONTAINS, (K.SET, K.RECORD_SET), (*SCALARS, *RECORDS))
@rule(Operation.CONTAINS, (K.SET,), (K.SET,))
def _in_set(m: SymbolicMachine, container: Any, item: Any) -> Term:
    return m.values.in_set(item, sets.content(m, container))


@rule(Operation.CONTAINS, (K.SET, K.RECORD_SET), (K.TUPLE,))
def _tuple_in_set(m: SymbolicMachine, container: Any, item: tuple[Any, ...]) -> Term:
    return m.values.in_set(sets.hashable(m, item), sets.content(m, container))


@rule(Operation.CONTAINS, (K.ENUM_CLASS,), (K.MEMBER,))
def _in_enum(m: SymbolicMachine, container: type, item: Any) -> Term:
    return m.terms.boolean(enum_of(item) is container)


@rule(Operation.CONTAINS, (K.TUPLE, K.LIST, K.ARRAY, K.FIFO, K.VARYING), DATA)
def _in_items(m: SymbolicMachine, container: Any, item: Any) -> Term:
    t = m.terms
    return t.disjunction(t.conjunction((c, equal(m, value, item))) for c, value in items_of(m, container))


def contains(m: SymbolicMachine, container: Any, item: Any) -> Term:
    """Return the term of Python's `item in container`."""
    term: Term = apply(m, Operation.CONTAINS, container, item)
    return term


# Operators with a value.


OPERATIONS: dict[type[ast.operator], Operation] = {
    ast.Add: Operation.ADD,
    ast.Sub: Operation.SUBTRACT,
    ast.Mult: Operation.MULTIPLY,
    ast.FloorDiv: Operation.DIVIDE,
    ast.Mod: Operation.REMAINDER,
    ast.Pow: Operation.POWER,
    ast.LShift: Operation.SHIFT_LEFT,
    ast.RShift: Operation.SHIFT_RIGHT,
    ast.BitAnd: Operation.AND,
    ast.BitOr: Operation.OR,
    ast.BitXor: Operation.XOR,
}


def binary(m: SymbolicMachine, op: type[ast.operator], left: Any, right: Any) -> Any:
    """Return the result of a binary operator."""
    if op not in OPERATIONS:
        raise Refused(f"the operator {op.__name__}", "`//`, which rounds down" if op is ast.Div else "+, -, *, // or %")
    return apply(m, OPERATIONS[op], left, right)


@rule(Operation.ADD, (K.TUPLE,), (K.TUPLE,))
def _concatenate(m: SymbolicMachine, left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    m.count_rounds(len(left) + len(right))
    return left + right


@rule(Operation.ADD, (K.LIST,), (K.LIST, K.VARYING))
@rule(Operation.ADD, (K.TUPLE,), (K.VARYING,))
@rule(Operation.ADD, (K.VARYING,), (K.LIST, K.TUPLE, K.VARYING))
def _join(m: SymbolicMachine, left: Any, right: Any) -> Any:
    """Return a new list or tuple with the items of two. Its length depends on the state if that of one does."""
    cls = _sequence_class(left)
    if cls is range or _sequence_class(right) is not cls:
        raise refusal(Operation.ADD, (left, right), (kind_of(left), kind_of(right)))
    found = [*items_of(m, left), *items_of(m, right)]
    return calls.tuple_of(m, found) if cls is tuple else calls.list_of(m, found)


def _combining(op: type[ast.operator]) -> None:
    @rule(OPERATIONS[op], (K.SET,), (K.SET,))
    def combine(m: SymbolicMachine, left: Any, right: Any) -> Set:
        return sets.combined(m, OPERATIONS[op], left, right)


for _op in (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor):
    _combining(_op)


def numbers(m: SymbolicMachine, *operands: Any) -> list[Term]:
    """Return the int terms of operands of arithmetic; None is an error."""
    for operand in operands:
        m.error(m.values.is_none(operand), "arithmetic on None")
    return [m.values.number(operand) for operand in operands]


@rule(Operation.ADD, ARITHMETIC, ARITHMETIC)
def _add(m: SymbolicMachine, left: Any, right: Any) -> Any:
    a, b = numbers(m, left, right)
    return int_value(m.terms.add(a, b))


@rule(Operation.SUBTRACT, ARITHMETIC, ARITHMETIC)
def _subtract(m: SymbolicMachine, left: Any, right: Any) -> Any:
    a, b = numbers(m, left, right)
    return int_value(m.terms.subtract(a, b))


@rule(Operation.MULTIPLY, ARITHMETIC, ARITHMETIC)
def _multiply(m: SymbolicMachine, left: Any, right: Any) -> Any:
    a, b = numbers(m, left, right)
    if "int" not in (a.op, b.op):
        raise Refused("* of two numbers that the state decides", "+ or -, or a constant on one side")
    return int_value(m.terms.times(b, a.payload) if a.op == "int" else m.terms.times(a, b.payload))


@rule(Operation.DIVIDE, ARITHMETIC, ARITHMETIC)
def _divide(m: SymbolicMachine, left: Any, right: Any) -> Any:
    a, divisor = _dividend(m, left, right, "//")
    return int_value(m.terms.quotient(a, divisor))


@rule(Operation.REMAINDER, ARITHMETIC, ARITHMETIC)
def _remainder(m: SymbolicMachine, left: Any, right: Any) -> Any:
    b = m.values.number(right)
    a, divisor = _dividend(m, left, right, "%")
    found = m.terms.remainder(a, divisor)
    is_negative = b.op == "int" and b.payload < 0
    return int_value(m.terms.subtract(m.terms.integer(0), found) if is_negative else found)


def _dividend(m: SymbolicMachine, left: Any, right: Any, op: str) -> tuple[Term, int]:
    """Return a dividend and a positive divisor with the same quotient; both are negated if the divisor is negative."""
    a, b = numbers(m, left, right)
    if b.op != "int":
        raise Refused(f"{op} by a number that the state decides", "a constant as the divisor")
    if b.payload == 0:
        m.error(m.terms.true, f"{op} by 0")
        return a, 1
    return (a, b.payload) if b.payload > 0 else (m.terms.subtract(m.terms.integer(0), a), -b.payload)


CONSTANT_OPERATIONS: dict[Operation, Callable[[int, int], int]] = {
    Operation.POWER: operator.pow,
    Operation.SHIFT_LEFT: operator.lshift,
    Operation.SHIFT_RIGHT: operator.rshift,
    Operation.AND: operator.and_,
    Operation.OR: operator.or_,
    Operation.XOR: operator.xor,
}
"""Operators that have a rule for constants only."""
LARGEST_EXPONENT = 62


def _of_constants(operation: Operation, function: Callable[[int, int], int]) -> None:
    @rule(operation, (K.NUMBER,), (K.NUMBER,))
    def fold(m: SymbolicMachine, left: Any, right: Any) -> int:
        if type(left) is not int or type(right) is not int:
            what = operation.value.phrase.format("a number that the state decides", "another number")
            raise Refused(what, "constants on both sides, or +, -, * with a constant, // and %")
        bounded = operation in (Operation.AND, Operation.OR, Operation.XOR)
        if not bounded and not 0 <= right <= LARGEST_EXPONENT:
            raise Refused(f"the exponent or shift {digits(right)}", f"one from 0 to {LARGEST_EXPONENT}")
        result = function(left, right)
        if abs(result) > MOST:
            raise Refused(f"the number {digits(result)}", f"numbers from -{MOST:,} to {MOST:,}")
        return result


for _operation, _function in CONSTANT_OPERATIONS.items():
    _of_constants(_operation, _function)


@rule(Operation.NEGATE, ARITHMETIC)
def _negate(m: SymbolicMachine, value: Any) -> Any:
    (a,) = numbers(m, value)
    return int_value(m.terms.subtract(m.terms.integer(0), a))


@rule(Operation.PLUS, ARITHMETIC)
@rule(Operation.INT, ARITHMETIC)
def _plus(m: SymbolicMachine, value: Any) -> Any:
    (a,) = numbers(m, value)
    return int_value(a)


@rule(Operation.ABS, ARITHMETIC)
def _abs(m: SymbolicMachine, value: Any) -> Any:
    (a,) = numbers(m, value)
    below = m.terms.less(a, m.terms.integer(0))
    return int_value(m.terms.choose(below, m.terms.subtract(m.terms.integer(0), a), a))
