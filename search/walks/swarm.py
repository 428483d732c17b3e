"""Swarms: walks that each prefer something else, so that together they see more than walks that are all alike.

Words: see `search.loops.tastes` for *tastes*, *groups* and *levels*. Walks come in *generations*, ranges of their
numbers; the *plan* of a generation says how likely each group is in each level, and at which *restarts*, rarely met
states with the steps that lead there, some walks begin. A plan depends on what the generations before it counted, all
of it made of the seed, so a swarm does the same whatever the number of workers.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import evolve, field, frozen

from model.language import Model
from search.kernel import bit_row
from search.loops.tastes import MOST_LEVELS
from search.loops.walk_counts import Leaning

FIRST_GENERATION = 2_000
"""Walks of the first generation."""
GROWTH = 1.5
"""How many times larger each generation is than the one before it: so few plans last for billions of walks."""
CHANCE = 0.5
"""How likely a group is to be in a level, if it is in the one below, as long as nothing is known of it."""
RESTARTING = 0.75
"""The part of the walks that begin at a restart, where there is one."""
WORDS = 2**64


@frozen(eq=False)
class Restart:
    """The way to a state: the number of an initial state, the instances to take from there, and the packed state."""

    start: int
    track: tuple[int, ...] = ()
    state: np.ndarray = field(factory=lambda: np.zeros(0, np.uint64))


@frozen(eq=False)
class Plan:
    """What the walks of a generation lean towards. `chances` float64[groups]: of going up a level."""

    first: int
    """The number of its first walk."""
    last: int
    """That of the first walk of the next generation."""
    chances: np.ndarray
    restarts: tuple[Restart, ...] = ()
    favoured: tuple[str, ...] = ()
    """The groups that are in more levels than others, rarest first."""


@frozen(eq=False)
class Swarm:
    """How walks differ from each other; without the Model, so that it can be pickled and sent.

    `ends` and `rows` are those of a `Leaning`, `names` the groups' names. `plans` are those of all generations so far.
    """

    ends: np.ndarray
    rows: np.ndarray
    names: tuple[str, ...]
    plans: tuple[Plan, ...]
    tuned: bool = True
    """Whether later generations prefer what was rarely taken."""
    restarting: bool = True
    """Whether later generations begin at rarely met states."""

    @property
    def last(self) -> int:
        """The number of the first walk that has no plan yet."""
        return self.plans[-1].last

    def plan_of(self, number: int) -> Plan:
        """The plan of a walk, which must be of a generation that is planned."""
        for plan in reversed(self.plans):
            if plan.first <= number < plan.last:
                return plan
        raise ValueError(f"Walk {number} is not planned: the plans end before walk {self.last}.")

    def leaning(self, plan: Plan, words: int) -> Leaning:
        """A plan as the loops want it; `words` are those of a packed state."""
        powers = np.arange(1, MOST_LEVELS + 1)
        chances = np.minimum(plan.chances[:, None] ** powers * WORDS, WORDS - 2048.0).astype(np.uint64)
        restarts = np.array([restart.state for restart in plan.restarts], np.uint64).reshape(-1, words)
        return Leaning(
            self.ends, self.rows, chances, restarts,
            np.array([len(restart.track) for restart in plan.restarts], np.int64), int(RESTARTING * 2**16),
        )  # fmt: skip

    def with_plan(self, plan: Plan) -> Swarm:
        """The same with another generation."""
        return evolve(self, plans=(*self.plans, plan))


def _tastes(model: Model) -> Iterator[dict[str, list[int]]]:
    """The groups of each taste: none, the actions, the actors, the single instances."""
    with model.active():
        yield {}
        for name in (lambda i: i.action.name, lambda i: i.actor, lambda i: i.key):
            groups: dict[str, list[int]] = {}
            for instance in model.instances:
                groups.setdefault(name(instance), []).append(instance.index)
            yield groups


def swarm_for(model: Model, *, tuned: bool = True, restarting: bool = True) -> Swarm:
    """The swarm of a model before its first generation: walks prefer actions, actors, single instances, or nothing."""
    words = -(-len(model.instances) // 64)
    ends, rows, names = [0], [], []
    for groups in _tastes(model):
        rows += [bit_row(members, words) for members in groups.values()]
        names += list(groups)
        ends.append(len(rows))
    table = np.array(rows, np.uint64).reshape(-1, words)
    plan = Plan(0, FIRST_GENERATION, np.full(len(rows), CHANCE))
    return Swarm(np.array(ends, np.int64), table, tuple(names), (plan,), tuned, restarting)
