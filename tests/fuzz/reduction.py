"""Delta debugging of a model's source: the smallest text found in which the same difference remains.

It removes statements, replaces blocks by their content and expressions by their parts, and shrinks constants, while a
test of the text stays true. Source: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input"
(IEEE TSE 2002), here on the syntax tree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

MOST_TESTS = 1500
"""The number of texts that are tested at most."""


class Reducer:
    """Reduces one text.

    Args:
        source: The text.
        remains: Returns whether a text still shows what is to be kept.
        most: The number of tests after which it stops.
        constants: Whether expressions may become constants, which can change the types of values.
    """

    def __init__(
        self, source: str, remains: Callable[[str], bool], most: int = MOST_TESTS, *, constants: bool = True
    ) -> None:
        self.constants = constants
        self.tree, self.remains, self.left = ast.parse(source), remains, most
        self.best = ast.unparse(self.tree)

    def run(self) -> str:
        """Return the smallest text found; the given one, as `ast.unparse` lays it out, if that shows nothing."""
        if not self.remains(self.best):
            return self.best
        before = ""
        while before != self.best and self.left > 0:
            before = self.best
            self._definitions()
            self._statements()
            self._expressions()
        return self.best

    def _try(self, owner: Any, name: str, value: Any) -> bool:
        """Change a field of a node; undo the change if it is not wanted."""
        old = getattr(owner, name)
        if self.left <= 0:
            return False
        setattr(owner, name, value)
        try:
            text = ast.unparse(ast.fix_missing_locations(self.tree))
        except Exception:  # a change that makes no Python
            setattr(owner, name, old)
            return False
        if len(text) < len(self.best):
            self.left -= 1
            if self.remains(text):
                self.best = text
                return True
        setattr(owner, name, old)
        return False

    # Definitions.

    def _definitions(self) -> None:
        """Remove functions and classes, half of them at first, with their names in the tuples of the module."""
        size = len(self.tree.body)
        while size >= 1:
            for start in range(len(self.tree.body) - size, -1, -size):
                self._without(self.tree.body[max(0, start) : start + size])
            size //= 2

    def _without(self, statements: list[ast.stmt]) -> None:
        """Remove the definitions among some statements of the module."""
        gone = [one for one in statements if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
        names = {one.name for one in gone}
        shortened = [
            (part, list(part.elts))
            for one in self.tree.body
            if isinstance(one, ast.Assign)
            for part in ast.walk(one)
            if isinstance(part, ast.Tuple) and names & set(map(_name, part.elts))
        ]
        for part, items in shortened:
            part.elts = [item for item in items if _name(item) not in names]
        if not gone or not self._try(self.tree, "body", [one for one in self.tree.body if one not in gone]):
            for part, items in shortened:
                part.elts = items

    # Statements.

    def _statements(self) -> None:
        for node in list(ast.walk(self.tree)):
            for name in ("body", "orelse", "handlers"):
                if isinstance(getattr(node, name, None), list) and getattr(node, name):
                    self._remove_chunks(node, name, keep=name == "body" and not isinstance(node, ast.Module))
                    self._hoist(node, name)

    def _remove_chunks(self, node: Any, name: str, *, keep: bool) -> None:
        """Remove runs of items, long ones first; `keep` leaves a `pass` in place of the last one."""
        size = len(getattr(node, name))
        while size >= 1:
            start = len(getattr(node, name)) - size
            while start >= 0 and self.left > 0:
                items = getattr(node, name)
                rest = [*items[:start], *items[start + size :]]
                self._try(node, name, rest if rest or not keep else [ast.Pass()])
                start -= size
            size //= 2

    def _hoist(self, node: Any, name: str) -> None:
        """Replace each compound statement by one of its blocks."""
        for index in reversed(range(len(getattr(node, name)))):
            items = getattr(node, name)
            for block in ("body", "orelse"):
                is_compound = isinstance(items[index], (ast.If, ast.For, ast.Try))
                inner = getattr(items[index], block, None) if is_compound else None
                if inner and self._try(node, name, [*items[:index], *inner, *items[index + 1 :]]):
                    break

    # Expressions.

    def _expressions(self) -> None:
        for node in list(ast.walk(self.tree)):
            for name, value in list(ast.iter_fields(node)):
                if isinstance(value, ast.expr):
                    self._simplify(node, name)
                elif isinstance(value, list) and value and isinstance(value[0], (ast.expr, ast.keyword, ast.arg)):
                    self._remove_chunks(node, name, keep=False)
                    self._simplify_items(node, name)
            if isinstance(node, ast.Dict):
                self._remove_entries(node)
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0:
                self._try(node, "value", node.value - 1)

    def _remove_entries(self, node: ast.Dict) -> None:
        for index in reversed(range(len(node.keys))):
            keys, values = list(node.keys), list(node.values)
            node.values = [*values[:index], *values[index + 1 :]]
            if not self._try(node, "keys", [*keys[:index], *keys[index + 1 :]]):
                node.values = values

    def _simplify(self, node: Any, name: str) -> None:
        """Replace an expression by a part of it or by a constant, until nothing smaller remains."""
        while any(self._try(node, name, smaller) for smaller in self._smaller(getattr(node, name))):
            pass

    def _simplify_items(self, node: Any, name: str) -> None:
        for index in range(len(getattr(node, name))):
            for _ in range(10):
                items = getattr(node, name)
                if index >= len(items) or not isinstance(items[index], ast.expr):
                    break
                if not any(
                    self._try(node, name, [*items[:index], smaller, *items[index + 1 :]])
                    for smaller in self._smaller(items[index])
                ):
                    break

    def _smaller(self, expression: ast.expr) -> Iterator[ast.expr]:
        """Yield the parts of an expression, and constants."""
        if isinstance(expression, (ast.Constant, ast.Name)):
            return
        for value in (True, 0, None) if self.constants else ():
            yield ast.Constant(value)
        for child in ast.iter_child_nodes(expression):
            if isinstance(child, ast.expr):
                yield child
                yield from (inner for inner in ast.iter_child_nodes(child) if isinstance(inner, ast.expr))


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""
