"""The second half of a level, on an executor: which of the states that lead to a bucket are new, and writing them.

Words: a *candidate* is a state that some record names. The candidates of a bucket are in a table; all states that the
bucket has, level by level, are read past it and *strike* those that are known. What is left is new. So the memory that
a level takes is that of its own candidates, and the set of all states is only ever read in order.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from search.distributed.expanding import Level
from search.distributed.store import by_place
from search.loops import levels
from search.loops.memory import reserve
from search.loops.states import States

EACH = 9
"""Bytes of a candidate besides its key and its entry in the table: its link, and whether it is known."""


class TooMany(Exception):
    """The candidates of a bucket do not fit into the memory that they may take."""


class Candidates:
    """The candidates of one bucket; `admit` all records, then `save` what is new."""

    def __init__(self, level: Level, bucket: int) -> None:
        self.level, self.bucket, self.words = level, bucket, level.store.words
        self.states = States(self.words, level.memory, widest_step=levels.AHEAD)
        self.states.allow(level.memory, EACH)
        self.links = reserve(self.states.reserved)
        self.known = reserve(self.states.reserved, np.uint8)
        self.scratch = np.zeros(2 * levels.AHEAD, np.uint64)
        self.size = 0

    @property
    def _new(self) -> levels.New:
        return levels.New(self.links.ctypes.data, self.known.ctypes.data, self.scratch.ctypes.data)

    def admit(self, records: np.ndarray) -> None:
        """Take records, uint64, in; TooMany if there is no room."""
        span = np.array([0, len(records) // (self.words + 1), self.size], np.int64)
        while span[0] < span[1]:
            levels.admit(self.states.space, records.ctypes.data, span, self._new)
            if span[0] < span[1] and not self.states.grow(int(span[2])):
                raise TooMany
        self.size = int(span[2])

    def save(self) -> tuple[int, int]:
        """Write the states that are new as the bucket's part of the next level; how many, and the bytes they take."""
        self._strike_known()
        new = np.flatnonzero(self.known[: self.size] == 0)
        if not len(new):
            return 0, 0
        rows = self.states.kept(self.size).view(np.uint64).reshape(self.size, self.words)[new]
        order = by_place(rows)
        links = self.links[: self.size][new[order]]
        return len(new), self.level.store.write(self.level.depth + 1, self.bucket, rows[order], links)

    def _strike_known(self) -> None:
        for depth, sizes in enumerate(self.level.sizes):
            if sizes[self.bucket] and self.size:
                for rows in self.level.store.rows(depth, self.bucket):
                    levels.strike(self.states.space, rows.ctypes.data, len(rows), self._new)


def absorb(level: Level, bucket: int, packets: Iterable[np.ndarray]) -> tuple[int, int]:
    """Write the new states of a bucket; how many, and the bytes they take. TooMany if its candidates do not fit."""
    candidates = Candidates(level, bucket)
    for records in packets:
        candidates.admit(records)
    return candidates.save()
