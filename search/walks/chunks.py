"""Chunks of random walks: what any number of them found and counted, independent of how they are cut into chunks.

Words: walks have *numbers*; what happens in one depends on the seed, its number and the depth only. A *finding* is
(walk, step, claim): the first step of a walk at which the claim is violated; claim number `kernel.claims` is deadlock.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve, frozen

from search.confirm import Path, path_along
from search.kernel import Kernel, bit_numbers
from search.loops.tally import totals
from search.loops.walk_counts import Gear
from search.loops.walker import (
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
)
from search.loops.walking import run_through


@frozen(eq=False)
class Walks:
    """What some walks counted; `a + b` is what both together did, if b's walks come after a's."""

    walks: int
    steps: int
    visits: int
    """States looked at, the initial ones included."""
    dead_ends: int
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
            stopped=later.stopped,
            failed=later.failed,
        )

    def with_findings(self, most: int) -> Walks:
        """The same, with no more than so many of the findings: the first ones."""
        return self if len(self.findings) <= most else evolve(self, findings=self.findings[:most].copy())


_SUMS = ("walks", "steps", "visits", "dead_ends", "quiet", "enabled", "taken", "changed", "hits", "premises", "seen")


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
    """Do the walks of these consecutive numbers; `collect` keeps every finding, not only the first of each claim."""
    gear = Gear(kernel, course.starts, course.claims, course.depth)
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
        "quiet": int(cursor[QUIET]), "enabled": totals(gear.enabled)[: kernel.instances], "taken": gear.taken,
        "changed": gear.taken - gear.idle, "hits": gear.hits, "premises": totals(gear.premises)[: kernel.claims],
        "seen": gear.seen, "first_walk": gear.first_walk - 1, "first_step": gear.first_step,
    }  # fmt: skip


def path_of(kernel: Kernel, course: Course, number: int, steps: int | None = None) -> Path:
    """The path of one walk, done again; its first `steps` steps, or all."""
    gear = Gear(kernel, course.starts, course.claims, course.depth)
    cursor = gear.cursor
    cursor[WALK], cursor[LAST] = number, number + 1
    run_through(gear.walker(course.seed, stop=False, deadlock=course.deadlock), cursor.ctypes.data)
    taken = gear.track[: cursor[STEP] if steps is None else steps].tolist()
    return path_along(kernel, gear.starts[cursor[START]], taken)
