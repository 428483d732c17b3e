"""Violations in states that walks reach: how `prove` begins with large models."""

from __future__ import annotations

import pytest

from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Kind, Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.proof import context
from kwalk.search.proof.sampling import sample_states
from kwalk.search.results.verdict import Answer, Verdict
from tests.queries import prove

NAMES = ("die-hard", "ticket-lock", "tower-of-hanoi")
FROM_WALKS = "from states reached by walks"


@pytest.fixture
def walked(monkeypatch):
    """Prove a model as if it were large, with a sample of so many states."""

    def run(model: Model, states: int, **options: object) -> Verdict:
        monkeypatch.setattr(context, "LARGE_MODEL_TERMS", 0)
        monkeypatch.setattr(context, "sample_states", lambda stepper: sample_states(stepper, states))
        return prove(model, induction=0, support=False, **options)

    return run


def how(verdict: Verdict) -> str:
    return next((note for note in verdict.notes if note.startswith(FROM_WALKS)), "")


def test_a_violation_is_found_in_the_sample(walked):
    model = Model(DIE_HARD)
    properties = tuple(prop for prop in model.properties if prop.kind is Kind.ALWAYS)
    verdict = walked(model, 3_000, properties=properties)
    assert verdict.answer is Answer.VIOLATED
    assert how(verdict)
    shortest = exhaust(model, properties=properties).counterexample
    assert shortest.length <= verdict.counterexample.length
    assert verdict.counterexample.shortest is None


@pytest.mark.parametrize("name", NAMES)
def test_what_walks_violate_exhaustive_search_violates(walked, name):
    model = Model(next(scenario for scenario in SCENARIOS if scenario.name == name))
    for prop in model.properties:
        if prop.kind in (Kind.ALWAYS, Kind.WHEN_QUIESCENT, Kind.STEP) and not prop.declaration.only_counts:
            verdict = walked(model, 10, properties=(prop,), depth=7)
            searched = exhaust(model, properties=(prop,))
            assert searched.answer is Answer.VIOLATED or verdict.answer is not Answer.VIOLATED
            assert not how(verdict) or verdict.answer is Answer.VIOLATED


def test_a_model_of_few_terms_is_not_walked():
    model = Model(REFERENCE)
    assert not how(prove(model, properties=model.properties_of("disk_matches_znode"), induction=0, support=False))
