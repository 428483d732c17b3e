"""From a beginning that leads astray to a lasso: a shortest way to where the wait can stay, then a short loop there."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen

from search.confirm import applied, enabled_row
from search.liveness.region import WaitingStates
from search.loops.lasso import (
    ERRAND_SIZE,
    FOUND,
    GOAL,
    HOME,
    LENGTH,
    START,
    TO_A_FAIR_ONE,
    TO_A_NEED,
    TO_HOME,
    TO_REST,
    find_way,
)


@frozen
class Lasso:
    """The instances of a behaviour that never ends, from the state where the wait begins: once, then for ever."""

    once: tuple[int, ...]
    loop: tuple[int, ...]


class LassoSearch:
    """The search for a lasso among waiting states whose components are known."""

    def __init__(self, waiting: WaitingStates) -> None:
        self.waiting, self.kernel = waiting, waiting.exploration.kernel
        self.region, self.stacks, self.way = waiting.region, waiting.stacks, waiting.forget_visits()
        self.needs = np.zeros(self.kernel.instance_words, np.uint64)
        self._system = self.kernel.system_row[: len(self.needs)]

    def lasso_from(self, index: int) -> Lasso:
        """A lasso that begins in a stored state: one that comes to rest, unless one that goes round is shorter.

        Either way its loop is reached by a shortest way; the loop is only short.
        """
        start = self.waiting.number_of(index)
        round_trip = self._going_round(start)
        self.needs[:] = self._system
        rest, _ = self._way(start, TO_REST) or (None, 0)
        if rest is not None and len(rest) <= len(round_trip.once) + len(round_trip.loop):
            return Lasso(tuple(rest), ())
        return round_trip

    def _going_round(self, start: int) -> Lasso:
        """To the nearest state of a fair component; there from need to nearest need, and home when none is left."""
        once, home = self._certain_way(start, TO_A_FAIR_ONE)
        loop: list[int] = []
        here = home
        self.needs[:] = self._system & self._guards(home)
        while self.needs.any():
            steps, there = self._certain_way(here, TO_A_NEED)
            self._strike(here, steps)
            loop += steps
            here = there
        return Lasso(tuple(once), (*loop, *(self._certain_way(here, TO_HOME, home)[0] if here != home else ())))

    def _certain_way(self, start: int, goal: int, home: int = 0) -> tuple[list[int], int]:
        way = self._way(start, goal, home)
        if way is None:
            raise AssertionError(f"A component is said to be fair, and has no loop that is (goal {goal}).")
        return way

    def _way(self, start: int, goal: int, home: int = 0) -> tuple[list[int], int] | None:
        """The instances of a shortest way, and the number of the waiting state where it ends; None if there is none."""
        errand = np.zeros(ERRAND_SIZE, np.int64)
        errand[[START, GOAL, HOME]] = start, goal, home
        find_way(self.region, self.stacks, errand, self.needs.ctypes.data)
        length = int(errand[LENGTH])
        if length < 0:
            return None
        return self.way[:length][::-1].tolist(), int(errand[FOUND])

    def _packed(self, state: int) -> np.ndarray:
        return self.waiting.exploration.states.rows([int(self.waiting.numbers[state])])[0].copy()

    def _guards(self, state: int) -> np.ndarray:
        return enabled_row(self.kernel, self._packed(state))

    def _strike(self, start: int, steps: list[int]) -> None:
        """Strike out the needs that are met on a way: taken, or disabled in a state of it."""
        for instance, state in zip(steps, self._along(start, steps), strict=True):
            self.needs[instance // 64] &= np.uint64(~(1 << (instance % 64)) & (1 << 64) - 1)
            self.needs &= enabled_row(self.kernel, state)

    def _along(self, start: int, steps: list[int]) -> Iterator[np.ndarray]:
        before = self._packed(start)
        for instance in steps:
            after = np.zeros_like(before)
            applied(self.kernel, instance, before, after)
            yield after
            before = after
