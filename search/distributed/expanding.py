"""The first half of a level, on an executor: expand and check the frontier of one bucket, and sort what it leads to.

Words: a *packet* is some records for one bucket, as bytes. An *account* is what the states of a bucket counted.
"""
from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from search.distributed.store import Sizes, Store
from search.kernel import Kernel
from search.loops import levels
from search.loops.counts import Counts, Room, Rows
from search.loops.frontier import CURSOR_SIZE, DONE, FAILED, LIMIT, NEXT, SIZE, Search
from search.loops.keys import Space
from search.loops.shelves import NO_TREE

PACKET_BYTES = 1 << 24
"""Bytes of records that are made before they are sent, about."""


@frozen
class Level:
    """What must be known to do a level: where states are and how many, up to the frontier, and what is checked."""

    store: Store
    sizes: Sizes
    checked: tuple[int, ...]
    """The claims that are checked."""
    deadlock: bool
    """Whether a state without enabled instances is an error."""
    memory: int
    """Bytes that the candidates for new states of one bucket may take."""

    @property
    def depth(self) -> int:
        """The depth of the frontier."""
        return len(self.sizes) - 1

    @property
    def buckets(self) -> int:
        """How many buckets there are, a power of two."""
        return len(self.sizes[0])

    @property
    def bits(self) -> int:
        """How many bits a bucket's number has."""
        return self.buckets.bit_length() - 1

    def first_number(self, bucket: int) -> int:
        """The number of the first state of the frontier in a bucket."""
        return sum(map(sum, self.sizes[:-1])) + sum(self.sizes[-1][:bucket])


class Account:
    """What the states of a bucket counted: the cursor and the counts of a search."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)
        self.counts = Counts(kernel, 0)
        self.cursor[NEXT] = number
        self.failed = False

    def packed(self) -> bytes:
        """The account as bytes, for `unpacked`."""
        return pickle.dumps((self.cursor, self.counts.saved(), self.failed))

    @classmethod
    def unpacked(cls, kernel: Kernel, packed: bytes) -> Account:
        """The account again."""
        made = cls(kernel, 0)
        made.cursor, counts, made.failed = pickle.loads(packed)
        made.counts.restore(counts)
        return made


Packet = tuple[int, Any]
"""A bucket, and records for it (a buffer)."""


class Expander:
    """Room to expand the frontier of a bucket."""

    def __init__(self, kernel: Kernel, level: Level, bucket: int) -> None:
        self.kernel, self.level, self.bucket = kernel, level, bucket
        self.account = Account(kernel, level.first_number(bucket))
        self.room, self.rows = Room(kernel), Rows(kernel, level.checked)
        self.machine = self.rows.machine(kernel, stop=False, deadlock=level.deadlock)
        self.most = max(2 * kernel.instances, PACKET_BYTES // (8 * (kernel.words + 1)))
        self.records = np.empty(self.most * (kernel.words + 1), np.uint64)
        self.places = np.empty(self.most, np.uint64)

    def packets(self) -> Iterator[Packet]:
        """The records of all successors, bucket by bucket; when they are taken, the account is complete."""
        if self.level.sizes[-1][self.bucket]:
            for rows in self.level.store.rows(self.level.depth, self.bucket):
                yield from self._expanded(rows)
                if self.account.failed:
                    return

    def _expanded(self, rows: np.ndarray) -> Iterator[Packet]:
        cursor = self.account.cursor
        search = self._search(rows, int(cursor[NEXT]))
        cursor[LIMIT] = cursor[NEXT] + len(rows)
        found = levels.Found(self.records.ctypes.data, self.places.ctypes.data, self.most)
        status = None
        while status not in (DONE, FAILED):
            status = levels.expand_rows(search, cursor, found)
            yield from self._sorted(found, int(cursor[SIZE]))
        self.account.failed = status == FAILED

    def _search(self, rows: np.ndarray, number: int) -> Search:
        """The argument of the loop: the rows are where the state of that number, and those after it, are looked for."""
        words = self.kernel.words
        space = Space(
            words=words, stride=8 * words, store=rows.ctypes.data - 8 * words * number, capacity=0, table=0,
            entry_bytes=8, region_size=0, region_limit=0, index_bits=0, filled=0,
        )  # fmt: skip
        return Search(self.machine, space, NO_TREE, self.room.batch, self.account.counts.tally)

    def _sorted(self, found: levels.Found, made: int) -> Iterator[Packet]:
        size, ends = self.kernel.words + 1, np.zeros(self.level.buckets, np.int64)
        records = np.empty(made * size, np.uint64)
        target = levels.Sorted(records.ctypes.data, ends.ctypes.data, self.level.bits)
        levels.sort_by_bucket(found, made, self.kernel.words, target)
        begin = 0
        for bucket, end in enumerate(ends.tolist()):
            if end > begin:
                yield bucket, records[begin * size : end * size]
            begin = end
