"""The arrays that the breadth-first loops write, and their addresses: whoever owns these objects keeps them alive."""
from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from search.kernel import Kernel, bit_row
from search.loops.frontier import BATCH, STRIDE, Batch, Machine, Tally
from search.loops.memory import reserve
from search.loops.shelves import leaves_of
from search.loops.stubborn import NOTHING, Stubborn
from search.loops.tally import PLANES, totals

LINE = 64
"""Bytes of a cache line, or more. Two cores that write to one line wait for each other, whatever they write there."""

_FIRST = ("first_state", "first_instance")


def apart(count: int, dtype: Any = np.uint64) -> np.ndarray:
    """An array of so many zeros that shares no cache line with anything else."""
    margin = LINE // np.dtype(dtype).itemsize
    return np.zeros(count + 2 * margin, dtype)[margin : margin + count]


class Counts:
    """What a search counts: the arrays of a `Tally`, in one block with `more` int64 for whatever else is counted.

    There are `marks` for at most `most` states.
    """

    def __init__(self, kernel: Kernel, most: int, *, more: int = 0) -> None:
        rows, claims = 64 * kernel.instance_words, 64 * kernel.claim_words
        sizes = {
            "enabled": kernel.instance_words * PLANES, "premises": kernel.claim_words * PLANES, "blocked": rows,
            "hits": max(1, len(kernel.bounds)), "seen": claims, "first_state": claims, "first_instance": claims,
            "more": more, "idle": rows,
        }  # fmt: skip
        self.block = apart(sum(sizes.values()), np.int64)
        self._parts = dict(zip(sizes, np.split(self.block, np.cumsum(list(sizes.values()))[:-1]), strict=True))
        self.marks = reserve(most // STRIDE + 2, np.int64)
        self._enabled_before = np.zeros(rows, np.int64)
        self._premises_before = np.zeros(claims, np.int64)

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["_parts"][name]
        except KeyError:
            raise AttributeError(name) from None

    @cached_property
    def tally(self) -> Tally:
        """The addresses of the arrays."""
        return Tally(**{name: getattr(self, name).ctypes.data for name in Tally._fields})

    @property
    def enabled_totals(self) -> np.ndarray:
        """How often each instance was enabled."""
        return self._enabled_before + totals(self.enabled)

    @property
    def premise_totals(self) -> np.ndarray:
        """How often each claim's premise held."""
        return self._premises_before + totals(self.premises)

    def saved(self) -> dict[str, list[int]]:
        """All counts by name, for `restore`."""
        both = {"enabled": self.enabled_totals, "premises": self.premise_totals}
        both |= {name: getattr(self, name) for name in ("blocked", "idle", "hits", "seen", *_FIRST)}
        return {name: numbers.tolist() for name, numbers in both.items()}

    def restore(self, saved: dict[str, list[int]]) -> None:
        """Go on from counts that were saved; nothing has been counted here yet."""
        self._enabled_before[:], self._premises_before[:] = saved["enabled"], saved["premises"]
        for name in ("blocked", "idle", "hits", "seen", *_FIRST):
            getattr(self, name)[:] = saved[name]

    def include(self, other: Counts) -> None:
        """Add what another worker counted; of what was first, the state with the lower number counts."""
        self._enabled_before += other.enabled_totals
        self._premises_before += other.premise_totals
        earlier = (other.first_state > 0) & ((self.first_state == 0) | (other.first_state < self.first_state))
        for name in _FIRST:
            getattr(self, name)[earlier] = getattr(other, name)[earlier]
        for name in ("blocked", "idle", "hits", "seen"):
            getattr(self, name)[:] += getattr(other, name)


class Room:
    """Room for the work on a batch of states: the arrays of a `Batch`."""

    def __init__(self, kernel: Kernel, states: int = BATCH, choice_words: int = 0) -> None:
        widest = states * kernel.instances
        leaves = leaves_of(kernel.words)
        self.state = apart(2 * kernel.words)
        self.rows = reserve(widest * kernel.words)
        self.roots, self.leaves = reserve(widest), reserve(2 * widest * leaves)
        self.numbers, self.in_work = reserve(states * 2 * leaves), apart(2 * leaves)
        self.instances = reserve(widest, np.uint16)
        self.hashes, self.slots = reserve(widest), reserve(widest, np.int64)
        self.ends = apart(states, np.int64)
        self.enabled = apart(states * kernel.instance_words)
        self.false = apart(kernel.claim_words)
        self.premises = apart(states * kernel.claim_words)
        self.step_premises = reserve(widest * kernel.claim_words)
        self.choice = apart(max(1, choice_words))

    @cached_property
    def batch(self) -> Batch:
        """The addresses of the arrays."""
        return Batch(**{name: getattr(self, name).ctypes.data for name in Batch._fields})


class Rows:
    """The bit rows that a `Machine` points to: system instances, and the claims asked for, by kind."""

    def __init__(self, kernel: Kernel, asked: Iterable[int]) -> None:
        row = bit_row(asked, kernel.claim_words)
        self.system_row = _padded(kernel.system_row, kernel.instance_words)
        self.step_row = row & _padded(kernel.step_row, kernel.claim_words)
        self.state_row = row & ~self.step_row
        self.reachable_row = _padded(kernel.reachable_row, kernel.claim_words)

    def machine(self, kernel: Kernel, *, stop: bool, deadlock: bool, stubborn: Stubborn = NOTHING) -> Machine:
        """The kernel as the loops see it."""
        return Machine(
            words=kernel.words, row_words=kernel.instance_words, claim_words=kernel.claim_words,
            instances=kernel.instances, expand=kernel.expand, check=kernel.check, check_step=kernel.check_step,
            system_row=self.system_row.ctypes.data, state_row=self.state_row.ctypes.data,
            step_row=self.step_row.ctypes.data, reachable_row=self.reachable_row.ctypes.data,
            checks_states=int(self.state_row.any()), checks_steps=int(self.step_row.any()),
            stop=int(stop), deadlock=int(deadlock), stubborn=stubborn,
        )  # fmt: skip


def _padded(row: np.ndarray, words: int) -> np.ndarray:
    """A row of that many words, also where a kernel without claims gives an empty one."""
    padded = np.zeros(words, np.uint64)
    padded[: len(row)] = row
    return padded
