"""A run folder is read as far as it is whole, and what is missing is said."""

from __future__ import annotations

import json

import pytest

from kwalk.model.language import UsageError
from kwalk.search.night.results import merged_groups, read_run
from tests.nightly.small_run import SHAPE, chunk, finding, manifest, rewrite, round_of, write_small_run


@pytest.fixture
def small(tmp_path):
    return write_small_run(tmp_path / "run")


def test_counts_of_rounds_add_up(small):
    first, second = read_run(small.path).tasks
    assert (first.rounds, first.walks, first.steps, first.spent) == (2, 200, 2000, 2.0)
    assert (second.rounds, second.walks, second.steps, second.spent) == (1, 100, 1000, 1.0)
    assert [(total.instance, total.enabled, total.taken) for total in first.actions] == [
        ("fill_big()", 200, 100),
        ("empty_big()", 200, 0),
    ]
    assert [(prop.property, prop.premise, prop.violated) for prop in first.properties] == [("not_solved()", 1100, 6)]
    assert (first.answer, second.answer) == ("violated", "holds")
    assert first.growth.steps == (500, 1000, 1500, 2000)


def test_the_groups_of_rounds_are_those_of_the_task(small):
    (group,) = read_run(small.path).tasks[0].groups
    assert (group.group, group.count, group.first_walk, group.length) == (SHAPE, 6, 7, 2)
    assert read_run(small.path).missing == ()


def test_of_two_traces_the_shorter_is_kept_then_the_earlier_whatever_the_order():
    long = finding(0, actions=("a", "b", "c"), length=3, shortest=False, properties=("x",))
    early = finding(1, actions=("b", "a"), properties=("y",), count=4, shortest=False)
    late = finding(2, actions=("a", "z"))
    for rows in ([long, early, late], [early, late, long], [early, long, late]):
        (merged,) = merged_groups(rows)
        assert (merged.actions, merged.length, merged.count, merged.first_walk) == (("b", "a"), 2, 10, 7)
        assert (merged.properties[0], set(merged.properties)) == ("y", {"x", "y", "not_solved()"})
        assert merged.shortest  # `late` is as short, and known to be the shortest


def test_a_damaged_line_ends_what_is_read_and_is_named(small):
    first, second, *more = small.journal(0).path.read_bytes().split(b"\n")
    small.journal(0).path.write_bytes(b"\n".join([first, second[:-20], *more]))
    run = read_run(small.path)
    assert (run.tasks[0].walks, run.tasks[0].groups[0].count, run.tasks[0].answer) == (100, 3, "violated")
    assert run.tasks[1].walks == 100
    why = "rounds that count: 1; that do not: 1, as line 2 of tasks/0000.jsonl is damaged, or of another version."
    assert run.missing == (f"Task 0 (die-hard default): {why}",)


def test_how_a_task_ended_may_be_missing(small):
    small.journal(0).cut(2)
    small.journal(1).cut(1)
    run = read_run(small.path)
    assert run.missing == (
        "How task 0 (die-hard default) ended is missing.",
        "How task 1 (lost-update default) ended is missing.",
    )
    assert [task.answer for task in run.tasks] == ["violated", "undecided"]


@pytest.mark.parametrize("state", ["running", "interrupted", "failed"])
def test_a_run_that_has_not_ended_is_read_and_says_so(tmp_path, state):
    write_small_run(tmp_path, state=state)
    run = read_run(tmp_path)
    assert run.tasks[0].walks == 200
    assert "these are the results of its finished rounds" in run.missing[0]


def test_a_folder_that_is_no_run_is_refused_with_what_to_name(tmp_path):
    with pytest.raises(UsageError, match="Give the folder"):
        read_run(tmp_path)


@pytest.mark.parametrize("tasks", [None, [7], [{"task": 0}], [{"task": "0", "name": "x"}], {"0": {}}])
def test_a_manifest_that_was_edited_is_refused(tmp_path, tasks):
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest(), "tasks": tasks}))
    with pytest.raises(UsageError, match="Give another run"):
        read_run(tmp_path)


def test_a_growth_has_no_more_points_than_a_page_can_show(tmp_path):
    folder = write_small_run(tmp_path)
    rows = [chunk(100 + 50 * n, distinct=float(n)) for n in range(2000)]
    rewrite(folder, 1, [round_of(1, 0), round_of(1, 1, chunks=rows)])
    growth = read_run(tmp_path).tasks[1].growth
    assert len(growth.steps) <= 401
    assert (growth.steps[-1], growth.states[-1]) == (1000 + 500 * 2000, 1999.0)
