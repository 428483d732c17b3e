"""The tables of sleep sets: one for the present depth, one for the next. Words: see `sleeping`."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from search.loops.memory import reserve
from search.loops.stubborn.sleeping import BOARD_SIZE, COUNT, LIMIT

SPARE = 3
"""Entries of the next depth's table for each state of the present depth."""
LEAST = 1 << 14
"""Entries of a table, at least."""
LOAD = 0.75
"""How full a table may be. It is the number of states that counts, so any number of workers finds the same void."""


class SleepSets:
    """Both tables, for rows of so many words. In initial states nobody is asleep."""

    def __init__(self, row_words: int) -> None:
        self.entry_words = 1 + row_words
        self.board = np.zeros(BOARD_SIZE, np.int64)
        self.first = -1
        """The number of the first state of the present depth; -1 before any."""
        self.without = 0
        """How many depths were without sleep sets, as there was no room for them."""
        self._take(self._table(1), self._table(1))

    def begin_depth(self, first: int, states: int, room: int) -> None:
        """Make ready for a depth of so many states, of which the first has this number; once only, and not for none.

        If the table of the next depth would fill more bytes than there is room, nobody is asleep at that depth.
        """
        if first == self.first or states == 0:
            return
        self.first = first
        is_void = self.board[COUNT] > self.board[LIMIT]
        now, entries = self._table(1) if is_void else self.next, max(LEAST, SPARE * states)
        if 8 * entries * self.entry_words <= room:
            self._take(now, self._table(entries))
        else:
            self.without += 1
            self._take(now, self._table(1), count=1)  # one is too many for it: nothing is written

    def _table(self, entries: int) -> np.ndarray:
        return reserve(entries * self.entry_words)

    def _take(self, now: np.ndarray, after: np.ndarray, count: int = 0) -> None:
        """Use two tables, of which the second has so many entries in use."""
        self.now, self.next = now, after
        sizes = [len(table) // self.entry_words for table in (now, after)]
        limit = int(LOAD * sizes[1])
        self.board[:] = now.ctypes.data, sizes[0], after.ctypes.data, sizes[1], count, limit

    @property
    def taken(self) -> int:
        """The bytes that both tables fill."""
        return self.now.nbytes + self.next.nbytes

    def kept(self) -> tuple[dict[str, np.ndarray], list[int]]:
        """The bytes of the tables by name, and the numbers that `resume` needs besides."""
        tables = {"sleep-now": self.now.view(np.uint8), "sleep-next": self.next.view(np.uint8)}
        return tables, [self.first, len(self.now), len(self.next), int(self.board[COUNT]), self.without]

    def resume(self, numbers: list[int], read: Callable[[str, np.ndarray], None]) -> None:
        """Go on from what was kept: let `read` write the bytes of the tables, by name."""
        self.first, now, after, count, self.without = numbers
        self._take(reserve(now), reserve(after), count)
        for name, target in self.kept()[0].items():
            read(name, target)
