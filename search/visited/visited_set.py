"""The set of visited states within a memory budget: how states become keys, and where both are stored.

Words: states of one or two words are keys themselves, in as few bytes as their bits need. Longer ones are compressed
(see `tree_compression`); their keys are roots of one word. The *budget* covers keys, tables, parts and marks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kwalk.model.language import UsageError
from kwalk.search.visited.key_store import LEAST_REGION, Fill, KeyStore
from kwalk.search.visited.keys import KeySpace
from kwalk.search.visited.tree_compression import (
    LEAST_WORDS,
    NO_TREE,
    WIDE_ROOT_BITS,
    Tree,
    TreeTables,
    widen_roots,
)

TIGHT = 1.5
"""Leaves are split when the budget allows fewer states than so many times as many as there are."""
AGAIN = 1.1
"""If that saved too little, it is tried again when there are so many times as many states."""
LEAST_GAIN = 1.02
"""The search ends when the budget allows fewer states than that."""


def key_words(words: int) -> int:
    """Return the words of the key of a state of `words` words."""
    return 1 if words >= LEAST_WORDS else words


class VisitedSet:
    """A set of packed states of `words` words and `bits` bits that stays within `budget` bytes; see `KeyStore`."""

    def __init__(self, words: int, bits: int, budget: int, *, widest_step: int) -> None:
        self.words, self.budget, self._split_at = words, budget, 0
        self.tree_tables = TreeTables(words, budget, widest_step=widest_step) if words >= LEAST_WORDS else None
        stride, left, widest = max(1, 8 * (words - 1) + 1, -(-bits // 8)), budget, 0
        if self.tree_tables is not None:
            stride, left, widest = self.tree_tables.root_bytes, budget - self.tree_tables.full_bytes, 8
        self.states = KeyStore(key_words(words), max(0, left), widest_step=widest_step, stride=stride, widest=widest)

    @property
    def space(self) -> KeySpace:
        """The keys, as the loops see them."""
        return self.states.space

    @property
    def tree(self) -> Tree:
        """The compression of states to keys, as the loops see it."""
        return NO_TREE if self.tree_tables is None else self.tree_tables.tree

    @property
    def most(self) -> int:
        """The largest number of states."""
        return self.states.most

    def add(self, rows: np.ndarray, size: int) -> int | None:
        """Add packed states, uint64[n, words], to the `size` stored ones; return the new size, None without room."""
        for first in range(0, len(rows), LEAST_REGION // 2):
            keys = self._keys(np.ascontiguousarray(rows[first : first + LEAST_REGION // 2]), size)
            if keys is None:
                return None
            while not self.states.has_room(len(keys)):
                if not self.states.grow(size):
                    return None
            size = self.states.add(keys, size)
        return size

    def _keys(self, rows: np.ndarray, size: int) -> np.ndarray | None:
        """Return the keys of packed states when `size` are stored; None if there is no room for their parts."""
        if self.tree_tables is None:
            return rows
        roots = np.zeros(len(rows), np.uint64)
        while self.tree_tables.compress(rows, roots) < len(rows):
            if not self._grow_node_tables(size, None):
                return None
        return roots

    def grow(self, size: int, fill: Fill | None = None) -> bool:
        """Make room for parts or keys when `size` states are stored; False if the budget is used up."""
        if self.tree_tables is None:
            return self.states.grow(size, fill)
        if not self.tree_tables.has_room:
            return self._grow_node_tables(size, fill)
        self._set_budget(size)
        return self.states.grow(size, fill)

    def _grow_node_tables(self, size: int, fill: Fill | None) -> bool:
        assert self.tree_tables is not None
        if self.tree_tables.needs_wider_roots:
            return self._widen_roots(size, fill)
        return self.tree_tables.grow(self.budget - self.states.full_bytes) or self._share_budget(size)

    def _share_budget(self, size: int) -> bool:
        """Limit keys and parts to the numbers that the budget allows if all grow alike; False if no table gains room.

        If that is little more than there is, leaves are split.
        """
        assert self.tree_tables is not None
        self._set_budget(size)
        if self.states.most < LEAST_GAIN * size:
            return False
        self.states.limit()
        self.tree_tables.set_share(self.states.most / max(1, size))
        return self.tree_tables.has_room

    def _set_budget(self, size: int) -> None:
        """Set the budget of the keys when `size` are stored, less what parts will need. Split leaves if it is tight."""
        tables = self.tree_tables
        assert tables is not None
        self.states.set_budget(self.budget, tables.needed / max(1, size))
        if tables.can_split and size >= self._split_at and self.states.most < TIGHT * size:
            self._split_at = int(AGAIN * size)
            tables.split_leaves(self.budget - self.used_bytes(size))
            self.states.set_budget(self.budget, tables.needed / max(1, size))

    def _widen_roots(self, size: int, fill: Fill | None) -> bool:
        assert self.tree_tables is not None
        bits = self.tree_tables.tree.root_bits, WIDE_ROOT_BITS
        self.states.set_budget(self.budget, self.tree_tables.needed / max(1, size))
        if not self.states.widen(size, 8, lambda before, after: widen_roots(before, after, size, bits), fill):
            return False
        self.tree_tables.set_root_bits(WIDE_ROOT_BITS)
        return True

    @property
    def root_bits(self) -> int:
        """The bits of each of the two numbers in a root; 0 if states are not compressed."""
        return self.tree.root_bits

    @property
    def parts(self) -> list[int]:
        """The number of values of each part."""
        return [] if self.tree_tables is None else [nodes.size for nodes in self.tree_tables.node_tables]

    def stored_bytes(self, size: int, parts: list[int] | None = None) -> dict[str, np.ndarray]:
        """Return the bytes of `size` states by name: keys, and parts with `parts` values each (by default all)."""
        node_tables = [] if self.tree_tables is None else self.tree_tables.node_tables
        counts = zip(node_tables, self.parts if parts is None else parts, strict=True)
        found = {f"part-{number}": nodes.stored_bytes(count) for number, (nodes, count) in enumerate(counts)}
        return {"keys": self.states.stored_bytes(size), **found}

    def resume(self, size: int, parts: list[int], root_bits: int, read: Callable[[str, np.ndarray], None]) -> None:
        """Read `size` states with `read(name, target)` and fill the tables; UsageError if memory is lacking."""
        if self.tree_tables is not None:
            if len(parts) > len(self.tree_tables.node_tables):
                self.tree_tables.split_leaves(self.budget)
            self.tree_tables.set_root_bits(root_bits)
            self.states.set_stride(self.tree_tables.root_bytes)
        node_tables = [] if self.tree_tables is None else self.tree_tables.node_tables
        fits = all(nodes.has_space(count) for nodes, count in zip(node_tables, parts, strict=True))
        if not fits or size >= self.most:
            raise self._too_small(size)
        for name, target in self.stored_bytes(size, parts).items():
            read(name, target)
        for nodes, count in zip(node_tables, parts, strict=True):
            nodes.resume(count)
        if self.tree_tables is not None:
            self.states.set_budget(self.budget, self.tree_tables.needed / max(1, size))
        if not self.states.resume(size) or self.used_bytes(size) > self.budget:
            raise self._too_small(size)

    def _too_small(self, size: int) -> UsageError:
        return UsageError(
            f"A memory budget of {self.budget / 2**30:.3g} GiB is too small to resume from {size:,} states. Give "
            "more with --memory."
        )

    def used_bytes(self, size: int) -> int:
        """Return the bytes that `size` states use."""
        return self.states.used_bytes(size) + (0 if self.tree_tables is None else self.tree_tables.used_bytes)

    @property
    def numbers_exhausted(self) -> bool:
        """Whether a part has used up its 32-bit numbers, so that more memory would not help."""
        return self.tree_tables is not None and any(nodes.is_exhausted for nodes in self.tree_tables.node_tables)

    def rows(self, indices: list[int]) -> np.ndarray:
        """Return the packed states with these indices, uint64[n, words]."""
        keys = self.states.rows(indices)
        return keys if self.tree_tables is None else self.tree_tables.decompress(keys[:, 0])
