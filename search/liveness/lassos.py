"""Lassos: a shortest path from a start to where a behaviour can keep violating a property, and a short loop there.

Words: see `components`. A condition of fairness is *unmet* by the loop so far if the loop does not take it, and, for
weak fairness, has no state where it is disabled; for strong fairness, has a state where it is enabled.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from attrs import frozen

from kwalk.model.language import FairnessConditions, FairnessKind
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel, bit_numbers, bit_row
from kwalk.search.liveness.components import MARK_FAIR
from kwalk.search.liveness.waiting import (
    OUTSIDE,
    Loop,
    Region,
    SearchStacks,
    WaitingStates,
    edges_of,
    find_enabled_conditions,
    has_condition_in,
    is_unsatisfied,
)
from kwalk.search.native.intrinsics import ZERO, integer, peek, peek32, poke32
from kwalk.search.native.loops import Int64Array, loop, part

QUERY_START, QUERY_TARGET, QUERY_HOME, QUERY_FOUND, QUERY_LENGTH = range(5)
"""A query for a path (int64): the first state, the target, the state of TARGET_HOME; the loop writes the last state and
the length (-1: no path). The instances of the path are in `stacks.path`, the last one first."""
QUERY_WORDS = 5

TARGET_FAIR, TARGET_RESTING, TARGET_UNMET, TARGET_HOME = range(4)
"""Targets: a state of a fair part where a loop may begin; a state that can last infinitely by itself; within the part,
a step that takes an unmet condition, or a state where one of weak fairness is disabled; within it, a certain state."""
LOOP_ANYWHERE, LOOP_THROUGH = int(Loop.ANYWHERE), int(Loop.THROUGH)


@loop
def find_path(region: Region, stacks: SearchStacks, query: Int64Array, unmet: int) -> None:
    """Search breadth first from the first state of a query to the nearest state that satisfies its target.

    `unmet` is the address of a row of conditions. `stacks.visits` must be zeros, and is zeros again afterwards;
    `stacks.path`, `places` and `stack` are overwritten.
    """
    query[QUERY_FOUND], query[QUERY_LENGTH] = query[QUERY_START], integer(-1)
    poke32(stacks.stack, 0, np.uint64(query[QUERY_START]))
    poke32(stacks.visits, query[QUERY_START], np.uint64(query[QUERY_START] + 1))
    mark, seen, reached = peek32(stacks.marks, query[QUERY_START]), integer(1), integer(0)
    if query[QUERY_TARGET] <= TARGET_RESTING and _is_target(
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
            instance = integer(peek32(region.graph.instances, at))
            needed = (
                query[QUERY_TARGET] == TARGET_UNMET
                and target != state
                and has_condition_in(region.fairness, instance, unmet)
            )
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
        is_fair = integer(peek32(stacks.marks, state)) >= MARK_FAIR
        return is_fair and (region.loop != LOOP_THROUGH or is_unsatisfied(region, state))
    if target == TARGET_HOME:
        return state == home
    enabled, met, left = stacks.rows, ZERO, ZERO
    find_enabled_conditions(region, state, (enabled, stacks.instance_row), 1)
    for word in range(region.fairness.words):
        met |= peek(unmet, word) & peek(region.fairness.weak, word) & ~peek(enabled, word)
        left |= peek(enabled, word)
    if target == TARGET_UNMET:
        return bool(met != ZERO)
    return left == ZERO and (region.loop == LOOP_ANYWHERE or is_unsatisfied(region, state))


@part
def _write_path(region: Region, stacks: SearchStacks, query: Int64Array, last: tuple[int, int]) -> None:
    """Write the instances of the path that ends with the given edge of a state."""
    state, at = last
    query[QUERY_FOUND] = integer(peek32(region.graph.targets, at))
    poke32(stacks.path, 0, peek32(region.graph.instances, at))
    length = integer(1)
    while state != query[QUERY_START]:
        parent = integer(peek32(stacks.visits, state)) - 1
        begin, _ = edges_of(region.graph, parent)
        poke32(stacks.path, length, peek32(region.graph.instances, begin + integer(peek32(stacks.places, state))))
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
        self.conditions = waiting.exploration.model.fairness
        self.unmet = np.zeros(waiting.fairness.words, np.uint64)

    def lasso_from(self, index: int) -> Lasso:
        """Return a lasso from a stored state: one whose last state lasts, unless one with a loop is shorter.

        The path to the loop is a shortest one; the loop itself is only short.
        """
        start = self.waiting.number_of(index)
        round_trip = self._loop_lasso(start)
        resting = self._path(start, TARGET_RESTING)
        if resting is not None and len(resting[0]) <= len(round_trip.stem) + len(round_trip.loop):
            return Lasso(tuple(resting[0]), ())
        return round_trip

    def _loop_lasso(self, start: int) -> Lasso:
        """Go to the nearest state of a fair part; then from unmet to nearest unmet condition, and back."""
        stem, home = self._require_path(start, TARGET_FAIR)
        state = self._packed(home)
        meets = _LoopConditions(self.conditions, self.kernel, state)
        loop: list[int] = []
        here = home
        while True:
            self.unmet[:] = bit_row(meets.unmet(), len(self.unmet))
            if self.unmet.any():
                steps, here = self._require_path(here, TARGET_UNMET)
                loop += steps
                state = meets.add(state, steps)
                continue
            back = self._require_path(here, TARGET_HOME, home)[0] if here != home else []
            meets.add(state, back)
            if not meets.unmet():
                return Lasso(tuple(stem), (*loop, *back))
            loop, here, state = loop + back, home, self._packed(home)

    def _require_path(self, start: int, target: int, home: int = 0) -> tuple[list[int], int]:
        path = self._path(start, target, home)
        if path is None:
            raise AssertionError(f"A part is said to be fair, and has no loop that is (goal {target}).")
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
        row: np.ndarray = self.waiting.exploration.states.rows([int(self.waiting.numbers[state])])[0]
        return row.copy()


class _LoopConditions:
    """The conditions that the steps of a loop take, and that its states enable.

    Args:
        conditions: The conditions of the model.
        kernel: The kernel.
        state: The first state of the loop, packed.
    """

    def __init__(self, conditions: FairnessConditions, kernel: Kernel, state: np.ndarray) -> None:
        self._conditions, self._calls = conditions, KernelCalls(kernel)
        self._taken: set[int] = set()
        self._ever = self._always = self._enabled(state)

    def unmet(self) -> list[int]:
        """Return the numbers of the unmet conditions."""
        kinds = [condition.kind for condition in self._conditions.conditions]
        weak = {number for number in self._always if kinds[number] is FairnessKind.WEAK}
        strong = {number for number in self._ever if kinds[number] is FairnessKind.STRONG}
        # A loop may leave a state with an enabled condition of strong fairness out; so what is weakly fair comes first.
        return sorted(weak - self._taken or strong - self._taken)

    def add(self, before: np.ndarray, instances: Iterable[int]) -> np.ndarray:
        """Extend the loop by instances from a state; return the state after them."""
        for instance in instances:
            after = np.zeros_like(before)
            self._calls.apply(instance, before, after)
            if (after != before).any():
                self._taken.update(self._conditions.of_instance[instance])
            enabled = self._enabled(after)
            self._ever, self._always = self._ever | enabled, self._always & enabled
            before = after
        return before

    def _enabled(self, state: np.ndarray) -> frozenset[int]:
        """Return the conditions that are enabled in a state."""
        found: set[int] = set()
        after = np.zeros_like(state)
        for instance in bit_numbers(self._calls.guards(state)):
            members = self._conditions.of_instance[instance]
            if members and (self._calls.apply(instance, state, after) != 0 or (after != state).any()):
                found.update(members)
        return frozenset(found)
