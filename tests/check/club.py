"""A club whose register of members stays empty, and what its properties say of members."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Flag,
    Scenario,
    action,
    always,
    array,
    fifo,
    flag,
    number,
    premise,
    require,
    state,
    step,
    subset,
    when_quiescent,
)

PEOPLE = Domain("people")
SEATS = Bound("seats")
ADMITS = Flag("admits")
CLERK = Actor("clerk")
VISITOR = Actor("visitor", system=False)
Person = Annotated[int, PEOPLE]
PAIRS = ((0, 1), (1, 0))


class Day(Enum):
    """A day."""

    MONDAY = "monday"
    SUNDAY = "sunday"


@state
class Club:
    """Who is a member, who waits, and what each has paid."""

    members: frozenset[int] = subset(PEOPLE)
    banned: frozenset[int] = subset(PEOPLE)
    queue: Fifo[int] = fifo(PEOPLE, SEATS)
    paid: Array[int] = array(PEOPLE, number(0, 1))
    open: bool = flag()


@action(by=VISITOR)
def arrive(club: Club, person: Person) -> None:
    """Wait."""
    require(club.open and person not in club.queue)
    club.queue.push(person)


@action(by=CLERK)
def admit(club: Club) -> None:
    """Let in who waits first."""
    require(ADMITS and not club.queue.is_empty)
    club.members = club.members | {club.queue.pop()}


@action(by=CLERK)
def unlock(club: Club) -> None:
    """Open."""
    require(not club.open)
    club.open = True


@action(by=VISITOR)
def pay(club: Club, person: Person) -> None:
    """Pay."""
    require(club.paid[person] == 0)
    club.paid[person] = 1


@always()
def members_are_not_banned(club: Club) -> bool:
    """Nothing else."""
    return all(person not in club.banned for person in club.members)


@always()
def none_below_is_banned(club: Club, person: Person) -> bool:
    """Negated, with a condition, of each person, and beside something else."""
    return len(club.queue) <= SEATS and not any(
        other in club.banned for other in sorted(club.members) if other < person
    )


@always()
def all_know_each_other(club: Club) -> bool:
    """Nested: the outer one has elements, the inner one has none."""
    return all(all(other >= 0 for other in club.members) for _ in club.queue)


@always()
def open_clubs_have_good_members(club: Club) -> bool:
    """Restricted to some states, in which it is evaluated on one branch."""
    premise(any(paid > 0 for paid in club.paid))
    return all(person not in club.banned for person in club.members) if club.open else club.queue.is_empty


@when_quiescent()
def queue_is_served(club: Club) -> bool:
    """In quiescent states."""
    return all(person in club.members or not ADMITS for person in club.queue)


@step()
def members_stay(before: Club, after: Club) -> bool:
    """On steps, whose quantifiers are not counted."""
    return all(person in after.members for person in before.members)


@always()
def nobody_owes(club: Club) -> bool:
    """Quantifiers that always have elements are not counted."""
    return (
        all(club.paid[person] >= 0 for person in PEOPLE)
        and all(one != other for one, other in PAIRS)
        and all(day is not None for day in Day)
    )


@always()
def some_positive_any(club: Club) -> bool:
    """An `any` of nothing is false: the property would fail there."""
    return club.members <= frozenset(PEOPLE) or any(person in club.banned for person in club.members)


@always()
def nobody_below(club: Club) -> bool:
    """It reads a name of the module, which a test changes."""
    return all(person >= 0 for person in sorted(club.members) if person < LEAST)


LEAST = 0
PROPERTIES = (
    members_are_not_banned,
    none_below_is_banned,
    all_know_each_other,
    open_clubs_have_good_members,
    queue_is_served,
    members_stay,
    nobody_owes,
    some_positive_any,
)
CLUB = Scenario(
    name="club",
    story="A club.",
    state=Club,
    actions=(arrive, admit, unlock, pay),
    properties=PROPERTIES,
    bounds={"people": 2, "seats": 2},
    variants={"closed": {"admits": False}, "admitting": {"admits": True}},
)
