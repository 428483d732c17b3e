"""Comparisons and arithmetic: operators with two values."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from enum import Enum
from typing import Any

from kwalk.model.language.binding import Domain, Flag
from kwalk.model.language.lift.access import children, enum_like
from kwalk.model.language.lift.comprehensions import items_of
from kwalk.model.language.lift.machine import SymbolicMachine
from kwalk.model.language.lift.objects import LeafCell
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import (
    Bool,
    Int,
    Reference,
    Refused,
    Set,
    SortedItems,
    describe,
    int_value,
    is_scalar,
)

# Comparisons.


def compare(m: SymbolicMachine, op: ast.cmpop, left: Any, right: Any) -> Term:
    """Return the term of one comparison."""
    if isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        if isinstance(op, (ast.Is, ast.IsNot)) and not _is_comparable(left, right):
            raise Refused("`is` between values that are not None, a truth value or an Enum member", "==")
        same = equal(m, left, right)
        return m.terms.negation(same) if isinstance(op, (ast.NotEq, ast.IsNot)) else same
    if isinstance(op, (ast.In, ast.NotIn)):
        inside = contains(m, right, left)
        return m.terms.negation(inside) if isinstance(op, ast.NotIn) else inside
    return _order(m, op, left, right)


def _is_comparable(left: Any, right: Any) -> bool:
    return any(side is None or isinstance(side, (bool, Bool)) or enum_like(side) for side in (left, right))


def equal(m: SymbolicMachine, left: Any, right: Any) -> Term:
    """Return the term of Python's ==, also between objects of the state."""
    if isinstance(left, Flag) or isinstance(right, Flag):
        return m.terms.boolean(left == right)
    is_sorted = isinstance(left, SortedItems) or isinstance(right, SortedItems)
    if not is_sorted and (isinstance(left, Reference) or isinstance(right, Reference)):
        return equal_objects(m, left, right)
    return m.values.equal(left, right)


def equal_objects(m: SymbolicMachine, left: Any, right: Any) -> Term:
    """Return whether two mutable objects have equal content; false if they are of different kinds."""
    if not (isinstance(left, Reference) and isinstance(right, Reference)):
        return m.terms.false
    cases = []
    for a_holds, a in left.options:
        for b_holds, b in right.options:
            cases.append(m.terms.conjunction((a_holds, b_holds, _same_content(m, a, b))))
    return m.terms.disjunction(cases)


def _same_content(m: SymbolicMachine, a: Any, b: Any) -> Term:
    if isinstance(a, LeafCell) and isinstance(b, LeafCell):
        return m.values.equal(m.now.store[a.key], m.now.store[b.key])
    if type(a) is not type(b) or getattr(a, "cls", None) is not getattr(b, "cls", None):
        return m.terms.false
    pairs = list(zip(children(a), children(b), strict=False))
    if len(children(a)) != len(children(b)):
        return m.terms.false
    return m.terms.conjunction(_same_content(m, x, y) for x, y in pairs)


def _order(m: SymbolicMachine, op: ast.cmpop, left: Any, right: Any) -> Term:
    if isinstance(left, (Set, frozenset, set)) and isinstance(right, (Set, frozenset, set)):
        return _subset(m, op, left, right)
    for side in (left, right):
        if not is_scalar(side):
            raise Refused(f"{describe(side)} is compared by size", "compare numbers or sets")
        m.error(m.values.is_none(side), "None is compared by size")
    a, b = m.values.number(left), m.values.number(right)
    if isinstance(op, ast.Lt):
        return m.terms.less(a, b)
    if isinstance(op, ast.Gt):
        return m.terms.less(b, a)
    return m.terms.negation(m.terms.less(b, a) if isinstance(op, ast.LtE) else m.terms.less(a, b))


def _subset(m: SymbolicMachine, op: ast.cmpop, left: Any, right: Any) -> Term:
    small, large = (left, right) if isinstance(op, (ast.Lt, ast.LtE)) else (right, left)
    x, y, t = m.values.as_set(small).members, m.values.as_set(large).members, m.terms
    inside = t.conjunction(t.disjunction((t.negation(c), y.get(k, t.false))) for k, c in x.items())
    if isinstance(op, (ast.LtE, ast.GtE)):
        return inside
    return t.conjunction((inside, t.negation(m.values.equal(small, large))))


def contains(m: SymbolicMachine, container: Any, item: Any) -> Term:
    """Return the term of Python's `item in container`."""
    t = m.terms
    if isinstance(container, Domain):
        container = range(len(container))
    if isinstance(container, range) and isinstance(item, (Int, int)):
        return t.disjunction(m.values.equal(item, n) for n in container)
    if isinstance(container, (Set, frozenset, set)):
        if item is None:
            return t.boolean(isinstance(container, (frozenset, set)) and None in container)
        if isinstance(container, (frozenset, set)) and not all(type(c) is int for c in container):
            return t.disjunction(m.values.equal(item, member) for member in container)
        members = m.values.as_set(container).members
        return t.disjunction(t.conjunction((c, m.values.equal(item, n))) for n, c in members.items())
    return t.disjunction(t.conjunction((c, equal(m, value, item))) for c, value in items_of(m, container))


# Operators with a value.


SET_OPERATIONS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.Sub: operator.sub, ast.BitXor: operator.xor,
}  # fmt: skip


def binary(m: SymbolicMachine, op: type[ast.operator], left: Any, right: Any) -> Any:
    """Return the result of a binary operator on sets, tuples or numbers."""
    sets = (Set, frozenset, set)
    if isinstance(left, sets) and isinstance(right, sets) and op in SET_OPERATIONS:
        return _combine_sets(m, op, left, right)
    if op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    return arithmetic(m, op, left, right)


def _combine_sets(m: SymbolicMachine, op: type[ast.operator], left: Any, right: Any) -> Set:
    x, y, t = m.values.as_set(left).members, m.values.as_set(right).members, m.terms
    operations: dict[type[ast.operator], Callable[[Term, Term], Term]] = {
        ast.BitOr: lambda a, b: t.disjunction((a, b)),
        ast.BitAnd: lambda a, b: t.conjunction((a, b)),
        ast.Sub: lambda a, b: t.conjunction((a, t.negation(b))),
        ast.BitXor: lambda a, b: t.negation(t.equal(a, b)),
    }
    keys = sorted({*x, *y})
    return Set({k: operations[op](x.get(k, t.false), y.get(k, t.false)) for k in keys})


def arithmetic(m: SymbolicMachine, op: type[ast.operator], left: Any, right: Any) -> Any:
    """Return the result of +, -, *, // or % on numbers; the last three with a constant on one side."""
    for side in (left, right):
        if not is_scalar(side) or isinstance(side, Enum) or getattr(side, "enum", None):
            raise Refused(f"arithmetic on {describe(side)}", "numbers, truth values or sets")
        m.error(m.values.is_none(side), "arithmetic on None")
    a, b, t = m.values.number(left), m.values.number(right), m.terms
    if op is ast.Add:
        return int_value(t.add(a, b))
    if op is ast.Sub:
        return int_value(t.subtract(a, b))
    if op is ast.Mult and "int" in (a.op, b.op):
        return int_value(t.times(b, a.payload) if a.op == "int" else t.times(a, b.payload))
    if op in (ast.FloorDiv, ast.Mod) and b.op == "int" and b.payload > 0:
        return int_value(t.quotient(a, b.payload) if op is ast.FloorDiv else t.remainder(a, b.payload))
    what = f"the operator {op.__name__} on two numbers that the state decides"
    raise Refused(what, "+ or -, or a constant on one side")
