"""The reference pages name every command, option, exit code and field that there is."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kwalk.reports.commands.options import COMMANDS, parser
from kwalk.reports.traces.itf import itf
from tests.reports.traces import REFERENCE, model, trace

DOCS = Path(__file__).parents[2] / "docs"
COMMAND_LINE = (DOCS / "reference/command-line.md").read_text("utf-8")
TRACES = (DOCS / "reference/traces.md").read_text("utf-8")


def options() -> set[str]:
    """All long options of all commands."""
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    return {word for one in commands.values() for a in one._actions for word in a.option_strings if word[:2] == "--"}


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_is_named(command):
    assert f"`kwalk {command}" in COMMAND_LINE


def test_every_option_is_named():
    assert [option for option in options() - {"--help"} if f"`{option}" not in COMMAND_LINE] == []


def test_every_field_of_the_json_objects_is_named(kwalk, tmp_path):
    found = kwalk("exhaust", REFERENCE, "--property", "nothing_is_lost", "--json").object
    replayed = kwalk("replay", found["counterexample"]["trace_file"], "--json").object
    fields = {*found, *found["findings"][0], *found["counterexample"], *replayed}
    assert [field for field in fields if f"`{field}`" not in COMMAND_LINE] == []


def test_every_field_of_a_trace_file_is_named():
    assert [field for field in itf(model(), trace(), "0")["#meta"] if f"`{field}`" not in TRACES] == []


def test_the_printed_trace_is_what_kwalk_prints(kwalk):
    shown = TRACES.split("```text\n")[1].split("```")[0]
    assert kwalk("exhaust", "topic-id-core").out.startswith(shown)
