"""Series of snapshots: what a real system was seen to be, one moment after another, in the terms of a model.

Words: a *clause* names alternatives, each a leaf with the numbers that it may have; it holds where one of them does. A
*fact* is what one snapshot shows in one place. A *waypoint* is a snapshot: all of its facts hold at one moment of a
behaviour. *Limits* hold at every moment on the way to a waypoint: what only ever grows cannot be beyond it before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

Clause = tuple[tuple[str, frozenset[int]], ...]
"""Alternatives by the leaf's path; numbers are those of vectors, where -1 stands for None."""


def where(path: str, *numbers: int) -> Clause:
    """The clause that a leaf has one of these numbers."""
    return ((path, frozenset(numbers)),)


@frozen
class Fact:
    """What a snapshot shows in one place: its name, its value for people, and the clauses that say so of a state.

    `look` says in the same words what a state of the model has there. `weight` is how far away a state is that differs
    in this.
    """

    name: str
    shown: str
    clauses: tuple[Clause, ...]
    look: Callable[[Any], str] = field(repr=False, eq=False)
    weight: int = 1


@frozen
class Waypoint:
    """A snapshot: its name, its facts, the limits on the way to it, and what cannot have happened there.

    `without` has names of actions, and of actors that did nothing; `rare` those of events that count as two here.
    """

    name: str
    facts: tuple[Fact, ...]
    limits: tuple[Clause, ...] = ()
    without: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()


@frozen
class Series:
    """Snapshots of a real system in order, and how to look for a behaviour that passes through them.

    `bounds`, `flags` and `labels` win over the scenario's, `initial` arranges where behaviours begin. Of the system's
    own actions, `events` (names) are assumed one by one, as a client's or an operator's are; `prompt` ones may be taken
    at once without missing much; `idle_time` ones happen at any time, and nothing waits for them. `rare` are actions
    and actors whose events count as two. `tallies` are leaves that only count what has happened, up to a bound.
    `facts` are sentences for people on what was read, what was left out and what is taken for true.
    """

    bounds: Mapping[str, int]
    labels: Mapping[str, tuple[str, ...]]
    initial: Callable[..., None]
    waypoints: tuple[Waypoint, ...]
    variant: str | None = None
    flags: Mapping[str, Any] = field(factory=dict)
    events: frozenset[str] = frozenset()
    prompt: frozenset[str] = frozenset()
    idle_time: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()
    tallies: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()
