"""The two halves of a level, on an executor: expand the frontier of a bucket, and deduplicate the new states of one.

Words: a *packet* is records for one bucket, as bytes. A *candidate* is a state that some record names. The candidates
of a bucket are in a hash table; all states of the bucket are read, level by level, and candidates that are among them
are marked *known*. The others are new. So a level takes the memory of its own candidates, and the set of all states is
only read sequentially.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from attrs import frozen

from kwalk.search.exhaustive.layout import CounterBuffers, Cursor, RowBuffers, SearchLayout, Status, batch_of
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import CompiledRecord, RecordMaker
from kwalk.search.kernel.sampling import candidates
from kwalk.search.native.memory import reserve
from kwalk.search.spark.exhaustive import level_loops as levels
from kwalk.search.spark.exhaustive.store import Sizes, Store, by_place
from kwalk.search.visited.key_store import KeyStore
from kwalk.search.visited.keys import KeySpace
from kwalk.search.visited.tree_compression import NO_TREE

BUCKET_RECORDS = 256
"""Records of states of one bucket and level that are sent to the driver, at most."""
PACKET_BYTES = 1 << 24
"""Approximate bytes of records that are made before they are sent."""


@frozen
class Level:
    """The input of a level: the states up to the frontier, and what to check."""

    store: Store
    sizes: Sizes
    checked: tuple[int, ...]
    """The indices of the properties to check."""
    deadlock: bool
    """Whether a state without enabled instances is an error."""
    memory: int
    """Bytes for the candidates of one bucket."""

    @property
    def depth(self) -> int:
        """The depth of the frontier."""
        return len(self.sizes) - 1

    @property
    def buckets(self) -> int:
        """The number of buckets, a power of two."""
        return len(self.sizes[0])

    @property
    def bits(self) -> int:
        """The bits of a bucket's number."""
        return self.buckets.bit_length() - 1

    def first_number(self, bucket: int) -> int:
        """Return the number of the first state of the frontier in a bucket."""
        return sum(map(sum, self.sizes[:-1])) + sum(self.sizes[-1][:bucket])


