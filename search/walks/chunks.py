"""Chunks of random walks: what any number of them found and counted, independent of how they are cut into chunks.

Words: walks have *numbers*; what happens in one depends on the seed, its number and the depth only. A *finding* is
(walk, step, claim): the first step of a walk at which the claim is violated; claim number `kernel.claims` is deadlock.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from attrs import evolve, frozen

from search.confirm import Path, path_along
from search.kernel import Kernel, bit_numbers
from search.loops.sketching import COUNT
from search.loops.tally import totals
from search.loops.walk_counts import Gear
from search.loops.walker import (
    CUTS,
    DEAD_ENDS,
    FAILED,
    FINDINGS,
    FOUND,
    FULL,
    LAST,
    QUIET,
    START,
    STEP,
    STEPS,
    VISITS,
    WALK,
    Walker,
)
from search.loops.walking import run_through
from search.walks.sketch import merged
from search.walks.swarm import Plan, Restart, Swarm


@frozen(eq=False)
class Walks:
    """What some walks counted; `a + b` is what both together did, if b's walks come after a's."""

    walks: int
    steps: int
    visits: int
    """States looked at, the initial ones included."""
    dead_ends: int
    cuts: int
    """Walks that ended because nothing that they were allowed to do was left."""
    quiet: int
    """Visits to quiet states."""
    enabled: np.ndarray
    """Per instance: at how many visits it was enabled."""
    taken: np.ndarray
    changed: np.ndarray
    hits: np.ndarray
    """Per bound."""
    premises: np.ndarray
    """Per claim: at how many visits (step claims: steps) its premise held."""
    seen: np.ndarray
    """Per claim, then for deadlock: in how many walks it was violated (reachable claims: true)."""
    first_walk: np.ndarray
    """The same: the first such walk, -1 for none."""
    first_step: np.ndarray
    findings: np.ndarray
    """int64[n, 3]; empty if they were not collected."""
    sketch: np.ndarray
    """Registers of distinct states (see `search.walks.sketch`), int8; empty if none were kept."""
    rare: np.ndarray
    """How often sets of enabled instances were met (see `search.loops.sketching`); empty without a swarm."""
    stopped: bool = False
    """Whether the last walk was cut off at a violation."""
    failed: int | None = None
    """The walk after the last one that is counted, if an action left its domain there."""

    def __add__(self, later: Walks) -> Walks:
        keep = self.first_walk >= 0
        added: dict[str, Any] = {name: getattr(self, name) + getattr(later, name) for name in _SUMS}
        return Walks(
            **added,
            first_walk=np.where(keep, self.first_walk, later.first_walk),
            first_step=np.where(keep, self.first_step, later.first_step),
            findings=np.concatenate([self.findings, later.findings]),
            sketch=merged(self.sketch, later.sketch),
            rare=_merged_rare(self.rare, later.rare),
            stopped=later.stopped,
            failed=later.failed,
        )

    def with_findings(self, most: int) -> Walks:
        """The same, with no more than so many of the findings: the first ones."""
        return self if len(self.findings) <= most else evolve(self, findings=self.findings[:most].copy())


def _merged_rare(one: np.ndarray, later: np.ndarray) -> np.ndarray:
    """The counts of both; of two latest visits the later one."""
    if not len(one) or not len(later):
        return one if len(one) else later
    rare = np.where(later[:, COUNT, None] > 0, later, one)
    rare[:, COUNT] = one[:, COUNT] + later[:, COUNT]
    return rare


_SUMS = (
    "walks", "steps", "visits", "dead_ends", "cuts", "quiet", "enabled", "taken", "changed", "hits", "premises", "seen"
)  # fmt: skip


@frozen(eq=False)
class Course:
    """What walks are to do. `starts` are packed initial states, uint64[n, words]; `claims` numbers of claims."""

    starts: np.ndarray
    claims: tuple[int, ...]
    seed: int = 0
    depth: int = 100
    stop: bool = False
    """Stop at the first violation."""
    deadlock: bool = False
    """Whether a state without enabled instances is a violation."""
    allowed: tuple[int, ...] | None = None
    """The numbers of the instances that walks may take; all if None. Quiet states and deadlocks do not depend on it."""
    swarm: Swarm | None = None
    """How walks differ; if None all enabled instances are equally likely at each step."""
    sketching: bool = False
    """Whether to keep a sketch of the distinct states."""

    @property
    def last(self) -> int | None:
        """The number of the first walk that needs the next generation's plan; None if there are no generations."""
        return None if self.swarm is None else self.swarm.last

    @property
    def present(self) -> Course | None:
        """The same, with the plan of the last generation only, small enough to be sent; None without a swarm."""
        return None if self.swarm is None else evolve(self, swarm=evolve(self.swarm, plans=self.swarm.plans[-1:]))

    def plan_of(self, number: int) -> Plan | None:
        """The plan of a walk, None without a swarm."""
        return None if self.swarm is None else self.swarm.plan_of(number)

    def gear(self, kernel: Kernel, number: int) -> Gear:
        """What the walk of a number and those of its generation need."""
        swarm = self.swarm
        leaning = None if swarm is None else swarm.leaning(swarm.plan_of(number), kernel.words)
        return Gear(
            kernel, self.starts, self.claims, self.depth, self.allowed, leaning=leaning, sketching=self.sketching
        )


