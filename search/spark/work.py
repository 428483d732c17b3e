"""What a Spark executor does: load a kernel that the driver compiled, walk, minimize findings, send back counts.

Words: a *payload* is all that an executor needs; it has no model. A *chunk* is a range of consecutive walks, and one
row of a table. What a walk does depends on the seed and its number only, so any executor can do any chunk. A *block* is
a fixed number of consecutive walks: which findings are minimized depends on their block, and on what was known when its
generation began, so the result does not depend on how the work is shared either. A property is *known* once a finding
of any of its instances has been minimized.
"""
from __future__ import annotations

import hashlib
import pickle
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import evolve, field, fields, frozen
from pyspark.sql import SparkSession

from kwalk.search.kernel.compile.cache import Compiled
from kwalk.search.kernel.compile.slices import CompiledSlices, load_slices
from kwalk.search.kernel.interface import Kernel
from kwalk.search.minimize.clusters import Clustering, Clusters, FindingSample
from kwalk.search.minimize.model_signature import ModelSignature
from kwalk.search.native.machine_code import FUNCTIONS, LoadedCode, cpu
from kwalk.search.results.confirmation import EngineDisagreement, Origin
from kwalk.search.simulation.chunks import (
    SimulationPlan,
    SlicedComparison,
    WalkCounts,
    is_sliced,
    path_of,
    run_chunk,
)
from kwalk.search.simulation.visit_samples import VisitRecords, visit_records
from kwalk.search.simulation.walk_loops import ROW_COLUMNS

NUMBERS = pa.int64()
SCHEMA = pa.schema(
    [("first", NUMBERS), ("seconds", pa.float64()), ("cpu", pa.float64()), ("host", pa.string())]
    + [("clusters", pa.binary()), ("records", pa.binary()), ("sliced", NUMBERS), ("disagreement", pa.string())]
    + [("stopped", pa.bool_()), ("failed", NUMBERS)]
    + [(name, NUMBERS) for name in ("walks", "steps", "visits", "dead_ends", "cuts", "quiescent")]
    + [
        (name, pa.list_(NUMBERS))
        for name in (
            "enabled", "taken", "changed", "bound_hits", "premises", "property_hits", "first_walk", "first_step",
            "findings", "row_visits",
        )
    ]
    + [("sketch", pa.list_(pa.int8()))]
)  # fmt: skip
"""A chunk as a row: the fields of `Chunk`, with those of its `WalkCounts`. `failed` is -1 for None."""


class CpuMismatch(Exception):
    """An executor has no machine code that it can run; the message names its CPU to the driver."""

    PATTERN = re.compile(r"executor: \[(.*?)\]", re.DOTALL)

    def __init__(self, cpu_name: str, why: str) -> None:
        super().__init__(
            f"An executor cannot run the driver's machine code ({why}). The executor: [{cpu_name}]. "
            "Start the driver on a machine of the executors' kind."
        )


class DamagedPayload(Exception):
    """An executor received another payload than the driver sent; nothing of it is loaded."""


@frozen(eq=False)
class TaskPayload:
    """What executors need: a kernel with its object code, the plan of the walks, and what minimizing needs."""

    kernel: Kernel
    """Its addresses are those of the driver, and invalid in an executor."""
    code: Compiled
    cpu: str
    """The CPU that the code is for."""
    plan: SimulationPlan
    most: int | None
    """Findings of a chunk that are sent back, the first ones; None for all."""
    signature: ModelSignature | None = None
    """None if executors do not minimize."""
    other_code: Mapping[str, Compiled] = field(factory=dict)
    """Object code for other CPUs, by their names."""
    slices: Mapping[str, CompiledSlices] = field(factory=dict)
    """Bit-sliced functions for each CPU, by its name; empty as long as there are none."""

    def pack(self) -> bytes:
        """Return the payload as bytes."""
        return pickle.dumps(evolve(self, kernel=evolve(self.kernel, keep_alive=None, sliced=None)))


@frozen(eq=False)
class SentPayload:
    """A payload that was sent to executors. Its digest travels with the task, as the payload itself does not."""

    broadcast: Any
    """The broadcast of the packed payload."""
    digest: bytes

    def received(self) -> bytes:
        """Return the packed payload, in an executor.

        Raises:
            DamagedPayload: Its digest is not the one that the driver computed.
        """
        packed: bytes = self.broadcast.value
        if digest_of(packed) != self.digest:
            raise DamagedPayload(
                f"An executor received machine code with the digest {digest_of(packed).hex()}; the driver sent "
                f"{self.digest.hex()}. It is not loaded. Check who can write to spark.local.dir."
            )
        return packed


@lru_cache(maxsize=2)
def digest_of(packed: bytes) -> bytes:
    """Return the digest of a packed payload, object code included."""
    return hashlib.blake2b(packed, digest_size=16).digest()


def send(session: SparkSession, payload: TaskPayload) -> SentPayload:
    """Send a payload to the executors of a session."""
    packed = payload.pack()
    return SentPayload(session.sparkContext.broadcast(packed), digest_of(packed))


