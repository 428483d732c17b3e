"""Many random graphs as one model, and by brute force whether a wait in each of them can last infinitely.

Words: a *world* is one graph: each of its nodes has, for each mover, a node to go to, or none, or a wall (a bound). It
is chosen in the initial state. The *met* movers of a walk are those of the system that it took or found without a step.
"""

from __future__ import annotations

import random
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Model,
    Scenario,
    Vector,
    action,
    array,
    eventually,
    member,
    number,
    optional,
    premise,
    require,
    state,
    subset,
)

WORLDS = Domain("worlds")
NODES = Domain("nodes")
SEED = Bound("seed")
HEIGHT = Bound("height", "how high the meter goes")

World = Annotated[int, WORLDS]

ONE, OTHER, FAULT = Actor("one"), Actor("other"), Actor("fault", system=False)


@state
class Travel:
    """Where the traveller is, and the maps."""

    world: int = member(WORLDS)
    at: int = member(NODES)
    one: Array[int | None] = array(NODES, optional(NODES))
    other: Array[int | None] = array(NODES, optional(NODES))
    fault: Array[int | None] = array(NODES, optional(NODES))
    walls: frozenset[int] = subset(NODES)
    starts: frozenset[int] = subset(NODES)
    goals: frozenset[int] = subset(NODES)
    meter: int = number(0, HEIGHT)


def any_world(travel: Travel, world: World) -> None:
    """A random graph, the same for the same seed and number."""
    chance = random.Random(1000 * int(SEED) + world)
    travel.world = world
    for table, often in ((travel.one, 0.6), (travel.other, 0.45), (travel.fault, 0.4)):
        for node in NODES:
            table[node] = chance.randrange(len(NODES)) if chance.random() < often else None
    travel.walls = frozenset(n for n in NODES if chance.random() < 0.15)
    travel.starts = frozenset(n for n in NODES if chance.random() < 0.5)
    travel.goals = frozenset(n for n in NODES if chance.random() < 0.35)


@action(by=ONE)
def one_moves(travel: Travel) -> None:
    """A system step; at a wall, a bound prevents it."""
    require(travel.one[travel.at] is not None)
    if travel.at in travel.walls:
        travel.meter += 1
    travel.at = travel.one[travel.at]


@action(by=OTHER)
def other_moves(travel: Travel) -> None:
    """Another system step."""
    require(travel.other[travel.at] is not None)
    travel.at = travel.other[travel.at]


@action(by=FAULT)
def fault_moves(travel: Travel) -> None:
    """A step that nothing has to take."""
    require(travel.fault[travel.at] is not None)
    travel.at = travel.fault[travel.at]


@eventually()
def arrives(travel: Travel, world: World) -> bool:
    """From every start of its world, the traveller comes to a goal."""
    premise(travel.world == world and travel.at in travel.starts)
    return travel.world != world or travel.at in travel.goals


TRAVEL = Scenario(
    name="travel",
    story="A traveller in random worlds.",
    state=Travel,
    initial=any_world,
    actions=(one_moves, other_moves, fault_moves),
    properties=(arrives,),
    bounds={"worlds": 100, "nodes": 5, "seed": 1, "height": 0},
)

Edges = dict[tuple[int, str], int]
SYSTEM = ("one", "other")


class Brute:
    """One world, and all walks in it."""

    def __init__(self, model: Model, start: Vector) -> None:
        travel = model.state(start)
        self.at, self.waiting = travel.at, {n for n in range(len(travel.one)) if n not in travel.goals}
        self.starts = travel.starts
        tables = {"one": travel.one, "other": travel.other, "fault": travel.fault}
        self.blocked = {(n, "one") for n in travel.walls if travel.one[n] is not None}
        self.edges: Edges = {
            (n, mover): to
            for mover, table in tables.items()
            for n, to in enumerate(table)
            if to is not None and (n, mover) not in self.blocked
        }

    def reached(self, begin: set[int], within: set[int]) -> set[int]:
        """The nodes that can be reached within a set."""
        found = begin & within
        while more := {to for (n, _), to in self.edges.items() if n in found and to in within} - found:
            found |= more
        return found

    def met_at(self, node: int, *, lenient: bool) -> frozenset[str]:
        """The system's movers that have no step at a node; `lenient` says that one that a wall stops has none."""
        return frozenset(
            m for m in SYSTEM if (node, m) not in self.edges and (lenient or (node, m) not in self.blocked)
        )

    def can_stay(self, home: int, *, lenient: bool) -> bool:
        """Whether some walk among waiting nodes leads from a node back to it, perhaps without a step, and meets all."""
        start = (home, self.met_at(home, lenient=lenient))
        found, fresh = {start}, [start]
        while fresh:
            node, met = fresh.pop()
            for (n, mover), to in self.edges.items():
                if n == node and to in self.waiting:
                    after = to, met | (frozenset({mover}) & frozenset(SYSTEM)) | self.met_at(to, lenient=lenient)
                    if after not in found:
                        found.add(after)
                        fresh.append(after)
        return (home, frozenset(SYSTEM)) in found

    def endless_from(self) -> set[int]:
        """The beginnings of waits that need never end."""
        stay = {n for n in self.waiting if self.can_stay(n, lenient=False)}
        return {n for n in self.beginnings() if self.reached({n}, self.waiting) & stay}

    def beginnings(self) -> set[int]:
        """Where waits begin."""
        return self.reached({self.at}, set(range(100))) & self.starts & self.waiting

    def is_stuck(self) -> bool:
        """Whether some wait lasts infinitely only because of a wall."""
        among = self.reached(self.beginnings(), self.waiting)
        return any(self.can_stay(n, lenient=True) and not self.can_stay(n, lenient=False) for n in among)

    def depth_of(self, nodes: set[int]) -> int:
        """In how many steps the first of some nodes is reached."""
        depth, found = 0, {self.at}
        while not found & nodes:
            found |= {to for (n, _), to in self.edges.items() if n in found}
            depth += 1
        return depth
