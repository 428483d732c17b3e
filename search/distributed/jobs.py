"""A level as a Spark job: its first half, a shuffle that brings each packet to its bucket, and its second half.

Words: a row between the halves is a bucket and either a packet for it, or the account of its own frontier. It is as
large as fits, because Spark's cost is by the row. A level whose frontier is small is done without Spark, *at home*.
"""
from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import frozen
from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from search.distributed.absorbing import TooMany, absorb
from search.distributed.expanding import Account, Expander, Level
from search.kernel import Kernel
from search.spark.fleet import LOOK, SparkFailure, last_words
from search.spark.work import Parcel, unpacked

JOBS = "kwalk levels"
"""The name of our jobs, by which they are cancelled."""
HALFWAY = pa.schema([("bucket", pa.int32()), ("packet", pa.binary()), ("account", pa.binary())])
DONE = pa.schema([("bucket", pa.int32()), ("states", pa.int64()), ("bytes", pa.int64()), ("account", pa.binary())])
"""What a bucket's second half says: how many new states (-1: too many candidates) in how many bytes; or an account."""
SETTINGS = {
    # Packets have megabytes: a batch of ten thousand of them, which Spark would make, would not fit anywhere.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8",
}


@frozen
class Outcome:
    """What a level came to: the new states and bytes by bucket (states None: a bucket had too many), and accounts."""

    states: tuple[int, ...] | None
    bytes: int
    accounts: tuple[Account, ...]


def at_home(kernel: Kernel, level: Level) -> Outcome:
    """Do a level in this process."""
    packets: dict[int, list[np.ndarray]] = defaultdict(list)
    accounts = []
    for bucket in range(level.buckets):
        expander = Expander(kernel, level, bucket)
        for target, records in expander.packets():
            packets[target].append(records)
        accounts.append(expander.account)
    try:
        made = [absorb(level, bucket, packets[bucket]) for bucket in range(level.buckets)]
    except TooMany:
        return Outcome(None, 0, tuple(accounts))
    return Outcome(tuple(states for states, _ in made), sum(size for _, size in made), tuple(accounts))


class Fleet:
    """Executors that have the kernel, and a thread that talks to them."""

    def __init__(self, session: SparkSession, kernel: Kernel, parcel: Parcel) -> None:
        self.session, self.kernel = session.newSession(), kernel
        for name, value in SETTINGS.items():
            self.session.conf.set(name, value)
        self.parcel = session.sparkContext.broadcast(parcel.pack())
        self.thread = ThreadPoolExecutor(1)

    def close(self) -> None:
        """Let the executors forget the kernel."""
        self.thread.shutdown()
        self.parcel.unpersist()

    def do(self, level: Level, goes_on: Callable[[], bool]) -> Outcome | None:
        """Do a level; None if it was given up because it does not go on. SparkFailure if the job fails."""
        job, given_up = self.thread.submit(self._run, level), False
        while not wait([job], LOOK).done:
            if not given_up and not goes_on():
                given_up = True
            if given_up:
                self.session.sparkContext.cancelJobGroup(JOBS)
        if given_up and job.exception() is not None:
            return None
        return _outcome(self.kernel, level, job.result())

    def _run(self, level: Level) -> pa.Table:
        self.session.sparkContext.setJobGroup(JOBS, f"depth {level.depth}", interruptOnCancel=True)
        buckets = self.session.range(0, level.buckets, 1, level.buckets)
        halfway = buckets.mapInArrow(first_half(self.parcel, level), from_arrow_schema(HALFWAY))
        sorted_out = halfway.repartitionById(level.buckets, "bucket")
        done = sorted_out.mapInArrow(second_half(level), from_arrow_schema(DONE))
        try:
            return done.toArrow()
        except (PySparkException, Py4JError) as error:
            raise SparkFailure(
                f"A Spark job failed: {last_words(error)} The levels before depth {level.depth + 1} are whole: go on "
                "from them with --resume."
            ) from error


def _outcome(kernel: Kernel, level: Level, done: pa.Table) -> Outcome:
    states, size, accounts = [0] * level.buckets, 0, []
    for row in done.to_pylist():
        if row["account"] is not None:
            accounts.append(Account.unpacked(kernel, row["account"]))
        else:
            states[row["bucket"]] = row["states"]
            size += row["bytes"]
    return Outcome(None if min(states) < 0 else tuple(states), size, tuple(accounts))


def first_half(parcel: Any, level: Level) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow` from buckets to packets. `parcel` is a broadcast of packed bytes."""

    def expand(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel, _ = unpacked(parcel.value)
        for batch in batches:
            for bucket in batch.column(0).to_pylist():
                expander = Expander(kernel, level, bucket)
                for target, records in expander.packets():
                    yield _halfway(target, records, None)
                yield _halfway(bucket, None, expander.account.packed())

    return expand


def _halfway(bucket: int, records: np.ndarray | None, account: bytes | None) -> pa.RecordBatch:
    packet = pa.nulls(1, pa.binary())
    if records is not None:
        ends = pa.py_buffer(np.array([0, records.nbytes], np.int32))
        packet = pa.Array.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(records)])
    return pa.record_batch([pa.array([bucket], pa.int32()), packet, pa.array([account], pa.binary())], HALFWAY)


def second_half(level: Level) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow` from packets to what a bucket says. Partition n has all rows of bucket n."""

    def collect(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        rows = iter(batches)
        accounts: list[bytes] = []
        try:
            states, size = absorb(level, context.partitionId(), _packets(rows, accounts))
        except TooMany:
            states, size = -1, 0
            deque(_packets(rows, accounts), maxlen=0)  # Spark ends a worker that leaves some of its input unread
        said = {"bucket": context.partitionId(), "states": states, "bytes": size, "account": None}
        told = [{"bucket": None, "states": None, "bytes": None, "account": account} for account in accounts]
        yield pa.RecordBatch.from_pylist([said, *told], DONE)

    return collect


def _packets(batches: Iterable[pa.RecordBatch], accounts: list[bytes]) -> Iterator[np.ndarray]:
    """The records in rows; accounts that are met go to the list."""
    for batch in batches:
        for packet, account in zip(batch.column("packet"), batch.column("account"), strict=True):
            if account.is_valid:
                accounts.append(account.as_py())
            else:
                records = np.frombuffer(packet.as_buffer(), np.uint8)
                yield (records if records.ctypes.data % 8 == 0 else records.copy()).view(np.uint64)
