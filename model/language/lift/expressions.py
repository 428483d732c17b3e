"""Expressions: one small function per construct, in the order of Python's own reference."""
from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from model.language.binding import Domain, Flag
from model.language.lift import calls
from model.language.lift.machine import Machine, Unreachable
from model.language.lift.objects import ArrayObject, FifoObject
from model.language.lift.places import attribute, constant, element, enum_like, known
from model.language.lift.terms import Term
from model.language.lift.values import (
    Bool,
    Int,
    Reference,
    Refused,
    Set,
    bool_value,
    describe,
    int_value,
    is_scalar,
)


def evaluate(m: Machine, node: ast.expr) -> Any:
    """The value of an expression here."""
    rule = EXPRESSIONS.get(type(node))
    try:
        if rule is None:
            what = f"the construct {type(node).__name__} ({ast.unparse(node)[:60]!r})"
            raise Refused(what, ADVICE.get(type(node), USUAL))
        return rule(m, node)
    except Refused as problem:
        raise m.locate(node, problem) from None


USUAL = "one of the constructs that docs/reference/language.md lists"
ADVICE: dict[type[ast.expr], str] = {
    ast.Lambda: "a named function at module level",
    ast.JoinedStr: "no text at all: labels belong in `says=`",
    ast.NamedExpr: "an assignment in a statement of its own",
    ast.Dict: "an Array over a domain, or a tuple",
    ast.DictComp: "an Array over a domain, or a list comprehension",
    ast.Await: "an ordinary call",
    ast.Yield: "a list or tuple",
    ast.Starred: "the arguments written out",
}


def _constant(m: Machine, node: ast.Constant) -> Any:
    return node.value


def _name(m: Machine, node: ast.Name) -> Any:
    local = m.now.local
    if node.id in local:
        return known(m, local[node.id])
    function: Any = m.frames[-1].function
    if node.id in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(node.id)]
        return constant(cell.cell_contents)
    if node.id in function.__globals__:
        return constant(function.__globals__[node.id])
    if hasattr(builtins, node.id):
        return getattr(builtins, node.id)
    raise Refused(f"the name {node.id!r} has no value here", "assign it on every path that leads here")


def _attribute(m: Machine, node: ast.Attribute) -> Any:
    owner = evaluate(m, node.value)
    found = attribute(m, owner, node.attr)
    return calls.property_value(m, found)


def _subscript(m: Machine, node: ast.Subscript) -> Any:
    if isinstance(node.slice, ast.Slice):
        return _slice(m, node)
    return element(m, evaluate(m, node.value), evaluate(m, node.slice))


def _slice(m: Machine, node: ast.Subscript) -> Any:
    owner = evaluate(m, node.value)
    assert isinstance(node.slice, ast.Slice)
    parts = (node.slice.lower, node.slice.upper, node.slice.step)
    ends = [None if part is None else evaluate(m, part) for part in parts]
    if isinstance(owner, tuple) and all(end is None or type(end) is int for end in ends):
        return owner[slice(*ends)]
    raise Refused("a slice", "a tuple with constant ends, or a comprehension over indexes")


# Operators.


def _not(m: Machine, node: ast.UnaryOp) -> Any:
    operand = evaluate(m, node.operand)
    if isinstance(node.op, ast.Not):
        return bool_value(m.terms.negation(m.settle(m.values.truth(operand))))
    if isinstance(node.op, ast.USub):
        return arithmetic(m, ast.Sub, 0, operand)
    raise Refused(f"the operator {type(node.op).__name__}", "not, -, +, *, // or %")


def _boolean(m: Machine, node: ast.BoolOp) -> Any:
    """`and` and `or`: every operand but the first is evaluated where Python would evaluate it."""
    first, *rest = node.values
    value = evaluate(m, first)
    for index, _ in enumerate(rest):
        return _and_or(m, node, value, rest[index:])
    return value


def _and_or(m: Machine, node: ast.BoolOp, value: Any, rest: list[ast.expr]) -> Any:
    if not rest:
        return value
    truth = m.settle(m.values.truth(value))
    goes_on = truth if isinstance(node.op, ast.And) else m.terms.negation(truth)
    if goes_on is m.terms.false:
        return value
    if goes_on is m.terms.true:
        return _and_or(m, node, evaluate(m, rest[0]), rest[1:])
    with m.assuming(goes_on):
        other = _and_or(m, node, evaluate(m, rest[0]), rest[1:])
    if isinstance(value, (bool, Bool)) and isinstance(other, (bool, Bool)):
        both = m.terms.conjunction if isinstance(node.op, ast.And) else m.terms.disjunction
        return bool_value(both((m.values.truth(value), m.values.truth(other))))
    return m.values.choose(goes_on, other, value)


