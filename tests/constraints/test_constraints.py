"""Constraints mean what they mean to TLC, in every engine.

The counts of TLC are those that it prints for these specifications, with the constraint alone and with both:

    Init == x = 0 /\\ y = 0
    Next == \\/ x' = x + 1 /\\ y' = y
            \\/ y' = y + 1 /\\ x' = x
            \\/ x > 0 /\\ y > 0 /\\ x' = x - 1 /\\ y' = y - 1
    CONSTRAINT x + y < 4        ACTION_CONSTRAINT x' < 3

    Init == c = [i \\in 0..2 |-> 0]
    Next == \\E i \\in 0..2 : c' = [c EXCEPT ![i] = @ + 1]
    CONSTRAINT c[0] + c[1] + c[2] < 5        ACTION_CONSTRAINT \\A i, j \\in 0..2 : c'[i] <= c'[j] + 2
"""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from kwalk import (
    Actor,
    Array,
    Bound,
    Domain,
    DomainError,
    Fifo,
    Model,
    Scenario,
    UsageError,
    action,
    action_constraint,
    always,
    array,
    constraint,
    eventually,
    exhaust,
    fifo,
    number,
    premise,
    prove,
    require,
    state,
    step,
    walk,
    when_quiescent,
)
from kwalk.search.exhaustive.search import exhaust as search
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.results.vacuity import constraint_notes, vacuity_notes
from kwalk.search.results.verdict import Answer, Finding, Verdict

BIG = Bound("big")
CELLS = Domain("cells")
USER, SYSTEM = Actor("user", system=False), Actor("system")


@state
class Plane:
    """A point."""

    x: int = number(0, BIG)
    y: int = number(0, BIG)


@action(by=USER)
def right(plane: Plane) -> None:
    """One to the right."""
    plane.x += 1


@action(by=USER)
def up(plane: Plane) -> None:
    """One up."""
    plane.y += 1


@action(by=USER)
def back(plane: Plane) -> None:
    """One back on the diagonal."""
    require(plane.x > 0 and plane.y > 0)
    plane.x -= 1
    plane.y -= 1


@constraint()
def small(plane: Plane) -> bool:
    """TLC's CONSTRAINT."""
    return plane.x + plane.y < 4


@action_constraint(optional=True)
def close(before: Plane, after: Plane) -> bool:
    """TLC's ACTION_CONSTRAINT."""
    return after.x < 3


@always()
def sum_is_not_four(plane: Plane) -> bool:
    """It is violated outside of the constraint only."""
    return plane.x + plane.y != 4


@always()
def x_is_not_three(plane: Plane) -> bool:
    """It is violated by a step that the action constraint cuts."""
    return plane.x != 3


@step()
def x_grows_slowly(before: Plane, after: Plane) -> bool:
    """It holds."""
    return after.x <= before.x + 1


PLANE = Scenario(
    name="plane",
    story="A point moves.",
    state=Plane,
    actions=(right, up, back),
    properties=(sum_is_not_four, x_is_not_three, x_grows_slowly),
    constraints=(small, close),
    bounds={"big": 9},
)


@state
class Cells:
    """Counters in a ring."""

    count: Array[int] = array(CELLS, number(0, BIG))


@action(by=USER)
def add(cells: Cells, cell: Annotated[int, CELLS]) -> None:
    """More."""
    cells.count[cell] += 1


@constraint()
def sum_below_five(cells: Cells) -> bool:
    """TLC: count[0] + count[1] + count[2] < 5."""
    return sum(cells.count) < 5


@action_constraint(optional=True)
def balanced(before: Cells, after: Cells) -> bool:
    """TLC: no counter is more than 2 above another."""
    return max(after.count) - min(after.count) <= 2


RING = Scenario(
    name="ring",
    story="Three counters.",
    state=Cells,
    actions=(add,),
    constraints=(sum_below_five, balanced),
    bounds={"big": 9, "cells": 3},
)


def interpreted(model: Model, **options: Any) -> Verdict:
    return search(model, kernel=interpreted_kernel(model), **options)


