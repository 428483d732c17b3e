"""Slices: what is left out cannot matter."""

from itertools import pairwise

import pytest

from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Kind, Model
from kwalk.model.language.lift import lift
from kwalk.search.proof.bounded import BoundedCheck
from kwalk.search.proof.effort import SolverEffort
from kwalk.search.proof.induction import least_k
from kwalk.search.proof.slicing import slice_of, whole_model
from tests.states import reachable_states

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
PAIRS = [(name, None) for name in ("lamport-mutex", "ewd840", "blocking-queue", "topic-id-core", "ticket-lock")]


def sliced(name, variant=None):
    model = Model(BY_NAME[name], variant)
    lifted = lift(model)
    for prop in lifted.properties:
        if prop.prop.kind is not Kind.EVENTUALLY:
            yield model, lifted, prop, slice_of(lifted, [prop])


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_what_is_outside_of_a_slice_does_not_influence_it(name, variant):
    """Two states that agree on the slice take the same sliced steps, to states that agree on it again."""
    model = Model(BY_NAME[name], variant)
    states = reachable_states(model, 40, seed=5)
    for _, _, prop, part in list(sliced(name, variant))[:6]:
        inside = set(part.leaves)
        for one, other in pairwise(states):
            mixed = tuple(one[n] if n in inside else other[n] for n in range(len(one)))
            if model.canonical(mixed) != mixed:
                continue
            for action in part.writers:
                a, b = model.attempt(action.instance, one), model.attempt(action.instance, mixed)
                assert a.result is b.result
                if a.after is not None:
                    assert [a.after[n] for n in part.leaves] == [b.after[n] for n in part.leaves]
            if prop.prop.kind in (Kind.ALWAYS, Kind.WHEN_QUIESCENT):
                assert model.violates(prop.prop, one) == model.violates(prop.prop, mixed)


def test_a_slice_leaves_out_what_cannot_matter_and_describes_the_rest():
    parts = {prop.prop.key: part for _, _, prop, part in sliced("lamport-mutex")}
    part = parts["one_at_a_time()"]
    assert (len(part.varying), len(part.writers)) == (66, 27)
    assert part.description().startswith("66 of 87 state variables, 27 of 36 instances: peers.clock")


@pytest.mark.parametrize(("name", "depth"), [("topic-id-core", 3), ("blocking-queue", 7)])
def test_sliced_and_unsliced_checks_find_violations_of_the_same_length(name, depth):
    for model, lifted, prop, part in sliced(name):
        found = []
        for some in (part, whole_model(lifted)):
            check = BoundedCheck(model, some.lifted, [prop], stuttering=some.stuttering)
            while check.progress.counterexample is None and check.progress.refuted <= depth:
                check.advance(None)
            found.append(check.progress.counterexample and len(check.progress.counterexample.instances))
        assert found[0] == found[1]


def test_a_slice_and_the_whole_model_agree_on_what_is_inductive():
    for _, lifted, prop, part in sliced("ticket-lock"):
        if prop.prop.kind is not Kind.STEP:
            continue
        parts = (part, slice_of(lifted, lifted.properties))
        answers = [least_k(some, prop, 2, SolverEffort()) for some in parts]
        assert answers[0] == answers[1]
