"""Asking a visit is asking the model: the same outcomes, in every state of walks through the examples."""

from __future__ import annotations

import random
from typing import Annotated

import pytest

from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Actor, Domain, Kind, LiftError, Model, Scenario, action, flag, require, state
from kwalk.search.kernel.interpreter import Visit, VisitCache


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_visit_says_what_plain_execution_says(scenario):
    model, rng = Model(scenario), random.Random(5)
    visits = VisitCache(model, capacity=8)
    here, before = visits.at(model.initial[0]), None
    for _ in range(25):
        for instance in rng.sample(model.instances, min(8, len(model.instances))):
            outcome = model.attempt(instance, here.vector)
            assert here.attempt(instance).result is outcome.result
            assert here.attempt(instance).bound == outcome.bound
            assert here.after(instance) == outcome.after
        assert here.is_quiescent == model.is_quiescent(here.vector)
        for prop in model.properties:
            assert here.violates(prop, before) == model.violates(
                prop, here.vector, before if prop.kind is Kind.STEP else None
            )
        enabled = [i for i in model.instances if here.attempt(i).is_enabled]
        assert here.is_dead == all(model.attempt(i, here.vector).result.value == "disabled" for i in model.instances)
        if not enabled:
            break
        before, here = here.vector, visits.step(here, rng.choice(enabled))


DOORS = Domain("doors")


@state
class House:
    """A door, and whether it was rung."""

    rung: bool = flag()


@action(by=Actor("guest"))
def ring_then_wait(house: House, door: Annotated[int, DOORS]) -> None:
    """A guard after an effect: the bell rings even where the guest may not."""
    house.rung = True
    require(door > 0)


HASTY = Scenario(name="hasty", story="", state=House, actions=(ring_then_wait,), bounds={"doors": 2})


def test_a_guard_after_an_effect_is_refused_with_the_name_of_the_action():
    model = Model(HASTY)
    with pytest.raises(LiftError, match=r"ring_then_wait changes the state before a `require`.*ring_then_wait\(0\)"):
        Visit(model, model.initial[0]).attempt(model.instance("ring_then_wait(0)"))


def test_a_state_that_was_forgotten_is_looked_at_again():
    model = Model(SCENARIOS[0])
    visits = VisitCache(model, capacity=1)
    first = visits.at(model.initial[0])
    assert visits.at(model.initial[0]) is first
    step = next(i for i in model.instances if first.attempt(i).is_enabled and first.after(i) != first.vector)
    assert visits.step(first, step).vector == first.after(step)
    again = visits.at(model.initial[0])
    assert again is not first
    assert again.after(step) == first.after(step)
