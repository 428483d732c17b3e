"""Proofs that need more than plain induction: k steps back, supporting invariants; what they must never prove."""
import pytest

from model.examples.scenarios import SCENARIOS
from model.language import Model
from model.language.lift import lift
from search.agreement import reachable_states
from search.prove import is_inductive, prove
from search.prove.workshop import Supported, Workshop
from search.verdict import Answer

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


def claim_of(lifted, key):
    return next(claim for claim in lifted.claims if claim.claim.key == key)


@pytest.mark.parametrize(("name", "key"), SUPPORTED)
def test_supporting_invariants_are_found_and_hold_in_reachable_states_of_plain_python(name, key):
    model = Model(BY_NAME[name])
    lifted = lift(model)
    claim = claim_of(lifted, key)
    assert not is_inductive(model, lifted, claim)
    found = Workshop(model, lifted).support(claim)
    assert isinstance(found, Supported)
    assert found.facts
    for state in reachable_states(model, 300, seed=3):
        assert not any(cube.has_state(state) for cube in found.facts)


def test_two_steps_back_prove_what_one_does_not():
    model = Model(BY_NAME["lost-update"], "lock")
    shallow = prove(model, induction=1, support=False, depth=8)
    deep = prove(model, induction=3, support=False, depth=8)
    assert shallow.answer is Answer.UNDECIDED
    assert (deep.answer, [proof.k for proof in deep.proofs]) == (Answer.HOLDS, [3, 3])
