"""Exhaustive searches that end without an answer: what they say, and how far they came."""

from __future__ import annotations

import pytest

from kwalk.model.language import UsageError
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer
from tests.search.exhaustive.verdicts import properties_of
from tests.search.plain_kernel import plain_kernel


def test_a_spent_time_budget_gives_a_partial_verdict(model):
    verdict = exhaust(model, kernel=plain_kernel(model), properties=(), seconds=0.0)
    assert verdict.answer is Answer.UNDECIDED and verdict.qualifier == "time budget of 0 s"
    assert verdict.distinct_states > 4 and "complete" in verdict.notes[0]


def test_a_spent_memory_budget_gives_a_partial_verdict_that_says_how_far_it_came(reference):
    verdict = exhaust(reference, keep_going=True, memory_bytes=2_000_000)
    assert verdict.answer is Answer.VIOLATED  # what was found stays found
    quiescent = exhaust(reference, properties=(), memory_bytes=2_000_000)
    assert quiescent.answer is Answer.UNDECIDED and quiescent.qualifier == "memory budget of 0.00186 GiB"
    how_far = (
        f"Ran out of the memory budget of 0.00186 GiB at {quiescent.distinct_states:,} states, "
        f"depth {quiescent.depth}: "
    )
    assert quiescent.notes[0].startswith(how_far)
    assert f"depth {quiescent.depth - 1} complete" in quiescent.notes[0]
    assert 100_000 < quiescent.distinct_states < 2_000_000 / 13


def test_a_budget_too_small_to_begin_is_refused(model):
    with pytest.raises(UsageError, match="is too small to start"):
        exhaust(model, memory_bytes=100)


def test_ctrl_c_leaves_a_usable_partial_verdict(reference):
    def press(progress):
        raise KeyboardInterrupt

    verdict = exhaust(reference, properties=(), report=press, kernel=plain_kernel(reference))
    assert verdict.answer is Answer.UNDECIDED and verdict.stopped is StopReason.INTERRUPT
    assert verdict.distinct_states > 1


def test_progress_has_states_depth_and_time_left(reference):
    heard = []

    def listen(progress):
        heard.append(progress)
        if len(heard) == 3:
            raise KeyboardInterrupt

    exhaust(reference, properties=(), seconds=600, report=listen, kernel=plain_kernel(reference))
    assert len(heard) == 3 and all(p.engine == "exhaust" and p.unit == "states" for p in heard)
    assert [p.done for p in heard] == sorted({p.done for p in heard})
    assert heard[0].left < 600 and heard[0].depth is not None


def test_a_search_that_ends_early_says_what_it_has_not_reached(model):
    properties = properties_of(model, "never_three_delivered", "nine_delivered")
    verdict = exhaust(model, properties=properties)
    assert verdict.answer is Answer.VIOLATED and verdict.counterexample.prop == "never_three_delivered()"
    assert "nine_delivered() was not reached so far." in verdict.notes
