"""Old names of commands run the command that does their work now, say so in one line, and are in no list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kwalk.reports.options.parser import commands, renamed
from tests.nightly.small_run import write_small_run
from tests.reports.traces import REFERENCE

CAPTURE = Path(__file__).parents[1] / "captures" / "scenario-01-exact-00-up.json"
NOW = {
    "show": "replay --format text",
    "shrink": "replay --minimize",
    "check-certificate": "prove",
    "properties": "scenarios --properties",
    "invariants": "scenarios --properties",
    "graph": "explore --graph",
    "inspect": "diagnose",
    "recover": "diagnose --plan",
    "explain": "diagnose --explain",
    "hunt --from": "diagnose --forecast",
    "page": "nightly",
    "compare": "nightly --before",
}
"""Each old name, and the words that its line on standard error has for it."""


def test_each_old_name_is_declared_by_one_command():
    declared = [old for command in commands().values() for old in command.replaces]
    assert sorted(declared) == sorted(NOW)
    assert not {old.split()[0] for old in declared if " " not in old} & commands().keys()


def test_there_are_at_most_fifteen_commands_and_no_old_name_among_them(kwalk):
    listed = kwalk("--help").out
    assert len(commands()) <= 15
    assert [name for name in commands() if f"\n  {name:<10} " not in listed] == []
    assert [old for old in NOW if f"\n  {old} " in listed] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("show f.json --unfold", "replay --format text f.json --unfold"),
        ("show f.json --format html", "replay --format text f.json --format html"),
        ("shrink f.json --seconds 5", "replay --minimize f.json --seconds 5"),
        ("check-certificate p.json --scenario m:X", "prove p.json --scenario m:X"),
        ("properties die-hard --json", "scenarios --properties die-hard --json"),
        ("graph die-hard --html --svg", "explore --graph die-hard --html --svg"),
        ("inspect a.json b.json --csv t.csv", "diagnose a.json b.json --csv t.csv"),
        ("recover a.json --seconds 5", "diagnose --plan a.json --seconds 5"),
        ("explain a.json b.json --logs logs", "diagnose --explain a.json b.json --logs logs"),
        ("hunt --from a.json --migrate --seconds 5", "diagnose a.json --forecast --migration --seconds 5"),
        ("hunt m:X --seed 3 --from=a.json", "diagnose a.json --forecast --scenario m:X --seed 3"),
        ("page runs/b --before runs/a --history runs", "nightly runs/b --before runs/a --history runs"),
        ("compare runs/a runs/b --json", "nightly runs/b --before runs/a --json"),
        ("hunt die-hard --seconds 5", "hunt die-hard --seconds 5"),
        ("explore --from a.json", "explore --from a.json"),
    ],
)
def test_the_words_after_an_old_name_stay(old, new):
    words, change = renamed(old.split())
    assert words == new.split()
    assert bool(change) == (old != new)


def test_an_old_command_does_the_same_and_says_its_new_name_in_one_line(kwalk):
    for old, new in (
        (("properties", REFERENCE), ("scenarios", REFERENCE, "--properties")),
        (("inspect", CAPTURE), ("diagnose", CAPTURE)),
        (("inspect", CAPTURE, "--json"), ("diagnose", CAPTURE, "--json")),
        (("graph", "die-hard"), ("explore", "die-hard", "--graph")),
    ):
        before, after = kwalk(*old), kwalk(*new)
        assert (before.code, before.out) == (after.code, after.out)
        said = f"kwalk: `kwalk {old[0]}` is `kwalk {NOW[old[0]]}` now; the old name works until the next release.\n"
        assert (before.err, after.err) == (said, "")


def test_two_runs_are_compared_by_the_old_name(kwalk, tmp_path):
    write_small_run(tmp_path / "a"), write_small_run(tmp_path / "b")
    ran = kwalk("compare", "a", "b", "--json")
    assert ran.code == 0 and json.loads(ran.out)["command"] == "kwalk nightly b --before a"


def test_a_file_after_html_is_refused_with_what_to_write(kwalk):
    ran = kwalk("inspect", CAPTURE, "--html", "now.html")
    assert ran.code == 2
    assert "`kwalk diagnose --html` writes the page into the folder of --out" in ran.err
    assert "Leave out now.html." in ran.err


def test_a_snapshot_that_old_collect_would_have_written_is_still_named_by_out(kwalk):
    ran = kwalk("collect", "127.0.0.1:1", "--release", "2.8.2", "--out", "now.json", "--seconds", "0.1")
    assert "`--save-as now.json` names the snapshot" in ran.err
