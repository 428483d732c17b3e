"""A level as a Spark job: its first half, a shuffle that brings each packet to its bucket, and its second half.

Words: a row between the halves is a bucket and either a packet for it, or the counts of its own frontier. Rows are as
large as possible, because the cost of Spark is per row. A level with a small frontier is done *locally*, without Spark.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pyarrow as pa
from attrs import frozen
from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kwalk.search.executors.work import TaskPayload, unpacked
from kwalk.search.kernel.interface import Kernel
from kwalk.search.spark.executors import POLL_SECONDS, SparkFailure, last_words
from kwalk.search.spark.exhaustive.level import BucketCounts, Expander, Level, TooManyCandidates, deduplicate
from kwalk.search.spark.payload import SentPayload, send

JOBS = "kwalk levels"
"""The name of the jobs, by which they are cancelled."""
PACKETS_SCHEMA = pa.schema([("bucket", pa.int32()), ("packet", pa.binary()), ("counts", pa.binary())])
RESULTS_SCHEMA = pa.schema(
    [("bucket", pa.int32()), ("states", pa.int64()), ("bytes", pa.int64()), ("counts", pa.binary())]
)
"""The result of the second half for a bucket: the new states (-1: too many candidates) and their bytes; or counts."""
SETTINGS = {
    # Packets have megabytes: a batch of ten thousand of them, which Spark would make, would not fit anywhere.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8",
}


@frozen
class LevelOutcome:
    """The result of a level: new states and bytes by bucket (states None: too many candidates in one), and counts."""

    states: tuple[int, ...] | None
    bytes: int
    counts: tuple[BucketCounts, ...]


def run_locally(kernel: Kernel, level: Level) -> LevelOutcome:
    """Do a level in this process."""
    packets: dict[int, list[np.ndarray]] = defaultdict(list)
    counts = []
    for bucket in range(level.buckets):
        expander = Expander(kernel, level, bucket)
        for target, records in expander.packets():
            packets[target].append(records)
        counts.append(expander.counts)
    try:
        made = [deduplicate(level, bucket, packets[bucket]) for bucket in range(level.buckets)]
    except TooManyCandidates:
        return LevelOutcome(None, 0, tuple(counts))
    return LevelOutcome(tuple(states for states, _ in made), sum(size for _, size in made), tuple(counts))


class LevelExecutors:
    """Executors that have the kernel, and a thread that communicates with them."""

    def __init__(self, session: SparkSession, kernel: Kernel, payload: TaskPayload) -> None:
        self.session, self.kernel = session.newSession(), kernel
        for name, value in SETTINGS.items():
            self.session.conf.set(name, value)
        self.payload = send(session, payload)
        self.thread = ThreadPoolExecutor(1)

    def close(self) -> None:
        """End the thread, and remove the kernel from the executors."""
        self.thread.shutdown()
        self.payload.broadcast.unpersist()

    def do(self, level: Level, report: Callable[[], bool]) -> LevelOutcome | None:
        """Do a level; None if it was cancelled because `report` returned False. SparkFailure if the job fails."""
        job, cancelled = self.thread.submit(self._run, level), False
        while not wait([job], POLL_SECONDS).done:
            if not cancelled and not report():
                cancelled = True
            if cancelled:
                self.session.sparkContext.cancelJobGroup(JOBS)
        if cancelled and job.exception() is not None:
            return None
        return _outcome(self.kernel, level, job.result())

    def _run(self, level: Level) -> pa.Table:
        self.session.sparkContext.setJobGroup(JOBS, f"depth {level.depth}", interruptOnCancel=True)
        buckets = self.session.range(0, level.buckets, 1, level.buckets)
        halfway = buckets.mapInArrow(first_half(self.payload, level), from_arrow_schema(PACKETS_SCHEMA))
        sorted_out = halfway.repartitionById(level.buckets, "bucket")
        done = sorted_out.mapInArrow(second_half(level), from_arrow_schema(RESULTS_SCHEMA))
        try:
            return done.toArrow()
        except (PySparkException, Py4JError) as error:
            raise SparkFailure(
                f"A Spark job failed: {last_words(error)} The levels before depth {level.depth + 1} are intact: "
                "resume from them with --resume."
            ) from error


def _outcome(kernel: Kernel, level: Level, table: pa.Table) -> LevelOutcome:
    states, size, counts = [0] * level.buckets, 0, []
    for row in table.to_pylist():
        if row["counts"] is not None:
            counts.append(BucketCounts.unpacked(kernel, row["counts"]))
        else:
            states[row["bucket"]] = row["states"]
            size += row["bytes"]
    return LevelOutcome(None if min(states) < 0 else tuple(states), size, tuple(counts))


def first_half(payload: SentPayload, level: Level) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow` from buckets to packets."""

    def expand(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel, _ = unpacked(payload.received())
        for batch in batches:
            for bucket in batch.column(0).to_pylist():
                expander = Expander(kernel, level, bucket)
                for target, records in expander.packets():
                    yield _halfway_row(target, records, None)
                yield _halfway_row(bucket, None, expander.counts.packed())

    return expand


def _halfway_row(bucket: int, records: np.ndarray | None, counts: bytes | None) -> pa.RecordBatch:
    packet = pa.nulls(1, pa.binary())
    if records is not None:
        ends = pa.py_buffer(np.array([0, records.nbytes], np.int32))
        packet = pa.Array.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(records)])
    return pa.record_batch([pa.array([bucket], pa.int32()), packet, pa.array([counts], pa.binary())], PACKETS_SCHEMA)


def second_half(level: Level) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow` from packets to results. Partition n has all rows of bucket n."""

    def collect(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        rows = iter(batches)
        counts: list[bytes] = []
        try:
            states, size = deduplicate(level, context.partitionId(), _packets(rows, counts))
        except TooManyCandidates:
            states, size = -1, 0
            deque(_packets(rows, counts), maxlen=0)  # Spark ends a worker that leaves some of its input unread
        first = {"bucket": context.partitionId(), "states": states, "bytes": size, "counts": None}
        rest = [{"bucket": None, "states": None, "bytes": None, "counts": packed} for packed in counts]
        yield pa.RecordBatch.from_pylist([first, *rest], RESULTS_SCHEMA)

    return collect


def _packets(batches: Iterable[pa.RecordBatch], counts: list[bytes]) -> Iterator[np.ndarray]:
    """Yield the records in rows; counts are appended to the list."""
    for batch in batches:
        for packet, packed in zip(batch.column("packet"), batch.column("counts"), strict=True):
            if packed.is_valid:
                counts.append(packed.as_py())
            else:
                records = np.frombuffer(packet.as_buffer(), np.uint8)
                yield (records if records.ctypes.data % 8 == 0 else records.copy()).view(np.uint64)
