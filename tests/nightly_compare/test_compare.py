"""Two runs are compared: what is new or worse comes first and decides the exit code; what is chance does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from kwalk.model.language.registry import find_scenario
from kwalk.reports.nightly_compare.comparison import compare
from kwalk.search.night.folder import RunFolder
from kwalk.search.night.results import read_run
from kwalk.search.night.tables import ActionRow, CoverageRow
from tests.nightly.small_run import again, chunk, finding, manifest, run_row, write_small_run

OTHER = "0123456789ab"
COMPARE = ("nightly", "after", "--before", "before")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two equal runs, `before` and `after`, in the present folder."""
    monkeypatch.chdir(tmp_path)
    return write_small_run(Path("before")), write_small_run(Path("after"))


def compared():
    return compare(read_run(Path("before")), read_run(Path("after")))


def test_equal_runs_have_nothing_new(runs, kwalk_here):
    assert compared().exit_code == 0
    ran = kwalk_here(*COMPARE)
    assert ran.out.startswith("NOTHING WORSE  nothing new; 1 known group")
    assert ran.out.endswith("Reproduce: kwalk nightly after --before before\n")


def test_a_new_group_is_broken_and_comes_first(runs, kwalk_here):
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="worse()")])
    assert [(task.number, group.property) for task, group in compared().new] == [(1, "worse()")]
    ran = kwalk_here(*COMPARE)
    assert ran.code == 12
    assert ran.out.startswith("NEWLY VIOLATED  1 new group; 1 known group")
    assert "NEW  lost-update default: worse()" in ran.out


def test_a_new_group_of_a_walk_that_the_earlier_run_did_not_reach_says_so(runs, kwalk_here):
    walks = compared().pairs[1].before.walks
    note = "the earlier run ended before this walk"
    for first, expected in ((walks - 1, False), (walks, True)):
        again(runs[1], 1, findings=[finding(0, group=OTHER, property="worse()", first_walk=first)])
        assert (note in kwalk_here(*COMPARE).out) is expected


@pytest.mark.parametrize("seed", [1, 2])
def test_a_new_shape_of_what_both_runs_violate_is_told_apart_from_a_new_violation(runs, kwalk_here, seed):
    again(runs[1], 0, findings=[finding(0, group=OTHER, steps=("fill_small()",))])
    runs[1].save_manifest(manifest(seed=seed))
    assert list(compared().new) == [] and [group.group for _, group in compared().new_shapes] == [OTHER]
    ran = kwalk_here(*COMPARE)
    assert ran.code == 12 and ran.out.startswith("NEW SHAPES  1 new shape")
    assert "NEW SHAPE  die-hard default: not_solved()" in ran.out
    found = kwalk_here(*COMPARE, "--json").object
    assert [one["group"] for one in found["new_shapes"]] == [OTHER] and found["new"] == []


def test_what_was_violated_and_not_minimized_is_a_new_shape(runs):
    for folder in runs:
        again(folder, 1, coverage=[CoverageRow("worse()", "worse", 550, 9)])
    worse = finding(0, group=OTHER, property="worse()")
    again(runs[1], 1, findings=[worse], coverage=[CoverageRow("worse()", "worse", 550, 9)])
    assert list(compared().new) == [] and [row.property for _, row in compared().new_shapes] == ["worse()"]


def test_what_is_accepted_is_neither_new_nor_a_new_shape_and_is_listed_with_its_reason(runs, kwalk_here):
    again(runs[1], 0, findings=[finding(0, group=OTHER, steps=("fill_small()",), accepted="the puzzle has an end")])
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="worse()", accepted="KAFKA-14190")])
    again(runs[1], 1, -1, outcome=evolve(run_row(1), answer="violated", accepted=("KAFKA-14190",)))
    assert compared().exit_code == 0
    ran = kwalk_here(*COMPARE)
    assert ran.out.startswith("NOTHING WORSE") and "2 accepted groups" in ran.out
    assert "accepted: KAFKA-14190" in ran.out and "NEW  " not in ran.out
    assert [one["accepted"] for one in kwalk_here(*COMPARE, "--json").object["accepted"]] == [
        "the puzzle has an end",
        "KAFKA-14190",
    ]


