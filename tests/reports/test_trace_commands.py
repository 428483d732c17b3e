"""`kwalk replay` reads a saved trace; `kwalk scenarios` lists scenarios and properties."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kwalk.model.language import distributions
from kwalk.model.language.distributions import kwalk_version
from kwalk.reports.command_line import main
from kwalk.reports.handlers import traces as handlers
from kwalk.reports.options.parser import commands
from kwalk.reports.traces import replay as replaying
from kwalk.reports.traces.itf import itf, itf_text
from kwalk.reports.traces.trace_file import read_trace
from tests.reports.post_office import POST_OFFICE
from tests.reports.traces import LONG, LOST, REFERENCE, model, trace


@pytest.fixture
def saved(tmp_path):
    """A function that saves a trace and gives its path."""

    def save(of=None, **meta):
        page = itf(model(), of or trace(), "0")
        page["#meta"] |= meta
        file = tmp_path / "saved.itf.json"
        file.write_text(json.dumps(page))
        return file

    return save


def test_a_replay_confirms_the_violation_and_ends_as_the_search_did(kwalk, saved):
    ran = kwalk("replay", saved())
    assert ran.code == 12
    assert "VIOLATED  nothing_is_lost(seal A)" in ran.out
    assert "Replayed 7 steps in plain Python" in ran.out and "Reproduce: kwalk replay " in ran.out


@pytest.mark.parametrize(
    ("actions", "prop", "code"),
    [
        (("post(0, FIRST)", "let_dog_out(0)", "deliver()"), "no_card_stays(0)", 13),
        (("post(0, FIRST)", "deliver()"), "a_box_can_fill(0)", 0),
        (("post(0, FIRST)",), None, 0),
        (("post(0, FIRST)", "deliver()", "post(0, FIRST)", "deliver()"), "boxes_only_fill(0)", 12),
    ],
)
def test_the_exit_code_is_that_of_the_last_state(kwalk, saved, actions, prop, code):
    assert kwalk("replay", saved(trace(actions, prop))).code == code


def test_a_trace_of_a_model_that_had_fewer_fields_is_taken_again(kwalk, saved):
    vectors = [" ".join(map(str, state[1:])) for state in trace().states]
    ran = kwalk("replay", saved(vectors=vectors, fingerprint="older"))
    assert ran.code == 12 and "its steps are executed again from an initial state of the model" in ran.err
    assert "Replayed 7 steps in plain Python" in ran.out
    lost = kwalk("replay", saved(vectors=vectors, fingerprint="older", actions=["deliver()"] * (len(vectors) - 1)))
    assert lost.code == 2 and "executed again" not in lost.err


def test_a_trace_whose_property_holds_now_ends_with_0_and_says_so(kwalk, saved):
    ran = kwalk("replay", saved(property="nothing_is_lost(2)"))
    assert ran.code == 0 and "it is no longer violated" in ran.out


def test_a_healed_property_is_not_headlined_as_violated(kwalk, saved):
    assert kwalk("replay", saved(property="nothing_is_lost(2)")).out.startswith("NOT VIOLATED  ")


def test_a_trace_that_does_not_fit_ends_with_2_and_names_the_step(kwalk, saved):
    ran = kwalk("replay", saved(actions=[*LOST[:3], "let_cat_out(0)", *LOST[4:]]))
    assert (ran.code, ran.out) == (2, "")
    assert "3 of its 7 steps fit; step 4, let_cat_out(0), is not an action instance of this model" in ran.err


def test_a_changed_model_is_warned_about_and_tried(kwalk, saved):
    ran = kwalk("replay", saved(fingerprint="00"))
    assert ran.code == 12 and "The model has changed since this trace was saved" in ran.err


def test_a_replay_in_another_variant_that_allows_it_ends_the_same(kwalk, saved):
    ran = kwalk("replay", saved(), "--variant", "other")
    assert ran.code == 12 and "variant other" in ran.out


def test_a_replay_in_another_variant_that_forbids_it_leaves_it_open(kwalk, saved, monkeypatch):
    stopped = replaying.ReplayResult(4, "step 5, let_dog_out(0), cannot be executed: it is not enabled", None)
    monkeypatch.setattr(handlers, "replay", lambda *_: stopped)
    ran = kwalk("replay", saved(), "--variant", "other", "--json")
    assert ran.code == 3
    assert (ran.object["verdict"], ran.object["steps"]) == ("undecided", 4)


def test_json_of_a_replay_is_one_object(kwalk, saved):
    found = kwalk("replay", saved(), "--json").object
    assert (found["verdict"], found["steps"], found["counterexample"]["length"]) == ("violated", 7, 7)


def test_shown_folded_a_trace_has_few_lines_and_unfolded_all(kwalk, saved):
    file = saved(trace(LONG))
    assert "9 routine steps (driver)" in kwalk("replay", "--format", "text", file).out
    unfolded = kwalk("replay", "--format", "text", file, "--unfold").out
    assert "routine steps" not in unfolded and unfolded.count("drives a mile") == 10


@pytest.mark.parametrize(
    ("form", "begins"), [("markdown", "# VIOLATED"), ("html", "<!doctype html>"), ("itf", "{"), ("text", "VIOLATED")]
)
def test_a_trace_is_shown_in_each_format_and_written_where_asked(kwalk, saved, form, begins, tmp_path):
    file = saved()
    shown = kwalk("replay", file, "--format", form)
    assert shown.code == 0 and shown.out.startswith(begins)
    written = kwalk("replay", file, "--format", form, "--out", "here")
    assert (tmp_path / written.out.strip()).read_text().startswith(begins)


def test_what_is_written_as_itf_is_the_same_trace(kwalk, saved, tmp_path):
    again = tmp_path / "again.itf.json"
    again.write_text(kwalk("replay", saved(), "--format", "itf").out)
    assert read_trace(again) == trace()


@pytest.mark.parametrize("options", [(), ("--format", "text"), ("--minimize",)])
def test_a_file_that_is_no_trace_ends_with_2_and_one_harmless_line(kwalk, options, tmp_path):
    (tmp_path / "\x1b[31mx").write_text("{")
    ran = kwalk("replay", "\x1b[31mx", *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "\x1b" not in ran.err and "\\x1b[31mx" in ran.err


def test_properties_are_listed_with_their_symptoms(kwalk):
    ran = kwalk("scenarios", "--properties", REFERENCE)
    assert ran.code == 0
    assert "no_card_stays(house)" in ran.out and "when quiescent: Where no letter waits" in ran.out
    assert "symptom: a letter never arrives" in ran.out
    listed = kwalk("scenarios", "--properties", REFERENCE, "--json").object["properties"][REFERENCE]
    assert [each["name"] for each in listed] == [declaration.name for declaration in POST_OFFICE.properties]


def test_scenarios_are_listed_with_variants_and_bounds_on_demand(kwalk):
    assert "two-phase-commit" in kwalk("scenarios").out
    ran = kwalk("scenarios", "--variants")
    assert ran.code == 0 and "variants" in ran.out and "bounds" in ran.out
    listed = {scenario["name"]: scenario for scenario in kwalk("scenarios", "--json").object["scenarios"]}
    assert listed["topic-id-core"]["bounds"]["failovers"] == 2


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_command_has_help_with_examples_and_exit_codes(kwalk, command):
    ran = kwalk(command, "--help")
    assert ran.code == 0
    assert f"\n  kwalk {command}" in ran.out and "\nexit codes: 0 " in ran.out


def test_the_version_is_printed(kwalk):
    assert kwalk("--version").out.startswith(f"kwalk {kwalk_version()}")


@pytest.mark.parametrize(("known", "said"), [("0123456789abcdef", " (commit 0123456789ab)"), ("", "")])
def test_the_version_has_the_commit_if_it_is_known(known, said, kwalk, monkeypatch):
    monkeypatch.setattr(distributions, "commit", lambda: known)
    assert kwalk("--version").out == f"kwalk {kwalk_version()}{said}\n"


def run(*words, **how):
    return subprocess.run([sys.executable, "-m", "kwalk.reports.command_line", *map(str, words)], text=True, **how)


def test_a_reader_who_has_seen_enough_causes_no_complaint(saved):
    shown = subprocess.Popen(
        [sys.executable, "-m", "kwalk.reports.command_line", "replay", saved(), "--format", "html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    shown.stdout.read(10)
    shown.stdout.close()
    assert shown.stderr.read() == b""
    shown.wait()


def test_a_full_disk_behind_standard_output_ends_with_2_and_one_message(saved):
    with open("/dev/full", "w") as full:
        shown = run("replay", "--format", "text", saved(), stdout=full, stderr=subprocess.PIPE)
    assert shown.returncode == 2
    assert shown.stderr == "kwalk: no space is left for the output. Free some space, or redirect the output.\n"


def test_an_output_that_knows_no_arrows_gets_escapes(saved):
    ascii_only = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    shown = run("replay", "--format", "text", saved(), capture_output=True, env=ascii_only)
    assert shown.returncode == 0 and "\\u2192" in shown.stdout


def test_help_imports_no_engine_and_no_renderer():
    code = "import sys; from kwalk.reports.command_line import main; main(['--help']); print(sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    for heavy in ("rich", "jinja2", "numpy", "numba", "z3", "pyspark", "hypothesis"):
        assert f"'{heavy}'" not in shown.stdout


def test_main_takes_its_words_from_the_command_line_if_none_are_given(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kwalk", "--version"])
    assert main() == 0 and capsys.readouterr().out.startswith("kwalk ")


def test_a_saved_text_has_the_size_of_what_it_says():
    assert len(itf_text(model(), trace(), "0")) < 40_000
