"""The arrays behind a `KeySpace`: their limits, and how the table grows.

Words: the *store* reserves address space for as many keys as the budget allows, and fills page by page. The *table* is
freed and filled again from the store when it grows, so that an old and a new one never exist together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kwalk.search.native.memory import reserve, use_large_pages
from kwalk.search.visited.hash_table import REFILL_WORDS, REGIONS, add_keys, clear_table, refill_table
from kwalk.search.visited.keys import KeySpace
from kwalk.search.visited.table_lines import LINE_SLOTS, in_whole_lines

LEAST_REGION, FIRST_REGION = 1024, 4096
"""The slots of a region of the first table: at least, and where the table is so small a share of the budget:"""
FIRST_SHARE = 1 / 64
LOAD, FULL_LOAD = 0.85, 0.9
"""The load factor of a region: usually, and when the budget allows no larger table. A line has 16 entries of 4 bytes,
so that few lookups read a second one even then."""
GROWTH, FIRST_GROWTH, FIRST_REGIONS = 1.5, 4, 16384
"""How many times as large a larger table is: usually, and while a region has fewer slots than FIRST_REGIONS."""
STRIDE = 64
"""Breadth-first search keeps one mark for each block of STRIDE states (see `kwalk.search.exhaustive.layout`)."""
MARK_BYTES = 8 / STRIDE
"""Bytes of marks for each state."""
BEFORE, AFTER = 8, 64
"""Padding in bytes around the keys: short keys are read with the bytes before them, and some keys are read ahead."""

Fill = Callable[[KeySpace, int], None]


def fill_in_this_thread(space: KeySpace, size: int) -> None:
    """Insert the `size` stored keys into an empty table."""
    scratch = np.zeros(REFILL_WORDS, np.uint64)
    clear_table(space, 0, REGIONS)
    refill_table(space, scratch.ctypes.data, (0, size), 1)


class KeyStore:
    """A set of keys that stays within a budget.

    Args:
        words: Words of a key.
        budget: Bytes for keys, table and marks.
        widest_step: The number of keys that must fit at once: the largest number of successors of a state.
        stride: Bytes of a stored key; by default 8 for each word.
        widest: Bytes that a stored key may have later; by default the same.
        entry_bytes: Bytes of an entry, 4 or 8; by default 4 where that is enough.
    """

    def __init__(
        self,
        words: int,
        budget: int,
        *,
        widest_step: int,
        stride: int | None = None,
        widest: int = 0,
        entry_bytes: int | None = None,
    ) -> None:
        self.words, self.stride = words, stride or 8 * words
        self.forced_bytes = entry_bytes
        self.widest_step = widest_step
        self.least_region = max(LEAST_REGION, in_whole_lines(4 * widest_step) + LINE_SLOTS)
        self.budget, self.each = budget, 0.0
        self.most = self.reserved = self._most(self.stride)
        self.last_region = 0
        self.set_budget(budget)
        widest = max(widest, self.stride)
        room = BEFORE + max(self.most * self.stride, self._most(widest) * widest) + AFTER
        self.store = reserve(room, np.uint8, dense=False)  # a small one in small pages: the system writes all zeros
        self.filled = np.zeros(REGIONS, np.int64)
        self.table = reserve(0)
        is_small = budget * FIRST_SHARE >= 4 * REGIONS * FIRST_REGION
        self.space = self._space(max(self.least_region, FIRST_REGION if is_small else 0))

    def _most(self, stride: int) -> int:
        """Return how many keys of so many bytes fit into the budget."""
        per_key = stride + MARK_BYTES + self.each
        most = max(1, int(self.budget / (per_key + (self.forced_bytes or 4) / FULL_LOAD)))
        return most if most < 1 << 32 else int(self.budget / (per_key + 8 / FULL_LOAD))

    def set_budget(self, budget: int, each: float = 0) -> None:
        """Replace the budget; every key comes with `each` bytes of other data."""
        self.budget, self.each = budget, each
        self.most = min(self.reserved, self._most(self.stride))
        self.last_region = max(self.least_region, in_whole_lines(int(self.most / FULL_LOAD / REGIONS)))

    def _space(self, region: int) -> KeySpace:
        region = min(in_whole_lines(region), self.last_region)
        limit = int(region * (FULL_LOAD if region == self.last_region else LOAD))
        bits = (limit * REGIONS + 1).bit_length()
        entry_bytes = self.forced_bytes or (4 if bits <= 32 else 8)
        del self.table
        self.table = reserve(region * REGIONS, np.uint32 if entry_bytes == 4 else np.uint64)
        self.filled[:] = 0
        return KeySpace(
            words=self.words,
            stride=self.stride,
            store=self.store.ctypes.data + BEFORE,
            capacity=self.most,
            table=self.table.ctypes.data,
            entry_bytes=entry_bytes,
            region_size=region,
            region_limit=limit,
            index_bits=bits,
            filled=self.filled.ctypes.data,
        )

    def add(self, keys: np.ndarray, size: int) -> int:
        """Add keys, uint64[n, words], to the `size` that are stored; return how many are stored then."""
        return int(add_keys(self.space, np.ascontiguousarray(keys).ctypes.data, len(keys), size))

    def has_room(self, count: int) -> bool:
        """Whether `count` more keys fit into the table for sure."""
        return int(self.filled.max()) + count <= self.space.region_limit

    def grow(self, size: int, fill: Fill | None = None) -> bool:
        """Make room for more than the `size` stored keys; False if the budget is used up.

        `fill` inserts them into a larger table, by default in this thread.
        """
        if self.has_room(self.widest_step) and self.space.capacity + self.widest_step <= self.most:
            self.space = self.space._replace(capacity=self.most)
            return True
        if self.space.region_size >= self.last_region or size + 1 >= self.most:
            return False
        region = self.space.region_size
        use_large_pages(self.store)
        self.space = self._space(int((FIRST_GROWTH if region < FIRST_REGIONS else GROWTH) * region))
        (fill or fill_in_this_thread)(self.space, size)
        return True

    def limit(self) -> None:
        """Have room for as many keys as the budget allows now, if the table has."""
        self.space = self.space._replace(capacity=self.most)

    def widen(self, size: int, stride: int, rewrite: Callable[[KeySpace, KeySpace], None], fill: Fill | None) -> bool:
        """Have `stride` bytes for a key: `rewrite` the `size` stored ones, and fill the table again.

        Returns:
            False, and nothing is changed, if the budget is used up then.
        """
        most, before = self._most(stride), self.space
        last_region = max(self.least_region, in_whole_lines(int(most / FULL_LOAD / REGIONS)))
        if size + self.widest_step > most or min(before.region_size, last_region) * REGIONS * FULL_LOAD < 1.02 * size:
            return False
        self.set_stride(stride)
        rewrite(before, self.space._replace(stride=stride))
        self.space = self._space(before.region_size)
        (fill or fill_in_this_thread)(self.space, size)
        return True

    def set_stride(self, stride: int) -> None:
        """Have `stride` bytes for a key from now on."""
        self.stride = stride
        self.set_budget(self.budget, self.each)

    def rows(self, indices: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the keys with these indices, uint64[n, words]."""
        room = (len(self.store) - BEFORE) // self.stride
        stored = self.store[BEFORE : BEFORE + self.stride * room].reshape(room, self.stride)
        keys = np.zeros((len(indices), 8 * self.words), np.uint8)
        keys[:, : self.stride] = stored.take(np.asarray(indices, np.int64), axis=0)
        return keys.view(np.uint64)

    def stored_bytes(self, size: int) -> np.ndarray:
        """Return the bytes of the first `size` stored keys, uint8[size * stride]."""
        return self.store[BEFORE : BEFORE + self.stride * size]

    def resume(self, size: int) -> bool:
        """Fill the table for `size` keys that were read into the store; False if there is no room for more."""
        region = self.least_region
        while region * REGIONS * LOAD < 1.1 * size:
            region = int(GROWTH * region) + 1
        if min(region, self.last_region) * REGIONS * FULL_LOAD < 1.02 * size:
            return False
        self.space = self._space(region)
        fill_in_this_thread(self.space, size)
        return True

    def used_bytes(self, size: int) -> int:
        """Return the bytes that `size` keys, their marks and the table use."""
        return int(size * (self.stride + MARK_BYTES)) + self.table_bytes

    @property
    def full_bytes(self) -> int:
        """Return the bytes that are used when the table reaches its load factor."""
        return self.used_bytes(min(self.most, self.space.region_limit * REGIONS))

    @property
    def table_bytes(self) -> int:
        """The bytes of the table."""
        return self.table.nbytes