@frozen
class MinimizationChoice:
    """Which findings of a block are minimized: the first of each property not known, and now and then of others."""

    block: int
    """Walks in a block."""
    stride: int = 1
    """Findings of known properties are minimized too in each block whose number this divides."""
    known: frozenset[int] = frozenset()
    """The numbers of the known properties."""
    most: int = 2
    """Findings of a block, at most."""

    def of(self, findings: np.ndarray, number: int) -> list[tuple[int, int, int]]:
        """Return the findings (walk, step, property) of block `number` to minimize; each block begins elsewhere."""
        properties, places = np.unique(findings[:, 2], return_index=True)
        first = {int(prop): findings[place] for prop, place in zip(properties, places, strict=True)}
        wanted = [prop for prop in first if prop not in self.known or number % self.stride == 0]
        modulus = max(first, default=0) + 1
        wanted.sort(key=lambda prop: (prop in self.known, (prop - number) % modulus))
        return [(int(walk), int(step), int(prop)) for walk, step, prop in (first[p] for p in wanted[: self.most])]


@frozen
class Round:
    """Chunks to do: chunk i is the walks first + i * size … up to `last`."""

    first: int
    last: int
    size: int
    deadline: float | None = None
    """No chunk is begun after it; seconds since the epoch, which mean the same on all machines."""
    choice: MinimizationChoice | None = None
    """Which findings the executor minimizes, if any; then chunks end where blocks do."""
    plan: SimulationPlan | None = None
    """What the walks do; None for the plan of the payload."""

    @property
    def origin(self) -> int:
        """The walk from which chunks are counted: the beginning of the first block."""
        return self.first if self.choice is None else self.first - self.first % self.choice.block

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-(self.last - self.origin) // self.size)

    def numbers(self, chunk: int) -> range:
        """Return the numbers of the walks of a chunk."""
        begin = self.origin + chunk * self.size
        return range(max(begin, self.first), min(begin + self.size, self.last))

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.time() >= self.deadline


@frozen
class Chunk:
    """What some consecutive walks counted and found."""

    first: int
    """The number of the first walk."""
    seconds: float
    counts: WalkCounts
    cpu: float = 0.0
    """CPU seconds."""
    host: str = ""
    """The name of the machine."""
    clusters: bytes | None = None
    """The pickled clusters of the findings that the executor minimized."""
    records: bytes | None = None
    """Pickled `VisitRecords` that the executor's code made, for the driver to compare with plain Python."""
    sliced: int = 0
    """How many of the walks ran on bit-sliced code."""
    disagreement: str = ""
    """What the executor's two kernels do not count the same, as an EngineDisagreement; "" if nothing."""

    @property
    def visit_records(self) -> VisitRecords:
        """The records, by the numbers of the visits."""
        return {} if self.records is None else pickle.loads(self.records)


