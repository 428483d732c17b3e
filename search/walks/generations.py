"""Planning the next generation of a swarm from what all earlier ones counted."""
from __future__ import annotations

import numpy as np
from attrs import evolve

from search.kernel import Kernel
from search.loops.sketching import COUNT, LAST_STEP, LAST_WALK
from search.walks.chunks import Course, Walks, way_to
from search.walks.swarm import CHANCE, GROWTH, Plan, Restart, Swarm

POOL = 256
"""Restarts of a generation, at most."""


def next_generation(kernel: Kernel, course: Course, walks: Walks) -> Course:
    """The course of the generation that follows, given the counts of all walks before it."""
    swarm = course.swarm
    assert swarm is not None and walks.walks == swarm.last
    size = swarm.plans[-1].last - swarm.plans[-1].first
    plan = Plan(
        swarm.last, swarm.last + int(GROWTH * size),
        _chances(swarm, walks) if swarm.tuned else swarm.plans[-1].chances,
        _restarts(kernel, course, walks) if swarm.restarting else (),
    )
    return evolve(course, swarm=swarm.with_plan(plan))


def _chances(swarm: Swarm, walks: Walks) -> np.ndarray:
    """Groups that were rarely taken, for the times when they could be, are likelier to go up."""
    members = np.unpackbits(swarm.rows.view(np.uint8), axis=1, bitorder="little")[:, : len(walks.taken)].astype(bool)
    taken = np.array([walks.taken[row].sum() for row in members], float)
    chances = np.full(len(taken), CHANCE)
    for begin, end in zip(swarm.ends, swarm.ends[1:], strict=False):
        if end > begin:
            order = np.argsort(np.argsort(-taken[begin:end], kind="stable"), kind="stable")
            chances[begin:end] = 0.25 + 0.6 * order / max(1, end - begin - 1)
    return chances


def _restarts(kernel: Kernel, course: Course, walks: Walks) -> tuple[Restart, ...]:
    """The latest states met with each of the rarest sets of enabled instances."""
    met = np.flatnonzero(walks.rare[:, COUNT])
    order = met[np.lexsort((met, walks.rare[met, COUNT]))][:POOL]
    places = walks.rare[order]
    return tuple(
        way_to(kernel, course, int(place[LAST_WALK]) - 1, int(place[LAST_STEP]))
        for place in places if place[LAST_STEP] < course.depth
    )
