"""Proofs that need more than plain induction: k steps back, supporting invariants; what they must never prove."""

import pytest

from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Model
from kwalk.model.language.lift import lift
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.proof.certificate import property_gap
from kwalk.search.proof.context import ProofContext, Supported
from kwalk.search.proof.cubes import Cube
from kwalk.search.proof.slicing import slice_of, whole_model
from kwalk.search.results.verdict import Answer, ProofOutcome, Strength
from tests.prove.ladder import LADDER
from tests.prove.plain_induction import is_inductive
from tests.queries import prove
from tests.states import reachable_states

SMALL = [s for s in SCENARIOS if s.name in ("die-hard", "lost-update", "blocking-queue", "two-phase-commit", "ewd840")]
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
SUPPORTED = [
    ("two-phase-commit", "managers_agree()"),
    ("two-phase-commit", "decisions_last(1)"),
    ("ewd840", "detection_is_right()"),
    ("chang-roberts", "winner_is_lowest_initiator(2)"),
    ("chang-roberts", "election_ends()"),
    ("alternating-bit", "old_packets_are_duplicates()"),
    ("ticket-lock", "queue_moves_forward(0)"),
]


def property_of(lifted, key):
    return next(prop for prop in lifted.properties if prop.prop.key == key)


@pytest.mark.parametrize(("name", "key"), SUPPORTED)
def test_supporting_invariants_are_found_and_hold_in_reachable_states_of_plain_python(name, key):
    model = Model(BY_NAME[name])
    lifted = lift(model)
    prop = property_of(lifted, key)
    assert not is_inductive(lifted, prop)
    found = ProofContext(model, lifted).support(prop)
    assert isinstance(found, Supported)
    assert found.facts
    for state in reachable_states(model, 300, seed=3):
        assert not any(cube.contains_state(state) for cube in found.facts)


def test_a_property_that_cannot_fail_is_marked():
    model = Model(LADDER)
    (proof,) = prove(model, properties=model.properties_of("the_ladder_is_long")).proofs
    assert proof.outcome is ProofOutcome.PROVED
    assert "never put to the test" in proof.method


def test_a_certificate_with_a_gap_is_refused():
    model = Model(BY_NAME["two-phase-commit"])
    lifted = lift(model)
    prop = property_of(lifted, "decisions_last(0)")
    found = ProofContext(model, lifted).support(prop)
    part, facts = whole_model(lifted), found.facts
    assert property_gap(part, prop, facts) is None
    needed = [one for one in facts if property_gap(part, prop, [fact for fact in facts if fact != one]) is not None]
    assert len(needed) > len(facts) / 2


def test_a_fact_that_fails_initially_supports_nothing():
    model = Model(LADDER, "steep")
    lifted = lift(model)
    prop = property_of(lifted, "never_falls()")
    assert property_gap(slice_of(lifted, [prop]), prop, [Cube({0: (0, 0)})]) is not None


def test_two_steps_back_prove_what_one_does_not():
    model = Model(BY_NAME["lost-update"], "lock")
    shallow = prove(model, induction=1, support=False, depth=8)
    deep = prove(model, induction=3, support=False, depth=8)
    assert shallow.answer is Answer.UNDECIDED
    assert (deep.answer, [proof.k for proof in deep.proofs]) == (Answer.HOLDS, [3, 3])


def test_a_counterexample_to_induction_that_nothing_leads_to_is_shown_as_unreachable():
    model = Model(BY_NAME["lost-update"], "lock")
    verdict = prove(
        model, properties=model.properties_of("counts_every_increment"), induction=1, support=False, depth=7
    )
    (proof,) = verdict.proofs
    assert (verdict.answer, proof.outcome) == (Answer.UNDECIDED, ProofOutcome.UNKNOWN)
    assert "no behaviour leads there" in proof.counterexample


def test_a_counterexample_to_induction_that_is_reachable_becomes_a_violation():
    model = Model(LADDER)
    verdict = prove(model, properties=model.properties_of("below_the_hatch"), induction=1, support=False, depth=2)
    (proof,) = verdict.proofs
    assert verdict.answer is Answer.VIOLATED
    assert proof.counterexample == "climb() where rung 8: a behaviour of 8 steps leads there"
    assert verdict.counterexample.length == 9


def test_the_supporting_invariants_are_those_that_are_needed_in_the_models_words():
    model = Model(LADDER, "steep")
    verdict = prove(model, depth=2)
    hatch, fall, _ = verdict.proofs
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.PROVED)
    assert sorted(fall.support) == [f"rung is never {odd}" for odd in (1, 3, 5, 7, 9)]
    assert set(hatch.support) <= set(fall.support)
    assert fall.slice == "2 of 3 state variables, 2 of 3 instances: rung, fell"
    assert hatch.slice == "1 of 3 state variables, 1 of 3 instances: rung"


@pytest.mark.parametrize(("name", "variant"), [(s.name, v) for s in SMALL for v in (s.variants or {None: {}})])
def test_no_proof_and_no_violation_contradicts_exhaustive_search(name, variant):
    model = Model(BY_NAME[name], variant)
    proofs = {proof.prop: proof.outcome for proof in prove(model, depth=12, seconds=20).proofs}
    searched = exhaust(model, keep_going=True)
    violated = {finding.prop for finding in searched.findings}
    assert searched.strength is Strength.EXHAUSTIVE
    assert not [
        prop
        for prop, outcome in proofs.items()
        if outcome in (ProofOutcome.PROVED, ProofOutcome.WITNESSED) and prop in violated
    ]
    assert not [prop for prop, outcome in proofs.items() if outcome is ProofOutcome.VIOLATED and prop not in violated]


def test_an_unknown_property_has_a_reason_and_the_exit_code_is_3():
    model = Model(BY_NAME["alternating-bit"])
    properties = model.properties_of("old_packets_are_duplicates")
    verdict = prove(model, properties=properties, induction=1, support=False, depth=3)
    (proof,) = verdict.proofs
    assert (verdict.exit_code, proof.outcome) == (3, ProofOutcome.UNKNOWN)
    assert "not inductive" in proof.method
