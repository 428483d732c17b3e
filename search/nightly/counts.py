"""What the walks of a task have counted, as rows of tables, and as one Arrow stream that a resumed run goes on from."""
from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import frozen

from model.language import Claim, Model
from search.nightly.folder import Damaged
from search.nightly.tables import ChunkRow, CoverageRow, RuleRow
from search.spark.work import Chunk, chunks_of, row_of
from search.verdict import DEADLOCK
from search.walks.chunks import Walks
from search.walks.sketch import distinct, merged

MORE = b"kwalk.more"
"""The key of what belongs to the counts of a stream besides."""


@frozen
class Sum:
    """What all rounds of a task so far amount to."""

    walks: Walks
    seconds: float = 0.0
    """Wall time of the rounds."""
    cpu: float = 0.0
    """CPU seconds of the executors."""
    minimized: int = 0
    """Findings that were minimized."""

    def pack(self) -> bytes:
        """As an Arrow stream."""
        batch = row_of(Chunk(0, self.seconds, self.walks.with_findings(0), self.cpu))
        batch = batch.replace_schema_metadata({MORE: json.dumps({"minimized": self.minimized}).encode()})
        buffer = io.BytesIO()
        with pa.ipc.new_stream(buffer, batch.schema) as stream:
            stream.write_batch(batch)
        return buffer.getvalue()


def unpacked_sum(content: bytes | None) -> Sum:
    """What `Sum.pack` packed; Damaged if it is anything else."""
    try:
        table = pa.ipc.open_stream(content or b"").read_all()
        (chunk,) = chunks_of(table)
        more: Mapping[str, Any] = json.loads(table.schema.metadata[MORE])
        return Sum(chunk.walks, chunk.seconds, chunk.cpu, int(more["minimized"]))
    except (pa.ArrowException, OSError, LookupError, ValueError, TypeError) as error:
        raise Damaged(f"the counts of a round cannot be read ({str(error).splitlines()[0][:120]})") from error


def chunk_rows(chunks: Sequence[Chunk], place: tuple[int, int], sketch: np.ndarray, done: Sum) -> list[ChunkRow]:
    """The rows of a round; `place` is the task and the round, `sketch` of what came before it, `done` the sum after."""
    rows = []
    for chunk in chunks:
        counts = {name: getattr(chunk.walks, name) for name in ("walks", "steps", "visits", "dead_ends", "quiet")}
        sketch, last = merged(sketch, chunk.walks.sketch), chunk is chunks[-1]
        rows.append(ChunkRow(
            task=place[0], round=place[1], first=chunk.first, seconds=chunk.cpu, host=chunk.host,
            distinct=distinct(sketch), sketch=done.walks.sketch.tobytes() if last else None,
            merged=done.pack() if last else None, **counts,
        ))  # fmt: skip
    return rows


def rule_rows(model: Model, walks: Walks, place: tuple[int, int]) -> list[RuleRow]:
    """How often each instance was enabled, taken, and changed something, in one round."""
    counts = zip(walks.enabled.tolist(), walks.taken.tolist(), walks.changed.tolist(), strict=True)
    with model.active():
        return [
            RuleRow(*place, instance.key, instance.action.name, instance.actor, *three)
            for instance, three in zip(model.instances, counts, strict=True)
        ]


def coverage_rows(model: Model, claims: Sequence[Claim], walks: Walks, place: tuple[int, int]) -> list[CoverageRow]:
    """How often each claim could have failed, and did, in one round."""
    rows = [
        CoverageRow(*place, c.key, c.invariant.name, int(walks.premises[c.index]), int(walks.seen[c.index]))
        for c in claims
    ]
    if model.scenario.deadlock_is_error:
        rows.append(CoverageRow(*place, DEADLOCK, DEADLOCK, walks.visits, int(walks.seen[-1])))
    return rows