def test_what_is_no_longer_accepted_is_worse(runs):
    again(runs[0], 1, findings=[finding(0, group=OTHER, property="worse()", accepted="for now")])
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="worse()")])
    again(runs[0], 1, -1, outcome=evolve(run_row(1), answer="violated", accepted=("for now",)))
    again(runs[1], 1, -1, outcome=evolve(run_row(1), answer="violated"))
    assert compared().exit_code == 12


def test_only_equal_complete_runs_are_said_to_be_the_same(runs):
    assert compared().is_unchanged
    again(runs[1], 0, findings=[finding(0), finding(0, group=OTHER, steps=("fill_small()",))])
    assert not compared().is_unchanged
    again(runs[1], 0, findings=[finding(0, length=1)])
    assert not compared().is_unchanged
    write_small_run(Path("after"), state="interrupted")
    assert not compared().is_unchanged


def test_what_was_not_searched_is_not_gone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_small_run(Path("before"))
    RunFolder(Path("after")).save_manifest(manifest(state="interrupted"))
    assert list(compared().gone) == [] and compared().exit_code == 3


def test_a_new_property_is_new_with_any_seed(runs):
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="worse()")])
    runs[1].save_manifest(manifest(seed=2))
    assert [group.property for _, group in compared().new] == ["worse()"] and compared().exit_code == 12


def test_a_card_says_the_claim_and_the_suspect_commits(runs, kwalk_here):
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="nothing_is_lost()")])
    for folder, commit in zip(runs, ("a" * 40, "b" * 40), strict=True):
        folder.save_manifest(manifest(commit=commit))
    ran = kwalk_here(*COMPARE)
    (about,) = {p.about for p in find_scenario("lost-update").declared_properties if p.name == "nothing_is_lost"}
    assert " ".join(about.split()).partition(". ")[0].rstrip(".") in ran.out
    assert f"suspect commits {'a' * 12}..{'b' * 12}" in ran.out


def test_a_new_witness_is_no_bad_news(runs):
    again(runs[1], 1, findings=[finding(0, group=OTHER, kind="reachable")])
    assert compared().exit_code == 0


def test_a_group_that_is_gone_is_reported_and_is_no_failure(runs, kwalk_here):
    for round in (0, 1):
        again(runs[1], 0, round, findings=[])
    ran = kwalk_here(*COMPARE)
    assert (ran.code, "GONE  die-hard default: not_solved()" in ran.out) == (0, True)


def test_a_verdict_that_got_worse_is_broken_even_without_a_group(runs):
    again(runs[1], 1, -1, outcome=evolve(run_row(1), answer="deadlock"))
    assert compared().exit_code == 12


def test_a_task_that_is_undecided_now_says_less(runs):
    runs[1].journal(1).cut(1)
    assert compared().exit_code == 3


def test_a_property_that_is_no_longer_tested_is_a_loss(runs, kwalk_here):
    again(runs[1], 1, coverage=[CoverageRow("not_solved()", "not_solved", 0, 0)])
    assert compared().exit_code == 3
    assert "no longer tested: not_solved() (550 before)" in kwalk_here(*COMPARE).out


def test_an_action_that_is_no_longer_taken_is_a_loss(runs, kwalk_here):
    again(runs[1], 1, actions=[ActionRow("fill_big()", "fill_big", "player", 100, 0, 0)])
    assert compared().exit_code == 3
    out = kwalk_here(*COMPARE).out
    assert "no longer taken: fill_big (50 before)" in out


def test_a_rare_action_that_less_work_did_not_take_may_be_chance(runs, kwalk_here):
    often = [ActionRow("fill_big()", "fill_big", "player", 100, 50, 50)]
    again(runs[0], 1, actions=[*often, ActionRow("rare()", "rare", "player", 9, 9, 9)])
    again(
        runs[1],
        1,
        actions=[*often, ActionRow("rare()", "rare", "player", 0, 0, 0)],
        chunks=[chunk(0, steps=400)],
    )
    assert compared().exit_code == 0
    assert "possibly by chance, because it was rare: rare (9 before)" in kwalk_here(*COMPARE).out


