"""What a Spark executor does: load a kernel that the driver compiled, walk, and send back counts.

Words: a *parcel* is all that an executor needs to walk; it never sees the model. A *chunk* is a range of consecutive
walks, and one row of a table. What a walk does depends on the seed and its number only, so it does not matter which
executor does which chunk.
"""
from __future__ import annotations

import pickle
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import evolve, field, fields, frozen

from search.compile.cache import Compiled
from search.compile.machine_code import FUNCTIONS, Loaded, cpu
from search.kernel import Kernel
from search.loops.sketching import PLACE_SIZE
from search.shrink.cast import Cast
from search.shrink.clusters import Clustering
from search.spark.minimizing import Choice, walked_in_blocks
from search.walks.chunks import Course, Walks, run_chunk

NUMBERS = pa.int64()
SCHEMA = pa.schema(
    [("first", NUMBERS), ("seconds", pa.float64()), ("cpu", pa.float64()), ("host", pa.string())]
    + [("clusters", pa.binary()), ("stopped", pa.bool_()), ("failed", NUMBERS)]
    + [(name, NUMBERS) for name in ("walks", "steps", "visits", "dead_ends", "cuts", "quiet")]
    + [
        (name, pa.list_(NUMBERS))
        for name in (
            "enabled", "taken", "changed", "hits", "premises", "seen", "first_walk", "first_step", "findings", "rare"
        )
    ]
    + [("sketch", pa.list_(pa.int8()))]
)  # fmt: skip
"""A chunk as a row: the fields of `Chunk`, with those of its `Walks`. `failed` -1 is none."""


class OtherCpu(Exception):
    """An executor has no machine code that it can run; its message tells the driver for which CPU to make some."""

    PATTERN = re.compile(r"executor: \[(.*?)\]", re.DOTALL)

    def __init__(self, line: str, why: str) -> None:
        super().__init__(
            f"An executor cannot run the driver's machine code ({why}). The executor: [{line}]. "
            "Start the driver on a machine of the executors' kind."
        )


@frozen(eq=False)
class Parcel:
    """A kernel with its object code, the CPU that the code is for, what walks are to do, and how many findings to keep.

    The addresses of the kernel are those of the driver, and mean nothing here.
    """

    kernel: Kernel
    code: Compiled
    cpu: str
    course: Course
    most: int | None
    """Findings of a chunk that are kept, the first ones; None for all."""
    cast: Cast | None = None
    """What minimizing needs of the model; None if executors are not to minimize."""
    others: Mapping[str, Compiled] = field(factory=dict)
    """Object code for other CPUs, by what they say of themselves."""

    def pack(self) -> bytes:
        """The parcel as bytes."""
        return pickle.dumps(evolve(self, kernel=evolve(self.kernel, keep_alive=None)))


