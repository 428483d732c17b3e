"""The rooms of the house as the tests of this folder see them: their modules, and what those import.

Words: an *arrow* goes from a module to one that it imports, wherever in the file the import stands.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("model", "search", "reports", "invariants", "clusters")
"""A room may import itself and those before it; `invariants` imports only models."""
PROJECTS = {"attr": "attrs", "_pytest": "pytest"}
"""Packages that a project installs beside the one of its own name."""


def modules(*rooms: str) -> Iterator[Path]:
    """The source files of some rooms, or of folders in them."""
    for room in rooms:
        yield from sorted((ROOT / room).rglob("*.py"))


def statements(source: str) -> Iterator[ast.stmt]:
    """The statements of a source at any depth. Expressions, which are most of its nodes, are not looked at."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, ())
            waiting += inner if isinstance(inner, list) else ()


def imported_names(source: str, package: str) -> Iterator[str]:
    """The dotted names that a module's source imports, in any scope; `package` resolves relative imports."""
    has_dynamic_imports = "import_module" in source or "__import__" in source
    for node in ast.walk(ast.parse(source)) if has_dynamic_imports else statements(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _is_dynamic_import(node):
            yield node.args[0].value  # type: ignore[attr-defined]


def _is_dynamic_import(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    constant = bool(node.args) and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    return name in ("import_module", "__import__") and constant


@cache
def arrows(path: Path) -> set[str]:
    """The dotted names that the file imports."""
    package = ".".join(("kwalk", *path.relative_to(ROOT).parts[:-1]))
    return set(imported_names(path.read_text(encoding="utf-8"), package))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The modules that a file imports when it is executed: not those for type checkers only."""
    nodes = list(statements(path.read_text(encoding="utf-8")))
    checked = {
        id(node)
        for branch in nodes
        if isinstance(branch, ast.If) and isinstance(branch.test, ast.Name) and branch.test.id == "TYPE_CHECKING"
        for statement in branch.body
        for node in ast.walk(statement)
    }
    return tuple(
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in checked
        for alias in node.names
    )


def roots(path: Path) -> set[str]:
    """The rooms and the packages that the file imports, by the names of their projects, less the standard library's."""
    packages = {name.removeprefix("kwalk.").split(".")[0] for name in arrows(path)}
    return {PROJECTS.get(package, package) for package in packages - set(sys.stdlib_module_names)}
