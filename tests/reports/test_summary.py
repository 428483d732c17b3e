"""A verdict says how sure it is, and what was never put to the test."""
from __future__ import annotations

import io

import pytest
from attrs import evolve

from reports.machine import verdict_object
from reports.summary import summary
from reports.terminal import console, put
from search.verdict import Answer, Finding, RuleCount, Verdict
from tests.reports.traces import model, trace

HOLDS = Verdict(
    Answer.HOLDS, "exhaustive", "exhaust", "post-office", "plain", {"seals": 3}, ("nothing_is_lost",),
    distinct_states=1234, generated_states=5678, depth=9, seconds=0.5,
    rules={"drive()": RuleCount(5, 5, 0), "deliver()": RuleCount(2, 1, 1)},
    premises={"nothing_is_lost(0)": 7, "nothing_is_lost(1)": 0}, bounds_hit={"queue": 1204, "miles": 0},
    notes=("The night was short.",),
)  # fmt: skip


def text(verdict: Verdict, told: Finding | None = None) -> str:
    stream = io.StringIO()
    put(console(stream), *summary(verdict, model(), told))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("proved", "HOLDS  1 invariant (proved)"),
        ("exhaustive", "HOLDS  1 invariant (exhaustively, within the bounds)"),
        ("sampled", "HOLDS  1 invariant (sampled only: no proof)"),
    ],
)
def test_a_holds_is_never_said_alone(how, said):
    assert text(evolve(HOLDS, how=how)).startswith(said)


def test_an_undecided_verdict_names_the_limit():
    undecided = evolve(HOLDS, answer=Answer.UNDECIDED, how="time budget of 5 s")
    assert text(undecided).startswith("UNDECIDED  time budget of 5 s; 1 invariant looked at")


def test_bounds_that_were_hit_are_counted_and_others_are_not_named():
    assert "bound reached: queue, 1,204 times; the verdict speaks only within it" in text(HOLDS)
    assert "miles" not in text(HOLDS)


def test_what_was_never_put_to_the_test_is_told():
    shown = text(HOLDS)
    assert "rules that never fired: post, let_dog_out" in shown
    assert "rules that fired and never changed anything: drive()" in shown
    assert "never put to the test (the premise never held): nothing_is_lost(1)" in shown
    assert "1,234 distinct states, 5,678 generated, 9 deep, exhaust in 0.5 s" in shown
    assert "The night was short." in shown


def test_a_thing_that_is_never_reached_is_a_finding_without_a_trace():
    missed = evolve(HOLDS, answer=Answer.VIOLATED, findings=(Finding("a_box_can_fill(0)", 0),))
    assert "never reached, though it should be possible: a_box_can_fill(0)" in text(missed)
    assert verdict_object(missed, {})["counterexample"] is None


def test_other_findings_are_told_in_a_line_each():
    first, second = Finding("nothing_is_lost(0)", 2, trace()), Finding("no_card_stays(0)", 3, trace())
    shown = text(evolve(HOLDS, answer=Answer.VIOLATED, findings=(first, second)), told=first)
    assert "no_card_stays(0) is violated, 3 times, first in 7 steps" in shown
    assert "nothing_is_lost(0) is violated" not in shown
