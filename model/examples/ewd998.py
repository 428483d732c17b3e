"""EWD998: detecting that a computation with messages under way has terminated on all nodes of a ring (Safra).

Words: a node *counts* the messages that it has sent, less those that it has received. The *token* goes round from node
n-1 down to 0 and adds the counts up. A node that receives a message becomes *black*; a black node blackens the token
and is white again. Node 0 has *detected* termination when it is white and idle, holds a white token, and all counts add
up to 0. The system is the detection; the computation acts at will.

Source: E. W. Dijkstra, "Shmuel Safra's version of termination detection" (EWD998, 1987); tlaplus/Examples,
specifications/ewd998/EWD998.tla. Counts, printed by TLC: 6,876 distinct states, 33,664 generated, depth 28 for N = 2;
1,520,618, 11,238,019 and 59 for N = 3 (the table at the end of EWD998.tla, "1.3m", "10.1m" and 60, is of an earlier
version). The state constraint is the bounds `messages` and `total`: TLC generates the steps beyond it, here they are
bound hits. TLC generates the start of a round once for each reason that allows it (black token, black node 0, positive
sum); here it is one step.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Scenario,
    action,
    always,
    array,
    choice,
    eventually,
    flag,
    member,
    nested,
    number,
    premise,
    reachable,
    require,
    state,
    subset,
)

NODES = Domain("nodes", "nodes of the ring")
MESSAGES = Bound("messages", "messages that a node has sent in excess, and messages under way to it")
TOTAL = Bound("total", "the sum that the token has")

Node = Annotated[int, NODES]
Nodes = Annotated[frozenset[int], subset(NODES)]

DETECTION = Actor("detection", of=NODES)
COMPUTATION = Actor("computation", system=False, of=NODES)


class Color(Enum):
    """Black: a message was received since the token was here."""

    WHITE = "white"
    BLACK = "black"


@state
class Process:
    """One node. It has received at most what the others have sent."""

    active: bool = flag()
    color: Color = choice(Color)
    counter: int = number((1 - NODES.bound) * MESSAGES, MESSAGES, default=0)
    pending: int = number(0, MESSAGES)


@state
class Token:
    """The probe: where it is, the sum of counts on its way, and whether it was blackened."""

    at: int = member(NODES)
    sum: int = number(-NODES.bound * TOTAL, TOTAL, default=0)
    color: Color = choice(Color, default=Color.BLACK)


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
    ring.token.at = at


def terminated(ring: Ring) -> bool:
    """No node is active, and no message is under way."""
    return not any(process.active or process.pending > 0 for process in ring.process)


def detected(ring: Ring) -> bool:
    """Node 0 knows that the computation has terminated."""
    first, token = ring.process[0], ring.token
    is_white = token.color is Color.WHITE and first.color is Color.WHITE
    return token.at == 0 and is_white and token.sum + first.counter == 0 and not first.active


@action(by=DETECTION, description="starts a round", source="InitiateProbe")
def initiate_probe(ring: Ring) -> None:
    """Rules 1, 5 and 6: node 0 sends a white token round when the last round proved nothing."""
    first, token = ring.process[0], ring.token
    require(token.at == 0)
    require(Color.BLACK in (token.color, first.color) or first.counter + token.sum > 0)
    token.at, token.sum, token.color = len(NODES) - 1, 0, Color.WHITE
    first.color = Color.WHITE


@action(by=DETECTION, description="passes the token on", source="PassToken")
def pass_token(ring: Ring, node: Node) -> None:
    """Rules 2, 4 and 7: an idle node adds its count, and blackens the token if it is black."""
    process, token = ring.process[node], ring.token
    require(node != 0 and not process.active and token.at == node)
    token.at = node - 1
    token.sum += process.counter
    if process.color is Color.BLACK:
        token.color = Color.BLACK
    process.color = Color.WHITE


@action(by=COMPUTATION, description="sends a message to node {receiver}", source="SendMsg")
def send_message(ring: Ring, node: Node, receiver: Node) -> None:
    """Rule 0, for the sender. Unlike in EWD840, sending blackens no node."""
    require(node != receiver and ring.process[node].active)
    ring.process[node].counter += 1
    ring.process[receiver].pending += 1


@action(by=COMPUTATION, description="receives a message", source="RecvMsg")
def receive_message(ring: Ring, node: Node) -> None:
    """Rules 0 and 3: the receiver becomes active and black."""
    process = ring.process[node]
    require(process.pending > 0)
    process.pending -= 1
    process.counter -= 1
    process.active, process.color = True, Color.BLACK


@action(by=COMPUTATION, description="becomes idle", source="Deactivate")
def deactivate(ring: Ring, node: Node) -> None:
    """A node's part of the computation ends."""
    require(ring.process[node].active)
    ring.process[node].active = False


@always(symptom="results are collected while a node still computes")
def detection_is_right(ring: Ring) -> bool:
    """TerminationDetection: where termination is detected, the computation has terminated."""
    return not detected(ring) or terminated(ring)


@always()
def messages_are_counted(ring: Ring) -> bool:
    """P0 of Inv: the counts of all nodes add up to the messages under way."""
    return sum(process.counter for process in ring.process) == sum(process.pending for process in ring.process)


@always()
def safras_invariant(ring: Ring) -> bool:
    """P1 to P4 of Inv: the token's sum is right and all behind it are idle, or something shows that it may not be."""
    token = ring.token
    idle_behind = all(not ring.process[node].active for node in NODES if node > token.at)
    ahead = sum(ring.process[node].counter for node in NODES if node <= token.at)
    black_ahead = any(ring.process[node].color is Color.BLACK for node in NODES if node <= token.at)
    counted = token.sum == sum(ring.process[node].counter for node in NODES if node > token.at)
    return (idle_behind and counted) or ahead + token.sum > 0 or black_ahead or token.color is Color.BLACK


@eventually(symptom="the computation has terminated, and it is never detected")
def termination_is_detected(ring: Ring) -> bool:
    """Liveness: after the computation has terminated, node 0 detects it."""
    premise(terminated(ring))
    return detected(ring)


@reachable()
def can_detect(ring: Ring) -> bool:
    """Termination can be detected at all, after a message."""
    return detected(ring) and ring.process[0].counter != 0


EWD998 = Scenario(
    name="ewd998",
    story="Nodes of a ring send one another messages; a token finds out when all are idle and none is under way.",
    state=Ring,
    initial=any_start,
    actions=(initiate_probe, pass_token, send_message, receive_message, deactivate),
    properties=(detection_is_right, messages_are_counted, safras_invariant, termination_is_detected, can_detect),
    bounds={"nodes": 3, "messages": 3, "total": 9},
    source="tlaplus/Examples specifications/ewd998/EWD998.tla",
)
