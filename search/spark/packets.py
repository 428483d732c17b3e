"""Chunks on their way from Spark's executors to the driver, as rows of bytes.

Of many partitions, executors merge the chunks of a *group* again, so that the driver receives about as many chunks as
the square root of the number of partitions.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from math import isqrt

import pyarrow as pa

from kwalk.search.executors.chunks import Chunk, in_order, merged

UNGROUPED = 16
"""So many partitions send their chunks to the driver; more are merged in groups first, which takes another stage."""
PACKED = pa.schema([("group", pa.int64()), ("chunk", pa.binary())])
"""A chunk on its way: the number of its group, and the chunk, pickled and compressed."""


def groups_of(partitions: int) -> int:
    """Return into how many groups so many partitions are merged."""
    return partitions if partitions <= UNGROUPED else isqrt(partitions - 1) + 1


def merger_of(most: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow` that merges the chunks of each group; for `most` see `merged`."""

    def merger(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = sorted(_packed_in(batches), key=lambda pair: pair[0])
        for group, pairs in groupby(packed, key=lambda pair: pair[0]):
            yield packet(group, merged(in_order(_unpacked(content) for _, content in pairs), most))

    return merger


def packet(group: int, chunk: Chunk) -> pa.RecordBatch:
    """Return a chunk as a row of PACKED."""
    content = zlib.compress(pickle.dumps(chunk), 1)
    return pa.record_batch([pa.array([group], pa.int64()), pa.array([content], pa.binary())], PACKED)


def chunks_of(table: pa.Table) -> list[Chunk]:
    """Return the chunks of rows of PACKED, in the order of their walks."""
    return in_order(_unpacked(content) for _, content in _packed_in(table.to_batches()))


def _unpacked(content: bytes) -> Chunk:
    chunk: Chunk = pickle.loads(zlib.decompress(content))
    return chunk


def _packed_in(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
