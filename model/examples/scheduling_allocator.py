"""An allocator of resources that fixes in which order it will serve its clients, so that no one waits in vain.

A client asks for a set of resources, gets them one part after the other, and gives them back. The allocator keeps a
schedule: clients are added to its end in any order, and one gets a resource only if no client before it still wants it.

Words: a client is *unsatisfied* while it waits for the rest of what it asked for; *available* are the resources that
nobody has.

The fairness of a return, `WF_vars(unsat[c] = {} /\\ Return(c, alloc[c]))`, is that of an action of its own,
`return_all`, whose steps are also steps of `give_back`.

Source: S. Merz's SchedulingAllocator.tla in tlaplus/Examples (allocator), with the constants of its .cfg. Counts: 1,690
distinct states, 5,854 generated and a depth of 7 (manifest.json); the steps of `return_all` are generated in addition.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    always_eventually,
    array,
    fifo,
    leads_to,
    premise,
    require,
    state,
    subset,
    weakly_fair,
)

CLIENTS = Domain("clients", "clients", label=lambda n: f"c{n + 1}")
RESOURCES = Domain("resources", "resources", label=lambda n: f"r{n + 1}")

Client = Annotated[int, CLIENTS]
Resource = Annotated[int, RESOURCES]
Resources = Annotated[frozenset[int], subset(RESOURCES)]
Order = Annotated[tuple[int, ...], fifo(CLIENTS, CLIENTS.bound)]

ALLOCATOR = Actor("allocator")
CLIENT = Actor("client", of=CLIENTS)


@state
class Allocation:
    """What each client still waits for and what it has; in which order clients will be served."""

    wanted: Array[frozenset[int]] = array(CLIENTS, subset(RESOURCES))
    held: Array[frozenset[int]] = array(CLIENTS, subset(RESOURCES))
    schedule: Fifo[int] = fifo(CLIENTS, CLIENTS.bound)

    @property
    def available(self) -> frozenset[int]:
        """The resources that nobody has."""
        return frozenset(r for r in RESOURCES if all(r not in held for held in self.held))

    @property
    def unscheduled(self) -> frozenset[int]:
        """The unsatisfied clients that have no place in the schedule."""
        return frozenset(c for c in CLIENTS if self.wanted[c] and c not in self.schedule)


@action(by=CLIENT, description="client {client} asks for {some}", source="Request")
def ask(allocation: Allocation, client: Client, some: Resources) -> None:
    """A client that has nothing and waits for nothing asks for resources."""
    require(some and not allocation.wanted[client] and not allocation.held[client])
    allocation.wanted[client] = some


@action(by=ALLOCATOR, description="client {client} gets {some}", source="Allocate")
def allocate(allocation: Allocation, client: Client, some: Resources) -> None:
    """A client gets available resources that no client before it in the schedule waits for."""
    schedule = allocation.schedule
    require(some and client in schedule and some <= allocation.available & allocation.wanted[client])
    place = schedule.index(client)
    require(all(not allocation.wanted[schedule[n]] & some for n in range(place)))
    if some == allocation.wanted[client]:
        allocation.schedule = [c for c in schedule if c != client]
    allocation.held[client] = allocation.held[client] | some
    allocation.wanted[client] = allocation.wanted[client] - some


@action(by=CLIENT, description="client {client} gives back {some}", source="Return")
def give_back(allocation: Allocation, client: Client, some: Resources) -> None:
    """A client gives back some of what it has."""
    require(some and some <= allocation.held[client])
    allocation.held[client] = allocation.held[client] - some


@action(by=CLIENT, description="client {client} gives back everything", source="Liveness")
def return_all(allocation: Allocation, client: Client) -> None:
    """A satisfied client gives back everything: the step of `give_back` that fairness is about."""
    require(not allocation.wanted[client])
    give_back(allocation, client, allocation.held[client])


@action(by=ALLOCATOR, description="the schedule gets {order}", source="Schedule")
def extend_schedule(allocation: Allocation, order: Order) -> None:
    """All unsatisfied clients without a place get one, in any order."""
    waiting = allocation.unscheduled
    require(waiting and len(order) == len(waiting) and set(order) == waiting)
    allocation.schedule = allocation.schedule + order


@always()
def nobody_shares(allocation: Allocation, one: Client, other: Client) -> bool:
    """No two clients have the same resource."""
    premise(one != other)
    return not allocation.held[one] & allocation.held[other]


@always()
def scheduled_clients_wait(allocation: Allocation) -> bool:
    """Who has a place in the schedule waits for something."""
    return all(allocation.wanted[client] for client in allocation.schedule)


@always()
def nobody_has_what_an_earlier_client_wants(allocation: Allocation) -> bool:
    """A client has nothing that a client before it in the schedule waits for."""
    places = range(len(allocation.schedule))
    return all(
        not allocation.held[allocation.schedule[late]] & allocation.wanted[allocation.schedule[early]]
        for late in places
        for early in range(late)
    )


@always()
def earlier_clients_have_what_a_client_waits_for(allocation: Allocation) -> bool:
    """Each scheduled client can be served once those before it, and those without a place, have given back all."""
    schedule, free = allocation.schedule, allocation.available
    unscheduled = [held for client, held in enumerate(allocation.held) if client not in schedule]
    return all(
        resource not in allocation.wanted[schedule[late]]
        or resource in free
        or any(resource in held for held in unscheduled)
        or any(
            resource in allocation.wanted[schedule[early]] | allocation.held[schedule[early]] for early in range(late)
        )
        for late in range(len(schedule))
        for resource in RESOURCES
    )


@always_eventually()
def is_satisfied_often(allocation: Allocation, client: Client) -> bool:
    """Each client is satisfied again and again."""
    return not allocation.wanted[client]


def is_satisfied(allocation: Allocation, client: Client) -> bool:
    """A client waits for nothing."""
    return not allocation.wanted[client]


def has_nothing(allocation: Allocation, client: Client) -> bool:
    """A client has nothing."""
    return not allocation.held[client]


def waits_for(allocation: Allocation, client: Client, resource: Resource) -> bool:
    """A client waits for a resource."""
    return resource in allocation.wanted[client]


def has(allocation: Allocation, client: Client, resource: Resource) -> bool:
    """A client has a resource."""
    return resource in allocation.held[client]


SCHEDULING_ALLOCATOR = Scenario(
    name="scheduling-allocator",
    story="Clients ask for sets of resources; an allocator serves them in an order that it fixes in advance.",
    state=Allocation,
    actions=(ask, allocate, give_back, return_all, extend_schedule),
    properties=(
        nobody_shares,
        scheduled_clients_wait,
        nobody_has_what_an_earlier_client_wants,
        earlier_clients_have_what_a_client_waits_for,
        leads_to(is_satisfied, has_nothing, name="what_it_has_is_given_back"),
        leads_to(waits_for, has, name="each_wish_is_granted"),
        is_satisfied_often,
    ),
    fairness=(
        weakly_fair(return_all, each="client"),
        weakly_fair(allocate, each="client"),
        weakly_fair(extend_schedule),
    ),
    bounds={"clients": 3, "resources": 2},
)
