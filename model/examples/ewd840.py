"""EWD840: detecting that a computation has ended on all nodes of a ring, with one token and two colours.

Words: a node is *active* or not; an active node may send a message, which makes the receiver active. The *token* goes
round from node n-1 down to 0. A node that sends a message to a node the token has passed becomes *black*; a black
node stains the token and is white again. Node 0 has *detected* the end when it is white and idle and holds a white
token. The system is the detection; the computation acts at will.

Source: E. W. Dijkstra, W. H. J. Feijen, A. J. M. van Gasteren, "Derivation of a termination detection algorithm for
distributed computations" (EWD840, 1983); tlaplus/Examples, specifications/ewd840/EWD840.tla. Counts (manifest.json):
302 distinct states and 2,001 generated for N = 3 (EWD840.cfg); 1,566, 15,986 and TLC depth 12 for N = 4
(EWD840_json.cfg). TLC generates a token's step once for each reason that allows it (idle node, black node, black
token); here it is one step. The depth of 10 given for N = 3 is one too many: with several workers TLC's depth is not
exact (tlaplus/tlaplus issue 883), and the collection's own check leaves it out.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    always,
    array,
    choice,
    eventually,
    evolve,
    flag,
    member,
    nested,
    premise,
    reachable,
    require,
    state,
    subset,
    value,
    when_quiescent,
)

NODES = Domain("nodes", "nodes of the ring")

Node = Annotated[int, NODES]
Nodes = Annotated[frozenset[int], subset(NODES)]

DETECTION = Actor("detection", of=NODES)
COMPUTATION = Actor("computation", system=False, of=NODES)


class Color(Enum):
    """Black: a node behind the token may be active again."""

    WHITE = "white"
    BLACK = "black"


@value
class Token:
    """The probe: where it is, and whether it was stained on its way."""

    at: int = member(NODES)
    color: Color = choice(Color, default=Color.BLACK)


@state
class Process:
    """One node."""

    active: bool = flag()
    color: Color = choice(Color)


@state
class Ring:
    """All nodes and the one token."""

    process: Array[Process] = array(NODES, Process)
    token: Token = nested(Token)


def any_start(ring: Ring, active: Nodes, black: Nodes, at: Node) -> None:
    """Any nodes are active, any are black, the token is anywhere; it is black, so the first round proves nothing."""
    for node in NODES:
        ring.process[node].active = node in active
        ring.process[node].color = Color.BLACK if node in black else Color.WHITE
    ring.token = Token(at=at)


def terminated(ring: Ring) -> bool:
    """No node is active: the computation has terminated."""
    return not any(process.active for process in ring.process)


def detected(ring: Ring) -> bool:
    """Node 0 knows that the computation has ended."""
    first, token = ring.process[0], ring.token
    return token == Token(at=0, color=Color.WHITE) and first.color is Color.WHITE and not first.active


@action(by=DETECTION, description="starts a round")
def initiate_probe(ring: Ring) -> None:
    """Node 0 sends a white token round when the last round proved nothing."""
    require(ring.token.at == 0 and Color.BLACK in (ring.token.color, ring.process[0].color))
    ring.token = Token(at=len(NODES) - 1, color=Color.WHITE)
    ring.process[0].color = Color.WHITE


@action(by=DETECTION, description="passes the token on")
def pass_token(ring: Ring, node: Node) -> None:
    """An idle node passes the token on; so does any node once the round can prove nothing."""
    process = ring.process[node]
    require(node != 0 and ring.token.at == node)
    require(not process.active or Color.BLACK in (process.color, ring.token.color))
    if process.color is Color.BLACK:
        ring.token = evolve(ring.token, color=Color.BLACK)
    ring.token = evolve(ring.token, at=node - 1)
    process.color = Color.WHITE


@action(by=COMPUTATION, description="sends a message to node {receiver}")
def send_message(ring: Ring, node: Node, receiver: Node) -> None:
    """An active node activates another; against the token's direction it makes the sender black."""
    require(node != receiver and ring.process[node].active)
    ring.process[receiver].active = True
    if receiver > node:
        ring.process[node].color = Color.BLACK


@action(by=COMPUTATION, description="becomes idle")
def deactivate(ring: Ring, node: Node) -> None:
    """A node's part of the computation ends."""
    require(ring.process[node].active)
    ring.process[node].active = False


@always(symptom="results are collected while a node still computes")
def detection_is_right(ring: Ring) -> bool:
    """Where the end is detected, the computation has ended."""
    return not detected(ring) or terminated(ring)


@always()
def dijkstras_invariant(ring: Ring) -> bool:
    """Nodes behind the token are idle, or a node not yet visited is black, or the token is black."""
    behind_is_idle = all(not ring.process[node].active for node in NODES if node > ring.token.at)
    black_ahead = any(ring.process[node].color is Color.BLACK for node in NODES if node <= ring.token.at)
    return behind_is_idle or black_ahead or ring.token.color is Color.BLACK


@when_quiescent(symptom="the computation has terminated, and it is never detected")
def end_is_detected(ring: Ring) -> bool:
    """When the detection has nothing left to do and the computation has ended, node 0 knows."""
    return not terminated(ring) or detected(ring)


@eventually(symptom="the computation has terminated, and it is never detected")
def end_comes_to_be_known(ring: Ring) -> bool:
    """After the computation has terminated, node 0 detects it: Liveness in EWD840.tla."""
    premise(terminated(ring))
    return detected(ring)


@reachable()
def can_detect(ring: Ring) -> bool:
    """The end can be detected at all."""
    return detected(ring)


EWD840 = Scenario(
    name="ewd840",
    story="Nodes of a ring activate one another; a token finds out when all have ended.",
    state=Ring,
    initial=any_start,
    actions=(initiate_probe, pass_token, send_message, deactivate),
    properties=(detection_is_right, dijkstras_invariant, end_is_detected, end_comes_to_be_known, can_detect),
    bounds={"nodes": 3},
    source="tlaplus/Examples specifications/ewd840/EWD840.tla",
)
