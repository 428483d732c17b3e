"""The commands that search: what they print, what they leave, and how they end."""

from __future__ import annotations

import errno
import json
import re

import pytest

from kwalk.reports import files
from tests.reports.traces import REFERENCE

TOPIC_ID_CORE = "kwalk.model.examples.reference:REFERENCE"
DIE_HARD = "kwalk.model.examples.die_hard:DIE_HARD"
NEEDED = {
    "format",
    "verdict",
    "strength",
    "stopped",
    "scenario",
    "variant",
    "property",
    "distinct_states",
    "generated_states",
    "depth",
    "steps",
    "seconds",
    "bounds_hit",
    "action_counts",
    "counterexample",
}


def test_a_violation_ends_with_12_a_readable_trace_and_the_command_that_replays_it(kwalk):
    ran = kwalk("exhaust", TOPIC_ID_CORE)
    assert ran.code == 12
    assert "VIOLATED  disk_matches_znode()  in 3 steps, the shortest (exhaust" in ran.out
    assert re.search(r"1  old client  adds a partition +znode_id A → none", ran.out)
    assert f"Reproduce: kwalk replay {ran.file('Trace')}\n" in ran.out
    assert ran.out.rstrip().endswith(f"kwalk exhaust {TOPIC_ID_CORE}")
    assert kwalk("replay", ran.file("Trace")).code == 12


def test_every_file_is_named_and_is_there(kwalk, tmp_path):
    ran = kwalk("exhaust", TOPIC_ID_CORE, "--out", "found")
    named = {ran.file(label) for label in ("Trace", "Read", "Markdown")}
    assert {path.relative_to(tmp_path) for path in (tmp_path / "found").iterdir()} == named


def test_what_holds_ends_with_0_and_says_how_it_is_known(kwalk, tmp_path):
    ran = kwalk("exhaust", REFERENCE, "--property", "boxes_only_fill(1)", "--bound", "seals=1")
    assert ran.code == 0
    assert ran.out.startswith("HOLDS  1 property (exhaustively, within the bounds)\n")
    assert "the bound seals=" in ran.out and "the bound miles=" in ran.out
    assert "Reproduce: kwalk exhaust" in ran.out
    assert list(tmp_path.iterdir()) == []


def test_json_is_one_object_with_everything_that_scripts_need(kwalk):
    ran = kwalk("exhaust", TOPIC_ID_CORE, "--json")
    found = ran.object
    assert ran.code == found["exit_code"] == 12
    assert set(found) >= NEEDED
    assert (found["verdict"], found["strength"], found["property"]) == (
        "violated",
        "exhaustive",
        "disk_matches_znode()",
    )
    assert found["counterexample"]["actions"] == ["expand()", "controller_fails()", "elect(0)"]
    assert found["counterexample"]["length"] == found["depth"] == 3
    assert found["action_counts"]["expand()"].keys() == {"enabled", "taken", "changed"}
    assert kwalk("replay", found["counterexample"]["trace_file"]).code == 12


def test_json_of_what_holds_has_no_counterexample(kwalk):
    found = kwalk("exhaust", REFERENCE, "--property", "boxes_only_fill(1)", "--bound", "seals=1", "--json").object
    assert (found["verdict"], found["counterexample"], found["findings"]) == ("holds", None, [])
    assert found["bounds"]["seals"] == 1 and found["bounds_hit"]["seals"] > 0


def test_keep_going_counts_everything_and_saves_a_trace_of_each_violated_property(kwalk, tmp_path):
    ran = kwalk("exhaust", REFERENCE, "--keep-going", "--property", "nothing_is_lost", "--json")
    properties = [finding["property"] for finding in ran.object["findings"]]
    assert sorted(properties) == ["nothing_is_lost(0)", "nothing_is_lost(1)", "nothing_is_lost(2)"]
    assert all(finding["count"] > 0 for finding in ran.object["findings"])
    assert len(list((tmp_path / "kwalk-out").glob("*.itf.json"))) == 3


