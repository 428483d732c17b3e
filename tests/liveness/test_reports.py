"""A behaviour that never ends is saved, shown and replayed as one, in every format."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from kwalk.model.language import Model
from kwalk.reports.document.markdown import diagram
from kwalk.reports.traces.story import LoopStart, story_of
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.exhaustive.search import exhaust
from tests.liveness.classics import LOSSY, SLEEPERS

REFERENCE, SLEEPING = "tests.liveness.classics:LOSSY", "tests.liveness.classics:SLEEPERS"


@pytest.fixture
def searched(kwalk):
    return kwalk("exhaust", REFERENCE)


def test_the_text_marks_where_the_loop_begins(searched):
    assert searched.code == 12
    lines = searched.out.splitlines()
    assert lines[0] == "VIOLATED  value_arrives()  in 7 steps, the last 6 repeated forever"
    turn = next(n for n, line in enumerate(lines) if "↻" in line)
    assert "steps 2 to 7 repeat forever" in lines[turn]
    assert lines[turn - 1].split()[0] == "1" or "sends the new value" in lines[turn - 2]
    fairness = "The loop is fair. Fairness: WF of each instance of each system action (the default)."
    assert fairness in " ".join(searched.out.split())
    assert "what it awaits would be there" in " ".join(searched.out.split())


def test_itf_names_the_state_where_the_loop_begins(searched):
    page = json.loads(searched.file("Trace").read_text("utf-8"))
    assert page["loop"] == 1
    assert page["#meta"]["vectors"][1] == page["#meta"]["vectors"][-1]
    assert read_trace(searched.file("Trace")).loop == 1


def test_markdown_and_page_mark_it_too(searched):
    text = searched.file("Markdown").read_text("utf-8")
    assert "    loop steps 2 to 7 repeat forever\n" in text
    assert text.count("\n    end\n") == 1
    assert '<li class="loop" id="loop">↻ steps 2 to 7 repeat forever</li>' in (searched.file("Read").read_text("utf-8"))


def test_a_replay_confirms_it_in_plain_python(searched, kwalk):
    again = kwalk("replay", searched.file("Trace"))
    assert again.code == 12
    assert "the trace is confirmed" in again.out
    assert kwalk("replay", searched.file("Trace"), "--json").object["counterexample"]["loop"] == 1


def test_an_edited_loop_is_refused_or_not_confirmed(searched, kwalk):
    path = searched.file("Trace")
    page = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**page, "loop": 3}), "utf-8")
    refused = kwalk("replay", path)
    assert refused.code == 2
    assert "`loop` must be the number of a state" in refused.err
    path.write_text(json.dumps({**page, "loop": 7}), "utf-8")
    assert kwalk("replay", path).code == 0  # it stays at the end infinitely: the sender is starved


def test_json_has_the_loop(kwalk):
    assert kwalk("exhaust", REFERENCE, "--json").object["counterexample"]["loop"] == 1


def test_where_nothing_happens_any_more_the_story_says_so():
    model = Model(evolve(SLEEPERS, deadlock_is_error=False), "one-wait-set")
    story = story_of(model, exhaust(model).counterexample)
    *_, turn = story.chapters()
    assert (turn, story.length_text) == (LoopStart(()), "7 steps, then the state stays the same")
    assert any("Note over a0,a2: from here on the state stays the same" in line for line in diagram(story))
    assert story.why.stable


def test_a_loop_of_one_step_is_shown_as_one():
    story = story_of(Model(LOSSY), exhaust(Model(LOSSY)).counterexample)
    assert LoopStart(story.steps[:1]).text == "step 1 repeats forever"
