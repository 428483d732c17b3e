"""A model to shrink: letters, a postman, and dogs that eat what is delivered while they are out.

Words: a letter *waits* from posting to delivery, which the postman does whenever he can: the office is quiescent when
no letter waits. A letter delivered to a house whose dog is out is *lost*. The post office can be shut, and no letter is
delivered then.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Scenario,
    action,
    array,
    flag,
    number,
    reachable,
    require,
    state,
    step,
    when_quiescent,
)

HOUSES = Domain("houses")
STAMPS = Bound("stamps", "letters that can be posted")

House = Annotated[int, HOUSES]

CUSTOMER = Actor("customer", system=False, of=HOUSES)
POSTMAN = Actor("postman")


@state
class Town:
    """Letters, dogs and stamps, house by house."""

    waiting: Array[bool] = array(HOUSES, flag())
    lost: Array[bool] = array(HOUSES, flag())
    dog_out: Array[bool] = array(HOUSES, flag())
    shut: bool = flag()
    stamps: int = number(0, STAMPS)


def the_first_dog_may_be_out(town: Town, dog_out: bool) -> None:
    """Two ways to begin."""
    town.dog_out[0] = dog_out


@action(by=CUSTOMER, description="posts a letter")
def post(town: Town, house: House) -> None:
    """A letter to a house; past the last stamp the bound is reached."""
    require(not town.waiting[house])
    town.stamps += 1
    town.waiting[house] = True


@action(by=CUSTOMER, description="lets the dog out or takes it in")
def move_dog(town: Town, house: House) -> None:
    """The dog changes sides of the door."""
    town.dog_out[house] = not town.dog_out[house]


@action(by=CUSTOMER, description="opens or shuts the office")
def turn_key(town: Town) -> None:
    """The office opens if it was shut, and is shut if it was open."""
    town.shut = not town.shut


@action(by=POSTMAN, description="delivers to house {house}")
def deliver(town: Town, house: House) -> None:
    """A waiting letter arrives, or is eaten."""
    require(town.waiting[house] and not town.shut)
    town.waiting[house] = False
    if town.dog_out[house]:
        town.lost[house] = True


@when_quiescent(symptom="people wait for letters that never come")
def nothing_is_lost(town: Town, house: House) -> bool:
    """Where no letter waits, none was lost."""
    return not town.lost[house]


@step(symptom="a letter disappears")
def dogs_eat_nothing(before: Town, after: Town, house: House) -> bool:
    """No step loses a letter to a house."""
    return before.lost[house] or not after.lost[house]


@reachable()
def all_houses_wait(town: Town) -> bool:
    """Everybody can wait for a letter at once."""
    return all(town.waiting[house] for house in HOUSES)


MAIL = Scenario(
    name="mail",
    story="Dogs eat letters.",
    state=Town,
    initial=the_first_dog_may_be_out,
    actions=(post, move_dog, turn_key, deliver),
    properties=(nothing_is_lost, dogs_eat_nothing, all_houses_wait),
    bounds={"houses": 3, "stamps": 6},
)
