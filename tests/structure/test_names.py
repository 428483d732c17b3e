"""A name says what a thing is: a ratchet on participles that stand for things.

Counted are parameters, fields of classes, stored attributes, functions and constants of modules. A local variable in a
short function may be named so, and a name that only contains such a word.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.rooms import ROOMS, ROOT, modules

MOST = {
    "found": 0,
    "known": 1,
    "wanted": 1,
    "made": 0,
    "shown": 0,
    "asked": 0,
    "said": 0,
    "given": 0,
    "seen": 5,
    "taken": 21,
    "done": 2,
}
"""How many names are such a word: the number may only fall.

What is left is in formats (`taken` of counts and captures, `seen` of counts and of rounds of the lab), public (`known`
of a state graph, `taken` of a Fresh, `wanted` of an action), a condition of proofs (`taken`), or progress (`done`).
"""


def names(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a node introduces for a reader elsewhere, each with its line."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            if not isinstance(node, ast.Lambda):
                yield node.name, node.lineno
            all_args = [
                *node.args.posonlyargs,
                *node.args.args,
                *node.args.kwonlyargs,
                node.args.vararg,
                node.args.kwarg,
            ]
            yield from ((arg.arg, arg.lineno) for arg in all_args if arg is not None)
        case ast.ClassDef():
            yield from targets(node.body)
        case ast.Module():
            yield from ((name.lower().strip("_"), line) for name, line in targets(node.body))
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr, node.lineno


def targets(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Yield the names that the statements of a class or a module assign, each with its line."""
    for statement in body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            assigned = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from ((target.id, target.lineno) for target in assigned if isinstance(target, ast.Name))


def places(*words: str) -> dict[str, list[str]]:
    """Return where the sources, except those of the examples, have these words as names."""
    found: dict[str, list[str]] = {word: [] for word in words}
    for path in (*modules(*ROOMS), *sorted(Path(ROOT, "kwalk").glob("*.py"))):
        if "examples" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for name, line in names(node):
                    if name in found:
                        found[name].append(f"{path.relative_to(ROOT).as_posix()}:{line}")
    return found


@pytest.fixture(scope="module")
def by_word() -> dict[str, list[str]]:
    return places(*MOST)


@pytest.mark.parametrize("word", MOST)
def test_a_thing_is_not_named_by_a_participle(by_word, word):
    lines, most = by_word[word], MOST[word]
    assert len(lines) <= most, f"Name the thing: a new name `{word}` is in one of {', '.join(lines)}."
    assert len(lines) == most, f"There are only {len(lines)} names `{word}` now: lower MOST[{word!r}] to that."


def test_all_kinds_of_names_are_counted():
    source = """
KNOWN = 1
_known: int = 2
class Node:
    known: int
    made = 3
def known(known, *made, said=1, **made_of): node.seen = known
by_known = lambda known: node.known
"""
    counted = [name for node in ast.walk(ast.parse(source)) for name, _ in names(node)]
    assert [counted.count(word) for word in ("known", "made", "said", "seen")] == [6, 2, 1, 1]