@frozen
class Round:
    """Chunks to do: chunk i is the walks first + i * size … up to `last`; none is begun after `deadline`.

    `deadline` is in seconds since the epoch, because it must mean the same on another machine.
    """

    first: int
    last: int
    size: int
    deadline: float | None = None
    choice: Choice | None = None
    """Which findings are minimized by the executor, if any are; then chunks end where blocks do."""
    course: Course | None = None
    """What the walks are to do, if not what the parcel says."""

    @property
    def origin(self) -> int:
        """From where chunks are counted: the beginning of the first block."""
        return self.first if self.choice is None else self.first - self.first % self.choice.block

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return -(-(self.last - self.origin) // self.size)

    def numbers(self, chunk: int) -> range:
        """The numbers of a chunk's walks."""
        begin = self.origin + chunk * self.size
        return range(max(begin, self.first), min(begin + self.size, self.last))

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.time() >= self.deadline


def walker_of(parcel: Any, work: Round) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`: from numbers of chunks to chunks. `parcel` is a broadcast of packed bytes."""

    def walker(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return walk_chunks(parcel.value, work, (n for batch in batches for n in batch.column(0).to_pylist()))

    return walker


def walk_chunks(packed: bytes, work: Round, chunks: Iterable[int]) -> Iterator[pa.RecordBatch]:
    """Do some chunks, in increasing order; what comes after a violation that ends the run is not done."""
    kernel, parcel = unpacked(packed)
    run_chunk(kernel, parcel.course, range(0))  # compiles the loops, where that has not happened yet
    going = True
    for chunk in chunks:  # all of them, because Spark ends a worker that leaves some of its input unread
        going = going and not work.is_over
        if going:
            done = _done(packed, work, chunk)
            yield row_of(done)
            going = not done.walks.stopped and done.walks.failed is None


def _done(packed: bytes, work: Round, number: int) -> Chunk:
    """One chunk, done here and now."""
    kernel, parcel = unpacked(packed)
    course, numbers = work.course or parcel.course, work.numbers(number)
    if work.choice is not None:
        return done_in_blocks((kernel, course), numbers, work.choice, _clustering(packed))
    began, cpu_began = time.monotonic(), time.process_time()
    walks = run_chunk(kernel, course, numbers, collect=parcel.most != 0)
    walks = walks if parcel.most is None else walks.with_findings(parcel.most)
    return Chunk(numbers.start, time.monotonic() - began, walks, time.process_time() - cpu_began, platform.node())


def done_in_blocks(
    walker: tuple[Kernel, Course], numbers: range, choice: Choice, clustering: Clustering
) -> Chunk:
    """A chunk of walks whose chosen findings are minimized."""
    began, cpu_began = time.monotonic(), time.process_time()
    walks, clusters = walked_in_blocks(walker, numbers, choice, clustering)
    spent, cpu_spent = time.monotonic() - began, time.process_time() - cpu_began
    return Chunk(numbers.start, spent, walks, cpu_spent, platform.node(), pickle.dumps(clusters))


@lru_cache(maxsize=1)
def _clustering(packed: bytes) -> Clustering:
    """What minimizes here; it keeps the room that this takes."""
    kernel, parcel = unpacked(packed)
    assert parcel.cast is not None
    return Clustering(parcel.cast, kernel)


@lru_cache(maxsize=1)
def unpacked(packed: bytes) -> tuple[Kernel, Parcel]:
    """The parcel, and its kernel loaded into this process; OtherCpu if that cannot be."""
    parcel: Parcel = pickle.loads(packed)
    code = {parcel.cpu: parcel.code, **parcel.others}.get(cpu())
    if code is None:
        raise OtherCpu(cpu(), "its CPU or its llvmlite is another")
    try:
        loaded = Loaded(code.objects)
    except RuntimeError as error:
        raise OtherCpu(cpu(), f"it does not load: {error}") from error
    addresses: dict[str, Any] = {name: loaded.addresses[name] for name in FUNCTIONS}
    return evolve(parcel.kernel, **addresses, keep_alive=loaded), parcel


def row_of(chunk: Chunk) -> pa.RecordBatch:
    """A chunk as a row of SCHEMA."""
    walks = chunk.walks
    row: dict[str, Any] = {part.name: getattr(walks, part.name) for part in fields(Walks)}
    row |= {part.name: getattr(chunk, part.name) for part in fields(Chunk) if part.name != "walks"}
    row |= {"failed": -1 if walks.failed is None else walks.failed}
    return pa.record_batch([_column(row[column.name], column.type) for column in SCHEMA], SCHEMA)


def _column(thing: Any, kind: pa.DataType) -> pa.Array:
    """A column with one row."""
    if not isinstance(thing, np.ndarray):
        return pa.array([thing], kind)
    return pa.ListArray.from_arrays([0, thing.size], pa.array(thing.ravel(), kind.value_type))


@frozen
class Chunk:
    """What some consecutive walks counted and found, the number of the first, and the seconds that they took."""

    first: int
    seconds: float
    walks: Walks
    cpu: float = 0.0
    """CPU seconds."""
    host: str = ""
    """The machine's name."""
    clusters: bytes | None = None
    """The clusters of the findings that were minimized there, pickled."""


def chunks_of(table: pa.Table) -> list[Chunk]:
    """What `row_of` made rows of, in the order of their walks."""
    rows = (batch.slice(number, 1) for batch in table.to_batches() for number in range(batch.num_rows))
    return sorted(map(_chunk, rows), key=lambda chunk: chunk.first)


def _chunk(row: pa.RecordBatch) -> Chunk:
    things = {name: _thing(row.column(name)[0]) for name in row.schema.names}
    things["failed"] = None if things["failed"] < 0 else things["failed"]
    things["findings"] = things["findings"].reshape(-1, 3)
    things["rare"] = things["rare"].reshape(-1, PLACE_SIZE)
    own = {part.name: things.pop(part.name) for part in fields(Chunk) if part.name != "walks"}
    return Chunk(walks=Walks(**things), **own)


def _thing(scalar: pa.Scalar) -> Any:
    return scalar.values.to_numpy() if isinstance(scalar, pa.ListScalar) else scalar.as_py()
