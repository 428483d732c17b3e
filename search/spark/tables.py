"""The tables of walks on Spark: a folder with three Parquet files, which is written completely or not at all.

Words: `chunks` has a row per range of walks, `findings` a row per walk and violated property, `action_counts` a row per
action instance. The folder gets its name when all three are complete, and replaces an older one of that name. The
schema metadata contain the number of the format.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kwalk.model.language import Model, UsageError
from kwalk.search.executors.chunks import Chunk
from kwalk.search.results.verdict import DEADLOCK
from kwalk.search.simulation.chunks import WalkCounts

FORMAT = 2
"""The number of the format of the tables, in their schema metadata as `kwalk.format`."""
COUNTS = ("walks", "steps", "visits", "dead_ends", "quiescent")


def _schema(columns: list[tuple[str, pa.DataType]]) -> pa.Schema:
    return pa.schema(columns, {"kwalk.format": str(FORMAT)})


CHUNKS = _schema([("first", pa.int64()), ("seconds", pa.float64())] + [(name, pa.int64()) for name in COUNTS])
FINDINGS = _schema([("walk", pa.int64()), ("step", pa.int64()), ("property", pa.dictionary(pa.int32(), pa.string()))])
ACTION_COUNTS = _schema(
    [("action_instance", pa.string())] + [(name, pa.int64()) for name in ("enabled", "taken", "changed")]
)


class Tables:
    """The tables of a running simulation; `add` each chunk once."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.folder, self.model = folder, model
        self.properties = [*(prop.key for prop in model.properties), DEADLOCK]
        self.chunks = pq.ParquetWriter(folder / "chunks.parquet", CHUNKS)
        self.findings = pq.ParquetWriter(folder / "findings.parquet", FINDINGS)

    def add(self, chunk: Chunk) -> None:
        """Write what the walks of a chunk counted and found."""
        counts = chunk.counts
        row = {"first": chunk.first, "seconds": chunk.seconds} | {name: getattr(counts, name) for name in COUNTS}
        self.chunks.write_table(pa.Table.from_pylist([row], CHUNKS))
        if len(counts.findings):
            walk, step, prop = np.ascontiguousarray(counts.findings.T)
            names = pa.DictionaryArray.from_arrays(prop.astype(np.int32), self.properties)
            self.findings.write_table(pa.table([walk, step, names], FINDINGS))

    def close(self, total: WalkCounts) -> None:
        """Write the action counts, and finish all tables."""
        keys = [instance.key for instance in self.model.instances]
        table = pa.table([keys, total.enabled, total.taken, total.changed], ACTION_COUNTS)
        pq.write_table(table, self.folder / "action_counts.parquet")
        self.chunks.close()
        self.findings.close()

    def abandon(self) -> None:
        """Close what is still open, and ignore errors."""
        for writer in (self.chunks, self.findings):
            with suppress(OSError):
                writer.close()
            writer.is_open = False  # after an error, the garbage collector would close it again, and print the error


def folder_name(model: Model, seed: int) -> str:
    """Return the name of the folder of a run: letters, digits, dots, dashes and underscores only."""
    return re.sub(r"[^\w.-]+", "_", f"walks-{model.scenario.name}-{model.variant}-{seed}", flags=re.ASCII)


@contextmanager
def tables_in(out: str | Path | None, model: Model, seed: int) -> Iterator[Tables | None]:
    """Open the tables of a run in folder `out`, and give the folder its name at the end; None without a folder.

    After an error nothing is left. UsageError if the tables cannot be written.
    """
    if out is None:
        yield None
        return
    final = Path(out) / folder_name(model, seed)
    with _usage_errors(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".walks-", dir=final.parent))
    try:
        with _usage_errors(final):
            tables = Tables(aside, model)
            try:
                yield tables
            finally:
                tables.abandon()
            _put(aside, final)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put(aside: Path, final: Path) -> None:
    """Give a finished folder its name; an older one is removed only when the new one is complete."""
    aside.chmod(0o755)
    old = aside.with_name(aside.name + "-old")
    with suppress(FileNotFoundError):
        os.replace(final, old)
    os.replace(aside, final)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _usage_errors(final: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(
            f"Cannot write tables to {str(final)!r}: {why}. Free space, or give another folder."
        ) from error