def _conditional(m: Machine, node: ast.IfExp) -> Any:
    test = m.settle(m.values.truth(evaluate(m, node.test)))
    if test.op == "bool":
        return evaluate(m, node.body if test.payload else node.orelse)
    with m.assuming(test):
        body = evaluate(m, node.body)
    with m.assuming(m.terms.negation(test)):
        orelse = evaluate(m, node.orelse)
    return m.values.choose(test, body, orelse)


def _compare(m: Machine, node: ast.Compare) -> Any:
    """A chain of comparisons: each operand once, later ones where the earlier comparisons were true."""
    left = evaluate(m, node.left)
    return bool_value(_chain(m, left, list(zip(node.ops, node.comparators, strict=True))))


def _chain(m: Machine, left: Any, links: list[tuple[ast.cmpop, ast.expr]]) -> Term:
    (op, right_node), *rest = links
    right = evaluate(m, right_node)
    first = m.settle(compare(m, op, left, right))
    if not rest or first is m.terms.false:
        return first
    with m.assuming(first):
        others = _chain(m, right, rest)
    return m.terms.conjunction((first, others))


def compare(m: Machine, op: ast.cmpop, left: Any, right: Any) -> Term:
    """One comparison."""
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


def equal(m: Machine, left: Any, right: Any) -> Term:
    """Python's ==, also between objects of the state."""
    if isinstance(left, Flag) or isinstance(right, Flag):
        return m.terms.boolean(left == right)
    if isinstance(left, Reference) or isinstance(right, Reference):
        return calls.equal_objects(m, left, right)
    return m.values.equal(left, right)


def _order(m: Machine, op: ast.cmpop, left: Any, right: Any) -> Term:
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


def _subset(m: Machine, op: ast.cmpop, left: Any, right: Any) -> Term:
    small, large = (left, right) if isinstance(op, (ast.Lt, ast.LtE)) else (right, left)
    x, y, t = m.values.as_set(small).members, m.values.as_set(large).members, m.terms
    inside = t.conjunction(t.disjunction((t.negation(c), y.get(k, t.false))) for k, c in x.items())
    if isinstance(op, (ast.LtE, ast.GtE)):
        return inside
    return t.conjunction((inside, t.negation(m.values.equal(small, large))))


def contains(m: Machine, container: Any, item: Any) -> Term:
    """Python's `item in container`."""
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


def _binary(m: Machine, node: ast.BinOp) -> Any:
    return binary(m, type(node.op), evaluate(m, node.left), evaluate(m, node.right))


SET_OPERATIONS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.Sub: operator.sub, ast.BitXor: operator.xor,
}  # fmt: skip


def binary(m: Machine, op: type[ast.operator], left: Any, right: Any) -> Any:
    """A binary operator on sets, tuples or numbers."""
    sets = (Set, frozenset, set)
    if isinstance(left, sets) and isinstance(right, sets) and op in SET_OPERATIONS:
        return _combine_sets(m, op, left, right)
    if op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    return arithmetic(m, op, left, right)


def _combine_sets(m: Machine, op: type[ast.operator], left: Any, right: Any) -> Set:
    x, y, t = m.values.as_set(left).members, m.values.as_set(right).members, m.terms
    rules: dict[type[ast.operator], Callable[[Term, Term], Term]] = {
        ast.BitOr: lambda a, b: t.disjunction((a, b)),
        ast.BitAnd: lambda a, b: t.conjunction((a, b)),
        ast.Sub: lambda a, b: t.conjunction((a, t.negation(b))),
        ast.BitXor: lambda a, b: t.negation(t.equal(a, b)),
    }
    keys = sorted({*x, *y})
    return Set({k: rules[op](x.get(k, t.false), y.get(k, t.false)) for k in keys})


def arithmetic(m: Machine, op: type[ast.operator], left: Any, right: Any) -> Any:
    """+, -, *, // and % on numbers; the last three with a constant on one side."""
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


# Displays and comprehensions.


