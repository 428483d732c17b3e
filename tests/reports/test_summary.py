"""A verdict says how sure it is, and what was never tested."""

from __future__ import annotations

import io

import pytest
from attrs import evolve

from kwalk.reports.document.text import print_blocks
from kwalk.reports.json_output import verdict_object
from kwalk.reports.pages.verdict import summary
from kwalk.reports.terminal import console
from kwalk.search.base.options import StopReason
from kwalk.search.results.verdict import ActionCount, Answer, Finding, Strength, Verdict
from tests.reports.traces import model, trace

HOLDS = Verdict(
    Answer.HOLDS,
    Strength.EXHAUSTIVE,
    "exhaust",
    "post-office",
    "plain",
    {"seals": 3},
    ("nothing_is_lost",),
    distinct_states=1234,
    generated_states=5678,
    depth=9,
    seconds=0.5,
    action_counts={"drive()": ActionCount(5, 5, 0), "deliver()": ActionCount(2, 1, 1)},
    premises={"nothing_is_lost(0)": 7, "nothing_is_lost(1)": 0},
    bounds_hit={"queue": 1204, "miles": 0},
    notes=("The night was short.",),
)


def text(verdict: Verdict, top_finding: Finding | None = None) -> str:
    stream = io.StringIO()
    print_blocks(summary(verdict, model(), top_finding), console(stream))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("strength", "said"),
    [
        (Strength.PROVED, "HOLDS  1 property (proved)"),
        (Strength.EXHAUSTIVE, "HOLDS  1 property (exhaustively, within the bounds)"),
        (Strength.SAMPLED, "HOLDS  1 property (sampled only: no proof)"),
    ],
)
def test_a_holds_never_stands_alone(strength, said):
    assert text(evolve(HOLDS, strength=strength)).startswith(said)


def test_an_undecided_verdict_names_the_limit():
    undecided = evolve(HOLDS, answer=Answer.UNDECIDED, stopped=StopReason.TIME, detail="time budget of 5 s")
    assert text(undecided).startswith("UNDECIDED  time budget of 5 s; 1 property checked")


def test_bounds_that_were_hit_are_counted_and_others_are_not_named():
    assert "cut off 1,204 steps; what comes after is not known" in text(HOLDS)
    assert "miles" not in text(HOLDS)


def test_what_was_never_tested_is_named():
    shown = text(HOLDS)
    assert "action instances that never fired: post, let_dog_out" in shown
    assert "action instances that fired and never changed the state: drive()" in shown
    assert "never tested (the premise was never true): nothing_is_lost(1)" in shown
    assert "1,234 distinct states, 5,678 generated, depth 9, exhaust in 0.5 s" in shown
    assert "The night was short." in shown


def test_a_thing_that_is_never_reached_is_a_finding_without_a_trace():
    missed = evolve(HOLDS, answer=Answer.VIOLATED, findings=(Finding("a_box_can_fill(0)", 0),))
    assert "not reachable within the bounds: a_box_can_fill(0)" in text(missed)
    assert verdict_object(missed, {})["counterexample"] is None


def test_other_findings_have_a_line_each():
    first, second = Finding("nothing_is_lost(0)", 2, trace()), Finding("no_card_stays(0)", 3, trace())
    shown = text(evolve(HOLDS, answer=Answer.VIOLATED, findings=(first, second)), top_finding=first)
    assert "no_card_stays(0) is violated, 3 times, first in 7 steps" in shown
    assert "nothing_is_lost(0) is violated" not in shown
