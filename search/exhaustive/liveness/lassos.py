"""Lassos: a shortest path from a start to where a behaviour can keep waiting, and a short loop there.

Words: see `components`. A system instance is *unmet* if the loop has neither taken it nor visited a state where it is
disabled.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen

from kwalk.search.exhaustive.liveness.components import MARK_FAIR
from kwalk.search.exhaustive.liveness.waiting import (
    OUTSIDE,
    Region,
    SearchStacks,
    WaitingStates,
    edges_of,
    guards_of,
)
from kwalk.search.native.bits import has_bit
from kwalk.search.native.intrinsics import ZERO, integer, loop, part, peek, peek16, peek32, poke32
from kwalk.search.results.confirmation import apply_instance, enabled_row

QUERY_START, QUERY_TARGET, QUERY_HOME, QUERY_FOUND, QUERY_LENGTH = range(5)
"""A query for a path (int64): the first state, the target, the state of TARGET_HOME; the loop writes the last state and
the length (-1: no path). The instances of the path are in `stacks.path`, the last one first."""
QUERY_WORDS = 5

TARGET_FAIR, TARGET_QUIESCENT, TARGET_UNMET, TARGET_HOME = range(4)
"""Targets: a state of a fair component; a state where no unmet instance is enabled; within the component, an unmet step
or
a state where an unmet instance is disabled; within the component, a certain state."""


@loop
def find_path(region: Region, stacks: SearchStacks, query: np.ndarray, unmet: int) -> None:
    """Search breadth first from the first state of a query to the nearest state that satisfies its target.

    `unmet` is the address of a bit row of instances. `stacks.visits` must be zeros, and is zeros again afterwards;
    `stacks.path`, `places` and `stack` are overwritten.
    """
    query[QUERY_FOUND], query[QUERY_LENGTH] = query[QUERY_START], integer(-1)
    poke32(stacks.stack, 0, np.uint64(query[QUERY_START]))
    poke32(stacks.visits, query[QUERY_START], np.uint64(query[QUERY_START] + 1))
    mark, seen, reached = peek32(stacks.marks, query[QUERY_START]), integer(1), integer(0)
    if query[QUERY_TARGET] <= TARGET_QUIESCENT and _is_target(
        region, stacks, (query[QUERY_TARGET], query[QUERY_HOME], query[QUERY_START], unmet)
    ):
        query[QUERY_LENGTH] = 0
    while reached < seen and query[QUERY_LENGTH] < 0:
        state = integer(peek32(stacks.stack, reached))
        reached += 1
        begin, end = edges_of(region.graph, state)
        for at in range(begin, end):
            target = integer(peek32(region.graph.targets, at))
            if target == OUTSIDE or (query[QUERY_TARGET] >= TARGET_UNMET and peek32(stacks.marks, target) != mark):
                continue
            fresh = peek32(stacks.visits, target) == ZERO
            if fresh:
                poke32(stacks.visits, target, np.uint64(state + 1))
                poke32(stacks.places, target, np.uint64(at - begin))
                poke32(stacks.stack, seen, np.uint64(target))
                seen += 1
            instance = integer(peek16(region.graph.instances, at))
            needed = query[QUERY_TARGET] == TARGET_UNMET and has_bit(unmet, instance)
            if needed or (
                fresh and _is_target(region, stacks, (query[QUERY_TARGET], query[QUERY_HOME], target, unmet))
            ):
                _write_path(region, stacks, query, (state, at))
                break
    for place in range(seen):
        poke32(stacks.visits, integer(peek32(stacks.stack, place)), ZERO)


@part
def _is_target(region: Region, stacks: SearchStacks, query: tuple[int, int, int, int]) -> bool:
    """Whether a state satisfies the target; `query` has the target, the home state, the state, and the unmet row."""
    target, home, state, unmet = query
    if target == TARGET_FAIR:
        return integer(peek32(stacks.marks, state)) >= MARK_FAIR
    if target == TARGET_HOME:
        return state == home
    row, met, left = guards_of(region, state), ZERO, ZERO
    for word in range(region.search.kernel.row_words):
        met |= peek(unmet, word) & ~peek(row, word)
        left |= peek(unmet, word) & peek(row, word)
    return left == ZERO if target == TARGET_QUIESCENT else met != ZERO


@part
def _write_path(region: Region, stacks: SearchStacks, query: np.ndarray, last: tuple[int, int]) -> None:
    """Write the instances of the path that ends with the given edge of a state."""
    state, at = last
    query[QUERY_FOUND] = integer(peek32(region.graph.targets, at))
    poke32(stacks.path, 0, peek16(region.graph.instances, at))
    length = integer(1)
    while state != query[QUERY_START]:
        parent = integer(peek32(stacks.visits, state)) - 1
        begin, _ = edges_of(region.graph, parent)
        poke32(stacks.path, length, peek16(region.graph.instances, begin + integer(peek32(stacks.places, state))))
        length += 1
        state = parent
    query[QUERY_LENGTH] = length


@frozen
class Lasso:
    """A behaviour that never ends, as instances from the start of the wait: `stem` once, then `loop` forever."""

    stem: tuple[int, ...]
    loop: tuple[int, ...]


class LassoSearch:
    """The search for a lasso among waiting states whose components are known."""

    def __init__(self, waiting: WaitingStates) -> None:
        self.waiting, self.kernel = waiting, waiting.exploration.kernel
        self.region, self.stacks, self.path_buffer = waiting.region, waiting.stacks, waiting.clear_visits()
        self.unmet = np.zeros(self.kernel.instance_words, np.uint64)
        self._system = self.kernel.system_row[: len(self.unmet)]

    def lasso_from(self, index: int) -> Lasso:
        """Return a lasso from a stored state: one that ends in quiescence, unless one with a loop is shorter.

        The path to the loop is a shortest one; the loop itself is only short.
        """
        start = self.waiting.number_of(index)
        round_trip = self._loop_lasso(start)
        self.unmet[:] = self._system
        quiescent_path, _ = self._path(start, TARGET_QUIESCENT) or (None, 0)
        if quiescent_path is not None and len(quiescent_path) <= len(round_trip.stem) + len(round_trip.loop):
            return Lasso(tuple(quiescent_path), ())
        return round_trip

    def _loop_lasso(self, start: int) -> Lasso:
        """Go to the nearest state of a fair component; then from unmet to nearest unmet instance, and back."""
        stem, home = self._require_path(start, TARGET_FAIR)
        loop: list[int] = []
        here = home
        self.unmet[:] = self._system & self._guards(home)
        while self.unmet.any():
            steps, there = self._require_path(here, TARGET_UNMET)
            self._remove_met(here, steps)
            loop += steps
            here = there
        return Lasso(tuple(stem), (*loop, *(self._require_path(here, TARGET_HOME, home)[0] if here != home else ())))

    def _require_path(self, start: int, target: int, home: int = 0) -> tuple[list[int], int]:
        path = self._path(start, target, home)
        if path is None:
            raise AssertionError(f"A component is said to be fair, and has no loop that is (goal {target}).")
        return path

    def _path(self, start: int, target: int, home: int = 0) -> tuple[list[int], int] | None:
        """Return the instances of a shortest path and the number of its last state; None if there is no path."""
        query = np.zeros(QUERY_WORDS, np.int64)
        query[[QUERY_START, QUERY_TARGET, QUERY_HOME]] = start, target, home
        find_path(self.region, self.stacks, query, self.unmet.ctypes.data)
        length = int(query[QUERY_LENGTH])
        if length < 0:
            return None
        return self.path_buffer[:length][::-1].tolist(), int(query[QUERY_FOUND])

    def _packed(self, state: int) -> np.ndarray:
        return self.waiting.exploration.states.rows([int(self.waiting.numbers[state])])[0].copy()

    def _guards(self, state: int) -> np.ndarray:
        return enabled_row(self.kernel, self._packed(state))

    def _remove_met(self, start: int, steps: list[int]) -> None:
        """Remove the unmet instances that are taken, or disabled in a state, along a path."""
        for instance, state in zip(steps, self._along(start, steps), strict=True):
            self.unmet[instance // 64] &= np.uint64(~(1 << (instance % 64)) & (1 << 64) - 1)
            self.unmet &= enabled_row(self.kernel, state)

    def _along(self, start: int, steps: list[int]) -> Iterator[np.ndarray]:
        before = self._packed(start)
        for instance in steps:
            after = np.zeros_like(before)
            apply_instance(self.kernel, instance, before, after)
            yield after
            before = after
