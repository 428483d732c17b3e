"""The arrays behind a `Tree`: the shelves of the parts, and how their tables grow. Words: see `tree`."""
from __future__ import annotations

import numpy as np

from search.loops.memory import reserve
from search.loops.tree import (
    BUSY,
    COUNT,
    FIRST,
    LIMIT,
    NUMBER_BITS,
    SHELF_SIZE,
    SLOTS,
    TABLE,
    VALUES,
    WORDS,
    Tree,
    fold_rows,
    refill_shelf,
    unfold_roots,
)

LEAST_WORDS = 3
"""Words of the shortest states that are folded."""
MOST_LEAF_WORDS = 5
"""Longer leaves are cut: with few, long ones a search is faster, with many, short ones it needs less memory."""
FIRST_SLOTS = 1 << 11
LOAD, FULL_LOAD = 0.75, 0.9
"""How full a table may be: usually, and when the budget allows no larger one."""
GROWTH = 2
WORKERS = 1 << 12
"""So many workers may come at once when there is room for one more value."""
MOST_VALUES = int(BUSY) - 1 - WORKERS
"""A number and 1 must stay below BUSY."""
SLOT_BYTES = 4

NO_TREE = Tree(words=0, leaves=0, shelves=0)


def leaves_of(words: int) -> int:
    """How many leaves a state of so many words has: none, or a power of two."""
    if words < LEAST_WORDS:
        return 0
    leaves = 2
    while words > MOST_LEAF_WORDS * leaves:
        leaves *= 2
    return leaves


class Shelf:
    """The values of one part: words `first` to `last` of a state, or a word of the part's own; it has a row of int64.

    `most` is how many there may be, and `widest` how many of them must fit in at once.
    """

    def __init__(self, row: np.ndarray, words: int, budget: int, *, widest: int, most: int) -> None:
        self.row, self.words, self.widest = row, words, widest
        self.most = min(most, MOST_VALUES)
        self.values = reserve(words * (min(self.most, int(budget / (8 * words + SLOT_BYTES / FULL_LOAD))) + WORKERS))
        row[WORDS], row[VALUES] = words, self.values.ctypes.data
        self.table = reserve(0, np.uint32)
        self._make_table(max(FIRST_SLOTS, int(2 * widest / LOAD)), LOAD)

    def _make_table(self, slots: int, load: float) -> None:
        row, limit = self.row, min(int(slots * load), self.most)
        del self.table
        self.table = reserve(slots, np.uint32)
        row[TABLE], row[SLOTS], row[LIMIT] = self.table.ctypes.data, slots, limit
        row[NUMBER_BITS] = (limit + WORKERS + 1).bit_length()
        refill_shelf(row.ctypes.data)

    @property
    def size(self) -> int:
        """How many values there are."""
        return int(self.row[COUNT])

    @property
    def has_room(self) -> bool:
        """Whether `widest` more values would fit."""
        return self.size + self.widest <= int(self.row[LIMIT])

    @property
    def needed(self) -> float:
        """The bytes that the values take with their table, which is at least what a full one would be."""
        return max(self.taken, self.size * (8 * self.words + SLOT_BYTES / FULL_LOAD))

    @property
    def taken(self) -> int:
        """The bytes that values and table fill by now."""
        return 8 * self.words * self.size + self.table.nbytes

    @property
    def promised(self) -> int:
        """The bytes that will be filled when the table is as full as it may be."""
        return 8 * self.words * int(self.row[LIMIT]) + self.table.nbytes

    def kept(self, count: int) -> np.ndarray:
        """The bytes of the first `count` values."""
        return self.values[: self.words * count].view(np.uint8)

    def resume(self, count: int) -> None:
        """Fill the table for `count` values that somebody has written to `kept`."""
        self.row[COUNT] = count
        self._make_table(max(int(self.row[SLOTS]), int(1.2 * (count + self.widest) / LOAD)), LOAD)

    def has_space(self, count: int) -> bool:
        """Whether so many values and `widest` more can be kept at all."""
        return self.words * (count + self.widest) <= len(self.values)

    @property
    def is_spent(self) -> bool:
        """Whether there are hardly any numbers left: more memory would not help."""
        return self.size + self.widest > self.most

    def grow(self, more: int) -> bool:
        """Make the table larger, with at most so many bytes more in all; False if that is no gain."""
        before = int(self.row[LIMIT])
        slots, load = int(GROWTH * int(self.row[SLOTS])), LOAD
        largest = int((self.promised + more) / (8 * self.words * FULL_LOAD + SLOT_BYTES))
        if largest < slots:
            slots, load = largest, FULL_LOAD
        if min(int(slots * load), self.most) <= 1.02 * before:
            return False
        self._make_table(slots, load)
        return True


class Shelves:
    """The shelves of states of `words` words, with at most `most` values each. `widest_step` states must fit in."""

    def __init__(self, words: int, budget: int, *, widest_step: int, most: int = MOST_VALUES) -> None:
        self.words, self.leaves = words, leaves_of(words)
        parts = 2 * self.leaves - 2
        self.rows = np.zeros((parts, SHELF_SIZE), np.int64)
        cuts = [words * leaf // self.leaves for leaf in range(self.leaves + 1)]
        self.rows[: self.leaves, FIRST] = cuts[:-1]
        lengths = [*np.diff(cuts).tolist(), *[1] * (parts - self.leaves)]
        self.shelves = [
            Shelf(row, length, budget, widest=widest_step, most=most)
            for row, length in zip(self.rows, lengths, strict=True)
        ]
        self.tree = Tree(words=words, leaves=self.leaves, shelves=self.rows.ctypes.data)

    @property
    def has_room(self) -> bool:
        """Whether the successors of any state would fit in."""
        return all(shelf.has_room for shelf in self.shelves)

    @property
    def needed(self) -> float:
        """The bytes that all values take with their tables."""
        return sum(shelf.needed for shelf in self.shelves)

    @property
    def taken(self) -> int:
        """The bytes that all values and tables fill by now."""
        return sum(shelf.taken for shelf in self.shelves)

    @property
    def promised(self) -> int:
        """The bytes that will be filled when all tables are as full as they may be."""
        return sum(shelf.promised for shelf in self.shelves)

    def grow(self, budget: int) -> bool:
        """Make those larger that lack room, as far as a budget of bytes allows; False if that is no gain."""
        return all(shelf.grow(budget - self.promised) for shelf in self.shelves if not shelf.has_room)

    def folded(self, rows: np.ndarray, roots: np.ndarray) -> int:
        """Write the roots of packed states; how many, which is fewer than there are if room is lacking."""
        hand = np.zeros(self.words + 6 * self.leaves, np.uint64)
        return int(fold_rows(self.tree, rows.ctypes.data, len(rows), (roots.ctypes.data, hand.ctypes.data)))

    def unfolded(self, roots: np.ndarray) -> np.ndarray:
        """The packed states of these roots, uint64[n, words]."""
        rows, roots = np.zeros((len(roots), self.words), np.uint64), np.ascontiguousarray(roots)
        hand = np.zeros(2 * self.leaves, np.uint64)
        unfold_roots(self.tree, roots.ctypes.data, len(roots), (rows.ctypes.data, hand.ctypes.data))
        return rows
