"""An option has one row, which the command line, Python, pytest and the command that repeats a run read."""

from __future__ import annotations

import ast
import inspect

import pytest

import kwalk
from kwalk.reports.options.parser import commands, parser
from kwalk.search.base import option_table
from kwalk.search.base.option_table import Option, Properties, rows, words_of
from kwalk.search.engines import ENGINES
from tests.structure.rooms import ROOMS, modules, statements

SEARCHES = sorted(ENGINES.keys() & commands().keys())
GROUPS = [each for each in vars(option_table).values() if isinstance(each, type) and hasattr(each, "__total__")]
OUTPUT = {"unfold", "html", "watch", "json", "proved", "profile"}
"""What only a command line has: how its result is written, and the scenario of a saved proof."""
VALUES = {"N": "3", "GIB": "0.5", "NAME=N": "a=2", "NAME=SETTING": "a=on"}
"""Texts of values by what stands for them in a usage line; others have any text."""
CLASSES_OF_OPTIONS = 13


def declared(command: str) -> dict[str, Option]:
    """The rows of a command, by the name of the value."""
    words = [command, "x"]
    found: dict[str, Option] = parser(words).parse_args(words).rows
    return found


@pytest.mark.parametrize("name", SEARCHES)
def test_a_command_has_the_options_that_its_engine_accepts_and_no_other(name: str) -> None:
    accepted, own = {**rows(Properties), **rows(ENGINES[name].accepts)}, declared(name)
    assert own.keys() - OUTPUT - {"out"} == accepted.keys() - {"out"}
    assert {key for key in accepted.keys() - {"out"} if accepted[key].about != own[key].about} == set()


@pytest.mark.parametrize("name", SEARCHES)
def test_a_function_of_kwalk_has_the_options_that_its_engine_accepts(name: str) -> None:
    parameters = inspect.signature(getattr(kwalk, name)).parameters
    assert list(parameters) == ["scenario", "properties", *rows(ENGINES[name].accepts)]
    assert [key for key in parameters if f" {key}: " not in str(getattr(kwalk, name).__doc__)] == []


@pytest.mark.parametrize("name", SEARCHES)
def test_the_command_that_repeats_a_run_is_read_as_the_same_options(name: str) -> None:
    words = [name, "x"]
    for row in declared(name).values():
        words += [f"--{row.word}" if row.kind is None else f"--{row.word}={VALUES.get(row.kind.metavar, '-x')}"]
    given = parser(words).parse_args(words)
    repeated = [*words[:2], *words_of(vars(given), given.rows)]
    again = parser(repeated).parse_args(repeated)
    kept = [key for key, row in given.rows.items() if row.repeats]
    assert len(kept) > 5 and {key: vars(again)[key] for key in kept} == {key: vars(given)[key] for key in kept}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_a_default_is_allowed_and_a_row_says_what_it_means(group: type) -> None:
    for name, row in rows(group).items():
        row.check(name, row.default)
        assert row.about or row.about_in_python


def test_no_class_of_options_is_added_where_a_row_would_do() -> None:
    classes = [
        node.name
        for path in modules(*ROOMS)
        for node in statements(path.read_text(encoding="utf-8"))
        if isinstance(node, ast.ClassDef) and node.name.endswith("Options")
    ]
    assert len(classes) == CLASSES_OF_OPTIONS, f"{sorted(classes)}: the number may only fall."