def walker_of(payload: SentPayload, work: Round) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow`, from numbers of chunks to chunks."""

    def walker(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return walk_chunks(payload.received(), work, (n for batch in batches for n in batch.column(0).to_pylist()))

    return walker


def walk_chunks(packed: bytes, work: Round, chunks: Iterable[int]) -> Iterator[pa.RecordBatch]:
    """Do chunks in increasing order, and yield their rows; a violation that ends the run skips the rest."""
    kernel, payload = unpacked(packed)
    run_chunk(kernel, payload.plan, range(0))  # compiles the loops, if this process has not yet
    continues = True
    for chunk in chunks:  # all of them, because Spark ends a worker that leaves some of its input unread
        continues = continues and not work.is_over
        if continues:
            done = _do_chunk(packed, work, chunk)
            yield row_of(done)
            continues = not done.counts.stopped and done.counts.failed is None


def _do_chunk(packed: bytes, work: Round, number: int) -> Chunk:
    kernel, payload = unpacked(packed)
    plan, numbers = work.plan or payload.plan, work.numbers(number)
    try:
        _comparison(packed).compare(kernel, plan, numbers)
    except EngineDisagreement as error:
        nothing = run_chunk(kernel, plan, range(numbers.start, numbers.start))
        return Chunk(numbers.start, 0.0, nothing, disagreement=str(error))
    if work.choice is not None:
        return done_in_blocks((kernel, plan), numbers, work.choice, _clustering(packed))
    began, cpu_began = time.monotonic(), time.process_time()
    counts = run_chunk(kernel, plan, numbers, collect=payload.most != 0)
    counts = counts if payload.most is None else counts.with_findings(payload.most)
    records = pickle.dumps(visit_records(kernel, plan, range(numbers.start, numbers.start + counts.walks)))
    spent, cpu_spent = time.monotonic() - began, time.process_time() - cpu_began
    sliced = counts.walks if is_sliced(kernel, numbers) else 0
    return Chunk(numbers.start, spent, counts, cpu_spent, platform.node(), records=records, sliced=sliced)


def done_in_blocks(
    walker: tuple[Kernel, SimulationPlan], numbers: range, choice: MinimizationChoice, clustering: Clustering
) -> Chunk:
    """Do a chunk of walks block by block, and minimize the chosen findings; the counts are those of all walks."""
    kernel, plan = walker
    began, cpu_began = time.monotonic(), time.process_time()
    total, sliced = run_chunk(kernel, plan, range(numbers.start, numbers.start)), 0
    clustering.clusters = Clusters(most=clustering.clusters.most)
    for block in _blocks(numbers, choice.block):
        counts = run_chunk(kernel, plan, block, collect=True)
        clustering.minimizer.clear_cache()  # the results of a block must not depend on who has done which others
        for walk, step, prop in choice.of(counts.findings, block.start // choice.block):
            path = path_of(kernel, plan, walk, step)
            clustering.add(FindingSample(
                prop if prop < kernel.properties else None, path.states[0].tobytes(), path.instances,
                Origin(f"walk {walk}", seed=plan.seed), walk,
            ))  # fmt: skip
        total += counts.with_findings(0)
        sliced += counts.walks if is_sliced(kernel, block) else 0
        if counts.failed is not None:
            break
    records = pickle.dumps(visit_records(kernel, plan, range(numbers.start, numbers.start + total.walks)))
    spent, cpu_spent = time.monotonic() - began, time.process_time() - cpu_began
    clusters = pickle.dumps(clustering.clusters)
    return Chunk(numbers.start, spent, total, cpu_spent, platform.node(), clusters, records, sliced)


def _blocks(numbers: range, size: int) -> Iterator[range]:
    ends = (*range(numbers.start - numbers.start % size + size, numbers.stop, size), numbers.stop)
    return (range(first, last) for first, last in pairwise((numbers.start, *ends)))


@lru_cache(maxsize=1)
def _clustering(packed: bytes) -> Clustering:
    """Return the clustering of this process, which keeps its buffers."""
    kernel, payload = unpacked(packed)
    assert payload.signature is not None
    return Clustering(payload.signature, kernel)


@lru_cache(maxsize=1)
def _comparison(packed: bytes) -> SlicedComparison:
    """Return what compares the two kernels of a payload in this process."""
    return SlicedComparison()


@lru_cache(maxsize=1)
def unpacked(packed: bytes) -> tuple[Kernel, TaskPayload]:
    """Return a payload, and its kernel loaded into this process; CpuMismatch if it cannot be loaded."""
    payload: TaskPayload = pickle.loads(packed)
    code = {payload.cpu: payload.code, **payload.other_code}.get(cpu())
    if code is None:
        raise CpuMismatch(cpu(), "its CPU or its llvmlite is another")
    slices = payload.slices.get(cpu())
    try:
        loaded = LoadedCode(code.objects)
        sliced = None if slices is None else load_slices(slices, payload.kernel.words)
    except RuntimeError as error:
        raise CpuMismatch(cpu(), f"it does not load: {error}") from error
    addresses: dict[str, Any] = {name: loaded.addresses[name] for name in FUNCTIONS}
    return evolve(payload.kernel, **addresses, sliced=sliced, keep_alive=loaded), payload


def row_of(chunk: Chunk) -> pa.RecordBatch:
    """Return a chunk as a row of SCHEMA."""
    counts = chunk.counts
    row: dict[str, Any] = {part.name: getattr(counts, part.name) for part in fields(WalkCounts)}
    row |= {part.name: getattr(chunk, part.name) for part in fields(Chunk) if part.name != "counts"}
    row |= {"failed": -1 if counts.failed is None else counts.failed}
    return pa.record_batch([_column(row[column.name], column.type) for column in SCHEMA], SCHEMA)


def _column(thing: Any, kind: pa.DataType) -> pa.Array:
    """Return a column of one row."""
    if not isinstance(thing, np.ndarray):
        return pa.array([thing], kind)
    return pa.ListArray.from_arrays([0, thing.size], pa.array(thing.ravel(), kind.value_type))


def chunks_of(table: pa.Table) -> list[Chunk]:
    """Return the chunks of rows that `row_of` made, in the order of their walks."""
    rows = (batch.slice(number, 1) for batch in table.to_batches() for number in range(batch.num_rows))
    return sorted(map(_chunk, rows), key=lambda chunk: chunk.first)


def _chunk(row: pa.RecordBatch) -> Chunk:
    things = {name: _thing(row.column(name)[0]) for name in row.schema.names}
    things["failed"] = None if things["failed"] < 0 else things["failed"]
    things["findings"] = things["findings"].reshape(-1, 3)
    things["row_visits"] = things["row_visits"].reshape(-1, ROW_COLUMNS)
    own = {part.name: things.pop(part.name) for part in fields(Chunk) if part.name in things}
    return Chunk(counts=WalkCounts(**things), **own)


def _thing(scalar: pa.Scalar) -> Any:
    return scalar.values.to_numpy() if isinstance(scalar, pa.ListScalar) else scalar.as_py()
