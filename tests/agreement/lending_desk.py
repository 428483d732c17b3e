"""A small model in which everything holds: a bound, idle states, quiescence, symmetry and every kind of property."""

from __future__ import annotations

from typing import Annotated

from attrs import evolve

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Scenario,
    action,
    always,
    array,
    eventually,
    flag,
    number,
    premise,
    reachable,
    require,
    state,
    step,
    when_quiescent,
)

READERS = Domain("readers")
LOANS = Bound("loans", "loans that are ever made")
Reader = Annotated[int, READERS]
READER = Actor("reader", system=False)
CLERK = Actor("clerk")


@state
class Desk:
    """Readers who wait, and the loans that were made."""

    waits: Array[bool] = array(READERS, flag())
    wanted: int = number(0, 20)
    lent: int = number(0, LOANS)
    open: bool = flag()


def closed(desk: Desk) -> None:
    """Nothing has happened."""


@action(by=READER)
def ask(desk: Desk, reader: Reader) -> None:
    """A reader comes, unless as many loans as there may be were asked for."""
    require(not desk.waits[reader] and desk.wanted < LOANS + 1)
    desk.waits[reader] = True
    desk.wanted += 1


@action(by=CLERK)
def unlock(desk: Desk) -> None:
    """The clerk opens the desk for those who wait."""
    require(not desk.open and any(desk.waits[reader] for reader in READERS))
    desk.open = True


@action(by=CLERK)
def lend(desk: Desk, reader: Reader) -> None:
    """A reader gets a book; the books may run out."""
    require(desk.open and desk.waits[reader])
    desk.lent += 1
    desk.waits[reader] = False


@action(by=CLERK)
def lock(desk: Desk) -> None:
    """The clerk closes the desk when the queue is empty."""
    require(desk.open and not any(desk.waits[reader] for reader in READERS))
    desk.open = False


@action(by=READER)
def return_book(desk: Desk) -> None:
    """A book comes back that was not counted; the desk stays open."""
    require(desk.open and desk.lent > 0)
    desk.lent -= 1


@always()
def loans_were_wanted(desk: Desk) -> bool:
    """Every loan, and every reader who waits, was counted."""
    return desk.lent + sum(1 for reader in READERS if desk.waits[reader]) == desk.wanted


@when_quiescent()
def closed_when_idle(desk: Desk) -> bool:
    """The desk is closed when the clerk has nothing to do."""
    return not desk.open


@step()
def loans_only_grow(before: Desk, after: Desk) -> bool:
    """No book comes back."""
    premise(before.open)
    return after.lent >= before.lent


@reachable()
def something_is_lent(desk: Desk) -> bool:
    """A loan is possible."""
    return desk.lent > 0


@eventually()
def the_desk_opens(desk: Desk) -> bool:
    """Whoever waits sees the desk open."""
    premise(desk.waits[0])
    return desk.open


DESK = Scenario(
    name="lending-desk",
    story="Readers ask for books, and a clerk lends them.",
    state=Desk,
    initial=closed,
    actions=(ask, unlock, lend, lock),
    properties=(loans_were_wanted, closed_when_idle, loans_only_grow, something_is_lent, the_desk_opens),
    bounds={"readers": 2, "loans": 4},
)

RETURNS = evolve(DESK, name="desk-with-returns", actions=(ask, unlock, lend, lock, return_book))
"""The same desk, where `loans_were_wanted` and `loans_only_grow` are violated."""
RETURNS_IN_STATES = evolve(
    RETURNS,
    name="desk-with-returns-in-states",
    properties=tuple(prop for prop in DESK.properties if prop is not loans_only_grow),
)
"""The same without the step property, whose violation comes first."""
