"""Where each action instance fired for the first time: the comparison with plain Python visits these states.

Counts are read after each slice of a search, so that the first state from which an instance led to another one is
known to be in a range of states. A loop finds it there by calling the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kwalk.search.exhaustive.expansion import load_state
from kwalk.search.exhaustive.layout import SearchLayout
from kwalk.search.native.intrinsics import ONE, ZERO, call, call_void, integer, peek
from kwalk.search.native.loops import Int64Array, loop
from kwalk.search.visited.hash_table import ABSENT

MOST = 1 << 20
"""States of a range that are looked at, at most: about a tenth of a second."""
SHORT = 1 << 12
"""States of a range that is looked at in less than a millisecond, whether or not there is time."""


@loop
def find_firing(search: SearchLayout, query: Int64Array) -> int:
    """Return the first of states query[0] … query[1] - 1 from which instance query[2] leads to a state, or ABSENT.

    query[3] and query[4] are the addresses of the kernel's `guards` and `apply`.
    """
    batch, instance = search.batch, query[2]
    for index in range(query[0], query[1]):
        state = load_state(search, index, 0)
        call_void(query[3], (state, batch.enabled))
        is_enabled = peek(batch.enabled, instance // 64) & (ONE << np.uint64(instance % 64)) != ZERO
        if is_enabled and integer(call(query[4], (instance, state, batch.rows))) == 0:
            return index
    return ABSENT


class FirstFirings:
    """The ranges of states in which instances fired first, for a model with so many instances."""

    def __init__(self, instances: int) -> None:
        self._fired = np.zeros(instances, bool)
        self._ranges: list[tuple[int, int, np.ndarray]] = []

    def note(self, taken: np.ndarray, begin: int, end: int) -> None:
        """Note the instances that have fired since the last time.

        Args:
            taken: int64[instances or more], how often each instance was taken so far.
            begin: The number of states that were expanded the last time.
            end: That of now.
        """
        fired = taken[: len(self._fired)] > 0
        if (fired != self._fired).any():
            self._ranges.append((begin, end, np.flatnonzero(fired & ~self._fired)))
            self._fired = fired

    @property
    def instances(self) -> Iterator[tuple[int, range]]:
        """Yield each instance that has fired, those that were the last to do so first, with its range of states."""
        for begin, end, numbers in reversed(self._ranges):
            for number in numbers.tolist():
                yield number, range(begin, end)


def first_firing(search: SearchLayout, states: range, instance: int, functions: tuple[int, int]) -> int | None:
    """Return the first state of a range from which an instance leads to a state.

    Args:
        search: The argument of the loops.
        states: The range.
        instance: The number of the instance.
        functions: The addresses of the kernel's `guards` and `apply`.

    Returns:
        The number of the state; None if there is none among the first MOST of the range.
    """
    end = min(states.stop, states.start + MOST)
    found = find_firing(search, np.array([states.start, end, instance, *functions], np.int64))
    return None if found == ABSENT else int(found)
