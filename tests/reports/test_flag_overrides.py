"""Flags set otherwise than the variant has them: on the command line, in traces, and in what reports say."""

from __future__ import annotations

import json

import pytest

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE, WAIT_SETS
from kwalk.model.examples.lost_update import LOCK, LOST_UPDATE
from kwalk.model.language import Flag, Model, UsageError
from kwalk.model.language.settings import allowed_settings, declared_flags, setting_from
from kwalk.search.kernel.model_digest import model_digest

UNLOCKED, QUEUE = "kwalk.model.examples.lost_update:LOST_UPDATE", "kwalk.model.examples.blocking_queue:BLOCKING_QUEUE"


def test_a_flag_set_otherwise_is_what_another_variant_has():
    assert Model(LOST_UPDATE, "no-lock", flags={"lock": True}).binding == Model(LOST_UPDATE, "lock").binding
    assert Model(LOST_UPDATE, "no-lock").flag_overrides == {}


def test_the_flags_of_a_scenario_are_found_where_its_modules_declare_them():
    assert declared_flags(LOST_UPDATE)["lock"] is LOCK
    assert declared_flags(BLOCKING_QUEUE)["wait_sets"] is WAIT_SETS
    assert allowed_settings(LOST_UPDATE, "lock") == (False, True)
    assert allowed_settings(BLOCKING_QUEUE, "wait_sets") == ("one", "two")
    assert setting_from(LOST_UPDATE, "lock", "on") is True
    assert isinstance(declared_flags(LOST_UPDATE)["lock"], Flag)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"lokc": True}, "No flag named 'lokc'. Did you mean 'lock'?"),
        ({"lock": "yes"}, "Flag 'lock' cannot be 'yes'. Allowed: False, True."),
        ({"lock": 1}, "Flag 'lock' cannot be 1."),
        ({"lock": ["on"]}, "cannot be"),
    ],
)
def test_what_a_flag_cannot_be_is_refused(flags, why):
    with pytest.raises(UsageError, match=why.replace(".", r"\.")):
        Model(LOST_UPDATE, flags=flags)


def test_a_flag_changes_the_verdict_and_the_output_says_so(kwalk):
    assert kwalk("exhaust", UNLOCKED).code == 12
    ran = kwalk("exhaust", UNLOCKED, "--flag", "lock=on")
    assert ran.code == 0
    assert "variant no-lock with lock on; threads 2\n" in ran.out
    assert ran.out.rstrip().endswith(f"kwalk exhaust {UNLOCKED} --flag lock=on")
    found = kwalk("exhaust", UNLOCKED, "--variant", "lock", "--flag", "lock=off", "--json").object
    assert (found["variant"], found["flags"], found["exit_code"]) == ("lock", {"lock": False}, 12)


@pytest.mark.parametrize("engine", ["exhaust", "walk", "prove"])
def test_a_trace_remembers_the_flags_and_replays_with_them(kwalk, engine):
    found = kwalk(engine, UNLOCKED, "--variant", "lock", "--flag", "lock=off", "--json").object
    path = found["counterexample"]["trace_file"]
    with open(path, encoding="utf-8") as file:
        assert json.load(file)["#meta"]["flags"] == {"lock": False}
    again = kwalk("replay", path)
    assert again.code == 12 and "variant lock with lock off" in again.out
    assert kwalk("replay", path, "--json").object["flags"] == {"lock": False}
    assert "variant lock with lock off" in kwalk("replay", "--format", "text", path).out


def test_a_flag_with_settings_is_set_by_name(kwalk):
    found = kwalk("exhaust", QUEUE, "--flag", "wait_sets=two", "--json").object
    assert (found["verdict"], found["flags"]) == ("holds", {"wait_sets": "two"})


def test_a_trace_can_be_tried_with_a_fix(kwalk):
    path = kwalk("exhaust", UNLOCKED, "--json").object["counterexample"]["trace_file"]
    tried = kwalk("replay", path, "--flag", "lock=on")
    assert tried.code == 3 and "The trace does not fit variant no-lock with lock on" in tried.out
    assert tried.out.rstrip().endswith(f"kwalk replay {path} --flag lock=on")


def test_traces_with_and_without_a_flag_have_names_of_their_own(kwalk):
    one = kwalk("exhaust", UNLOCKED, "--json").object["counterexample"]["trace_file"]
    other = kwalk("exhaust", UNLOCKED, "--flag", "lock=off", "--json").object["counterexample"]["trace_file"]
    assert one != other


def test_models_with_different_flags_have_different_digests():
    off, on = (model_digest(Model(LOST_UPDATE, flags={"lock": setting})) for setting in (False, True))
    assert off == model_digest(Model(LOST_UPDATE, "no-lock")) != on


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("exhaust", UNLOCKED, "--flag", "lokc=on"), "Did you mean 'lock'?"),
        (("exhaust", UNLOCKED, "--flag", "lock=maybe"), "Flag 'lock' cannot be 'maybe'. Allowed: off, on."),
        (("walk", UNLOCKED, "--flag", "lock"), "is not NAME=SETTING"),
        (("prove", UNLOCKED, "--flag", "=on"), "is not NAME=SETTING"),
        (("hunt", QUEUE, "--flag", "wait_sets=three"), "Allowed: one, two."),
        (("exhaust", "kwalk.model.examples.die_hard:DIE_HARD", "--flag", "lock=on"), "There is none."),
    ],
)
def test_a_wrong_flag_ends_with_2_and_one_message(kwalk, words, why, tmp_path):
    ran = kwalk(*words)
    assert (ran.code, ran.out) == (2, "") and why in ran.err and len(ran.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"lock": 3}, "`flags.lock` must be true, false or a string"),
        (["lock"], "`flags` must be an object"),
        ({"lock": "perhaps"}, "Flag 'lock' cannot be 'perhaps'"),
        ({"key": True}, "No flag named 'key'"),
    ],
)
def test_a_trace_with_strange_flags_is_refused(kwalk, tmp_path, flags, why):
    path = kwalk("exhaust", UNLOCKED, "--json").object["counterexample"]["trace_file"]
    with open(path, encoding="utf-8") as file:
        page = json.load(file)
    page["#meta"]["flags"] = flags
    (tmp_path / "other.itf.json").write_text(json.dumps(page))
    ran = kwalk("replay", "other.itf.json")
    assert (ran.code, ran.out) == (2, "") and why in ran.err
