"""What a configuration accepts is found and listed as ever, and does not decide the answer of a night."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import UsageError
from kwalk.search.night.config import config_from
from kwalk.search.night.folder import RunFolder
from kwalk.search.results.verdict import Answer
from tests.nightly.local import begin_run, resume_run, table_of, without_spark

TASKS = [{"scenarios": ["lost-update", "die-hard"], "walks": 300, "depth": 30, "swarm": False}]
BOTH = (
    {"properties": ["nothing_is_lost"], "reason": "it has no lock", "scenarios": ["lost-update"]},
    {"properties": ["counts_every_increment()"], "reason": "the same", "scenarios": ["lost-update"]},
)
PUZZLE = {"properties": ["not_solved"], "reason": "the puzzle has a solution"}


def night(path, monkeypatch, *accepted):
    """The result of a night that accepts this, and its rows by scenario."""
    with without_spark(monkeypatch):
        result = begin_run(path, {"seed": 3, "tasks": TASKS, "accepted": list(accepted)})
    return result, {row.scenario: row for row in result.rows}


def test_a_night_that_violates_only_what_is_accepted_has_no_bad_news(tmp_path, monkeypatch):
    result, rows = night(tmp_path / "run", monkeypatch, *BOTH, PUZZLE)
    assert result.answer is Answer.HOLDS
    assert {row.answer for row in rows.values()} == {"violated"}
    assert rows["die-hard"].accepted == ("the puzzle has a solution",)
    assert set(rows["lost-update"].accepted) == {"it has no lock", "the same"}
    found = table_of(tmp_path / "run", "findings")
    assert found and all(row["accepted"] for row in found)


def test_one_violation_that_is_not_accepted_makes_its_task_bad_news(tmp_path, monkeypatch):
    result, rows = night(tmp_path / "run", monkeypatch, BOTH[0], PUZZLE)
    assert result.answer is Answer.VIOLATED
    assert rows["lost-update"].accepted == () and rows["die-hard"].accepted


def test_of_a_property_one_shape_is_accepted_and_another_is_not(tmp_path, monkeypatch):
    _, rows = night(tmp_path / "first", monkeypatch)
    groups = table_of(tmp_path / "first", "findings")
    (group,) = {row["group"] for row in groups if row["property"] == "not_solved()"}
    for name, shape, reasons in (("same", group, ("known",)), ("other", "0123456789ab", ())):
        _, rows = night(tmp_path / name, monkeypatch, {"properties": ["not_solved"], "reason": "known", "group": shape})
        assert rows["die-hard"].accepted == reasons


def test_a_task_that_was_cut_short_is_undecided_beside_what_is_accepted(tmp_path, monkeypatch):
    result, _ = night(tmp_path / "run", monkeypatch, *BOTH, PUZZLE)
    folder = RunFolder(tmp_path / "run")
    folder.save_manifest({**folder.manifest(), "state": "interrupted"})
    with without_spark(monkeypatch):
        assert resume_run(tmp_path / "run").answer is Answer.HOLDS
    assert evolve(result, rows=tuple(evolve(row, why="cut") for row in result.rows)).answer is Answer.UNDECIDED


def test_what_is_accepted_does_not_make_runs_incomparable():
    plain = config_from({"tasks": TASKS}, "t")
    assert config_from({"tasks": TASKS, "accepted": [PUZZLE]}, "t").digest == plain.digest
    assert config_from({"tasks": TASKS, "seed": 2}, "t").digest != plain.digest


@pytest.mark.parametrize(
    ("accepted", "message"),
    [
        ({"properties": ["not_solved"]}, "it needs properties and a reason"),
        ({"properties": ["not_solved"], "reason": " "}, "it needs properties and a reason"),
        ({**PUZZLE, "properties": ["not_solvd"]}, "Did you mean 'not_solved'"),
        ({**PUZZLE, "scenarios": ["dye-hard"]}, "Did you mean 'die-hard'"),
        ({**PUZZLE, "scenarios": ["lost-update"]}, "not_solved"),
        ({**PUZZLE, "group": "my bug"}, "'my bug' is no id of a group"),
        ({**PUZZLE, "shape": "x"}, "shape"),
        ("not_solved", "is no table"),
    ],
)
def test_what_accepts_nothing_is_refused(tmp_path, monkeypatch, accepted, message):
    with pytest.raises(UsageError, match=message):
        night(tmp_path / "run", monkeypatch, accepted)
    assert not (tmp_path / "run").exists()
