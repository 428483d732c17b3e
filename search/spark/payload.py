"""Payloads on their way to Spark's executors, and the functions that Spark runs there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa
from attrs import frozen
from pyspark.sql import SparkSession

from kwalk.search.executors.work import Round, TaskPayload, do_chunks
from kwalk.search.spark.packets import packet


class DamagedPayload(Exception):
    """An executor received another payload than the driver sent; nothing of it is loaded."""


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


def walker_of(payload: SentPayload, work: Round) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow`, from numbers of chunks to chunks."""

    def walker(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return walk_chunks(payload.received(), work, (n for batch in batches for n in batch.column(0).to_pylist()))

    return walker


def walk_chunks(packed: bytes, work: Round, chunks: Iterable[int]) -> Iterator[pa.RecordBatch]:
    """Do chunks in increasing order, and yield them merged, as one row."""
    done = do_chunks(packed, work, chunks)
    if done is not None:
        yield packet(work.group(done[0]), done[1])
