"""Guests and seats: a model whose guests are interchangeable, and ways to put them in order.

Words: the *queue* holds guests; the *letter* may be addressed to one. So members are held by every kind of field.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Flag,
    Fresh,
    Scenario,
    action,
    always,
    array,
    fifo,
    flag,
    fresh,
    member,
    optional,
    reachable,
    require,
    state,
    step,
    subset,
    value,
)

GUESTS = Domain("guests")
QUEUE = Bound("queue")
ORDER = Flag("order", settings=("none", "size", "first", "name"))

Guest = Annotated[int, GUESTS]
HOST, GUEST = Actor("host"), Actor("guest", system=False, of=GUESTS)


@value
class Letter:
    """To one recipient, with copies."""

    to: int = member(GUESTS)
    urgent: bool = flag()
    copies: frozenset[int] = subset(GUESTS)


@state
class House:
    """Who likes whom, who waits, who sits, and a letter."""

    likes: Array[int | None] = array(GUESTS, optional(GUESTS))
    met: Array[frozenset[int]] = array(GUESTS, subset(GUESTS))
    queue: Fifo[int] = fifo(member(GUESTS), QUEUE)
    mail: Fifo[Letter] = fifo(Letter, QUEUE)
    seated: frozenset[int] = subset(GUESTS)
    letter: Letter | None = optional(Letter)


@action(by=GUEST)
def arrive(house: House, guest: Guest) -> None:
    """A guest queues up, once."""
    require(guest not in house.queue and guest not in house.seated)
    house.queue.push(guest)


@action(by=HOST)
def seat(house: House) -> None:
    """The first in the queue sits down, and meets all who sit."""
    require(not house.queue.is_empty)
    if ORDER == "name":
        require(house.queue.head != 1)
    guest = house.queue.pop()
    for other in GUESTS:
        if other in house.seated:
            house.met[other] = house.met[other] | {guest}
    house.seated = house.seated | {guest}


@action(by=GUEST)
def like(house: House, guest: Guest, other: Guest) -> None:
    """Guests like whom they have met."""
    require(other in house.met[guest] and house.likes[guest] is None)
    house.likes[guest] = other
    house.letter = Letter(to=other, urgent=house.likes[other] is not None, copies=house.met[guest])


@action(by=HOST)
def post(house: House) -> None:
    """The letter goes off."""
    require(house.letter is not None)
    house.mail.push(house.letter)
    house.letter = None


@action(by=HOST)
def deliver(house: House) -> None:
    """The oldest letter arrives, and its reader leaves."""
    require(not house.mail.is_empty)
    reader = house.mail.pop().to
    house.seated = house.seated - {reader}


@action(by=HOST)
def dismiss(house: House, guest: Guest, other: Guest) -> None:
    """Somebody goes; with an order of guests, not anybody."""
    require(guest in house.seated and other in house.seated and guest != other)
    if ORDER == "size":
        require(guest < other)
    if ORDER == "first":
        require(next((n for n in GUESTS if n in house.seated), None) == guest)
    house.seated = house.seated - {guest}
    house.met[guest] = frozenset()
    house.likes[guest] = None


@always()
def nobody_likes_a_stranger(house: House, guest: Guest) -> bool:
    """Whom a guest likes is among those that it has met."""
    return house.likes[guest] is None or house.likes[guest] in house.met[guest]


@always()
def letters_are_for_the_seated(house: House) -> bool:
    """Wrong: the reader may have gone."""
    return house.letter is None or house.letter.to in house.seated


@step()
def likes_last(before: House, after: House, guest: Guest) -> bool:
    """Wrong: who is dismissed forgets."""
    return before.likes[guest] is None or after.likes[guest] == before.likes[guest]


@reachable()
def somebody_is_liked_back(house: House, guest: Guest, other: Guest) -> bool:
    """Two like each other; none likes itself."""
    return house.likes[guest] == other and (house.likes[other] == guest)


PARTY = Scenario(
    name="party",
    story="Guests come, meet and like each other.",
    state=House,
    actions=(arrive, seat, like, post, deliver, dismiss),
    properties=(nobody_likes_a_stranger, letters_are_for_the_seated, likes_last, somebody_is_liked_back),
    bounds={"guests": 3, "queue": 2},
    variants={order: {"order": order} for order in ("none", "size", "first", "name")},
)


@state
class Tickets:
    """Numbers that are given out."""

    given: Fresh = fresh(GUESTS)


@action(by=HOST)
def give(tickets: Tickets) -> None:
    """The next number."""
    tickets.given.take()


TICKETS = Scenario(name="tickets", story="Tickets.", state=Tickets, actions=(give,), bounds={"guests": 3})
