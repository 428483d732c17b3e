"""Where no behaviour fits: what a snapshot shows, and what the model shows there instead.

The limits that keep a search small also hide how near it came. So the last gap is looked at once more, calmly and
without them, for a while: of the states at rest, the one that differs from the snapshot in the least is the *closest*.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import evolve, frozen

from model.language import Vector
from model.language.series import Fact, Waypoint
from search.waypoints.gap import Ground, Layers, Manner, Stop
from search.waypoints.program import program_of, truth

STATES = 50_000
"""How many states are looked at once more."""
EVENTS = 3
SHOWN = 4
"""How many different values of a fact are named."""


@frozen
class Difference:
    """A fact of a snapshot, what the closest state shows instead, and all that states near it show."""

    name: str
    shown: str
    closest: str
    reached: tuple[str, ...]
    never: bool
    """Whether none of the states that were looked at shows what the snapshot does."""


@frozen
class Misfit:
    """The first waypoint that was not reached: its number, the closest state, and the facts in which it differs."""

    number: int
    waypoint: str
    differences: tuple[Difference, ...]
    closest: Vector | None
    states: int


def misfit_of(ground: Ground, waypoint: Waypoint, number: int, starts: np.ndarray) -> Misfit:
    """What is different at a waypoint that no behaviour from these starts has reached."""
    layers = _near(ground, waypoint, starts)
    rest = np.flatnonzero(layers.resting())
    packed = layers.packed(rest if len(rest) else np.arange(layers.size))
    programs = [program_of(ground.model, ground.kernel, fact.clauses) for fact in waypoint.facts]
    differs = np.logical_not(np.array([truth(program, packed) for program in programs]))
    never = differs.all(axis=1)
    best = int((np.array([fact.weight for fact in waypoint.facts]) @ differs).argmin())
    vector = tuple(ground.kernel.unpack(packed[best : best + 1])[0].tolist())
    differing = sorted(np.flatnonzero(differs[:, best]).tolist(), key=lambda n: not never[n])
    told = tuple(_difference(ground, waypoint.facts[n], packed, best, never=bool(never[n])) for n in differing)
    return Misfit(number, waypoint.name, told, vector, len(packed))


def _near(ground: Ground, waypoint: Waypoint, starts: np.ndarray) -> Layers:
    """What can be reached without limits, with few events and within a budget of states."""
    seen = 0

    def tick(expanded: int) -> None:
        nonlocal seen
        seen += expanded
        if seen >= STATES:
            raise Stop("enough")

    layers = Layers(evolve(ground, tick=tick), waypoint, starts, Manner.CALM, limited=False)
    try:
        for _ in range(EVENTS + 1):
            layers.advance()
    except Stop:
        pass
    return layers


def _difference(ground: Ground, fact: Fact, packed: np.ndarray, best: int, *, never: bool) -> Difference:
    paths = {path for clause in fact.clauses for path, _ in clause}
    columns = [index for index, leaf in enumerate(ground.model.leaves) if leaf.path in paths]
    _, first = np.unique(ground.kernel.unpack(packed)[:, columns], axis=0, return_index=True)
    look = _looker(ground, fact, packed)
    reached = dict.fromkeys(look(index) for index in first.tolist())
    return Difference(fact.name, fact.shown, look(best), tuple(reached)[:SHOWN], never)


def _looker(ground: Ground, fact: Fact, packed: np.ndarray) -> Callable[[int], str]:
    def look(index: int) -> str:
        vector = ground.kernel.unpack(packed[index : index + 1])[0].tolist()
        with ground.model.active():
            return fact.look(ground.model.shape.rebuild(iter(vector)))

    return look