def test_a_rare_action_that_the_same_work_did_not_take_is_a_loss(runs):
    again(runs[0], 1, actions=[ActionRow("rare()", "rare", "player", 9, 9, 9)])
    again(runs[1], 1, actions=[ActionRow("rare()", "rare", "player", 0, 0, 0)])
    assert compared().exit_code == 3


def test_a_bound_that_is_newly_hit_and_another_speed_are_notes(runs, kwalk_here):
    again(runs[1], 1, chunks=[chunk(0, seconds=2.0), chunk(50, seconds=2.0)])
    again(runs[1], 1, -1, outcome=evolve(run_row(1), bounds_hit={"jugs": 7, "none": 0}))
    ran = kwalk_here(*COMPARE)
    assert ran.code == 0
    assert "newly reached bounds: jugs (7 times)" in ran.out
    assert "speed: 1,000 → 250 steps per CPU second (−75%)" in ran.out


def test_a_speed_that_was_measured_in_no_time_is_not_compared(runs):
    again(runs[1], 1, chunks=[chunk(0, seconds=0.001), chunk(50, seconds=0.001)])
    assert [pair.speed for pair in compared().pairs] == [None, None]


def test_tasks_of_one_run_only_are_reported_and_a_lost_one_is_a_loss(runs, kwalk_here):
    tasks = manifest()["tasks"]
    runs[1].save_manifest(manifest(tasks=tasks[:1]))
    assert compared().exit_code == 3
    assert "in the earlier run only: holds (sampled)" in kwalk_here(*COMPARE).out
    ran = kwalk_here("nightly", "before", "--before", "after")
    assert (ran.code, "in the later run only: holds (sampled)" in ran.out) == (0, True)


def test_two_tasks_of_the_same_are_paired_in_their_order(runs):
    tasks = manifest()["tasks"]
    same = {**tasks[0], "task": 1}
    for folder in runs:
        folder.save_manifest(manifest(tasks=[tasks[0], same]))
    assert [(pair.before.number, pair.after.number) for pair in compared().pairs] == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"seed": 1}, {"seed": 2}, "The seeds differ (1 → 2)"),
        ({}, {"config_sha256": "1" * 64}, "The configurations differ"),
        ({"commit": "a" * 40}, {"commit": "b" * 40}, "what differs comes from the code, so it can be bisected"),
        ({}, {"dirty": True}, "The later run had changes that were not committed."),
        ({"config": {"minutes": 60}}, {"config": {"minutes": 60}}, "Budgets are times"),
        ({}, {"cpu": "znver4"}, "Another machine (CPU generic → znver4)"),
        ({}, {"state": "interrupted"}, "Of the later run: The run was interrupted"),
    ],
)
def test_what_else_differs_is_said_with_what_it_means(runs, kwalk_here, before, after, said):
    for folder, other in zip(runs, (before, after), strict=True):
        folder.save_manifest(manifest(**other))
    assert said in " ".join(kwalk_here(*COMPARE).out.split())


def test_a_budget_that_was_not_given_is_no_time(runs, kwalk_here):
    config = {"minutes": None, "tasks": [{"walks": 5, "seconds": None}]}
    runs[0].save_manifest(manifest(config=config, commit="a"))
    runs[1].save_manifest(manifest(config=config, commit="b"))
    assert kwalk_here(*COMPARE, "--json").object["repeatable"]
    runs[1].save_manifest(manifest(config={"tasks": [{"seconds": 5}]}, commit="b"))
    assert not kwalk_here(*COMPARE, "--json").object["repeatable"]


def test_json_says_the_same(runs, kwalk_here):
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="worse()")])
    found = kwalk_here(*COMPARE, "--json").object
    assert (found["exit_code"], found["known"], found["new"][0]["group"]) == (12, 1, OTHER)
    assert found["tasks"][1]["new"] == [OTHER]
    assert json.dumps(found)


def test_the_page_of_the_later_run_is_written(runs, kwalk_here):
    again(runs[1], 1, findings=[finding(0, group=OTHER, property="<script>()")])
    assert "  Page: after/index.html" in kwalk_here(*COMPARE).out
    page = Path("after/index.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;()" in page and "<script" not in page


def test_a_run_is_not_compared_with_itself(runs, kwalk_here):
    ran = kwalk_here("nightly", "before", "--before", "./before")
    assert (ran.code, "named twice" in ran.err) == (2, True)
