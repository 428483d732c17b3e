"""What is proved of all reachable states before groups are compared, and what that decides."""

from __future__ import annotations

from typing import Annotated

import pytest

from kwalk.model.language import Actor, Array, Domain, Model, Scenario, action, always, array, number, require, state
from kwalk.model.language.lift.terms import evaluate_terms
from kwalk.model.language.registry import announced
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.partial_order.plan import Planner, ReductionPlan
from tests.states import reachable_states

MEMBERS = Domain("members")
PLACES = Domain("places")
Member = Annotated[int, MEMBERS]
Place = Annotated[int, PLACES]
COUNCILLOR = Actor("councillor", of=MEMBERS)


@state
class Seat:
    """The term in which a member was elected; 0 if it is no member now."""

    term: int = number(0, 5)


@state
class Council:
    """Members are elected, one in each term, and pin notes with their term to a board."""

    term: int = number(0, 5)
    seats: Array[Seat] = array(MEMBERS, Seat)
    board: Array[int] = array(PLACES, number(0, 5))


@action(by=COUNCILLOR, description="{member} is elected")
def elect(council: Council, member: Member) -> None:
    """Each election begins a term."""
    require(council.seats[member].term == 0 and council.term < 5)
    council.term += 1
    council.seats[member].term = council.term


@action(by=COUNCILLOR, description="{member} pins a note to {place}")
def pin(council: Council, member: Member, place: Place) -> None:
    """Where there is none."""
    require(council.seats[member].term > 0 and council.board[place] == 0)
    council.board[place] = council.seats[member].term


@action(by=COUNCILLOR, description="{member} resigns")
def resign(council: Council, member: Member) -> None:
    """And takes its notes along."""
    require(council.seats[member].term > 0)
    for place in PLACES:
        if council.board[place] == council.seats[member].term:
            council.board[place] = 0
    council.seats[member].term = 0


@always()
def nobody_is_ahead(council: Council, member: Member) -> bool:
    """No member has a term that has not begun."""
    return council.seats[member].term <= council.term


COUNCIL = Scenario(
    name="council",
    story="Members are elected and resign.",
    state=Council,
    actions=(elect, pin, resign),
    properties=(nobody_is_ahead,),
    bounds={"members": 2, "places": 2},
)


def planned(scenario: Scenario) -> tuple[Planner, ReductionPlan]:
    model = Model(scenario)
    planner = Planner(model, kernel_for(model))
    return planner, planner.plan()


@pytest.fixture(scope="module")
def council():
    return planned(COUNCIL)


def depend(planner: Planner, plan: ReductionPlan, one: str, other: str) -> bool:
    """Whether any groups of two instances do not accord, under a condition or not."""
    ours, theirs = (
        [c.index for c in planner.groups if planner.model.instances[c.instance].key == key] for key in (one, other)
    )
    return any(int(plan.do_not_accord[a][b // 64]) >> b % 64 & 1 for a in ours for b in theirs)


def test_terms_are_in_order_and_no_two_members_have_one(council):
    planner, _ = council
    t, paths = planner.lifted.terms, [leaf.path for leaf in planner.model.leaves]
    leaves = dict(zip(paths, planner.leaves, strict=True))
    term, first, second = leaves["term"], leaves["seats[0].term"], leaves["seats[1].term"]
    assert {t.negation(t.less(term, seat)) for seat in (first, second)} <= set(planner.facts)
    apart = t.disjunction((t.negation(t.equal(first, second)), t.equal(first, t.integer(0))))
    assert apart in planner.facts


def test_who_resigns_takes_no_others_notes_along(council):
    assert not depend(*council, "pin(0, 0)", "resign(1)")
    assert depend(*council, "pin(0, 0)", "resign(0)") and depend(*council, "pin(0, 0)", "pin(1, 0)")


@pytest.mark.parametrize("scenario", [COUNCIL, announced()["topic-id-core"]], ids=lambda s: s.name)
def test_facts_hold_wherever_plain_python_comes(scenario):
    planner, _ = planned(scenario)
    assert planner.facts
    for vector in reachable_states(planner.model, 100, seed=11):
        assert all(evaluate_terms(planner.facts, vector))
