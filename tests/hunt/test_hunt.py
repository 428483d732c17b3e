"""A hunt is exhaustive where that finishes, else it walks and shrinks what it met; nothing is counted twice."""

from __future__ import annotations

import os

import pytest
from attrs import evolve

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model, UsageError
from kwalk.search.analyses import hunt as hunting
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer, Verdict
from kwalk.search.simulation.options import SWARM
from kwalk.search.simulation.walk import walk
from tests.queries import hunt

MODEL = Model(REFERENCE)
UNBROKEN = MODEL.properties_of("leaders_when_settled")


def impatient(model, **wanted) -> Verdict:
    """An exhaustive search that has no time."""
    return exhaust(model, **{**wanted, "seconds": 1e-9, "properties": ()})


def counted_walks(model, options, **wanted) -> Verdict:
    """Walks that a number limits, and no time."""
    return walk(model, options, **{**wanted, "seconds": None, "walks": 2000})


@pytest.fixture
def few_walks(monkeypatch):
    monkeypatch.setattr(hunting, "walk", counted_walks)


def test_what_exhaustive_search_finds_is_final_and_shortest():
    found = hunt(MODEL, seconds=20)
    assert (found.answer, found.engine, found.counterexample.length) == (Answer.VIOLATED, "exhaust", 3)
    assert found.counterexample.shortest


def test_what_the_walks_find_is_shrunk(monkeypatch, few_walks):
    monkeypatch.setattr(hunting, "exhaust", impatient)
    found = hunt(MODEL, seed=5, seconds=20)
    assert (found.answer, found.engine, found.seed) == (Answer.VIOLATED, "exhaust, then walk", 5)
    assert found.counterexample.length <= 6
    assert "locally minimal" in found.counterexample.found_by
    assert found.distinct_states >= 1 and found.walks >= 1


def test_counts_of_both_engines_are_added(monkeypatch, few_walks):
    monkeypatch.setattr(hunting, "exhaust", lambda model, **wanted: evolve(exhaust(model, **wanted), **UNDECIDED))
    first = exhaust(MODEL, properties=UNBROKEN)
    walked = counted_walks(MODEL, SWARM, properties=UNBROKEN, seed=1)
    found = hunt(MODEL, properties=UNBROKEN, seed=1, seconds=60)
    for key, count in found.action_counts.items():
        assert count.taken == first.action_counts[key].taken + walked.action_counts[key].taken
    assert found.distinct_states == first.distinct_states and found.steps == walked.steps
    for key, hits in found.bounds_hit.items():
        assert hits == first.bounds_hit.get(key, 0) + walked.bounds_hit.get(key, 0)


UNDECIDED = {"answer": Answer.UNDECIDED, "stopped": StopReason.TIME, "findings": ()}


def test_what_walks_may_not_do_is_refused_before_anything_starts(monkeypatch):
    monkeypatch.setattr(hunting, "exhaust", lambda *_, **__: pytest.fail("the names come first"))
    with pytest.raises(UsageError, match="Did you mean 'elect'"):
        hunt(MODEL, only=("ellect",))


def test_an_interrupted_search_is_not_followed_by_walks(monkeypatch):
    interrupted = {"answer": Answer.UNDECIDED, "stopped": StopReason.INTERRUPT, "detail": "", "findings": ()}
    monkeypatch.setattr(hunting, "exhaust", lambda model, **wanted: evolve(impatient(model, **wanted), **interrupted))
    found = hunt(MODEL, seconds=20)
    assert (found.answer, found.stopped, found.engine) == (Answer.UNDECIDED, StopReason.INTERRUPT, "exhaust")


def test_ctrl_c_while_shrinking_keeps_the_long_trace(monkeypatch, few_walks):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(hunting, "exhaust", impatient)
    monkeypatch.setattr("kwalk.search.minimize.shrink.shrink", interrupted)
    found = hunt(MODEL, seconds=20)
    assert found.answer is Answer.VIOLATED and found.counterexample.length >= 3


def test_the_walks_use_the_cores_that_are_asked_for(monkeypatch):
    asked = []

    def noted(model, options, **wanted):
        asked.append(wanted)
        return counted_walks(model, options, **wanted)

    monkeypatch.setattr(hunting, "exhaust", impatient)
    monkeypatch.setattr(hunting, "walk", noted)
    for workers in (1, None):
        assert hunt(MODEL, seconds=20, workers=workers).answer is Answer.VIOLATED
    assert [wanted["workers"] for wanted in asked] == [1, os.cpu_count()]
    assert all(hunting.LEAST_WALK_SECONDS <= wanted["seconds"] < 20 for wanted in asked)
