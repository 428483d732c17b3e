"""The arrays of rounds, shared by all workers, and the arrays that each worker has for itself."""
from __future__ import annotations

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Counts, Room
from search.loops.frontier import CURSOR_SIZE, DONE, GOING
from search.loops.memory import reserve
from search.loops.rounds import BOARD_SIZE, CHUNK, FAULT, ORDER, Hand, Rounds
from search.loops.sharing import BARRIER_SIZE, LEFT, address_of_yield
from search.loops.table import REFILL, REGIONS

MOST_CHUNKS, LEAST_CHUNKS = 128, 8
MOST_ROOM = 1 << 32
"""Bytes of addresses (not of memory) that the newcomers of a round may have."""

_ADDRESSES = ("board", "barrier", "keys", "slots", "ends", "found", "ousted", "filled")


class RoundArrays:
    """Room for the newcomers of a round, whose keys have so many words."""

    def __init__(self, kernel: Kernel, key_words: int) -> None:
        self.widest, self.bytes_each = CHUNK * kernel.instances, 8 * key_words + 8
        self.chunks = max(LEAST_CHUNKS, min(MOST_CHUNKS, MOST_ROOM // (8 * key_words * self.widest)))
        self.most = self.chunks * self.widest
        self.fullest = 0
        """The most newcomers that a round had."""
        self.keys = reserve(self.most * key_words, dense=False)
        self.slots = reserve(self.most, np.int64, dense=False)
        self.ends = np.zeros(self.chunks * CHUNK, np.int64)
        self.found, self.ousted = np.zeros((2, self.chunks), np.int64)
        self.filled = np.zeros(REGIONS, np.int64)
        self.board, self.barrier = np.zeros(BOARD_SIZE, np.int64), np.zeros(BARRIER_SIZE, np.int64)
        self.give_way = address_of_yield()

    @property
    def taken(self) -> int:
        """The bytes that rounds have filled so far, nearly."""
        self.fullest = max(self.fullest, int(self.found.sum()))
        return self.fullest * self.bytes_each

    def rounds(self, workers: int, cursor: np.ndarray, marks: np.ndarray) -> Rounds:
        """What so many workers share, who move a cursor and write marks."""
        addresses = {name: getattr(self, name).ctypes.data for name in _ADDRESSES}
        return Rounds(
            workers=workers, give_way=self.give_way, most=self.chunks * CHUNK, widest=self.widest,
            cursor=cursor.ctypes.data, marks=marks.ctypes.data, **addresses,
        )  # fmt: skip

    def let_go(self) -> None:
        """Let those who wait for other workers wait no more; they do nothing until they are called again."""
        self.barrier[LEFT] = 1

    def make_ready(self) -> None:
        """Begin anew: nobody waits, and no round is under way."""
        self.barrier[:] = 0
        self.board[ORDER], self.board[FAULT] = DONE, GOING


class Worker:
    """What a worker has for itself: counts, a cursor and bit rows; and a copy to go back to if a round is undone."""

    def __init__(self, number: int, kernel: Kernel, choice_words: int = 0) -> None:
        self.counts, self.room = Counts(kernel, 0, more=CURSOR_SIZE), Room(kernel, choice_words=choice_words)
        self.cursor = self.counts.more
        self.claims, self.scratch = np.zeros(REGIONS, np.int64), np.zeros(2 * REFILL, np.uint64)
        self.kept = self.counts.block.copy()
        self.hand = Hand(
            number=number, claims=self.claims.ctypes.data, counts=self.counts.block.ctypes.data,
            words=len(self.kept), kept=self.kept.ctypes.data,
        )  # fmt: skip

    def restore(self) -> None:
        """Go back to the counts from before the round."""
        self.counts.block[:] = self.kept
        self.claims[:] = 0
