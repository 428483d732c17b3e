"""A small model with every shape that a report must print: a queue of letters, a sorter, a van, and dogs.

Words: a letter waits in the *queue* until the postman delivers it into a house's *box*, or loses it to the house's dog.
The *van* drives about all the time, which touches nothing that anybody asks for.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Fresh,
    Scenario,
    action,
    always,
    array,
    choice,
    fifo,
    flag,
    fresh,
    member,
    nested,
    number,
    optional,
    reachable,
    require,
    state,
    step,
    subset,
    value,
    when_quiescent,
)

HOUSES = Domain("houses", "houses of the street", label=lambda n: f"No. {n + 1}")
SEALS = Domain("seals", label=lambda n: "ABCDEFGH"[n])
QUEUE = Bound("queue", "letters that fit into the queue")
MILES = Bound("miles")

House = Annotated[int, HOUSES]

CUSTOMER = Actor("customer", system=False, of=HOUSES)
POSTMAN = Actor("postman")
DRIVER = Actor("driver")


class Class(Enum):
    """How fast a letter goes."""

    FIRST = 1
    SECOND = 2


@value
class Letter:
    """A letter on its way."""

    to_house: int = member(HOUSES)
    speed: Class = choice(Class)
    seal: int = member(SEALS)
    answers: int | None = optional(SEALS)


@value
class Card:
    """What the postman leaves at a door; it says so in its own words."""

    seal: int = member(SEALS)

    def __str__(self) -> str:
        return f"a card for {SEALS.label(self.seal)}"


@state
class Van:
    """Where the van is."""

    miles: int = number(0, MILES)
    parked: bool = flag(default=True)


@state
class Door:
    """A house as the postman sees it."""

    dog_out: bool = flag()
    box: frozenset[int] = subset(SEALS)
    card: Card | None = optional(Card)


@state
class Street:
    """The queue, the van and the houses."""

    queue: Fifo[Letter] = fifo(Letter, QUEUE)
    van: Van = nested(Van)
    doors: Array[Door] = array(HOUSES, Door)
    lost: frozenset[int] = subset(SEALS)
    seals: Fresh = fresh(SEALS)


@action(by=CUSTOMER, description="posts a letter to {house}, class {speed}")
def post(street: Street, house: House, speed: Class) -> None:
    """Every letter gets a seal of its own."""
    seal = street.seals.take()
    street.queue.push(Letter(house, speed, seal, None))


@action(by=CUSTOMER, description="lets the dog out")
def let_dog_out(street: Street, house: House) -> None:
    """The dog stays out."""
    require(not street.doors[house].dog_out)
    street.doors[house].dog_out = True


@action(by=DRIVER, description="drives a mile", source="Van.drive")
def drive(street: Street) -> None:
    """The van drives while letters wait."""
    require(not street.queue.is_empty)
    street.van.miles += 1
    street.van.parked = False


@action(by=POSTMAN, description="delivers the oldest letter", source="Postman.deliver")
def deliver(street: Street) -> None:
    """Into the box, or to the dog."""
    require(not street.queue.is_empty)
    letter = street.queue.pop()
    door, seal = street.doors[letter.to_house], letter.seal
    if not door.dog_out:
        door.box = door.box | {seal}
        return
    street.lost = street.lost | {seal}
    door.card = Card(seal)


@always(symptom="a letter never arrives", log="WARN dog={seal}")
def nothing_is_lost(street: Street, seal: Annotated[int, SEALS]) -> bool:
    """No seal is ever lost."""
    return seal not in street.lost


@when_quiescent(symptom="a card lies at the door for good")
def no_card_stays(street: Street, house: House) -> bool:
    """Where no letter waits, no card lies at the door."""
    return street.doors[house].card is None


@step(symptom="a box loses a letter")
def boxes_only_fill(before: Street, after: Street, house: House) -> bool:
    """No step takes a letter out of a box; the dog does not count as a box."""
    return before.doors[house].box <= after.doors[house].box and len(after.doors[house].box) < 2


@reachable()
def a_box_can_fill(street: Street, house: House) -> bool:
    """A letter can arrive."""
    return len(street.doors[house].box) > 0


POST_OFFICE = Scenario(
    name="post-office",
    story="Dogs eat letters while a van drives about.",
    state=Street,
    actions=(post, let_dog_out, drive, deliver),
    properties=(nothing_is_lost, no_card_stays, boxes_only_fill, a_box_can_fill),
    bounds={"houses": 2, "seals": 3, "queue": 2, "miles": 16},
    variants={"plain": {}, "other": {}},
)
