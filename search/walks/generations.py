"""Planning the next generation of a swarm from what all earlier ones counted."""
from __future__ import annotations

import numpy as np
from attrs import evolve

from search.kernel import Kernel
from search.loops.sketching import COUNT, LAST_STEP, LAST_WALK
from search.walks.chunks import Course, Walks, ways_to
from search.walks.swarm import CHANCE, GROWTH, Plan, Restart, Swarm

POOL = 256
"""Restarts of a generation, at most."""
LEAST, MOST = 0.4, 0.85
"""How likely the most and the least often taken group of a taste are to go up a level."""


def next_generation(kernel: Kernel, course: Course, walks: Walks) -> Course:
    """The course of the generation that follows, given the counts of all walks before it."""
    swarm = course.swarm
    assert swarm is not None and walks.walks == swarm.last
    size = swarm.plans[-1].last - swarm.plans[-1].first
    plan = Plan(
        swarm.last, swarm.last + int(GROWTH * size),
        _chances(swarm, walks) if swarm.tuned else swarm.plans[-1].chances,
        _restarts(kernel, course, walks) if swarm.restarting else (),
        _favoured(course, walks) if swarm.tuned else (),
    )
    return evolve(course, swarm=swarm.with_plan(plan))


def _chances(swarm: Swarm, walks: Walks) -> np.ndarray:
    """How likely each group is to go up a level: the rarer its instances were taken, the likelier."""
    taken = _sums(swarm, walks.taken)
    chances = np.full(len(taken), CHANCE)
    for begin, end in zip(swarm.ends, swarm.ends[1:], strict=False):
        if end > begin:
            rarity = np.argsort(np.argsort(-taken[begin:end], kind="stable"), kind="stable")
            chances[begin:end] = LEAST + (MOST - LEAST) * rarity / max(1, end - begin - 1)
    return chances


def _sums(swarm: Swarm, counts: np.ndarray) -> np.ndarray:
    """The counts of instances added up for each group, int64[groups]."""
    members = np.unpackbits(swarm.rows.view(np.uint8), axis=1, bitorder="little")[:, : len(counts)]
    return members.astype(np.int64) @ counts


def _favoured(course: Course, walks: Walks) -> tuple[str, ...]:
    """The actions that are likelier than the middle one to go up a level, rarest first; those that could be taken."""
    swarm = course.swarm
    assert swarm is not None
    enabled = np.zeros_like(walks.enabled)
    allowed = slice(None) if course.allowed is None else list(course.allowed)
    enabled[allowed] = walks.enabled[allowed]
    begin, end = swarm.ends[1], swarm.ends[2]
    order = np.argsort(_sums(swarm, walks.taken)[begin:end], kind="stable")[: (end - begin) // 2]
    possible = _sums(swarm, enabled)[begin:end] > 0
    return tuple(swarm.names[begin + place] for place in order if possible[place])


def _restarts(kernel: Kernel, course: Course, walks: Walks) -> tuple[Restart, ...]:
    """The latest states met with each of the rarest sets of enabled instances."""
    met = np.flatnonzero(walks.rare[:, COUNT])
    order = met[np.lexsort((met, walks.rare[met, COUNT]))][:POOL]
    places = [(int(place[LAST_WALK]) - 1, int(place[LAST_STEP])) for place in walks.rare[order]]
    return tuple(ways_to(kernel, course, (place for place in places if place[1] < course.depth)))
