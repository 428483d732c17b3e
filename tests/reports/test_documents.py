"""The reference pages name every command, option and field that there is."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import kwalk as api
from docs.generate import command_line
from kwalk.reports.options.declaration import CODES
from kwalk.reports.options.parser import commands, parser
from kwalk.reports.traces.itf import itf
from tests.reports.traces import REFERENCE, model, trace

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = (DOCS / "reference/scripts.md").read_text("utf-8")
READ = (DOCS / "how-to/read-a-trace.md").read_text("utf-8")
TRACES = (DOCS / "reference/traces.md").read_text("utf-8")


def options() -> set[str]:
    """All long options of all commands."""
    choices = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    return {word for one in choices.values() for a in one._actions for word in a.option_strings if word[:2] == "--"}


def test_the_generated_page_has_a_row_for_every_command_and_every_option():
    text = command_line.page()
    assert [name for name in commands() if f"| `kwalk {name}" not in text] == []
    assert [option for option in options() - {"--help", "--invariant"} if f"| `{option}" not in text] == []
    assert "--invariant is an alias" in text
    general = {name for name, command in commands().items() if command.codes == CODES}  # others say what theirs mean
    assert general == {"check", "exhaust", "hunt", "nightly", "prove", "replay", "walk"}


def test_an_option_with_a_page_about_it_exists():
    written = set(re.findall(r"^\| `(--[^`]+)` \|", command_line.page(), re.MULTILINE))
    assert command_line.SEE.keys() <= written


def test_every_field_of_the_json_objects_is_named(kwalk, tmp_path):
    found = kwalk("exhaust", REFERENCE, "--property", "nothing_is_lost", "--json").object
    replayed = kwalk("replay", found["counterexample"]["trace_file"], "--json").object
    fields = {*found, *found["findings"][0], *found["counterexample"], *replayed}
    assert [field for field in fields if f"`{field}`" not in SCRIPTS] == []


def test_every_field_of_a_trace_file_is_named():
    assert [field for field in itf(model(), trace(), "0")["#meta"] if f"`{field}`" not in TRACES] == []


def test_the_page_of_the_api_names_all_that_import_kwalk_offers():
    page = (DOCS / "reference/api.md").read_text("utf-8")
    assert [name for name in api.__all__ if not re.search(rf"kwalk\.{name}\b", page)] == []


def test_the_printed_trace_is_what_kwalk_prints(kwalk):
    shown = READ.split("```text\n")[1].split("```")[0]
    assert kwalk("exhaust", "topic-id-core").out.startswith(shown)
