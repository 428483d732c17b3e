"""Which loops there are, which of them `make setup` compiles, and which wait for an option."""

from __future__ import annotations

import ast
from pathlib import Path

import kwalk.search
from kwalk.search.native.compile_all import ON_REQUEST, loop_names, loops_of_setup

(PACKAGE,) = map(Path, kwalk.search.__path__)


def decorated_with_loop() -> set[tuple[str, str]]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("kwalk.search", *path.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "loop" for each in node.decorator_list):
                found.add((module, node.name))
    return found


def test_every_loop_of_the_package_is_known():
    names = loop_names()
    assert len(names) == len(set(names)) > 30
    assert set(names) == decorated_with_loop()


def test_set_up_compiles_every_loop_but_those_of_options():
    later = set(loop_names()) - set(loops_of_setup())
    assert {module.split(".")[2] for module, _ in later} == {*ON_REQUEST}
    assert not any(module.split(".")[2] in ON_REQUEST for module, _ in loops_of_setup())