def _tuple(m: Machine, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(evaluate(m, item) for item in node.elts)


def _list(m: Machine, node: ast.List) -> Any:
    return calls.make_list(m, [evaluate(m, item) for item in node.elts])


def _set(m: Machine, node: ast.Set) -> Any:
    return calls.make_set(m, [(m.terms.true, evaluate(m, item)) for item in node.elts])


def _list_comprehension(m: Machine, node: ast.ListComp) -> Any:
    found = list(generate(m, node.generators, node.elt))
    if any(condition is not m.terms.true for condition, _ in found):
        raise Refused("a list whose length depends on the state", "a set comprehension, or any/all/sum with an `if`")
    return calls.make_list(m, [value for _, value in found])


def _set_comprehension(m: Machine, node: ast.SetComp) -> Any:
    return calls.make_set(m, list(generate(m, node.generators, node.elt)))


def _generator(m: Machine, node: ast.GeneratorExp) -> Any:
    return Generated(m, node)


class Generated:
    """A generator expression; the function that it is given to decides under what facts each item is evaluated."""

    def __init__(self, m: Machine, node: ast.GeneratorExp) -> None:
        self.m, self.node = m, node

    def items(self, stop: Callable[[Term, Any], Term] | None = None) -> Iterator[tuple[Term, Any]]:
        """Each item with the condition under which it is there. After an item where `stop` is true, none follows."""
        return generate(self.m, self.node.generators, self.node.elt, stop)


def generate(
    m: Machine, clauses: list[ast.comprehension], elt: ast.expr, stop: Callable[[Term, Any], Term] | None = None
) -> Iterator[tuple[Term, Any]]:
    """The items of a comprehension with their conditions, evaluated in a pure section."""
    over = m.terms.false
    found: list[tuple[Term, Any]] = []
    with m.assuming(m.terms.true):
        for condition, bindings in _clauses(m, clauses, m.terms.true):
            m.now.local.update(bindings)
            here = m.settle(m.terms.conjunction((condition, m.terms.negation(over))))
            if here is m.terms.false:
                continue
            with m.assuming(here):
                value = evaluate(m, elt)
            found.append((condition, value))
            if stop is not None:
                over = m.terms.disjunction((over, m.terms.conjunction((condition, stop(condition, value)))))
    yield from found


def _clauses(m: Machine, clauses: list[ast.comprehension], so_far: Term) -> Iterator[tuple[Term, dict[str, Any]]]:
    if not clauses:
        yield so_far, {}
        return
    clause, *rest = clauses
    for present, value in items_of(m, evaluate(m, clause.iter)):
        bindings = calls.bind_target(clause.target, value, m)
        m.now.local.update(bindings)
        condition = m.settle(m.terms.conjunction((so_far, present)))
        for test in clause.ifs:
            if condition is m.terms.false:
                break
            with m.assuming(condition):
                truth = m.values.truth(evaluate(m, test))
            condition = m.settle(m.terms.conjunction((condition, truth)))
        if condition is not m.terms.false:
            for inner, more in _clauses(m, rest, condition):
                yield inner, {**bindings, **more}


def items_of(m: Machine, iterable: Any) -> list[tuple[Term, Any]]:
    """What a loop over a value goes through, each item with the condition under which it is there."""
    true = m.terms.true
    if isinstance(iterable, Generated):
        return list(iterable.items())
    if isinstance(iterable, (Domain, range, tuple, list)):
        return [(true, constant(item)) for item in iterable]
    if isinstance(iterable, type) and issubclass(iterable, Enum):
        return [(true, member) for member in iterable]
    if isinstance(iterable, Reference) and isinstance(iterable.sample, ArrayObject):
        return [(true, element(m, iterable, index)) for index in range(len(iterable.sample.items))]
    if isinstance(iterable, Reference) and isinstance(iterable.sample, FifoObject):
        return calls.fifo_items(m, iterable)
    if isinstance(iterable, (Set, frozenset, set)):
        raise Refused("a loop over a set, whose order Python does not fix", "loop over its domain and test membership")
    raise Refused(f"a loop over {describe(iterable)}", "a Domain, range, tuple, list, Array, Fifo or Enum")


def _call(m: Machine, node: ast.Call) -> Any:
    function = evaluate_callee(m, node.func)
    for item in (*node.args, *(k.value for k in node.keywords if k.arg is None)):
        if isinstance(item, ast.Starred) or any(k.arg is None for k in node.keywords):
            raise Refused("* or ** in a call", "the arguments written out")
    args = [evaluate(m, item) for item in node.args]
    keywords = {str(k.arg): evaluate(m, k.value) for k in node.keywords}
    result = calls.call(m, function, args, keywords)
    if m.world is None:
        raise Unreachable
    return result


def evaluate_callee(m: Machine, node: ast.expr) -> Any:
    """What is called: for `a.b(…)` the method, without taking it for a property."""
    if isinstance(node, ast.Attribute):
        return attribute(m, evaluate(m, node.value), node.attr)
    return evaluate(m, node)


EXPRESSIONS: dict[type[ast.expr], Callable[[Machine, Any], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.UnaryOp: _not,
    ast.BoolOp: _boolean,
    ast.IfExp: _conditional,
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.ListComp: _list_comprehension,
    ast.SetComp: _set_comprehension,
    ast.GeneratorExp: _generator,
    ast.Call: _call,
}
