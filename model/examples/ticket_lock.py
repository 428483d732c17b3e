"""A ticket lock: take a number, wait until it is called, enter, and call the next.

Words: tickets are *fresh*: each is given out once. When they run out, the step that would take one more is disabled and
counted as a bound hit, so a verdict is limited to four tickets.

Source: D. P. Reed, R. K. Kanodia, "Synchronization with eventcounts and sequencers" (CACM 22(2), 1979), whose sequencer
gives the tickets. Counts by hand: with c clients and t tickets there are t - d + 1 ways to have d tickets out, c! / (c
- d)! ways to hold them, and the holder of the first, if any, is inside or not; 89 distinct states for c = 3, t = 4.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fresh,
    Scenario,
    action,
    always,
    array,
    flag,
    fresh,
    nested,
    number,
    optional,
    require,
    state,
    step,
)

CLIENTS = Domain("clients", "processes that share the lock")
TICKETS = Domain("tickets", "tickets that can ever be taken")
TICKET_COUNT = Bound("tickets")

Client = Annotated[int, CLIENTS]

CLIENT = Actor("client", of=CLIENTS)


@state
class Visitor:
    """One client: its ticket, and whether it has the lock."""

    ticket: int | None = optional(TICKETS)
    inside: bool = flag()


@state
class Machine:
    """The two numbers of a ticket lock: the next ticket, and the one that is called."""

    tickets: Fresh = fresh(TICKETS)
    called: int = number(0, TICKET_COUNT)


@state
class Lock:
    """The machine and its clients."""

    machine: Machine = nested(Machine)
    visitors: Array[Visitor] = array(CLIENTS, Visitor)


def waiting_before(lock: Lock, client: int) -> int:
    """How many clients hold a lower ticket than this one."""
    mine = lock.visitors[client].ticket
    return sum(other.ticket is not None and mine is not None and other.ticket < mine for other in lock.visitors)


@action(by=CLIENT, description="takes a ticket")
def take(lock: Lock, client: Client) -> None:
    """One atomic fetch-and-add."""
    require(lock.visitors[client].ticket is None)
    lock.visitors[client].ticket = lock.machine.tickets.take()


@action(by=CLIENT, description="enters")
def enter(lock: Lock, client: Client) -> None:
    """The client's number is called."""
    visitor = lock.visitors[client]
    require(visitor.ticket == lock.machine.called and not visitor.inside)
    visitor.inside = True


@action(by=CLIENT, description="leaves")
def leave(lock: Lock, client: Client) -> None:
    """The client calls the next number."""
    visitor = lock.visitors[client]
    require(visitor.inside)
    visitor.inside = False
    visitor.ticket = None
    lock.machine.called += 1


@always(symptom="two clients are in the critical section")
def one_inside(lock: Lock) -> bool:
    """At most one client has the lock."""
    return sum(visitor.inside for visitor in lock.visitors) <= 1


@always(symptom="a client is served out of turn")
def first_come_first_served(lock: Lock, client: Client) -> bool:
    """A client that is inside holds the lowest ticket."""
    return not lock.visitors[client].inside or waiting_before(lock, client) == 0


@step(symptom="a client is never called")
def queue_moves_forward(before: Lock, after: Lock, client: Client) -> bool:
    """A waiting client is never overtaken: fewer and fewer are before it."""
    if before.visitors[client].ticket is None or after.visitors[client].ticket is None:
        return True
    return waiting_before(after, client) <= waiting_before(before, client)


TICKET_LOCK = Scenario(
    name="ticket-lock",
    story="Three clients take numbers and are served in turn, until four tickets are used up.",
    state=Lock,
    actions=(take, enter, leave),
    properties=(one_inside, first_come_first_served, queue_moves_forward),
    bounds={"clients": 3, "tickets": 4},
    source="Reed and Kanodia, CACM 22(2), 1979",
)