ENGINES = {
    "compiled": search,
    "plain Python": interpreted,
    "two threads": lambda model, **options: search(model, workers=2, **options),
}
BY_TLC = {
    (PLANE, False): (10, 24),
    (PLANE, True): (9, 22),
    (RING, False): (35, 106),
    (RING, True): (23, 70),
}
"""Distinct and generated states that TLC prints (tla2tools.jar, one worker)."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scenario", "both"), BY_TLC, ids=lambda case: getattr(case, "name", str(case)))
def test_counts_are_those_of_tlc(engine: str, scenario: Scenario, *, both: bool) -> None:
    optional = scenario.optional_constraints[0]
    model = Model(scenario, flags={optional: both})
    verdict = ENGINES[engine](model, properties=tuple(p for p in model.properties if p.declaration.only_counts))
    first = scenario.constraints[0]
    cut = verdict.premises[f"cut_by_{first.name}()"]
    not_taken = verdict.bounds_hit.get(f"constraint {optional}", 0)
    assert verdict.distinct_states is not None
    assert verdict.generated_states is not None
    assert (verdict.distinct_states - cut, verdict.generated_states + not_taken) == BY_TLC[scenario, both]
    assert bool(not_taken) == both


def test_a_state_that_violates_a_constraint_is_checked_and_a_step_that_is_cut_is_not() -> None:
    verdict = exhaust(PLANE, keep_going=True)
    lengths = {finding.prop: finding.trace.length for finding in verdict.findings if finding.trace}
    assert lengths == {"sum_is_not_four()": 4, "x_is_not_three()": 3}
    closer = exhaust(PLANE, keep_going=True, flags={"close": True})
    assert [finding.prop for finding in closer.findings] == ["sum_is_not_four()"]


def test_proofs_and_walks_stay_within_constraints() -> None:
    flags = {"close": True}
    verdict = prove(PLANE, properties=["x_is_not_three"], flags=flags)
    assert verdict.answer is Answer.HOLDS
    assert any("constraints (small, close)" in note for note in verdict.notes)
    assert prove(PLANE, properties=["sum_is_not_four"], depth=6).counterexample.length == 4  # type: ignore[union-attr]
    sampled = walk(PLANE, properties=["x_grows_slowly"], walks=64, depth=30, seed=3)
    assert sampled.bounds_hit["constraint small"] > 0
    assert sampled.premises["cut_by_small()"] > 0
    assert set(sampled.bounds_hit) == {"constraint small"}


def test_reduced_and_full_searches_agree_within_constraints() -> None:
    for flags in ({}, {"close": True}):
        for name in ("sum_is_not_four", "x_is_not_three", "x_grows_slowly"):
            full, reduced = (exhaust(PLANE, properties=[name], flags=flags, reduce=reduce) for reduce in (False, True))
            assert full.answer is reduced.answer
            assert [_length(f) for f in full.findings] == [_length(f) for f in reduced.findings]


def _length(finding: Finding) -> int:
    assert finding.trace is not None
    return finding.trace.length


def test_symmetry_is_proved_of_constraints_too() -> None:
    full = exhaust(RING, flags={"balanced": True})
    up_to_names = exhaust(RING, flags={"balanced": True}, symmetry="cells")
    assert up_to_names.distinct_states is not None
    assert full.distinct_states is not None
    assert full.answer is up_to_names.answer
    assert up_to_names.distinct_states < full.distinct_states

    @constraint()
    def first_is_small(cells: Cells) -> bool:
        """Not symmetric."""
        return cells.count[0] < 2

    with pytest.raises(UsageError, match="not interchangeable"):
        exhaust(
            Scenario(
                name="lopsided",
                story="x",
                state=Cells,
                actions=(add,),
                constraints=(first_is_small,),
                bounds={"big": 3, "cells": 3},
            ),
            symmetry="cells",
        )


@action(by=SYSTEM)
def forward(plane: Plane) -> None:
    """The system moves."""
    plane.x += 1


@eventually()
def arrives(plane: Plane) -> bool:
    """It needs more steps than the constraint lets it take."""
    premise(plane.x > 0)
    return plane.x == 6


def test_a_behaviour_that_stops_at_a_constraint_violates_no_eventually_property_and_is_no_deadlock() -> None:
    scenario = Scenario(
        name="way",
        story="x",
        state=Plane,
        actions=(forward,),
        properties=(arrives,),
        constraints=(small,),
        bounds={"big": 9},
        deadlock_is_error=True,
    )
    verdict = exhaust(scenario)
    assert verdict.answer is Answer.HOLDS
    assert verdict.quiescent_states == 0
    assert any("constraint small" in note for note in (*verdict.notes, *constraint_notes(verdict, Model(scenario))))


def test_a_verdict_says_why_an_action_never_fired_and_a_property_was_never_tested() -> None:
    @when_quiescent()
    def rests(plane: Plane) -> bool:
        """Nothing ever rests."""
        return plane.x < 9

    @always()
    def far_away(plane: Plane) -> bool:
        """No state is that far away."""
        premise(plane.x > 7)
        return plane.y == 0

    scenario = Scenario(
        name="way",
        story="x",
        state=Plane,
        actions=(forward, up),
        properties=(rests, far_away, x_grows_slowly),
        constraints=(small,),
        bounds={"big": 5},
        initial=at_the_end,
    )
    notes = list(vacuity_notes(exhaust(scenario), Model(scenario)))
    assert notes[:5] == [
        "action instances that never fired: forward, up",
        "of these, enabled and stopped by a bound or constraint each time: forward, up",
        "never tested (no state was quiescent): rests",
        "never tested (the premise was never true): far_away",
        "never tested (no step was taken): x_grows_slowly",
    ]


def at_the_end(plane: Plane) -> None:
    """Outside of the constraint."""
    plane.x = 5


def test_a_verdict_says_what_was_cut_and_what_was_not() -> None:
    model = Model(PLANE, flags={"close": True})
    assert list(constraint_notes(exhaust(model, properties=["x_grows_slowly"]), model)) == [
        "constraint small: 3 states violate it: they are checked, and not expanded; 8 steps are not taken; the verdict "
        "is valid only within it",
        "action constraint close: 2 steps are not taken; the verdict is valid only within it",
    ]
    still = Model(PLANE, bounds={"big": 1})
    assert list(constraint_notes(exhaust(still), still)) == [
        "constraint small cuts nothing: no state that was met violates it"
    ]


@constraint()
def with_premise(plane: Plane) -> bool:
    """Not allowed."""
    premise(plane.x > 0)
    return True


@constraint()
def with_number(plane: Plane) -> bool:
    """Not allowed."""
    return plane.x  # type: ignore[return-value]


@pytest.mark.parametrize("wrong", [with_premise, with_number], ids=lambda one: one.name)
def test_a_constraint_that_is_no_predicate_is_refused(wrong: Any) -> None:
    scenario = Scenario(name="w", story="w", state=Plane, actions=(right,), constraints=(wrong,), bounds={"big": 2})
    with pytest.raises(Exception, match=wrong.name):
        exhaust(scenario)
    with pytest.raises(Exception, match=wrong.name):
        interpreted(Model(scenario))


def test_names_of_constraints_are_checked() -> None:
    with pytest.raises(UsageError, match="No flag named 'closer'"):
        Model(PLANE, flags={"closer": True})
    with pytest.raises(UsageError, match="has the name of a flag"):
        Scenario(
            name="w",
            story="w",
            state=Plane,
            actions=(right,),
            constraints=(close,),
            flags={"close": True},
            bounds={"big": 2},
        )


@state
class Mailbox:
    """A queue of one place."""

    letters: Fifo[int] = fifo(number(0, 1), BIG)


@action(by=USER)
def wait(mailbox: Mailbox) -> None:
    """Do nothing."""


@constraint()
def with_a_longer_queue(mailbox: Mailbox) -> bool:
    """Exceed the bound of the queue."""
    return len(mailbox.letters + (1, 1)) < 3


def test_a_bound_that_a_constraint_exceeds_is_an_error_and_stops_no_step_silently() -> None:
    scenario = Scenario(
        name="m", story="m", state=Mailbox, actions=(wait,), constraints=(with_a_longer_queue,), bounds={"big": 1}
    )
    with pytest.raises(DomainError, match="with_a_longer_queue"):
        exhaust(scenario)
    with pytest.raises(DomainError, match="with_a_longer_queue"):
        interpreted(Model(scenario))
