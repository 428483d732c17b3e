"""Expressions: one small function per construct, in the order of Python's own reference."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from kwalk.model.language.errors import close_to
from kwalk.model.language.lift import calls, containers, sets
from kwalk.model.language.lift.access import attribute, element, refine
from kwalk.model.language.lift.comprehensions import generate, generator, items_of
from kwalk.model.language.lift.kinds import ValueKind, admit, kind_of
from kwalk.model.language.lift.machine import Partial, SymbolicMachine, Unreachable, assigned_term
from kwalk.model.language.lift.operators import binary, compare
from kwalk.model.language.lift.rules import Operation, apply
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.truth import truth
from kwalk.model.language.lift.values import MIXED, OUTDATED, Bool, Mixed, Refused, VaryingItems, bool_value
from kwalk.model.language.source import local_names, source_of


def evaluate(m: SymbolicMachine, node: ast.expr) -> Any:
    """Return the value of an expression here."""
    handler = EXPRESSIONS.get(type(node))
    try:
        if handler is None:
            what = f"the construct {type(node).__name__} ({ast.unparse(node)[:60]!r})"
            raise Refused(what, ADVICE.get(type(node), USUAL))
        return handler(m, node)
    except Refused as problem:
        raise m.locate(node, problem) from None


USUAL = "one of the constructs that docs/reference/language.md lists"
ADVICE: dict[type[ast.expr], str] = {
    ast.Lambda: "a named function at module level; a lambda is only the `key` of min or max",
    ast.JoinedStr: "no text at all: labels belong in `description=`",
    ast.NamedExpr: "an assignment in a statement of its own",
    ast.Dict: "an Array over a domain, or a tuple",
    ast.DictComp: "an Array over a domain, or a list comprehension",
    ast.Await: "an ordinary call",
    ast.Yield: "a list or tuple",
    ast.Starred: "the arguments written out",
}


def _constant(m: SymbolicMachine, node: ast.Constant) -> Any:
    return admit(node.value)


def _name(m: SymbolicMachine, node: ast.Name) -> Any:
    local = m.now.local
    if node.id in local:
        return refine(m, _assigned(m, node.id, local[node.id]))
    function: Any = m.frames[-1].function
    if node.id in local_names(source_of(function)):
        raise Refused(f"the name {node.id!r} has no value here", "assign it on every path that leads here")
    if node.id in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(node.id)]
        try:
            return admit(cell.cell_contents)
        except ValueError:
            raise Refused(f"the name {node.id!r} has no value yet", "assign it before the function is used") from None
    if node.id in function.__globals__:
        return admit(function.__globals__[node.id])
    if hasattr(builtins, node.id):
        return admit(getattr(builtins, node.id))
    near = close_to(node.id, {**local, **function.__globals__})
    meant = f"{near}, if that is what is meant" if near else "assign it on every path that leads here"
    raise Refused(f"the name {node.id!r} has no value here", meant)


def _assigned(m: SymbolicMachine, name: str, value: Any) -> Any:
    """Return the value of a local variable; where the path taken did not assign it, Python raises an error."""
    if value is OUTDATED or (isinstance(value, Partial) and value.value is OUTDATED):
        what = f"{name!r} is read here, and what it refers to was changed under another name meanwhile"
        instead = f"a copy where {name!r} is assigned (`x[:]` of a Fifo, `tuple(x)`, `set(x)`) if it means what was "
        raise Refused(what, instead + "there then; the field's own name if it means what is there now")
    if not isinstance(value, Partial):
        return value
    has_value = assigned_term(m.terms, value.assigned)
    if m.simplify(has_value) is m.terms.false:
        raise Refused(f"the name {name!r} has no value here", "assign it on every path that leads here")
    m.error(m.terms.negation(has_value), f"the name {name!r} has no value, as no branch taken assigns it")
    return value.value


def _attribute(m: SymbolicMachine, node: ast.Attribute) -> Any:
    owner = evaluate(m, node.value)
    found = attribute(m, owner, node.attr)
    return calls.property_value(m, found)


def _subscript(m: SymbolicMachine, node: ast.Subscript) -> Any:
    if isinstance(node.slice, ast.Slice):
        return _slice(m, node)
    return element(m, evaluate(m, node.value), evaluate(m, node.slice))


def _slice(m: SymbolicMachine, node: ast.Subscript) -> Any:
    owner = evaluate(m, node.value)
    assert isinstance(node.slice, ast.Slice)
    parts = (node.slice.lower, node.slice.upper, node.slice.step)
    ends = [None if part is None else evaluate(m, part) for part in parts]
    if kind_of(owner) is ValueKind.FIFO:
        if ends[2] is not None and (type(ends[2]) is not int or ends[2] != 1):
            raise Refused("a slice of a Fifo with a step", "a loop over it, or over `reversed(…)` of it")
        return containers.part(m, owner, ends[0], ends[1])
    if isinstance(owner, (tuple, range)) and all(end is None or type(end) is int for end in ends) and ends[2] != 0:
        return owner[slice(*ends)]
    is_sequence = kind_of(owner) in (ValueKind.LIST, ValueKind.TUPLE, ValueKind.RANGE, ValueKind.VARYING)
    if is_sequence and (ends[2] is None or (type(ends[2]) is int and ends[2] == 1)):
        return calls.part(m, owner, ends[0], ends[1])
    instead = "a slice of a Fifo, list, tuple or range without a step; `list(a)[i:j]` of an Array; or a comprehension"
    raise Refused("a slice", instead)


# Operators.


UNARY: dict[type[ast.unaryop], Operation] = {ast.USub: Operation.NEGATE, ast.UAdd: Operation.PLUS}


def _unary(m: SymbolicMachine, node: ast.UnaryOp) -> Any:
    operand = evaluate(m, node.operand)
    if isinstance(node.op, ast.Not):
        return bool_value(m.terms.negation(m.simplify(truth(m, operand))))
    if type(node.op) in UNARY:
        return apply(m, UNARY[type(node.op)], operand)
    raise Refused(f"the operator {type(node.op).__name__}", "not, -, +, *, // or %")


def _boolean(m: SymbolicMachine, node: ast.BoolOp) -> Any:
    """`and` and `or`: every operand but the first is evaluated where Python would evaluate it."""
    first, *rest = node.values
    value = evaluate(m, first)
    for index, _ in enumerate(rest):
        return _and_or(m, node, value, rest[index:])
    return value


def _and_or(m: SymbolicMachine, node: ast.BoolOp, value: Any, rest: list[ast.expr]) -> Any:
    if not rest:
        return value
    is_true = m.simplify(truth(m, value))
    goes_on = is_true if isinstance(node.op, ast.And) else m.terms.negation(is_true)
    if goes_on is m.terms.false:
        return value
    if goes_on is m.terms.true:
        return _and_or(m, node, evaluate(m, rest[0]), rest[1:])
    with m.assuming(goes_on):
        other = _and_or(m, node, evaluate(m, rest[0]), rest[1:])
    if isinstance(value, (bool, Bool)) and isinstance(other, (bool, Bool)):
        both = m.terms.conjunction if isinstance(node.op, ast.And) else m.terms.disjunction
        return bool_value(both((truth(m, value), truth(m, other))))
    result = m.values.choose(goes_on, other, value)
    if result is MIXED:
        return Mixed(_truth_of_either(m, goes_on, other, value))
    return result


def _truth_of_either(m: SymbolicMachine, condition: Term, a: Any, b: Any) -> Term | None:
    """Return the truth value of one of two values without a common type; None if one of them has none."""
    try:
        return m.terms.choose(condition, truth(m, a), truth(m, b))
    except Refused:
        return None


def _conditional(m: SymbolicMachine, node: ast.IfExp) -> Any:
    test = m.simplify(truth(m, evaluate(m, node.test)))
    if test.op == "bool":
        return evaluate(m, node.body if test.payload else node.orelse)
    with m.assuming(test):
        body = evaluate(m, node.body)
    with m.assuming(m.terms.negation(test)):
        orelse = evaluate(m, node.orelse)
    result = m.values.choose(test, body, orelse)
    if result is MIXED:
        return m.values.choose(test, _unshared(m, node.body, body), _unshared(m, node.orelse, orelse))
    return result


def _unshared(m: SymbolicMachine, node: ast.expr, value: Any) -> Any:
    """Return a list without another name, which nothing changes, as one of varying length; other values as they are."""
    if kind_of(value) is not ValueKind.LIST or not _makes_new_list(node):
        return value
    return VaryingItems(tuple(items_of(m, value)))


def _makes_new_list(node: ast.expr) -> bool:
    """Return whether an expression that is a list makes a new one."""
    if isinstance(node, ast.IfExp):
        return _makes_new_list(node.body) and _makes_new_list(node.orelse)
    is_slice = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    return is_slice or isinstance(node, (ast.List, ast.ListComp, ast.BinOp))


def _compare(m: SymbolicMachine, node: ast.Compare) -> Any:
    """A chain of comparisons: each operand once, later ones where the earlier comparisons were true."""
    left = evaluate(m, node.left)
    return bool_value(_chain(m, left, list(zip(node.ops, node.comparators, strict=True))))


def _chain(m: SymbolicMachine, left: Any, links: list[tuple[ast.cmpop, ast.expr]]) -> Term:
    (op, right_node), *rest = links
    right = evaluate(m, right_node)
    first = m.simplify(compare(m, op, left, right))
    if not rest or first is m.terms.false:
        return first
    with m.assuming(first):
        others = _chain(m, right, rest)
    return m.terms.conjunction((first, others))


def _binary(m: SymbolicMachine, node: ast.BinOp) -> Any:
    return binary(m, type(node.op), evaluate(m, node.left), evaluate(m, node.right))


# Displays and comprehensions.


def _tuple(m: SymbolicMachine, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(evaluate(m, item) for item in node.elts)


def _list(m: SymbolicMachine, node: ast.List) -> Any:
    return calls.make_list(m, [evaluate(m, item) for item in node.elts])


def _set(m: SymbolicMachine, node: ast.Set) -> Any:
    return sets.made_set(m, [(m.terms.true, evaluate(m, item)) for item in node.elts])


def _list_comprehension(m: SymbolicMachine, node: ast.ListComp) -> Any:
    return calls.list_of(m, list(generate(m, node)))


def _set_comprehension(m: SymbolicMachine, node: ast.SetComp) -> Any:
    return sets.made_set(m, generate(m, node, any_order=True))


def _generator(m: SymbolicMachine, node: ast.GeneratorExp) -> Any:
    return generator(m, node)


def _call(m: SymbolicMachine, node: ast.Call) -> Any:
    function = evaluate_callee(m, node.func)
    for item in node.args:
        if isinstance(item, ast.Starred):
            raise Refused("* or ** in a call", "the arguments written out")
    args = [evaluate(m, item) for item in node.args]
    keywords = {str(k.arg): _keyword(m, function, k) for k in node.keywords} if node.keywords else {}
    result = calls.call(m, function, args, keywords)
    if m.state is None:
        raise Unreachable
    return result


def _keyword(m: SymbolicMachine, function: Any, keyword: ast.keyword) -> Any:
    """Return the value of a keyword of a call; only the key of min and max may be a lambda."""
    body = keyword.value
    if keyword.arg is None:
        raise Refused("* or ** in a call", "the arguments written out")
    if function not in (min, max) or keyword.arg != "key" or not isinstance(body, ast.Lambda):
        return evaluate(m, body)
    if len(body.args.args) != 1 or ast.unparse(body.args) != body.args.args[0].arg:
        raise m.locate(body, Refused("a key with these parameters", "`lambda x: …`, with one parameter"))
    return calls.KeyExpression(m, body.args.args[0].arg, body.body)


def evaluate_callee(m: SymbolicMachine, node: ast.expr) -> Any:
    """Return what is called: for `a.b(…)` the method, and not the value of a property."""
    if isinstance(node, ast.Attribute):
        return attribute(m, evaluate(m, node.value), node.attr)
    return evaluate(m, node)


EXPRESSIONS: dict[type[ast.expr], Callable[[SymbolicMachine, Any], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.UnaryOp: _unary,
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
