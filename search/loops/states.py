"""The arrays behind a `Space`: how large they may become, and how the table grows.

Words: the *store* is reserved at once for as many states as the budget allows, and fills page by page. The *table* is
thrown away and filled again from the store when it grows, so that an old and a new one never exist together.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from search.loops.memory import reserve
from search.loops.table import REFILL, REGIONS, Space, add_keys, refill

FIRST_REGION = 1024
LOAD, FULL_LOAD = 0.7, 0.9
"""How full a region may be: usually, and when the budget allows no larger table."""
MARKS_PER_STATE = 1 / 64


Fill = Callable[[Space, int], None]


def fill_alone(space: Space, size: int) -> None:
    """Enter the `size` stored states into an empty table."""
    scratch = np.zeros(2 * REFILL, np.uint64)
    refill(space, scratch.ctypes.data, size, (0, REGIONS))


class States:
    """A set of packed states of `words` words that stays within `budget` bytes; `most` is how many it can hold.

    An entry has room for the numbers of so many states and `claims` more. `entry_bytes` are 4 where that suffices.
    """

    def __init__(
        self, words: int, budget: int, *, widest_step: int, claims: int = 0, entry_bytes: int | None = None
    ) -> None:
        self.words, self.claims = words, claims
        self.forced_bytes = entry_bytes
        self.most = max(1, int(budget / (8 * words + 8 * MARKS_PER_STATE + (entry_bytes or 4) / FULL_LOAD)))
        if self.most >= 1 << 32:
            self.most = int(budget / (8 * words + 8 * MARKS_PER_STATE + 8 / FULL_LOAD))
        self.least_region = max(FIRST_REGION, 4 * widest_step)
        self.last_region = max(self.least_region, int(self.most / FULL_LOAD / REGIONS))
        self.store = reserve(self.most * words)
        self.filled = np.zeros(REGIONS, np.int64)
        self.table = reserve(0)
        self.space = self._space(self.least_region)

    def _space(self, region: int) -> Space:
        region = min(region, self.last_region)
        limit = int(region * (FULL_LOAD if region == self.last_region else LOAD))
        bits = (min(self.most, limit * REGIONS) + self.claims + 1).bit_length()
        entry_bytes = self.forced_bytes or (4 if bits <= 32 else 8)
        del self.table
        self.table = reserve(region * REGIONS, np.uint32 if entry_bytes == 4 else np.uint64)
        self.filled[:] = 0
        return Space(
            words=self.words, store=self.store.ctypes.data, capacity=self.most, table=self.table.ctypes.data,
            entry_bytes=entry_bytes, region_size=region, region_limit=limit, index_bits=bits,
            filled=self.filled.ctypes.data,
        )  # fmt: skip

    def add(self, keys: np.ndarray, size: int) -> int:
        """Add packed states to the `size` that are there; how many there are then."""
        return int(add_keys(self.space, np.ascontiguousarray(keys).ctypes.data, len(keys), size))

    def has_room(self, count: int) -> bool:
        """Whether so many more states can be added for sure, as far as the table is concerned."""
        return int(self.filled.max()) + count <= self.space.region_limit

    def grow(self, size: int, fill: Fill | None = None) -> bool:
        """Make the table larger for the `size` states that are there; False if the budget is used up.

        `fill` enters them into the new table, by default in this thread.
        """
        if self.space.region_size == self.last_region or size + 1 >= self.most:
            return False
        self.space = self._space(2 * self.space.region_size)
        (fill or fill_alone)(self.space, size)
        return True

    def rows(self, indices: list[int]) -> np.ndarray:
        """The packed states of these numbers."""
        return self.store.reshape(-1, self.words)[indices]

    @property
    def table_bytes(self) -> int:
        """The size of the table."""
        return self.table.nbytes
