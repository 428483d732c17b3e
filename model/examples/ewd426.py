"""EWD426: Dijkstra's self-stabilizing token ring, which from any mess whatever finds back to exactly one token.

Words: each node of a ring has a *counter*. Node 0 holds a *token* when its counter equals its predecessor's, any other
node when its counter differs from its predecessor's. Tokens are seen, not stored. An *arrangement* is one way to set
all counters; arrangement k writes k in base `counters`.

Source: E. W. Dijkstra, "Self-stabilizing systems in spite of distributed control" (EWD426, 1974); tlaplus/Examples,
specifications/ewd426/TokenRing.tla. Counts: 46,656 distinct states, all of them initial, 248,832 generated, TLC depth 1
for N = M = 6 (TokenRing.cfg in manifest.json).
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Actor, Array, Domain, Scenario, action, always, array, reachable, require, state, step

NODES = Domain("nodes", "nodes of the ring")
COUNTERS = Domain("counters", "values of a counter; at least one less than there are nodes")
ARRANGEMENTS = Domain("arrangements", "initial arrangements to start from; counters ** nodes is all of them")

Node = Annotated[int, NODES]
Arrangement = Annotated[int, ARRANGEMENTS]

NODE = Actor("node", of=NODES)


@state
class Ring:
    """The counters of the nodes, in ring order."""

    counter: Array[int] = array(NODES, COUNTERS)


def any_arrangement(ring: Ring, arrangement: Arrangement) -> None:
    """A transient fault has left every counter as it pleased."""
    rest = arrangement
    for node in NODES:
        ring.counter[node] = rest % len(COUNTERS)
        rest = rest // len(COUNTERS)


def has_token(ring: Ring, node: int) -> bool:
    """Whether a node may move."""
    if node == 0:
        return ring.counter[0] == ring.counter[len(NODES) - 1]
    return ring.counter[node] != ring.counter[node - 1]


def tokens(ring: Ring) -> int:
    """How many nodes hold a token."""
    return sum(has_token(ring, node) for node in NODES)


@action(by=NODE, description="makes a new value")
def create_token(ring: Ring) -> None:
    """Node 0 starts another round."""
    require(has_token(ring, 0))
    ring.counter[0] = (ring.counter[0] + 1) % len(COUNTERS)


@action(by=NODE, description="copies its predecessor")
def pass_token(ring: Ring, node: Node) -> None:
    """Any other node takes its predecessor's value, and the token moves on."""
    require(node != 0 and has_token(ring, node))
    ring.counter[node] = ring.counter[node - 1]


@always(
    symptom="no node of the ring can ever move again",
    cannot_fail="if nodes 1 … n-1 have the values of their predecessors, all are equal, and node 0 has the token",
)
def some_token(ring: Ring) -> bool:
    """There is always a token, however the counters were left."""
    return tokens(ring) >= 1


@step(symptom="more nodes than before are in the critical section")
def tokens_never_multiply(before: Ring, after: Ring) -> bool:
    """A step never makes tokens: the ring gets better or stays as good."""
    return tokens(after) <= tokens(before)


@reachable()
def stabilized(ring: Ring) -> bool:
    """Exactly one token is left."""
    return tokens(ring) == 1


EWD426 = Scenario(
    name="ewd426",
    story="A transient fault leaves arbitrary counters; Dijkstra's ring still ends with one token.",
    state=Ring,
    initial=any_arrangement,
    actions=(create_token, pass_token),
    properties=(some_token, tokens_never_multiply, stabilized),
    bounds={"nodes": 6, "counters": 6, "arrangements": 6**6},
    source="tlaplus/Examples specifications/ewd426/TokenRing.tla",
)