class BucketCounts:
    """The counts of the states of a bucket: the cursor and the counters of a search."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        self.cursor = np.zeros(len(Cursor), np.int64)
        self.counts = CounterBuffers(kernel, 0)
        self.cursor[Cursor.NEXT] = number
        self.failed = False
        self.records: dict[int, CompiledRecord] = {}
        """Records of some of the states, by their numbers."""

    def packed(self) -> bytes:
        """Return the counts as bytes, for `unpacked`."""
        return pickle.dumps((self.cursor, self.counts.saved(), self.failed, self.records))

    @classmethod
    def unpacked(cls, kernel: Kernel, packed: bytes) -> BucketCounts:
        """Return the counts from bytes."""
        made = cls(kernel, 0)
        made.cursor, counts, made.failed, made.records = pickle.loads(packed)
        made.counts.restore(counts)
        return made


Packet = tuple[int, Any]
"""A bucket, and records for it (a buffer)."""


class Expander:
    """The buffers for expanding the frontier of a bucket."""

    def __init__(self, kernel: Kernel, level: Level, bucket: int) -> None:
        self.kernel, self.level, self.bucket = kernel, level, bucket
        self.maker = RecordMaker(kernel)
        self.counts = BucketCounts(kernel, level.first_number(bucket))
        self.room, self.rows = batch_of(kernel), RowBuffers(kernel, level.checked)
        self.kernel_view = self.rows.kernel_view(kernel, stop=False, deadlock=level.deadlock)
        self.most = max(2 * kernel.instances, PACKET_BYTES // (8 * (kernel.words + 1)))
        self.records = np.empty(self.most * (kernel.words + 1), np.uint64)
        self.places = np.empty(self.most, np.uint64)

    def packets(self) -> Iterator[Packet]:
        """Yield the records of all successors, bucket by bucket; then the counts are complete."""
        if self.level.sizes[-1][self.bucket]:
            for rows in self.level.store.rows(self.level.depth, self.bucket):
                self._add_records(rows, int(self.counts.cursor[Cursor.NEXT]))
                yield from self._expanded(rows)
                if self.counts.failed:
                    return

    def searches(self) -> Iterator[tuple[SearchLayout, int, int]]:
        """Yield the arguments of a loop for parts of the bucket, each with its first state and the end of its states.

        A part is in memory until the next one is asked for.
        """
        first = self.level.first_number(self.bucket)
        stored = self.level.sizes[-1][self.bucket] > 0
        for rows in self.level.store.rows(self.level.depth, self.bucket) if stored else ():
            yield self._search(rows, first), first, first + len(rows)
            first += len(rows)

    def _expanded(self, rows: np.ndarray) -> Iterator[Packet]:
        cursor = self.counts.cursor
        search = self._search(rows, int(cursor[Cursor.NEXT]))
        cursor[Cursor.LIMIT] = cursor[Cursor.NEXT] + len(rows)
        found = levels.SuccessorRecords(self.records.ctypes.data, self.places.ctypes.data, self.most)
        status = None
        while status not in (Status.DONE, Status.FAILED):
            status = levels.expand_rows(search, cursor, found)
            yield from self._sorted(found, int(cursor[Cursor.STORED]))
        self.counts.failed = status == Status.FAILED

    def _add_records(self, rows: np.ndarray, first: int) -> None:
        """Add records of some of the states, which are numbered from `first` on."""
        room = BUCKET_RECORDS - len(self.counts.records)
        for number in islice(candidates(first, first + len(rows)), room):
            self.counts.records[number] = self.maker.record(rows[number - first])

    def _search(self, rows: np.ndarray, number: int) -> SearchLayout:
        """Return the argument of the loop: `rows` are the states from this number on."""
        words = self.kernel.words
        space = KeySpace(
            words=words,
            stride=8 * words,
            store=rows.ctypes.data - 8 * words * number,
            capacity=0,
            table=0,
            entry_bytes=8,
            region_size=0,
            region_limit=0,
            index_bits=0,
            filled=0,
        )
        return SearchLayout(self.kernel_view, space, NO_TREE, self.room.layout, self.counts.counts.layout)

    def _sorted(self, successors: levels.SuccessorRecords, count: int) -> Iterator[Packet]:
        size, ends = self.kernel.words + 1, np.zeros(self.level.buckets, np.int64)
        records = np.empty(count * size, np.uint64)
        target = levels.BucketedRecords(records.ctypes.data, ends.ctypes.data, self.level.bits)
        levels.sort_by_bucket(successors, count, self.kernel.words, target)
        begin = 0
        for bucket, end in enumerate(ends.tolist()):
            if end > begin:
                yield bucket, records[begin * size : end * size]
            begin = end


EACH = 9
"""Bytes of a candidate besides its key and its entry in the table: its link, and whether it is known."""


class TooManyCandidates(Exception):
    """The candidates of a bucket do not fit into the memory budget."""


class Candidates:
    """The candidates of one bucket; `insert` all records, then `save` the new states."""

    def __init__(self, level: Level, bucket: int) -> None:
        self.level, self.bucket, self.words = level, bucket, level.store.words
        self.states = KeyStore(self.words, level.memory, widest_step=levels.PREFETCH_BATCH)
        self.states.set_budget(level.memory, EACH)
        self.links = reserve(self.states.reserved)
        self.visited = reserve(self.states.reserved, np.uint8)
        self.scratch = np.zeros(2 * levels.PREFETCH_BATCH, np.uint64)
        self.size = 0

    @property
    def _new(self) -> levels.CandidateRecords:
        return levels.CandidateRecords(self.links.ctypes.data, self.visited.ctypes.data, self.scratch.ctypes.data)

    def insert(self, records: np.ndarray) -> None:
        """Insert records, uint64[n * (words + 1)]; TooManyCandidates if there is no room."""
        span = np.array([0, len(records) // (self.words + 1), self.size], np.int64)
        while span[0] < span[1]:
            levels.insert_candidates(self.states.space, records.ctypes.data, span, self._new)
            if span[0] < span[1] and not self.states.grow(int(span[2])):
                raise TooManyCandidates
        self.size = int(span[2])

    def save(self) -> tuple[int, int]:
        """Write the new states as the bucket's part of the next level; return their number and bytes."""
        self._mark_known()
        new = np.flatnonzero(self.visited[: self.size] == 0)
        if not len(new):
            return 0, 0
        rows = self.states.stored_bytes(self.size).view(np.uint64).reshape(self.size, self.words)[new]
        order = by_place(rows)
        links = self.links[: self.size][new[order]]
        return len(new), self.level.store.write(self.level.depth + 1, self.bucket, rows[order], links)

    def _mark_known(self) -> None:
        for depth, sizes in enumerate(self.level.sizes):
            if sizes[self.bucket] and self.size:
                for rows in self.level.store.rows(depth, self.bucket):
                    levels.mark_known(self.states.space, rows.ctypes.data, len(rows), self._new)


def deduplicate(level: Level, bucket: int, packets: Iterable[np.ndarray]) -> tuple[int, int]:
    """Write the new states of a bucket; return their number and bytes. TooManyCandidates if there is no room."""
    candidates = Candidates(level, bucket)
    for records in packets:
        candidates.insert(records)
    return candidates.save()