def test_many_findings_are_read_as_a_few_shapes_each_with_its_trace(kwalk):
    ran = kwalk("walk", TOPIC_ID_CORE, "--walks", 500, "--keep-going", "--minimize", 60)
    assert "60 findings were minimized: 4 shapes." in ran.out
    assert re.search(r"\n +29 +1 +9 +leaders_when_settled\(\): expand\(\), controller_fails\(\) +walk 0\n", ran.out)
    for number in (1, 2, 3, 4):
        assert kwalk("replay", ran.file(f"Trace of shape {number}")).code == 12
    assert "--minimize 60" in ran.out
    found = kwalk("walk", TOPIC_ID_CORE, "--walks", 500, "--keep-going", "--minimize", 60, "--json").object
    assert [group["count"] for group in found["groups"]][:1] == [29]
    assert sum(group["count"] for group in found["groups"]) == 60
    assert found["groups"][0]["steps"][:2] == ["expand()", "controller_fails()"]


def test_nothing_is_grouped_where_it_is_not_wanted(kwalk):
    assert kwalk("walk", TOPIC_ID_CORE, "--walks", 50, "--json").object["groups"] == []
    assert "SHAPES" not in kwalk("walk", TOPIC_ID_CORE, "--walks", 50, "--keep-going", "--minimize", 0).out


def test_a_walk_is_the_same_for_the_same_seed_and_its_trace_is_minimized(kwalk):
    one = kwalk("walk", TOPIC_ID_CORE, "--seed", 3, "--json").object
    other = kwalk("walk", TOPIC_ID_CORE, "--seed", 3, "--json").object
    assert one["counterexample"]["actions"] == other["counterexample"]["actions"]
    assert one["counterexample"]["length"] <= 6
    assert one["seed"] == 3


def test_a_proof_finds_the_shortest_trace(kwalk):
    found = kwalk("prove", TOPIC_ID_CORE, "--property", "disk_matches_znode", "--depth", 4, "--json").object
    assert (found["verdict"], found["counterexample"]["length"]) == ("violated", 3)


def test_a_hunt_ends_with_the_shortest_trace_where_exhaustive_search_finishes(kwalk):
    ran = kwalk("hunt", TOPIC_ID_CORE, "--seconds", 20)
    assert ran.code == 12 and "in 3 steps, the shortest" in ran.out


def test_the_command_that_reproduces_names_all_that_was_asked(kwalk):
    asked = ("walk", TOPIC_ID_CORE, "--walks", 5, "--depth", 1, "--seed", 9, "--bound", "restarts=0", "--keep-going")
    command = kwalk(*asked, "--json").object["command"]
    assert command == f"kwalk walk {TOPIC_ID_CORE} --seed 9 --walks 5 --depth 1 --bound restarts=0 --keep-going"


def test_walks_are_a_swarm_unless_they_are_to_be_uniform(kwalk):
    asked = ("walk", TOPIC_ID_CORE, "--walks", 4000, "--keep-going", "--minimize", 0)
    swarm, uniform = kwalk(*asked), kwalk(*asked, "--uniform")
    assert "A swarm of 2 generations" in swarm.out and "favoured, rarest first: " in swarm.out
    assert "swarm" not in uniform.out and "distinct states (estimated)" in uniform.out
    assert uniform.out.rstrip().endswith("--keep-going --uniform")


def test_actions_that_walks_may_not_take_are_named_and_repeated_in_the_command(kwalk):
    ran = kwalk("walk", TOPIC_ID_CORE, "--walks", 50, "--without", "stop", "--only", "controller", "--only", "fault")
    assert "Walks could not take " in ran.out and "cut where no other action instance was enabled" in ran.out
    assert "action instances that never fired: stop" not in ran.out and "stop" in ran.out
    assert "--only controller --only fault --without stop" in ran.out
    result = kwalk("walk", TOPIC_ID_CORE, "--walks", 50, "--without", "stop", "--json").object
    assert result["left_out"] and not set(result["left_out"]) & set(result["action_counts"])
    refused = kwalk("walk", TOPIC_ID_CORE, "--only", "controler")
    assert refused.code == 2 and "Did you mean 'controller'?" in refused.err


def test_actions_that_are_never_taken_are_named(kwalk):
    ran = kwalk("exhaust", TOPIC_ID_CORE, "--bound", "failovers=0", "--bound", "restarts=0")
    assert "action instances that never fired: controller_fails, elect, stop, start" in ran.out


