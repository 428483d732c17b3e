"""Mutation operators: the small mistakes that are made in a model's functions on purpose.

Words: a *condition* is an expression that decides: what `if`, a comprehension or `require` asks, and any comparison.
Its *parts* are what `and`, `or` and `not` join in it. Each operator is a function from a definition to its edits; that
few kinds of small mistakes stand for most others is DeMillo, Lipton and Sayward, "Hints on Test Data Selection" (1978).
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from attrs import frozen

from search.mutation.edits import Edit, expressions_of, statements_of

Siblings = Mapping[str, tuple[str, ...]]
"""By the name of a field, others with an equal domain that a record has together with it."""


@frozen(eq=False)
class Operator:
    """A kind of mistake: its name, what it does in a sentence, and the edits that make it in a function."""

    name: str
    about: str
    edits: Callable[[ast.FunctionDef, Siblings], Iterator[Edit]]


def _is_guard(statement: ast.stmt) -> bool:
    return _called(statement) == "require"


def _called(statement: ast.stmt) -> str:
    """The name of the function that a statement calls and does nothing else; or nothing."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    function = statement.value.func
    return function.id if isinstance(function, ast.Name) else "a method"


# What is left out.


def _dropped_guards(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    for statement in statements_of(definition):
        if _is_guard(statement):
            yield Edit(statement, statement, ast.Pass())
            yield from _without_one_part(statement)


def _without_one_part(statement: ast.stmt) -> Iterator[Edit]:
    """Each part of a conjunction left out, for `require(a and b)`."""
    for node in expressions_of(statement):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for part in node.values:
                rest = [other for other in node.values if other is not part]
                yield Edit(statement, node, rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest))
            return


def _dropped_effects(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    known = {arg.arg for arg in (*definition.args.args, *definition.args.kwonlyargs)}
    for statement in statements_of(definition):
        if isinstance(statement, ast.Assign):
            yield from _dropped_targets(statement, known)
        elif isinstance(statement, ast.AugAssign | ast.Raise | ast.Continue | ast.Break) or (
            _called(statement) not in ("", "require", "premise")
            or (isinstance(statement, ast.Return) and statement.value is None)
        ):
            yield Edit(statement, statement, ast.Pass())
        known |= _names_bound(statement)


def _names_bound(statement: ast.stmt) -> set[str]:
    found = expressions_of(statement)
    return {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _dropped_targets(statement: ast.Assign, known: set[str]) -> Iterator[Edit]:
    """The assignment left out, or one target of several; a name must have a value without it."""
    targets, value = statement.targets, statement.value
    if len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(targets[0].elts, value.elts, strict=False))
        for pair in pairs:
            rest = [other for other in pairs if other is not pair]
            if rest and _can_go(pair[0], known):
                yield Edit(statement, statement, _assignment(rest))
        return
    for target in targets:
        if _can_go(target, known):
            others = [other for other in targets if other is not target]
            yield Edit(statement, statement, ast.Assign(others, value) if others else ast.Pass())


def _can_go(target: ast.expr, known: set[str]) -> bool:
    return target.id in known if isinstance(target, ast.Name) else not isinstance(target, ast.Tuple)


def _assignment(pairs: list[tuple[ast.expr, ast.expr]]) -> ast.Assign:
    targets, values = [target for target, _ in pairs], [value for _, value in pairs]
    if len(pairs) == 1:
        return ast.Assign(targets, values[0])
    return ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load()))


# Conditions.


def _negated_conditions(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    for statement in statements_of(definition):
        seen: set[int] = set()
        for condition in _conditions(statement):
            for part in _parts(condition):
                if id(part) not in seen:
                    seen.add(id(part))
                    yield Edit(statement, part, _negation(part))


def _conditions(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.If):
        yield statement.test
    if _is_guard(statement):
        assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        yield from statement.value.args
    for node in expressions_of(statement):
        if isinstance(node, ast.IfExp):
            yield node.test
        if isinstance(node, ast.GeneratorExp | ast.SetComp | ast.ListComp):
            yield from (test for generator in node.generators for test in generator.ifs)
        if isinstance(node, ast.BoolOp | ast.Compare) or _is_not(node):
            yield node


def _parts(condition: ast.expr) -> Iterator[ast.expr]:
    if isinstance(condition, ast.BoolOp):
        for part in condition.values:
            yield from _parts(part)
    elif isinstance(condition, ast.UnaryOp) and _is_not(condition):
        yield from _parts(condition.operand)
    else:
        yield condition


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def _negation(part: ast.expr) -> ast.expr:
    """Not the part; an order may be of sets, which has no opposite."""
    if isinstance(part, ast.Compare) and len(part.ops) == 1 and type(part.ops[0]) in OPPOSITES:
        return ast.Compare(part.left, [OPPOSITES[type(part.ops[0])]()], part.comparators)
    return ast.UnaryOp(ast.Not(), part)


def _swapped_connectives(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    for statement in statements_of(definition):
        for node in expressions_of(statement):
            if isinstance(node, ast.BoolOp):
                other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield Edit(statement, node, ast.BoolOp(other, node.values))


# Numbers and names.

NEIGHBOURS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip


def _off_by_one(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    for statement in statements_of(definition):
        for node in expressions_of(statement):
            if isinstance(node, ast.Compare):
                yield from _moved_limits(statement, node)
            elif isinstance(node, ast.Constant) and type(node.value) is int:
                yield Edit(statement, node, ast.Constant(node.value + 1))
                if node.value > 0:
                    yield Edit(statement, node, ast.Constant(node.value - 1))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
                end = node.args[-1]
                if not isinstance(end, ast.Constant):
                    yield Edit(statement, end, ast.BinOp(end, ast.Sub(), ast.Constant(1)))


def _moved_limits(statement: ast.stmt, node: ast.Compare) -> Iterator[Edit]:
    for number, op in enumerate(node.ops):
        if type(op) in NEIGHBOURS:
            ops = [*node.ops[:number], NEIGHBOURS[type(op)](), *node.ops[number + 1 :]]
            yield Edit(statement, node, ast.Compare(node.left, ops, node.comparators))


def _swapped_fields(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    for statement in statements_of(definition):
        for node in expressions_of(statement):
            if isinstance(node, ast.Attribute):
                for other in siblings.get(node.attr, ()):
                    yield Edit(statement, node, ast.Attribute(node.value, other, node.ctx))


OPERATORS = (
    Operator("dropped-guard", "a `require` is left out, or one part of its `and`", _dropped_guards),
    Operator("dropped-effect", "an assignment, a call or a way out is left out", _dropped_effects),
    Operator("negated-condition", "one part of a condition means its opposite", _negated_conditions),
    Operator("swapped-connective", "`and` where there was `or`, or the other way round", _swapped_connectives),
    Operator("off-by-one", "`<` in place of `<=`, a number one larger or smaller, a range one shorter", _off_by_one),
    Operator("swapped-field", "another field of the same record that has an equal domain", _swapped_fields),
)
"""All operators, in the order in which mutants are listed."""
