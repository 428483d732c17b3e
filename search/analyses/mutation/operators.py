"""Mutation operators: small changes to the functions of a model, as edits of their syntax trees.

Words: the *head* of a statement is its first line, without the statements inside it. A *condition* is an expression
that decides: the test of an `if`, a comprehension or `require`, and any comparison. Its *parts* are joined by `and`,
`or` and `not`. Each operator is a function from a definition to its edits. That few kinds of small mistakes stand for
most others is the coupling effect: DeMillo, Lipton and Sayward, "Hints on Test Data Selection" (1978).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import frozen

Node = TypeVar("Node", bound=ast.AST)


@frozen(eq=False)
class Edit:
    """A change of one statement: `target` is the node in it (or itself) that becomes `replacement`."""

    statement: ast.stmt
    target: ast.AST
    replacement: ast.AST

    @property
    def before(self) -> str:
        """The head of the unchanged statement."""
        return head(self.statement)

    @property
    def after(self) -> str:
        """The head of the changed statement."""
        changed = rebuilt(self.statement, self.target, self.replacement)
        assert isinstance(changed, ast.stmt)
        return head(changed)

    def applied(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """Return a copy of the definition with the change."""
        return rebuilt(definition, self.target, self.replacement)


def rebuilt(node: Node, target: ast.AST, replacement: ast.AST) -> Node:
    """Return a copy of a tree with one node replaced; the replacement takes the position of the replaced node."""
    made = _rebuilt(node, target, replacement)
    ast.fix_missing_locations(made)
    return made  # type: ignore[no-any-return]


def _rebuilt(node: Any, target: ast.AST, replacement: ast.AST) -> Any:
    if node is target:
        return ast.copy_location(_copy(replacement), node)
    if isinstance(node, list):
        return [_rebuilt(part, target, replacement) for part in node]
    if not isinstance(node, ast.AST):
        return node
    fields = {name: _rebuilt(part, target, replacement) for name, part in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**fields), node)


def _copy(node: Any) -> Any:
    """Return a deep copy of a tree."""
    if isinstance(node, list):
        return [_copy(part) for part in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node)(**{name: _copy(part) for name, part in ast.iter_fields(node)})
    return ast.copy_location(made, node) if hasattr(node, "lineno") else made


def head(statement: ast.stmt) -> str:
    """Return the first line of a statement."""
    return ast.unparse(statement).partition("\n")[0]


def statements_of(definition: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield the statements of a function in source order, without docstring, assertions and nested functions."""
    body = definition.body
    yield from _statements(body[1:] if ast.get_docstring(definition) is not None else body)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Assert):
            continue
        yield statement
        for _, part in ast.iter_fields(statement):
            if isinstance(part, list):
                yield from _statements([inner for inner in part if isinstance(inner, ast.stmt)])
                for handler in part:
                    if isinstance(handler, ast.ExceptHandler):
                        yield from _statements(handler.body)


def expressions_of(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of the head of a statement in source order, each before its parts."""
    for _, part in ast.iter_fields(statement):
        for node in part if isinstance(part, list) else [part]:
            if isinstance(node, ast.expr):
                yield from _below(node)


def _below(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.expr):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _below(child)


Siblings = Mapping[str, tuple[str, ...]]
"""By the name of a field: the fields of the same record with an equal domain."""


@frozen(eq=False)
class Operator:
    """A kind of change: its name, its description, and the function that yields its edits."""

    name: str
    about: str
    edits: Callable[[ast.FunctionDef, Siblings], Iterator[Edit]]


def _is_guard(statement: ast.stmt) -> bool:
    return _called(statement) == "require"


def _called(statement: ast.stmt) -> str:
    """Return the name of the function if the statement is only a call; "" otherwise."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    function = statement.value.func
    return function.id if isinstance(function, ast.Name) else "a method"


# Removals.


def _dropped_guards(definition: ast.FunctionDef, siblings: Siblings) -> Iterator[Edit]:
    for statement in statements_of(definition):
        if _is_guard(statement):
            yield Edit(statement, statement, ast.Pass())
            yield from _without_one_part(statement)


def _without_one_part(statement: ast.stmt) -> Iterator[Edit]:
    """Yield the edits that remove one part of a conjunction, for `require(a and b)`."""
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


def _dropped_targets(statement: ast.Assign, bound_names: set[str]) -> Iterator[Edit]:
    """Yield the edits that remove an assignment, or one of its targets, if the name is already bound."""
    targets, value = statement.targets, statement.value
    if len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(targets[0].elts, value.elts, strict=False))
        for pair in pairs:
            rest = [other for other in pairs if other is not pair]
            if rest and _can_go(pair[0], bound_names):
                yield Edit(statement, statement, _assignment(rest))
        return
    for target in targets:
        if _can_go(target, bound_names):
            others = [other for other in targets if other is not target]
            yield Edit(statement, statement, ast.Assign(others, value) if others else ast.Pass())


def _can_go(target: ast.expr, bound_names: set[str]) -> bool:
    return target.id in bound_names if isinstance(target, ast.Name) else not isinstance(target, ast.Tuple)


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
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def _negation(part: ast.expr) -> ast.expr:
    """Return the negation; `<` and its like are not reversed, because the operands may be sets."""
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
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


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
    Operator("dropped-guard", "a `require`, or one part of its `and`, is removed", _dropped_guards),
    Operator(
        "dropped-effect",
        "an assignment, a call, or a `return`, `raise`, `break` or `continue` is removed",
        _dropped_effects,
    ),
    Operator("negated-condition", "one part of a condition is negated", _negated_conditions),
    Operator("swapped-connective", "`and` in place of `or`, or `or` in place of `and`", _swapped_connectives),
    Operator("off-by-one", "`<` in place of `<=`, a number one larger or smaller, a range one shorter", _off_by_one),
    Operator("swapped-field", "another field of the same record with an equal domain", _swapped_fields),
)
"""The operators in the order in which mutants are listed."""
