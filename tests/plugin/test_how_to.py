"""The page on testing a fix is true: its tests pass, and what it says of a repaired variant happens."""

from __future__ import annotations

import io
import unittest

import pytest

from kwalk import Fails, assert_finds
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.reports.assertion_options import AssertionOptions
from kwalk.reports.command_line import main
from tests.structure.documents import blocks
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "test-your-fix.md"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """What the page's Python defines, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in blocks(PAGE, "python"):
        exec(compile(block.code, str(PAGE), "exec", dont_inherit=True), names)
    return names


def test_the_tests_of_the_page_pass_once_the_trace_is_pinned(page, tmp_path):
    pinned = page["test_without_a_lock_an_increment_is_lost_in_four_steps"]
    with pytest.raises(Fails, match="--kwalk-pin"):
        pinned()
    with AssertionOptions(pin=True).active():
        pinned()
    pinned()
    assert (tmp_path / "lost-increment.itf.json").exists()
    page["test_with_a_lock_nothing_is_lost"]()


def test_the_state_machine_of_the_page_passes(page):
    result = unittest.TextTestRunner(stream=io.StringIO()).run(page["TestLock"]("runTest"))
    assert result.testsRun == 1
    assert result.wasSuccessful()


def test_the_harm_is_called_healed_in_the_repaired_variant():
    with pytest.raises(Fails, match="Healed"):
        assert_finds(LOST_UPDATE, "nothing_is_lost", length=4, variant="lock")


def test_the_options_of_the_page_are_those_of_the_plugin(pytestconfig):
    shown = {line.split("`")[1].split()[0] for line in PAGE.read_text().splitlines() if line.startswith("| `--kwalk")}
    group = next(g for g in pytestconfig._parser._groups if g.name == "kwalk")
    assert shown == {name for option in group.options for name in option.names()}


def test_the_trace_of_the_page_is_what_a_failure_says(page, tmp_path):
    shown = next(block.code for block in blocks(PAGE, "text") if block.code.startswith("E "))
    with AssertionOptions(out=tmp_path / "kwalk-out").active(), pytest.raises(Fails) as caught:
        from kwalk import assert_holds

        assert_holds(LOST_UPDATE, "counts_every_increment", variant="no-lock")
    said = f"kwalk.reports.assertions.Fails: {caught.value}".replace(str(tmp_path) + "/", "")
    assert {line[4:] for line in shown.splitlines()} <= set(said.splitlines())
    path = next((tmp_path / "kwalk-out").glob("*.itf.json"))
    assert main(["replay", str(path)]) == 12
