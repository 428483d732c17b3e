"""The conventions that a test can check: small functions, booleans by name, every module introduced."""

from __future__ import annotations

import ast
import re
import statistics
from functools import cache
from pathlib import Path

from tests.structure.rooms import ROOMS, ROOT, modules, statements

SOURCES = [path for path in modules(*ROOMS) if path.read_text(encoding="utf-8").strip()]
FOLDERS = (*ROOMS, "tests", "bench", "docs", ".ci")
SUFFIXES = {".py", ".md", ".toml", ".json", ".html", ".css", ".js", ".j2", ".jinja", ""}


@cache
def functions(path: Path) -> list[ast.FunctionDef]:
    """The functions of a file, without their bodies: those of all files would fill the memory."""
    found = [node for node in statements(path.read_text(encoding="utf-8")) if isinstance(node, ast.FunctionDef)]
    for function in found:
        function.body = []
    return found


def lines(function: ast.FunctionDef) -> int:
    return function.end_lineno - function.lineno + 1


def positional(function: ast.FunctionDef) -> list[ast.arg]:
    return [arg for arg in [*function.args.posonlyargs, *function.args.args] if arg.arg not in ("self", "cls")]


def test_a_function_fits_a_screen_and_most_are_much_smaller():
    sizes = {f"{path.relative_to(ROOT)}:{f.name}": lines(f) for path in SOURCES for f in functions(path)}
    assert {name: size for name, size in sizes.items() if size > 50} == {}
    assert statistics.median(sizes.values()) <= 8


def test_a_function_takes_few_arguments_by_position():
    many = [f"{path.relative_to(ROOT)}:{f.name}" for path in SOURCES for f in functions(path) if len(positional(f)) > 5]
    assert many == []


def test_a_boolean_is_given_by_name():
    by_position = [
        f"{path.relative_to(ROOT)}:{function.name}({arg.arg})"
        for path in SOURCES
        for function in functions(path)
        for arg, default in zip(reversed(function.args.args), reversed(function.args.defaults), strict=False)
        if isinstance(default, ast.Constant) and isinstance(default.value, bool)
    ]
    assert by_position == []


def test_nothing_speaks_of_the_machine_that_it_was_written_on():
    texts = [*ROOT.glob("[!.]*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    own = re.compile(r"/(home|root|Users|work|tmp/\w+)/|\.\./shared")
    speaking = [
        path.relative_to(ROOT).as_posix()
        for path in texts
        if path.is_file() and path.suffix in SUFFIXES and own.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert speaking == []


def test_every_line_of_thorough_tests_names_a_test_that_exists():
    lines = (ROOT / "tests/thorough.txt").read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if line and not line.startswith("#")]
    missing = []
    for line in named:
        path, _, name = re.sub(r"^1 of \d+ ", "", line).partition("::")
        function = name.partition("[")[0].rpartition("::")[2]
        if not (ROOT / "tests" / path).exists() or f"def {function}(" not in (ROOT / "tests" / path).read_text("utf-8"):
            missing.append(line)
    assert named and missing == []
