"""A hunt from a snapshot begins where the real system stands, speaks its names, and its trace needs no snapshot."""

from __future__ import annotations

import json

import pytest

from kwalk.reports.traces.trace_file import read_trace
from tests.bad_input.harmless import assert_harmless

SURVEYED = "tests.reports.street_survey:SURVEYED"
ASKED = ("--forecast", "--scenario", SURVEYED)
SAFE = ("--property", "boxes_only_fill", "--bound", "seals=1")
"""What holds: one letter fills no box twice."""


@pytest.fixture
def survey(tmp_path):
    """A function that saves a survey and gives its path."""

    def save(houses=("Rose cottage", "The Mill"), dogs=("The Mill",)):
        file = tmp_path / "survey.json"
        file.write_text(json.dumps({"houses": houses, "dogs": dogs}))
        return file

    return save


def test_the_answer_begins_with_the_diagnosis_and_then_names_what_was_read(kwalk, survey):
    ran = kwalk("diagnose", survey(), *ASKED, "--bound", "seals=1")
    assert ran.code == 13
    first, second, third, *_ = ran.out.splitlines()
    assert first == "In danger: posts a letter to The Mill, class first."
    assert (second, third) == ("  Tie it up.", "  A street with 2 houses.")
    assert "BAD STABLE STATE  no_card_stays(house The Mill)  in 2 steps" in ran.out


def test_the_trace_replays_without_the_snapshot_and_with_its_names(kwalk, survey):
    file = survey()
    trace = kwalk("diagnose", file, *ASKED, "--bound", "seals=1").file("Trace")
    file.unlink()
    ran = kwalk("replay", trace)
    assert ran.code == 13 and "no_card_stays(house The Mill)" in ran.out
    for options in ((), ("--format", "text")):
        assert (
            "The model has changed" not in kwalk("replay", trace, *options).err
        )  # the snapshot checks fewer properties


def test_a_snapshot_without_danger_is_reported_as_such(kwalk, survey):
    found = kwalk("diagnose", survey(), *ASKED, *SAFE, "--json").object
    assert (found["verdict"], found["diagnosis"]) == ("holds", ["Dogs are no danger."])
    assert found["facts"] == ["A street with 2 houses."]
    assert found["bounds"]["houses"] == 2


def test_only_what_the_snapshot_suggests_is_looked_at(kwalk, survey):
    assert kwalk("diagnose", survey(), *ASKED, "--json").object["properties"] == ["no_card_stays"]


def test_an_invariant_that_is_asked_for_goes_before_those_that_the_snapshot_suggests(kwalk, survey):
    asked = ("--property", "nothing_is_lost", "--bound", "seals=1", "--json")
    assert kwalk("diagnose", survey(), *ASKED, *asked).object["property"] == "nothing_is_lost(0)"


def test_flags_of_a_snapshot_apply_unless_others_are_asked_for_and_its_trace_has_them(kwalk, survey):
    file = survey()
    file.write_text(json.dumps({**json.loads(file.read_text()), "flags": {"muzzles": True}}))
    ran = kwalk("diagnose", file, *ASKED, "--bound", "seals=1")
    assert read_trace(ran.file("Trace")).flags == {"muzzles": True}
    asked = kwalk("diagnose", file, *ASKED, "--flag", "muzzles=off", *SAFE, "--json").object
    assert asked["flags"] == {"muzzles": False}


def test_the_reproducing_command_names_the_snapshot(kwalk, survey):
    file = survey()
    found = kwalk("diagnose", file, *ASKED, *SAFE, "--json").object
    assert found["command"] == f"kwalk diagnose {file} --scenario {SURVEYED} --seed 0 {' '.join(SAFE)} --forecast"


def test_hostile_names_in_a_snapshot_are_harmless_on_the_terminal_and_in_file_names(kwalk, survey, tmp_path):
    file = survey(("\x1b[31m../x", "<script>"), ("\x1b[31m../x",))
    ran = kwalk("diagnose", file, *ASKED, "--bound", "seals=1")
    assert ran.code == 13 and "\x1b" not in ran.out and "\\x1b[31m../x" in ran.out
    assert {path.parent for path in tmp_path.rglob("*.html")} == {tmp_path / "kwalk-out"}
    page = ran.file("Read").read_text()
    assert_harmless("html", page)


@pytest.mark.parametrize(
    ("text", "why"),
    [("not json", "is not"), ("{}", "has no `houses`"), ("[" * 100_000, "nested too deeply"), (None, "no such file")],
)
def test_a_snapshot_that_is_no_use_is_refused_with_one_message(kwalk, tmp_path, text, why):
    if text is not None:
        (tmp_path / "bad.json").write_text(text)
    ran = kwalk("diagnose", "bad.json", *ASKED)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert why in ran.err


def test_a_snapshot_of_a_gigabyte_is_refused_before_it_is_read(kwalk, tmp_path):
    with open(tmp_path / "huge.json", "wb") as huge:
        huge.truncate(2**30)
    ran = kwalk("diagnose", "huge.json", *ASKED)
    assert ran.code == 2 and "1,024 MiB; a snapshot file has at most 64 MiB" in ran.err
