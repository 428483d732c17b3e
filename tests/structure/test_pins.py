"""`make pins`: a killed run continues, a change of a source voids what it has kept, and what is not needed goes."""

from __future__ import annotations

import json

import pytest

from tests.kafka import pins
from tests.kafka.outcomes import SearchOutcome, canonical, file_text

ONE, TWO, GONE = (f"kwalk exhaust {name}" for name in ("one", "two", "gone"))


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The commands that were run; the file begins with an outcome that is wanted and one that is not."""
    ran = []

    def searched(command):
        ran.append(command)
        return SearchOutcome(states=len(ran), depth=1)

    monkeypatch.setattr(pins, "FILE", tmp_path / "outcomes.json")
    monkeypatch.setattr(pins, "JOURNAL", tmp_path / "journal.json")
    monkeypatch.setattr(pins, "ROOT", tmp_path)
    monkeypatch.setattr(pins, "searched", searched)
    monkeypatch.setattr(pins, "wanted_searches", lambda: {ONE, TWO})
    monkeypatch.setattr(pins, "wanted_mutants", set)
    monkeypatch.setattr(pins, "pinned_searches", lambda: {name: SearchOutcome(states=9) for name in (ONE, GONE)})
    monkeypatch.setattr(pins, "pinned_mutants", dict)
    return ran


def states(folder):
    found = json.loads((folder / "outcomes.json").read_text("utf-8"))["searches"]
    return {command: outcome["states"] for command, outcome in found.items()}


def test_all_that_is_wanted_is_computed_and_the_rest_is_removed(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["pins"])
    pins.main()
    assert (runs, states(tmp_path)) == ([ONE, TWO], {ONE: 1, TWO: 2})
    printed = capsys.readouterr()
    assert "1 of 2, 0 min left: kwalk exhaust two" in printed.err and "2 of them computed now" in printed.out


def test_a_word_selects_commands_and_the_other_outcomes_stay(runs, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pins", "two"])
    pins.main()
    assert (runs, states(tmp_path)) == ([TWO], {ONE: 9, TWO: 1})


def test_what_has_no_outcome_yet_is_computed_whatever_the_words(runs, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pins", "no such word"])
    pins.main()
    assert (runs, states(tmp_path)) == ([TWO], {ONE: 9, TWO: 1})


def test_a_killed_run_continues_unless_a_source_has_changed(runs, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pins"])
    monkeypatch.setattr(pins, "sources_digest", lambda: "first")
    pins.Pins().compute(ONE)
    pins.main()
    assert runs == [ONE, TWO]
    monkeypatch.setattr(pins, "sources_digest", lambda: "second")
    pins.main()
    assert (runs, states(tmp_path)) == ([ONE, TWO, ONE, TWO], {ONE: 3, TWO: 4})


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("lost-update", "--flag", "lock=on"), SearchOutcome(states=9, depth=4)),
        (("lost-update", "--variant", "no-lock"), SearchOutcome(violates="counts_every_increment()", steps=4)),
    ],
)
def test_the_outcome_of_a_search_is_read_from_its_json(words, found):
    assert pins.searched(" ".join(["kwalk", "exhaust", *words])) == found


def test_a_search_that_keeps_going_has_the_shortest_length_of_each_property():
    found = pins.searched("kwalk exhaust lost-update --variant no-lock --keep-going")
    assert (found.shortest, found.violates, found.steps) == (
        {"counts_every_increment": 4, "nothing_is_lost": 4},
        "",
        None,
    )
    assert found.states and found.quiescent and found.depth


def test_mutants_are_counted_by_operator_file_and_killer_and_those_alive_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(pins, "FOLDER", tmp_path)
    rows = pins.tallied("kwalk mutate ticket-lock --operator dropped-guard")
    assert rows["mutants"]["tried"] == sum(rows["operator dropped-guard"].values())
    assert rows["operator dropped-guard"] == rows["file model/examples/ticket_lock.py"]
    assert rows["baseline default ticket-lock"]["states"] == 89
    alive = sum(row.startswith("alive ") for row in rows)
    assert alive == rows["operator dropped-guard"].get("survived", 0) > 0


def test_a_command_in_its_canonical_form_names_the_variant_and_sorts_options():
    written = "kwalk exhaust lost-update --flag lock=on --bound clients=2 --property nothing_is_lost --keep-going"
    canon = canonical(written)
    assert canon.startswith("kwalk exhaust lost-update --variant ")
    assert canon.endswith("--property nothing_is_lost --bound clients=2 --flag lock=on --keep-going")
    assert canonical(canon) == canon


def test_the_file_has_one_outcome_a_line_in_order():
    searches = {TWO: SearchOutcome(violates="p()", steps=3), ONE: SearchOutcome(states=5, depth=2, bounds=("b",))}
    text = file_text(searches, {"kwalk mutate x": {"mutants": {"tried": 1, "total": 2}}})
    assert text.splitlines()[2:4] == [
        '"kwalk exhaust one": {"states": 5, "depth": 2, "bounds": ["b"]},',
        '"kwalk exhaust two": {"violates": "p()", "steps": 3}',
    ]
    assert json.loads(text)["mutants"] == {"kwalk mutate x": {"mutants": {"tried": 1, "total": 2}}}
