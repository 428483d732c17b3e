"""Chang and Roberts: electing a leader on a one-way ring by letting the lowest number go all the way round.

Words: each node's *number* is its place. Some nodes are *initiators*; each sends its number to its successor. A
candidate that sees a lower number gives up and passes it on, *swallows* a higher one, and has won when its own number
comes back. A node that has lost passes on everything. Messages to a node are a set: they may overtake each other.

Source: E. Chang, R. Roberts, "An improved algorithm for decentralized extrema-finding in circular configurations of
processes" (CACM 22(5), 1979); tlaplus/Examples, specifications/chang_roberts/ChangRoberts.tla. Counts: 137 distinct
states, 227 generated, TLC depth 10 for three nodes and any set of initiators (MCChangRoberts.cfg in manifest.json).
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Abort,
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    always,
    array,
    choice,
    flag,
    reachable,
    require,
    state,
    subset,
    when_quiescent,
)

NODES = Domain("nodes", "nodes of the ring; their numbers rise along it")

Node = Annotated[int, NODES]
Nodes = Annotated[frozenset[int], subset(NODES)]

NODE = Actor("node", of=NODES)


class Swallowed(Abort):
    """A number ends its journey here."""


class Role(Enum):
    """What a node knows about the election."""

    LOST = "lost"
    CANDIDATE = "candidate"
    WON = "won"


@state
class Member:
    """One node, and the numbers on their way to it."""

    initiator: bool = flag()
    started: bool = flag()
    role: Role = choice(Role)
    inbox: frozenset[int] = subset(NODES)


@state
class Ring:
    """All nodes, in ring order."""

    member: Array[Member] = array(NODES, Member)


def any_initiators(ring: Ring, initiators: Nodes) -> None:
    """Any set of nodes wants an election."""
    for node in sorted(initiators):
        ring.member[node].initiator = True
        ring.member[node].role = Role.CANDIDATE


def send_on(ring: Ring, node: int, number: int) -> None:
    """Send a number to the next node of the ring."""
    successor = ring.member[(node + 1) % len(NODES)]
    successor.inbox = successor.inbox | {number}


def compete(member: Member, own: int, number: int) -> None:
    """What a candidate makes of a number; Swallowed unless it is to be forwarded."""
    if number > own:
        raise Swallowed
    if number == own:
        member.role = Role.WON
        raise Swallowed
    member.role = Role.LOST


@action(by=NODE, description="starts")
def start(ring: Ring, node: Node) -> None:
    """An initiator sends its number; the others are merely ready."""
    member = ring.member[node]
    require(not member.started)
    member.started = True
    if member.initiator:
        send_on(ring, node, node)


@action(by=NODE, description="receives the number {number}")
def receive(ring: Ring, node: Node, number: Node) -> None:
    """A candidate compares the number with its own; a node that has lost passes it on."""
    member = ring.member[node]
    require(member.started and number in member.inbox)
    member.inbox = member.inbox - {number}
    if member.role is not Role.LOST:
        compete(member, node, number)
    send_on(ring, node, number)


@always(symptom="two coordinators give orders")
def winner_is_lowest_initiator(ring: Ring, node: Node) -> bool:
    """A winner is an initiator; all others have lost, and no initiator has a lower number."""
    if ring.member[node].role is not Role.WON:
        return True
    others_lost = all(ring.member[other].role is Role.LOST for other in NODES if other != node)
    none_lower = not any(ring.member[other].initiator for other in NODES if other < node)
    return ring.member[node].initiator and others_lost and none_lower


@when_quiescent(symptom="no coordinator, and no election for one")
def election_ends(ring: Ring) -> bool:
    """In a quiescent state after an election was started, a node has won."""
    wanted = any(member.initiator for member in ring.member)
    return not wanted or any(member.role is Role.WON for member in ring.member)


@reachable()
def last_node_can_win(ring: Ring) -> bool:
    """A node wins if no other node takes part."""
    return ring.member[len(NODES) - 1].role is Role.WON


CHANG_ROBERTS = Scenario(
    name="chang-roberts",
    story="Any set of nodes of a ring calls an election; the lowest of them wins.",
    state=Ring,
    initial=any_initiators,
    actions=(start, receive),
    properties=(winner_is_lowest_initiator, election_ends, last_node_can_win),
    bounds={"nodes": 3},
    source="tlaplus/Examples specifications/chang_roberts/ChangRoberts.tla",
)
