"""Swarms: walks that each prefer other steps, so that together they visit more states than walks that are all alike.

Swarm testing is after Groce, Zhang, Eide, Chen, Regehr (ISSTA 2012).

Words: see `walk_loops` for *groupings*, *groups*, *levels* and *restarts*. Walks come in *generations*, ranges of their
numbers; the plan of a generation has the chance of each group to be in each level, and the restarts of its walks. It
depends only on what the walks of earlier generations counted, so a swarm does the same with any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from attrs import evolve, field, frozen

from kwalk.model.language import ActionInstance, Model
from kwalk.search.kernel.interface import bit_row
from kwalk.search.simulation.walk_loops import MAX_LEVEL, ROW_COUNT, ROW_LAST_STEP, ROW_LAST_WALK

FIRST_GENERATION = 2_000
"""Walks of the first generation."""
GROWTH = 1.5
"""The size of a generation relative to the one before it: a few dozen plans suffice for billions of walks."""
CHANCE = 0.5
"""The chance that a group is in a level if it is in the one below, as long as nothing has been counted."""
LEAST_CHANCE, MOST_CHANCE = 0.4, 0.85
"""The same for the most and the least often taken group of a grouping, once something has been counted."""
RESTART_SHARE = 0.75
"""The share of walks that begin at a restart, where there is one."""
MAX_RESTARTS = 256
"""Restarts of a generation."""
_WORD_VALUES = 2**64


@frozen(eq=False)
class Restart:
    """A path to a state: the number of an initial state, the instances to take from there, and the packed state."""

    start: int
    track: tuple[int, ...] = ()
    state: np.ndarray = field(factory=lambda: np.zeros(0, np.uint64))


@frozen(eq=False)
class WalkBias:
    """The plan of a generation as the loops need it."""

    grouping_ends: np.ndarray
    """int64[groupings + 1]: where the groups of each grouping begin."""
    group_rows: np.ndarray
    """uint64[groups, row words]: the instances of each group."""
    group_thresholds: np.ndarray
    """uint64[groups, MAX_LEVEL]: a group is in a level if its random word is below the threshold."""
    restarts: np.ndarray
    """uint64[restarts, words]: packed states."""
    restart_steps: np.ndarray
    """int64[restarts]: how many steps lead to each."""
    restart_chance: int = 0
    """How many of 2^16 walks begin at a restart."""


@frozen(eq=False)
class SwarmPlan:
    """The plan of a generation."""

    first: int
    """The number of its first walk."""
    last: int
    """The number of the first walk of the next generation."""
    chances: np.ndarray
    """float64[groups]: the chance that a group is in a level if it is in the one below."""
    restarts: tuple[Restart, ...] = ()
    favoured: tuple[str, ...] = ()
    """The actions that are in more levels than others, rarest first."""


@frozen(eq=False)
class Swarm:
    """How walks differ from each other; without the model, so that it can be pickled and sent."""

    grouping_ends: np.ndarray
    """int64[groupings + 1], as in `WalkBias`; the second grouping is by action."""
    group_rows: np.ndarray
    """uint64[groups, row words]."""
    group_names: tuple[str, ...]
    generations: tuple[SwarmPlan, ...]
    """The plans of all generations so far."""
    adaptive: bool = True
    """Whether later generations prefer what was rarely taken."""
    restarting: bool = True
    """Whether walks of later generations begin at rarely visited states."""

    @property
    def last(self) -> int:
        """The number of the first walk that has no plan yet."""
        return self.generations[-1].last

    def generation_of(self, number: int) -> SwarmPlan:
        """Return the plan of a walk; ValueError if its generation is not planned yet."""
        for generation in reversed(self.generations):
            if generation.first <= number < generation.last:
                return generation
        raise ValueError(f"Walk {number} is not planned: the plans end before walk {self.last}.")

    def bias(self, generation: SwarmPlan, words: int) -> WalkBias:
        """Return a plan as the loops need it; `words` is the number of words of a packed state."""
        powers = np.arange(1, MAX_LEVEL + 1)
        thresholds = np.minimum(generation.chances[:, None] ** powers * _WORD_VALUES, _WORD_VALUES - 2048.0)
        restarts = np.array([restart.state for restart in generation.restarts], np.uint64).reshape(-1, words)
        return WalkBias(
            self.grouping_ends,
            self.group_rows,
            thresholds.astype(np.uint64),
            restarts,
            np.array([len(restart.track) for restart in generation.restarts], np.int64),
            int(RESTART_SHARE * 2**16),
        )

    def next_generation(self, taken: np.ndarray, enabled: np.ndarray, restarts: Iterable[Restart]) -> Swarm:
        """Return the swarm with the plan of one more generation.

        Args:
            taken: int64[instances], how often each instance was taken.
            enabled: int64[instances], at how many visits each was enabled; 0 if walks may not take it.
            restarts: where walks of the generation may begin.
        """
        now = self.generations[-1]
        plan = SwarmPlan(
            self.last,
            self.last + int(GROWTH * (now.last - now.first)),
            self._chances(taken) if self.adaptive else now.chances,
            tuple(restarts),
            self._favoured(taken, enabled) if self.adaptive else (),
        )
        return evolve(self, generations=(*self.generations, plan))

    def _chances(self, taken: np.ndarray) -> np.ndarray:
        """Return float64[groups]: the less often the instances of a group were taken, the higher its chance."""
        sums = self._group_sums(taken)
        chances = np.full(len(sums), CHANCE)
        for begin, end in zip(self.grouping_ends, self.grouping_ends[1:], strict=False):
            if end > begin:
                rarity = np.argsort(np.argsort(-sums[begin:end], kind="stable"), kind="stable")
                chances[begin:end] = LEAST_CHANCE + (MOST_CHANCE - LEAST_CHANCE) * rarity / max(1, end - begin - 1)
        return chances

    def _group_sums(self, counts: np.ndarray) -> np.ndarray:
        """Return int64[groups]: the counts of the instances, added up for each group."""
        members = np.unpackbits(self.group_rows.view(np.uint8), axis=1, bitorder="little")[:, : len(counts)]
        sums: np.ndarray = members.astype(np.int64) @ counts
        return sums

    def _favoured(self, taken: np.ndarray, enabled: np.ndarray) -> tuple[str, ...]:
        """Return the rarer half of the actions, rarest first, without those that were never enabled."""
        begin, end = self.grouping_ends[1], self.grouping_ends[2]
        order = np.argsort(self._group_sums(taken)[begin:end], kind="stable")[: (end - begin) // 2]
        possible = self._group_sums(enabled)[begin:end] > 0
        return tuple(self.group_names[begin + place] for place in order if possible[place])


def rarest_visits(row_visits: np.ndarray, depth: int) -> Iterator[tuple[int, int]]:
    """Yield (walk, step) of the latest visits with the rarest sets of enabled instances, before step `depth`.

    `row_visits` is int64[ROW_PLACES, ROW_COLUMNS]; see `walk_loops`.
    """
    met = np.flatnonzero(row_visits[:, ROW_COUNT])
    rarest = met[np.lexsort((met, row_visits[met, ROW_COUNT]))][:MAX_RESTARTS]
    visits = ((int(row[ROW_LAST_WALK]) - 1, int(row[ROW_LAST_STEP])) for row in row_visits[rarest])
    return (visit for visit in visits if visit[1] < depth)


def _groupings(model: Model) -> Iterator[dict[str, list[int]]]:
    """Yield the groups of each grouping: none, by action, by actor, by single instance."""
    with model.active():
        yield {}
        names: list[Callable[[ActionInstance], str]] = [lambda i: i.action.name, lambda i: i.actor, lambda i: i.key]
        for name in names:
            groups: dict[str, list[int]] = {}
            for instance in model.instances:
                groups.setdefault(name(instance), []).append(instance.index)
            yield groups


def swarm_for(model: Model, *, adaptive: bool = True, restarting: bool = True) -> Swarm:
    """Return the swarm of a model with the plan of its first generation."""
    words = -(-len(model.instances) // 64)
    ends, rows, names = [0], [], []
    for groups in _groupings(model):
        rows += [bit_row(members, words) for members in groups.values()]
        names += list(groups)
        ends.append(len(rows))
    table = np.array(rows, np.uint64).reshape(-1, words)
    plan = SwarmPlan(0, FIRST_GENERATION, np.full(len(rows), CHANCE))
    return Swarm(np.array(ends, np.int64), table, tuple(names), (plan,), adaptive, restarting)
