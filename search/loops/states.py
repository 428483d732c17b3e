"""The arrays behind a `Space`: how large they may become, and how the table grows.

Words: the *store* is reserved at once for as many keys as the budget allows, and fills page by page. The *table* is
thrown away and filled again from the store when it grows, so that an old and a new one never exist together.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from search.loops.frontier import STRIDE
from search.loops.keys import Space
from search.loops.memory import reserve
from search.loops.table import REFILL_WORDS, REGIONS, add_keys, clear, refill

FIRST_REGION = 1024
LOAD, FULL_LOAD = 0.75, 0.9
"""How full a region may be: usually, and when the budget allows no larger table."""
GROWTH = 1.5
MARK_BYTES = 8 / STRIDE
"""Bytes per state of the marks that the search keeps."""
BEFORE, AFTER = 8, 64
"""Bytes around the keys: keys shorter than a word are read with what is before them, and some ahead of their time."""

Fill = Callable[[Space, int], None]


def fill_alone(space: Space, size: int) -> None:
    """Enter the `size` stored keys into an empty table."""
    scratch = np.zeros(REFILL_WORDS, np.uint64)
    clear(space, 0, REGIONS)
    refill(space, scratch.ctypes.data, (0, size), 1)


class States:
    """A set of keys of `words` words that stays within `budget` bytes; `most` is how many it can hold.

    A stored key takes `stride` bytes, by default 8 for each word; `entry_bytes` are 4 where that suffices.
    """

    def __init__(
        self, words: int, budget: int, *, widest_step: int, stride: int | None = None, entry_bytes: int | None = None,
    ) -> None:  # fmt: skip
        self.words, self.stride = words, stride or 8 * words
        self.forced_bytes = entry_bytes
        self.widest, self.least_region = widest_step, max(FIRST_REGION, 4 * widest_step)
        self.most = self.reserved = self._most(budget, 0)
        self.last_region = 0
        self.allow(budget)
        self.store = reserve(BEFORE + self.most * self.stride + AFTER, np.uint8)
        self.filled = np.zeros(REGIONS, np.int64)
        self.table = reserve(0)
        self.space = self._space(self.least_region)

    def _most(self, budget: int, each: float) -> int:
        """How many keys fit into a budget, if there are `each` other bytes for every one."""
        per_key = self.stride + MARK_BYTES + each
        most = max(1, int(budget / (per_key + (self.forced_bytes or 4) / FULL_LOAD)))
        return most if most < 1 << 32 else int(budget / (per_key + 8 / FULL_LOAD))

    def allow(self, budget: int, each: float = 0) -> None:
        """Let the keys have another budget from now on, in which every key brings `each` bytes of something else."""
        self.most = min(self.reserved, self._most(budget, each))
        self.last_region = max(self.least_region, int(self.most / FULL_LOAD / REGIONS))

    def _space(self, region: int) -> Space:
        region = min(region, self.last_region)
        limit = int(region * (FULL_LOAD if region == self.last_region else LOAD))
        bits = (limit * REGIONS + 1).bit_length()
        entry_bytes = self.forced_bytes or (4 if bits <= 32 else 8)
        del self.table
        self.table = reserve(region * REGIONS, np.uint32 if entry_bytes == 4 else np.uint64)
        self.filled[:] = 0
        return Space(
            words=self.words, stride=self.stride, store=self.store.ctypes.data + BEFORE, capacity=self.most,
            table=self.table.ctypes.data, entry_bytes=entry_bytes, region_size=region, region_limit=limit,
            index_bits=bits, filled=self.filled.ctypes.data,
        )  # fmt: skip

    def add(self, keys: np.ndarray, size: int) -> int:
        """Add keys to the `size` that are there; how many there are then."""
        return int(add_keys(self.space, np.ascontiguousarray(keys).ctypes.data, len(keys), size))

    def has_room(self, count: int) -> bool:
        """Whether so many more keys can be added for sure, as far as the table is concerned."""
        return int(self.filled.max()) + count <= self.space.region_limit

    def grow(self, size: int, fill: Fill | None = None) -> bool:
        """Make room for more than the `size` keys that are there; False if the budget is used up.

        `fill` enters them into a larger table, by default in this thread.
        """
        if self.has_room(self.widest) and self.space.capacity + self.widest <= self.most:
            self.space = self.space._replace(capacity=self.most)
            return True
        if self.space.region_size >= self.last_region or size + 1 >= self.most:
            return False
        self.space = self._space(int(GROWTH * self.space.region_size))
        (fill or fill_alone)(self.space, size)
        return True

    def rows(self, indices: list[int]) -> np.ndarray:
        """The keys of these numbers, uint64[n, words]."""
        places = BEFORE + self.stride * np.array(indices, np.int64)[:, None] + np.arange(self.stride)
        keys = np.zeros((len(indices), 8 * self.words), np.uint8)
        keys[:, : self.stride] = self.store[places]
        return keys.view(np.uint64)

    def kept(self, size: int) -> np.ndarray:
        """The bytes of the first `size` keys in the store."""
        return self.store[BEFORE : BEFORE + self.stride * size]

    def resume(self, size: int) -> bool:
        """Fill the table for `size` keys that somebody has written to the store; False if there is no room for more."""
        region = self.least_region
        while region * REGIONS * LOAD < 1.1 * size:
            region = int(GROWTH * region) + 1
        if min(region, self.last_region) * REGIONS * FULL_LOAD < 1.02 * size:
            return False
        self.space = self._space(region)
        fill_alone(self.space, size)
        return True

    def taken(self, size: int) -> int:
        """The bytes that `size` keys with their marks and the table fill."""
        return int(size * (self.stride + MARK_BYTES)) + self.table_bytes

    @property
    def promised(self) -> int:
        """The bytes that will be filled when the table is as full as it may be."""
        return self.taken(min(self.most, self.space.region_limit * REGIONS))

    @property
    def table_bytes(self) -> int:
        """The size of the table."""
        return self.table.nbytes
