"""Exhaustive searches that end without an answer: what they say, and how far they came."""
from __future__ import annotations

import pytest

from model.language import UsageError
from search.exhaust import exhaust
from search.verdict import Answer
from tests.search.exhaustive.verdicts import claims_of
from tests.search.plain_kernel import plain_kernel


def test_a_spent_time_budget_gives_a_partial_verdict(model):
    verdict = exhaust(model, kernel=plain_kernel(model), claims=(), seconds=0.0)
    assert verdict.answer is Answer.UNDECIDED and verdict.how == "time budget of 0 s"
    assert verdict.distinct_states > 4 and "complete" in verdict.notes[0]


def test_a_spent_memory_budget_gives_a_partial_verdict_that_says_how_far_it_came(reference):
    verdict = exhaust(reference, keep_going=True, memory_bytes=2_000_000)
    assert verdict.answer is Answer.VIOLATED  # what was found stays found
    quiet = exhaust(reference, claims=(), memory_bytes=2_000_000)
    assert quiet.answer is Answer.UNDECIDED and quiet.how == "memory budget of 0.002 GB"
    how_far = f"Ran out of the memory budget of 0.002 GB at {quiet.distinct_states:,} states, depth {quiet.depth}: "
    assert quiet.notes[0].startswith(how_far)
    assert f"depth {quiet.depth - 1} complete" in quiet.notes[0]
    assert 100_000 < quiet.distinct_states < 2_000_000 / 13


def test_a_budget_too_small_to_begin_is_refused(model):
    with pytest.raises(UsageError, match="too few states to begin"):
        exhaust(model, memory_bytes=100)


def test_ctrl_c_leaves_a_usable_partial_verdict(reference):
    def press(progress):
        raise KeyboardInterrupt

    verdict = exhaust(reference, claims=(), report=press, kernel=plain_kernel(reference))
    assert verdict.answer is Answer.UNDECIDED and verdict.how == "interrupted"
    assert verdict.distinct_states > 1


def test_progress_tells_states_depth_and_time_left(reference):
    heard = []

    def listen(progress):
        heard.append(progress)
        if len(heard) == 3:
            raise KeyboardInterrupt

    exhaust(reference, claims=(), seconds=600, report=listen, kernel=plain_kernel(reference))
    assert len(heard) == 3 and all(p.engine == "exhaust" and p.unit == "states" for p in heard)
    assert [p.done for p in heard] == sorted({p.done for p in heard})
    assert heard[0].left < 600 and "depth" in heard[0].note


def test_a_search_that_ends_early_says_what_it_has_not_reached(model):
    claims = claims_of(model, "never_three_delivered", "nine_delivered")
    verdict = exhaust(model, claims=claims)
    assert verdict.answer is Answer.VIOLATED and verdict.counterexample.claim == "never_three_delivered()"
    assert "nine_delivered() was not reached so far." in verdict.notes