def test_a_time_budget_of_nothing_leaves_it_undecided(kwalk):
    ran = kwalk("exhaust", TOPIC_ID_CORE, "--seconds", "0.000001", "--property", "leaders_when_settled", "--json")
    assert ran.code in (3, 12) and ran.object["exit_code"] == ran.code


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("exhaust", "no-such:thing"), "Cannot import 'no-such'"),
        (("exhaust", "kwalk.model.examples.reference:REFERENC"), "Did you mean 'REFERENCE'?"),
        (("exhaust", TOPIC_ID_CORE, "--variant", "9.9"), "No variant named '9.9'"),
        (("exhaust", TOPIC_ID_CORE, "--property", "disk_matches"), "Did you mean 'disk_matches_znode'?"),
        (("exhaust", TOPIC_ID_CORE, "--bound", "broker=3"), "Did you mean 'brokers'?"),
        (("exhaust", TOPIC_ID_CORE, "--bound", "brokers=0"), "Bound 'brokers' must be 1 or more (got 0)"),
        (
            ("exhaust", TOPIC_ID_CORE, "--bound", "brokers=100000000000"),
            "is not NAME=N with N a whole number in 0 … 2,147,483,648",
        ),
        (("exhaust", TOPIC_ID_CORE, "--bound", "brokers=200000"), "Give smaller bounds"),
        (("exhaust", TOPIC_ID_CORE, "--bound", "brokers"), "is not NAME=N"),
        (("exhaust", TOPIC_ID_CORE, "--bound", "brokers=-1"), "is not NAME=N"),
        (("exhaust", TOPIC_ID_CORE, "--seconds", "nan"), "is not a number of seconds above 0"),
        (("walk", TOPIC_ID_CORE, "--seed", "x"), "is not a whole number"),
        (("walk", TOPIC_ID_CORE, "--walks", "0"), "is not a whole number in 1"),
        (("explore",), "Name a scenario, or a snapshot"),
        (("explore", TOPIC_ID_CORE, "--from", "x.json"), "does not read snapshots"),
        (("exhaust",), "See `kwalk exhaust --help`"),
        (("explode", TOPIC_ID_CORE), "No command named 'explode'. Did you mean explore?"),
        ((), "COMMAND"),
    ],
)
def test_wrong_use_ends_with_2_and_one_message(kwalk, words, why, tmp_path):
    ran = kwalk(*words)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err and ran.err.startswith("kwalk: ")
    assert len(ran.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_out_folder_is_refused_before_the_search(kwalk, tmp_path):
    (tmp_path / "file").write_text("")
    ran = kwalk("exhaust", TOPIC_ID_CORE, "--out", "file/below")
    assert (ran.code, ran.out) == (2, "") and "Cannot write to 'file/below'" in ran.err


def test_a_full_disk_loses_no_verdict_and_leaves_nothing_behind(kwalk, tmp_path, monkeypatch):
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    ran = kwalk("exhaust", TOPIC_ID_CORE, "--json")
    assert ran.code == 2 and ran.err.count("\n") == 1 and "no space left on device" in ran.err
    assert json.loads(ran.out)["counterexample"]["trace_file"] is None
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_before_anything_ran_ends_with_130(kwalk, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kwalk.reports.handlers.search.query_of", interrupted)
    assert kwalk("exhaust", TOPIC_ID_CORE).code == 130


def test_a_deadlock_ends_with_11(kwalk, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stuck_story.py").write_text(
        "from kwalk.model.language import *\n"
        "from kwalk.model.language import Scenario\n"
        "@state\nclass S:\n    at: int = number(0, 3)\n"
        "@action(by=Actor('clock'))\ndef tick(s: S) -> None:\n    require(s.at < 3)\n    s.at += 1\n"
        "STUCK = Scenario(name='stuck', story='It stops.', state=S, actions=(tick,), deadlock_is_error=True)\n"
    )
    ran = kwalk("exhaust", "stuck_story:STUCK")
    assert ran.code == 11 and "DEADLOCK" in ran.out and "3  clock  tick" in ran.out
    assert kwalk("replay", ran.file("Trace")).code == 11
