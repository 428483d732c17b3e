"""Errors are found as soon as in a full search; what a reduced search cannot do it refuses, and what it saw it says."""
from __future__ import annotations

from typing import Annotated

import pytest

from model.language import (
    Actor,
    Array,
    Domain,
    Model,
    Scenario,
    UsageError,
    action,
    always,
    array,
    number,
    require,
    state,
)
from model.language.registry import announced
from search.confirm import StepLeavesDomain
from search.exhaust import exhaust

WALKERS = Domain("walkers")
Walker = Annotated[int, WALKERS]
LEGS = Actor("legs", of=WALKERS)


@state
class Plank:
    """Walkers who have nothing to do with each other, each on a plank of its own."""

    steps: Array[int] = array(WALKERS, number(0, 3))


@action(by=LEGS, says="walker {walker} takes a step")
def walk(plank: Plank, walker: Walker) -> None:
    """The first of them does not see the end of the plank."""
    require(walker == 0 or plank.steps[walker] < 3)
    plank.steps[walker] += 1


@always()
def nobody_walks_backwards(plank: Plank) -> bool:
    """Never violated."""
    return all(steps >= 0 for steps in plank.steps)


PLANKS = Scenario(
    name="planks", story="A step too far.", state=Plank, actions=(walk,), invariants=(nobody_walks_backwards,),
    bounds={"walkers": 3},
)  # fmt: skip


@pytest.mark.parametrize("workers", [1, 2])
def test_a_step_out_of_the_domain_is_found_and_as_soon_as_in_a_full_search(workers):
    model = Model(PLANKS)
    found = {}
    for reduce in (False, True):
        with pytest.raises(StepLeavesDomain) as error:
            exhaust(model, reduce=reduce, workers=workers, memory_bytes=1 << 30)
        found[reduce] = error.value.trace.actions
    assert len(found[False]) == len(found[True]) == 3
    assert found[True] == ("walk(0)",) * 3


def test_a_reduced_verdict_tells_what_it_saved_and_claims_nothing_about_rules_that_never_fired():
    verdict = exhaust(Model(announced()["readers-writers"]), reduce=True, memory_bytes=1 << 30)
    assert verdict.rules == verdict.premises == {}
    assert verdict.quiet_states is None
    told = " ".join(verdict.notes)
    assert "; 150 more were left to sleep" in told
    assert "enabled instances were taken" in told and "independent by what they read and write" in told
    assert "Proved by induction" in told


def test_a_reduced_search_with_symmetry_is_refused():
    with pytest.raises(UsageError, match=r"does not use symmetry so far\. Leave out --symmetry, or --reduce"):
        exhaust(Model(announced()["readers-writers"]), reduce=True, memory_bytes=1 << 30, symmetry="actors")
