"""What consecutive walks counted and found, on its way from executors to the driver: merged, and packed into bytes.

Words: a *chunk* is a range of consecutive walks; two chunks that follow each other are *merged* into one. A partition
sends one chunk, however many it has done. Of many partitions, executors merge those of a *group* again, so that the
driver receives about as many chunks as the square root of the number of partitions.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import groupby
from math import isqrt
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import evolve, fields, frozen

from kwalk.search.minimize.groups import merge
from kwalk.search.simulation.chunks import WalkCounts
from kwalk.search.simulation.visit_samples import CHUNK_RECORDS, VisitRecords
from kwalk.search.simulation.walk_loops import ROW_COLUMNS, ROW_COUNT, ROW_PLACES

UNGROUPED = 16
"""So many partitions send their chunks to the driver; more are merged in groups first, which takes another stage."""
NUMBERS = pa.int64()
SCHEMA = pa.schema(
    [("first", NUMBERS), ("seconds", pa.float64()), ("cpu", pa.float64()), ("hosts", pa.list_(pa.string()))]
    + [("minimized", pa.binary()), ("records", pa.binary()), ("sliced", NUMBERS), ("disagreement", pa.string())]
    + [("stopped", pa.bool_()), ("failed", NUMBERS)]
    + [(name, NUMBERS) for name in ("walks", "steps", "visits", "dead_ends", "cuts", "quiescent")]
    + [
        (name, pa.list_(NUMBERS))
        for name in (
            "enabled",
            "taken",
            "changed",
            "bound_hits",
            "premises",
            "property_hits",
            "first_walk",
            "first_step",
            "findings",
            "visited_rows",
        )
    ]
    + [("sketch", pa.list_(pa.int8()))]
)
"""A chunk as a row: the fields of `Chunk`, with those of its `WalkCounts`. `failed` is -1 for None; `visited_rows` has
the rows of `row_visits` that are not zero, each after its number."""
PACKED = pa.schema([("group", NUMBERS), ("chunk", pa.binary())])
"""A chunk on its way: the number of its group, and its row as an Arrow stream."""


@frozen
class Chunk:
    """What some consecutive walks counted and found; `a + b` is what both together did, if b's walks come after a's."""

    first: int
    """The number of the first walk."""
    seconds: float
    """Wall time on one core."""
    counts: WalkCounts
    cpu: float = 0.0
    """CPU seconds."""
    hosts: tuple[str, ...] = ()
    """The names of the machines, in order."""
    minimized: bytes | None = None
    """The pickled groups of the findings that executors minimized."""
    records: bytes | None = None
    """Pickled `VisitRecords` that the executors' code made, for the driver to compare with plain Python; CHUNK_RECORDS
    at most."""
    sliced: int = 0
    """How many of the walks ran on bit-sliced code."""
    disagreement: str = ""
    """What the two kernels of an executor do not count the same, as an EngineDisagreement; "" if nothing."""

    @property
    def visit_records(self) -> VisitRecords:
        """The records, by the numbers of the visits."""
        return {} if self.records is None else pickle.loads(self.records)

    @property
    def ends_run(self) -> bool:
        """Whether walks that come later do not count: a violation ends the run here, or a step left its domain."""
        return self.counts.stopped or self.counts.failed is not None

    def __add__(self, later: Chunk) -> Chunk:
        if self.ends_run:
            return evolve(self, disagreement=self.disagreement or later.disagreement)
        return Chunk(
            self.first,
            self.seconds + later.seconds,
            self.counts + later.counts,
            self.cpu + later.cpu,
            tuple(sorted({*self.hosts, *later.hosts})),
            _both(merge, self.minimized, later.minimized),
            _both(_merged_records, self.records, later.records),
            self.sliced + later.sliced,
            self.disagreement or later.disagreement,
        )


def _merged_records(one: VisitRecords, later: VisitRecords) -> VisitRecords:
    """Merge records; if they are more than those of one chunk can be, keep some of all executors."""
    both = {**one, **later}
    return {number: both[number] for number in sorted(both)[:: -(-len(both) // CHUNK_RECORDS) or 1]}


def _both(merge: Callable[[Any, Any], Any], one: bytes | None, later: bytes | None) -> bytes | None:
    """Merge two pickled objects, where None is nothing; what a folder has is read without unpickling."""
    if one is None or later is None:
        return later if one is None else one
    return pickle.dumps(merge(pickle.loads(one), pickle.loads(later)))


def merged(chunks: Iterable[Chunk], most: int) -> Chunk:
    """Merge chunks, at least one; they are in order, and keep the first `most` findings."""

    def both(one: Chunk, later: Chunk) -> Chunk:
        together = one + later
        return evolve(together, counts=together.counts.with_findings(most))

    return reduce(both, chunks)


# Groups.


def groups_of(partitions: int) -> int:
    """Return into how many groups so many partitions are merged."""
    return partitions if partitions <= UNGROUPED else isqrt(partitions - 1) + 1


def merger_of(most: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow` that merges the chunks of each group; for `most` see `merged`."""

    def merger(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = sorted(_packed_in(batches), key=lambda pair: pair[0])
        for group, pairs in groupby(packed, key=lambda pair: pair[0]):
            yield packet(group, merged(in_order(unpack(content) for _, content in pairs), most))

    return merger


def packet(group: int, chunk: Chunk) -> pa.RecordBatch:
    """Return a chunk as a row of PACKED."""
    return pa.record_batch([pa.array([group], NUMBERS), pa.array([pack(row_of(chunk))], pa.binary())], PACKED)


def chunks_of(table: pa.Table) -> list[Chunk]:
    """Return the chunks of rows of PACKED, in the order of their walks."""
    return in_order(unpack(content) for _, content in _packed_in(table.to_batches()))


def in_order(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return chunks in the order of their walks."""
    return sorted(chunks, key=lambda chunk: chunk.first)


def _packed_in(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


# Bytes.


def pack(row: pa.RecordBatch) -> bytes:
    """Return a row as a compressed Arrow stream."""
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, row.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_batch(row)
    return buffer.getvalue()


def unpack(content: bytes) -> Chunk:
    """Return the chunk whose row is an Arrow stream."""
    return chunk_of(pa.ipc.open_stream(content).read_all())


def row_of(chunk: Chunk, metadata: Mapping[bytes, bytes] | None = None) -> pa.RecordBatch:
    """Return a chunk as a row of SCHEMA, which gets the metadata."""
    counts = chunk.counts
    row: dict[str, Any] = {part.name: getattr(counts, part.name) for part in fields(WalkCounts)}
    row |= {part.name: getattr(chunk, part.name) for part in fields(Chunk) if part.name != "counts"}
    row |= {"failed": -1 if counts.failed is None else counts.failed, "visited_rows": _visited(counts.row_visits)}
    columns = [_column(row[column.name], column.type) for column in SCHEMA]
    return pa.record_batch(columns, SCHEMA.with_metadata(metadata))


def chunk_of(table: pa.Table) -> Chunk:
    """Return the chunk of a row that `row_of` made."""
    (row,) = table.to_batches()
    things = {name: _thing(row.column(name)[0]) for name in row.schema.names}
    things["failed"] = None if things["failed"] < 0 else things["failed"]
    things["findings"] = things["findings"].reshape(-1, 3)
    things["row_visits"] = _row_visits(things.pop("visited_rows"))
    things["hosts"] = tuple(things["hosts"])
    own = {part.name: things.pop(part.name) for part in fields(Chunk) if part.name in things}
    return Chunk(counts=WalkCounts(**things), **own)


def _visited(row_visits: np.ndarray) -> np.ndarray:
    """Return the rows of a table of visits that are not zero, each after its number."""
    places = np.flatnonzero(row_visits[:, ROW_COUNT])
    return np.column_stack([places, row_visits[places]])


def _row_visits(visited: np.ndarray) -> np.ndarray:
    """Return the table of visits of which `_visited` is given; an empty one if none is."""
    rows = visited.reshape(-1, 1 + ROW_COLUMNS)
    row_visits = np.zeros((ROW_PLACES if len(rows) else 0, ROW_COLUMNS), np.int64)
    row_visits[rows[:, 0]] = rows[:, 1:]
    return row_visits


def _column(thing: Any, kind: pa.DataType) -> pa.Array:
    """Return a column of one row."""
    if not isinstance(thing, np.ndarray):
        return pa.array([thing], kind)
    return pa.ListArray.from_arrays([0, thing.size], pa.array(thing.ravel(), kind.value_type))


def _thing(scalar: pa.Scalar) -> Any:
    if isinstance(scalar, pa.ListScalar) and not pa.types.is_string(scalar.type.value_type):
        return scalar.values.to_numpy()
    return scalar.as_py()
