"""Edits of a function's syntax tree: one node is replaced, and everything else stays as it is, lines included.

Words: a *head* is what a statement says in its first line, without the statements inside it.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator
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
        """The head of the statement as it is."""
        return head(self.statement)

    @property
    def after(self) -> str:
        """The head of the statement with the change."""
        changed = rebuilt(self.statement, self.target, self.replacement)
        assert isinstance(changed, ast.stmt)
        return head(changed)

    def applied(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """A copy of the function's definition with the change."""
        return rebuilt(definition, self.target, self.replacement)


def rebuilt(node: Node, target: ast.AST, replacement: ast.AST) -> Node:
    """A copy of a tree with one node replaced; what is new has the place of what was there."""
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
    """A copy of a tree, so that what is done to it is not done to trees that share its parts."""
    if isinstance(node, list):
        return [_copy(part) for part in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node)(**{name: _copy(part) for name, part in ast.iter_fields(node)})
    return ast.copy_location(made, node) if hasattr(node, "lineno") else made


def head(statement: ast.stmt) -> str:
    """The first line of a statement."""
    return ast.unparse(statement).partition("\n")[0]


def statements_of(definition: ast.FunctionDef) -> Iterator[ast.stmt]:
    """All statements of a function in the order of its text, without its docstring and functions inside it."""
    body = definition.body
    yield from _statements(body[1:] if ast.get_docstring(definition) is not None else body)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        yield statement
        for _, part in ast.iter_fields(statement):
            if isinstance(part, list):
                yield from _statements([inner for inner in part if isinstance(inner, ast.stmt)])
                for handler in part:
                    if isinstance(handler, ast.ExceptHandler):
                        yield from _statements(handler.body)


def expressions_of(statement: ast.stmt) -> Iterator[ast.expr]:
    """All expressions of a statement's head, each before its parts and in the order of its text."""
    for _, part in ast.iter_fields(statement):
        for node in part if isinstance(part, list) else [part]:
            if isinstance(node, ast.expr):
                yield from _below(node)


def _below(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.expr):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _below(child)
