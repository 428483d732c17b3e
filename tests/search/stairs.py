"""Many states and an invariant that Z3 proves by induction: counters that only ever increase together."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fix,
    Flag,
    Scenario,
    Trial,
    action,
    always,
    array,
    number,
    reachable,
    require,
    state,
)

WALKERS = Domain("walkers", "people on the stairs")
FLOORS = Bound("floors", "floors of the house")
JUMP = Flag("jump", "whether the barrier is locked: the cellar stays empty")
WALKER = Actor("walker", of=WALKERS)


@state
class House:
    """Where everybody is, and how often the cellar was entered."""

    floor: Array[int] = array(WALKERS, number(0, 99))
    cellar: int = number(0, 3)


@action(by=WALKER, description="goes up or down")
def go(house: House, walker: Annotated[int, WALKERS], up: bool) -> None:
    """One floor."""
    at = house.floor[walker]
    require(at < FLOORS if up else at > 0)
    house.floor[walker] = at + 1 if up else at - 1


@action(by=Actor("child"), description="jumps into the cellar")
def jump(house: House) -> None:
    """The barrier is in the way, if it is locked."""
    require(not JUMP and house.cellar < 3)
    house.cellar += 1


@action(by=Actor("child"), description="jumps and jumps")
def leap(house: House) -> None:
    """Leaves its domain: four is more than the cellar has room for."""
    require(JUMP)
    house.cellar += 1


@always(symptom="the cellar is not empty")
def cellar_is_empty(house: House) -> bool:
    """Nobody is down there."""
    return house.cellar == 0


@reachable()
def cellar_fills(house: House) -> bool:
    """It can be full."""
    return house.cellar == 3


STAIRS = Scenario(
    name="stairs",
    story="People go up and down.",
    state=House,
    actions=(go, jump),
    properties=(cellar_is_empty, cellar_fills),
    bounds={"walkers": 4, "floors": 60},
    flags={"jump": False},
)
BROKEN = Scenario(
    name="broken-stairs",
    story="A child jumps too often.",
    state=House,
    actions=(leap,),
    bounds={"walkers": 1, "floors": 1},
    flags={"jump": False},
)
JUMP_FIX = Fix(flag=JUMP, closes="The cellar stays empty.", trials=(Trial(STAIRS, ("cellar_is_empty",)),))
