"""The arrays of rounds, shared by all workers, and the arrays that each worker has for itself."""
from __future__ import annotations

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Counts, Room, apart
from search.loops.frontier import CURSOR_SIZE, DONE, GOING, STRIDE
from search.loops.rounds import BOARD_SIZE, FAULT, LAID_BY, ORDER, PLACE_WORDS, Hand, Rounds
from search.loops.sharing import BARRIER_SIZE, LEFT, address_of_yield
from search.loops.table import REFILL_WORDS


class RoundArrays:
    """What workers share."""

    def __init__(self) -> None:
        self.board, self.barrier = apart(BOARD_SIZE, np.int64), apart(BARRIER_SIZE, np.int64)
        self.give_way = address_of_yield()

    def rounds(self, workers: int, cursor: np.ndarray, marks: np.ndarray) -> Rounds:
        """What so many workers share, who move a cursor and write marks."""
        return Rounds(
            workers=workers, give_way=self.give_way, cursor=cursor.ctypes.data, marks=marks.ctypes.data,
            board=self.board.ctypes.data, barrier=self.barrier.ctypes.data,
        )  # fmt: skip

    def let_go(self) -> None:
        """Let those who wait for other workers wait no more; they do nothing until they are called again."""
        self.barrier[LEFT] = 1

    def make_ready(self) -> None:
        """Begin anew: nobody waits, and no round is under way."""
        self.barrier[:] = 0
        self.board[ORDER], self.board[FAULT] = DONE, GOING


class Worker:
    """What a worker has for itself: counts, a cursor and bit rows, and its blocks that are laid by."""

    def __init__(self, number: int, kernel: Kernel, choice_words: int = 0) -> None:
        self.counts = Counts(kernel, 0, more=CURSOR_SIZE)
        self.room = Room(kernel, LAID_BY * STRIDE, choice_words)
        self.cursor, self.scratch = self.counts.more, apart(REFILL_WORDS)
        words = len(self.counts.block) - len(self.counts.idle)  # idle steps are counted in a block's turn, once for all
        self.kept, self.places = apart(LAID_BY * words, np.int64), apart(LAID_BY * PLACE_WORDS, np.int64)
        self.hand = Hand(
            number=number, counts=self.counts.block.ctypes.data, words=words, kept=self.kept.ctypes.data,
            places=self.places.ctypes.data,
        )  # fmt: skip
