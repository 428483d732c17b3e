"""What `make setup` compiles: every loop of the package, with the types that its annotations state."""

from __future__ import annotations

import ast
from pathlib import Path

import kwalk.search
from kwalk.search.native.compile_all import loop_names

(PACKAGE,) = map(Path, kwalk.search.__path__)


def decorated_with_loop() -> set[tuple[str, str]]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("kwalk.search", *path.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "loop" for each in node.decorator_list):
                found.add((module, node.name))
    return found


def test_set_up_compiles_every_loop_of_the_package():
    names = loop_names()
    assert len(names) == len(set(names)) > 30
    assert set(names) == decorated_with_loop()