def run_walks(
    kernel: Kernel,
    starts: np.ndarray,
    claims_row: np.ndarray,
    *,
    seed: int,
    first_walk: int,
    count: int,
    depth: int,
    keep_going: bool = True,
    deadlock: bool = False,
) -> Walks:
    """Do the walks first_walk … first_walk + count - 1 and collect all findings, for a caller without the Model.

    `starts` are packed initial states, `claims_row` the bit row of the claims to check. The sum of chunks is the same
    however they are cut, as long as none of them stopped early.
    """
    course = Course(starts, tuple(bit_numbers(claims_row)), seed, depth, stop=not keep_going, deadlock=deadlock)
    return run_chunk(kernel, course, range(first_walk, first_walk + count), collect=True)


def run_chunk(kernel: Kernel, course: Course, numbers: range, *, collect: bool = False) -> Walks:
    """Do the walks of these consecutive numbers, all of one generation.

    `collect` keeps every finding, not only the first of each claim.
    """
    gear = course.gear(kernel, numbers.start)
    walker = gear.walker(course.seed, stop=course.stop, deadlock=course.deadlock)
    cursor, findings = gear.cursor, []
    cursor[WALK], cursor[LAST] = numbers.start, numbers.stop
    status = FULL
    while status == FULL:
        cursor[FINDINGS] = 0
        status = run_through(walker, cursor.ctypes.data)
        if collect:
            findings.append(gear.findings[: cursor[FINDINGS]].copy())
    counted = int(cursor[WALK]) - numbers.start
    return Walks(
        walks=counted, findings=np.concatenate(findings) if findings else gear.findings[:0], stopped=status == FOUND,
        failed=int(cursor[WALK]) if status == FAILED else None, **_counts(gear, kernel),
    )  # fmt: skip


def _counts(gear: Gear, kernel: Kernel) -> dict[str, Any]:
    cursor = gear.cursor
    return {
        "steps": int(cursor[STEPS]), "visits": int(cursor[VISITS]), "dead_ends": int(cursor[DEAD_ENDS]),
        "cuts": int(cursor[CUTS]), "quiet": int(cursor[QUIET]), "taken": gear.taken, "changed": gear.taken - gear.idle,
        "enabled": totals(gear.enabled)[: kernel.instances], "premises": totals(gear.premises)[: kernel.claims],
        "hits": gear.hits, "seen": gear.seen, "first_walk": gear.first_walk - 1, "first_step": gear.first_step,
        "sketch": gear.sketch, "rare": gear.rare,
    }  # fmt: skip


def path_of(kernel: Kernel, course: Course, number: int, steps: int | None = None) -> Path:
    """The path of one walk, done again, from an initial state; its first `steps` steps, or all."""
    (way,) = ways_to(kernel, course, [(number, course.depth if steps is None else steps)])
    return path_along(kernel, course.starts[way.start], way.track)


def ways_to(kernel: Kernel, course: Course, places: Iterable[tuple[int, int]]) -> Iterator[Restart]:
    """Where walks, done again, are after some steps, or where they end before; each place is a walk and a step."""
    gears: dict[int, tuple[Gear, Walker]] = {}
    for number, steps in places:
        plan = course.plan_of(number)
        first = plan.first if plan else 0
        if first not in gears:
            gear = course.gear(kernel, number)
            gears[first] = gear, gear.walker(course.seed, stop=False, deadlock=course.deadlock)
        gear, walker = gears[first]
        yield _way_to(gear, walker._replace(depth=steps), plan, number)


def _way_to(gear: Gear, walker: Walker, plan: Plan | None, number: int) -> Restart:
    cursor = gear.cursor
    cursor[:] = 0
    cursor[WALK], cursor[LAST] = number, number + 1
    run_through(walker, cursor.ctypes.data)
    start, end = int(cursor[START]), int(cursor[STEP])
    begun = plan.restarts[start - gear.start_count] if plan and start >= gear.start_count else Restart(start)
    taken = tuple(gear.track[len(begun.track) : end].tolist())
    words = gear.kernel.words
    state = gear.states[words * (len(taken) % 2) :][:words].copy()
    return Restart(begun.start, (*begun.track, *taken), state)
