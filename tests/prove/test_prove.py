"""Proofs: induction, shortest violations, and closed domains."""

from itertools import product

import pytest

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Kind, Model
from kwalk.model.language.lift import lift
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.proof.induction import domain_violations
from kwalk.search.proof.python_comparison import ProofComparison
from kwalk.search.results.verdict import Answer, Strength
from tests.prove.bound_before_error import SCENARIO as BOUND_BEFORE_ERROR
from tests.prove.plain_induction import is_inductive
from tests.prove.two_depths import SCENARIO as TWO_DEPTHS
from tests.prove.two_inductive import SCENARIO as TWO_INDUCTIVE
from tests.queries import prove

PAIRS = [(s, v) for s in SCENARIOS for v in (s.variants or {s.default_variant: {}})]


@pytest.mark.parametrize(
    ("name", "length"), [("disk_matches_znode", 3), pytest.param("leaders_when_settled", 9, marks=pytest.mark.thorough)]
)
def test_bounded_checking_finds_the_known_shortest_traces_of_the_reference_model(name, length):
    model = Model(REFERENCE)
    verdict = prove(model, properties=model.properties_of(name), induction=0, support=False)
    assert verdict.answer is Answer.VIOLATED
    assert verdict.counterexample.length == length
    assert verdict.counterexample.shortest == "prove"


def test_a_violation_that_is_found_backwards_is_compared_with_those_of_other_properties():
    verdict = prove(Model(TWO_DEPTHS))
    assert (verdict.findings[0].prop, verdict.counterexample.length) == ("is_below_9()", 9)
    assert verdict.counterexample.shortest == "prove"
    assert "is_8() is unknown: not tried; not reached within 6 steps" in verdict.notes


def test_what_is_not_violated_within_the_depth_is_undecided_and_the_verdict_has_the_depth():
    model = Model(REFERENCE)
    verdict = prove(model, properties=model.properties_of("leaders_when_settled"), depth=4, induction=0, support=False)
    assert verdict.answer is Answer.UNDECIDED
    assert "4 steps" in verdict.qualifier


@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=[f"{s.name}-{v}" for s, v in PAIRS])
def test_the_domains_of_every_example_are_closed_or_are_left_from_an_unreachable_state(scenario, variant):
    model = Model(scenario, variant)
    for violation in domain_violations(lift(model)):
        said = r"leaves its domain|is outside|out of range|must be|has the indices|empty|assert is false|StopIteration"
        with pytest.raises(Exception, match=said):
            model.attempt(model.instance(violation.action), model.canonical(violation.state))


@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=[f"{s.name}-{v}" for s, v in PAIRS])
def test_what_is_proved_inductive_is_never_violated_by_exhaustive_search(scenario, variant):
    model = Model(scenario, variant)
    lifted = lift(model)
    provable = [c for c in lifted.properties if c.prop.kind in (Kind.ALWAYS, Kind.STEP)]
    proved = tuple(c.prop for c in provable if is_inductive(lifted, c))
    if proved:
        verdict = exhaust(model, properties=proved, seconds=20)
        assert verdict.answer in (Answer.HOLDS, Answer.UNDECIDED)


@pytest.mark.parametrize(
    ("name", "prop"),
    [
        ("ewd840", "dijkstras_invariant"),
        ("readers-writers", "one_writer"),
        ("tic-tac-toe", "one_winner"),
        ("voting", "votes_are_safe"),
    ],
)
def test_published_inductive_invariants_are_proved(name, prop):
    model = Model(next(s for s in SCENARIOS if s.name == name))
    verdict = prove(model, properties=model.properties_of(prop))
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.PROVED)


def test_a_property_that_an_action_breaks_is_not_inductive():
    model = Model(REFERENCE)
    lifted = lift(model)
    assert not any(is_inductive(lifted, p) for p in lifted.properties if not p.prop.declaration.only_counts)


def test_an_error_behind_a_bound_is_none():
    verdict = prove(Model(BOUND_BEFORE_ERROR))
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.PROVED)


def test_the_states_that_an_induction_looks_back_on_differ_in_the_slice(monkeypatch):
    model = Model(TWO_INDUCTIVE)
    ranges = [range(leaf.low, leaf.high + 1) for leaf in model.leaves]
    states = [model.canonical(numbers) for numbers in product(*ranges)]
    monkeypatch.setattr(ProofComparison, "_random_states", lambda self: iter(states))
    verdict = prove(model)
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.PROVED)
    assert verdict.compared.states == len(states)
