"""Each operator makes the mistakes that it says, in the place where it says so, and no others."""

from __future__ import annotations

import ast
import textwrap

import pytest

from kwalk.reports.commands.mutate import OPERATORS as NAMES
from kwalk.search.analyses.mutation.operators import OPERATORS, statements_of

SOURCE = '''
def act(state, limit):
    """Words that are no statement: 1 < 2."""
    require(state.a < limit and not state.done)
    kept = state.b
    kept = kept + 1
    state.a, state.b = kept, state.a
    state.c = state.d = 0
    for i in range(limit):
        if i == kept or state.done:
            continue
        state.rows[i] += 2
    try:
        go(state, any(x for x in state.rows if x is not None))
    except Stop:
        return
    state.done = True if kept in state.seen else False
'''
EDITS = {
    "dropped-guard": [
        ("require(state.a < limit and (not state.done))", "pass"),
        ("require(state.a < limit and (not state.done))", "require(not state.done)"),
        ("require(state.a < limit and (not state.done))", "require(state.a < limit)"),
    ],
    "dropped-effect": [
        ("kept = kept + 1", "pass"),
        ("state.a, state.b = (kept, state.a)", "state.b = state.a"),
        ("state.a, state.b = (kept, state.a)", "state.a = kept"),
        ("state.c = state.d = 0", "state.d = 0"),
        ("state.c = state.d = 0", "state.c = 0"),
        ("continue", "pass"),
        ("state.rows[i] += 2", "pass"),
        ("go(state, any((x for x in state.rows if x is not None)))", "pass"),
        ("return", "pass"),
        ("state.done = True if kept in state.seen else False", "pass"),
    ],
    "negated-condition": [
        ("require(state.a < limit and (not state.done))", "require(not state.a < limit and (not state.done))"),
        ("require(state.a < limit and (not state.done))", "require(state.a < limit and (not not state.done))"),
        ("if i == kept or state.done:", "if i != kept or state.done:"),
        ("if i == kept or state.done:", "if i == kept or not state.done:"),
        (
            "go(state, any((x for x in state.rows if x is not None)))",
            "go(state, any((x for x in state.rows if x is None)))",
        ),
        (
            "state.done = True if kept in state.seen else False",
            "state.done = True if kept not in state.seen else False",
        ),
    ],
    "swapped-connective": [
        ("require(state.a < limit and (not state.done))", "require(state.a < limit or not state.done)"),
        ("if i == kept or state.done:", "if i == kept and state.done:"),
    ],
    "off-by-one": [
        ("require(state.a < limit and (not state.done))", "require(state.a <= limit and (not state.done))"),
        ("kept = kept + 1", "kept = kept + 2"),
        ("kept = kept + 1", "kept = kept + 0"),
        ("state.c = state.d = 0", "state.c = state.d = 1"),
        ("for i in range(limit):", "for i in range(limit - 1):"),
        ("state.rows[i] += 2", "state.rows[i] += 3"),
        ("state.rows[i] += 2", "state.rows[i] += 1"),
    ],
    "swapped-field": [
        ("require(state.a < limit and (not state.done))", "require(state.z < limit and (not state.done))"),
        ("state.a, state.b = (kept, state.a)", "state.z, state.b = (kept, state.a)"),
        ("state.a, state.b = (kept, state.a)", "state.a, state.b = (kept, state.z)"),
    ],
}


def definition() -> ast.FunctionDef:
    (found,) = ast.parse(textwrap.dedent(SOURCE)).body
    assert isinstance(found, ast.FunctionDef)
    return found


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_operator_makes_its_mistakes_and_no_others(operator):
    edits = list(operator.edits(definition(), {"a": ("z",)}))
    assert [(edit.before, edit.after) for edit in edits] == EDITS[operator.name]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_edit_changes_one_statement_of_a_copy_and_keeps_all_lines(operator):
    original = definition()
    text = ast.dump(original, include_attributes=True)
    lines = [statement.lineno for statement in statements_of(original)]
    for edit in operator.edits(original, {"a": ("z",)}):
        changed = edit.applied(original)
        before, after = ast.unparse(original).splitlines(), ast.unparse(changed).splitlines()
        assert len(before) == len(after) and sum(a != b for a, b in zip(before, after, strict=True)) == 1
        assert [statement.lineno for statement in statements_of(changed)] == lines
        compile(ast.Module([changed], []), "changed", "exec")
    assert ast.dump(original, include_attributes=True) == text


def test_the_command_line_knows_the_operators_by_name():
    assert tuple(operator.name for operator in OPERATORS) == NAMES
