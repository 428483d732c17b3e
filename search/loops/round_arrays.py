"""The arrays of rounds, shared by all workers, and the arrays that each worker has for itself."""
from __future__ import annotations

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Counts, Room
from search.loops.frontier import CURSOR_SIZE
from search.loops.memory import reserve
from search.loops.rounds import CHUNK, SHARES, Round
from search.loops.shelves import leaves_of
from search.loops.table import REFILL, REGIONS

MOST_CHUNKS, LEAST_CHUNKS = 32, 4
MOST_ROOM = 1 << 32
"""Bytes of addresses (not of memory) that the successors of a round may have."""

_ADDRESSES = (
    "keys", "hashes", "slots", "positions", "share_ends", "ends", "regions", "fresh", "ticket",
)  # fmt: skip


class RoundArrays:
    """Room for the successors of a round of at most `states` states."""

    def __init__(self, kernel: Kernel, key_words: int) -> None:
        self.widest = CHUNK * kernel.instances
        self.chunks = max(LEAST_CHUNKS, min(MOST_CHUNKS, MOST_ROOM // (8 * key_words * self.widest)))
        self.states, self.most = self.chunks * CHUNK, self.chunks * self.widest
        self.fullest = 0
        """The most successors that a chunk had."""
        self.bytes_here = 8 * key_words + 8 + 8 + 4
        self.bytes_there = 8 * kernel.words + 8 * (1 + 2 * leaves_of(kernel.words)) + 2 + 8 + 8 * kernel.claim_words
        self.keys = reserve(self.most * key_words, dense=False)
        self.hashes = reserve(self.most, dense=False)
        self.slots = reserve(self.most, np.int64, dense=False)
        self.positions = reserve(self.most, np.uint32, dense=False)
        self.share_ends = np.zeros(self.chunks * SHARES, np.int64)
        self.ends = np.zeros(self.states, np.int64)
        self.regions = np.zeros(self.chunks * REGIONS, np.int64)
        self.fresh = np.zeros(self.chunks * SHARES, np.int64)
        self.ticket = np.zeros(1, np.int64)

    def taken(self, workers: int) -> int:
        """The bytes that rounds have filled so far, with those of so many workers."""
        last = int(self.share_ends.reshape(self.chunks, SHARES)[:, -1].max())
        self.fullest = max(self.fullest, last)
        return self.fullest * (self.chunks * self.bytes_here + workers * self.bytes_there)

    def round(self, first: int, count: int, size: int) -> Round:
        """A round of `count` states from `first` on, when `size` are stored."""
        addresses = {name: getattr(self, name).ctypes.data for name in _ADDRESSES}
        return Round(first=first, states=count, size=size, widest=self.widest, **addresses)


class Worker:
    """What a worker has for itself: counts, a cursor and bit rows; and a copy to go back to if a round is spoiled."""

    def __init__(self, kernel: Kernel, choice_words: int = 0) -> None:
        self.counts, self.room = Counts(kernel, 0), Room(kernel, CHUNK, choice_words)
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)
        self.scratch = np.zeros(2 * REFILL, np.uint64)
        self.keep()

    def keep(self) -> None:
        """Remember the counts as they are now."""
        self._kept = self.counts.block.copy(), self.cursor.copy()

    def restore(self) -> None:
        """Go back to the counts as they were."""
        self.counts.block[:], self.cursor[:] = self._kept
