"""Errors are found as soon as in a full search; a reduced search refuses what it cannot do, and notes what it saved."""

from __future__ import annotations

from typing import Annotated

import pytest
from attrs import evolve

from kwalk.model.language import (
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
from kwalk.model.language.registry import announced
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.confirmation import StepLeavesDomain

WALKERS = Domain("walkers")
Walker = Annotated[int, WALKERS]
LEGS = Actor("legs", of=WALKERS)


@state
class Plank:
    """Walkers who have nothing to do with each other, each on a plank of its own."""

    steps: Array[int] = array(WALKERS, number(0, 3))


@action(by=LEGS, description="walker {walker} takes a step")
def walk(plank: Plank, walker: Walker) -> None:
    """The first of them does not see the end of the plank."""
    require(walker == 0 or plank.steps[walker] < 3)
    plank.steps[walker] += 1


@always()
def nobody_walks_backwards(plank: Plank) -> bool:
    """Never violated."""
    return all(steps >= 0 for steps in plank.steps)


PLANKS = Scenario(
    name="planks",
    story="A step too far.",
    state=Plank,
    actions=(walk,),
    properties=(nobody_walks_backwards,),
    bounds={"walkers": 3},
)


@always()
def first_walker_stays_short_of_the_end(plank: Plank, walker: Walker) -> bool:
    """Violated by the first walker only; for the others it is inductive."""
    return walker > 0 or plank.steps[walker] < 2


def test_a_note_on_what_is_proved_names_instances_where_others_of_the_property_are_violated():
    model = Model(evolve(PLANKS, properties=(nobody_walks_backwards, first_walker_stays_short_of_the_end)))
    verdict = exhaust(model, reduce=True, memory_bytes=1 << 30)
    assert verdict.findings[0].prop == "first_walker_stays_short_of_the_end(0)"
    (note,) = [note for note in verdict.notes if note.startswith("Proved by induction")]
    proved = ["first_walker_stays_short_of_the_end(1)", "first_walker_stays_short_of_the_end(2)"]
    assert note.endswith(f": nobody_walks_backwards, {', '.join(proved)}.")


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


def test_a_reduced_verdict_notes_what_it_saved_and_has_no_counts_of_actions_that_never_fired():
    verdict = exhaust(Model(announced()["readers-writers"]), reduce=True, memory_bytes=1 << 30)
    assert verdict.action_counts == verdict.premises == {}
    assert verdict.quiescent_states is None
    notes = " ".join(verdict.notes)
    assert "; 150 more were in sleep sets" in notes
    assert "enabled instances were taken" in notes and "independent by what they read and write" in notes
    assert "Proved by induction" in notes


def test_a_reduced_search_with_symmetry_is_refused():
    with pytest.raises(UsageError, match=r"symmetry cannot be combined\. Leave out --symmetry or --reduce"):
        exhaust(Model(announced()["readers-writers"]), reduce=True, memory_bytes=1 << 30, symmetry="actors")
