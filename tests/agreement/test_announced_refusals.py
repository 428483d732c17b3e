"""The reference announces every refusal of the lifter, and the fuzzer reports one that it does not announce."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwalk.model.language.lift import rules
from kwalk.model.language.lift.rules import REFUSALS, Operation, is_announced
from tests.fuzz.run import FuzzTask, run_task
from tests.fuzz.snippets import random_snippets

LIFTER = Path(rules.__file__).parent
COMPUTED = {
    "str(problem).rstrip('.')",
    "construct.phrase.format(*map(describe, operands), field=field)",
    "operation.value.phrase.format('a number that the state decides', 'another number')",
}
"""Texts that are no constants: of an unknown setting of a flag, and of operations."""


def text_of(node: ast.expr) -> str:
    """The text of a string, with `…` in place of what is computed; else the source of the expression."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) or not isinstance(node, ast.Constant):
        return ast.unparse(node)
    return node.value


def refusals_of(function: ast.FunctionDef) -> Iterator[str]:
    """What the refusals of a function say: a constant, a formatted string, or a variable with such texts."""
    given: dict[str, list[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(text_of(node.value))
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refused":
            what = node.args[0]
            yield from given[what.id] if isinstance(what, ast.Name) and what.id in given else [text_of(what)]


def all_refusals() -> set[str]:
    found = set()
    for path in LIFTER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found.update(refusals_of(node))
    return found - COMPUTED - {"MIXED_TYPES"}


def pattern_of(phrase: str) -> re.Pattern[str]:
    return re.compile(re.escape(phrase).replace("…", ".*"))


def test_every_refusal_in_the_source_is_announced():
    phrases = [phrase for phrases in REFUSALS.values() for phrase in phrases]
    phrases += [re.sub(r"{\w+}", "…", operation.value.phrase) for operation in Operation]
    found = all_refusals()
    assert len(found) > 60
    missing = {text for text in found if not is_announced(text)}
    assert not {text for text in missing if not any(pattern_of(text).fullmatch(phrase) for phrase in phrases)}


ELSEWHERE = {"a lambda or async function", "… changes the state", "Flag … is never …", rules.MIXED_TYPES}
"""Phrases of errors that are raised in another way."""


def test_every_announced_refusal_is_in_the_source():
    found = all_refusals()
    phrases = {phrase for phrases in REFUSALS.values() for phrase in phrases} - ELSEWHERE
    unused = {p for p in phrases if not any(pattern_of(p).fullmatch(t) or pattern_of(t).fullmatch(p) for t in found)}
    assert not unused


@pytest.mark.parametrize("refused", ["something new", "", "the name x has a value here"])
def test_a_text_that_is_not_on_the_page_is_not_announced(refused):
    assert not is_announced(refused)


def test_random_snippets_are_refused_as_announced():
    report = run_task(FuzzTask(11, 75))
    assert sum(report.refusals.values()) > 20
    assert not report.differences


def test_a_refusal_that_is_not_announced_is_a_finding(monkeypatch):
    fewer = {topic: phrases for topic, phrases in REFUSALS.items() if topic not in ("calls", "names and attributes")}
    monkeypatch.setattr(rules, "REFUSALS", fewer)
    rules._announced.cache_clear()
    try:
        found = run_task(FuzzTask(11, 75)).differences
    finally:
        rules._announced.cache_clear()
    assert found and all(one.kind.startswith("a refusal that the reference does not announce") for one in found)
    assert found[0].source == random_snippets(11, 75)
