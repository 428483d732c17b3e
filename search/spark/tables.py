"""What walks on Spark leave behind: a folder with three Parquet tables, written whole or not at all.

Words: `chunks` has a row per range of walks, `findings` a row per walk and violated claim, `rules` a row per action
instance. The folder appears under its name when all three are complete; an older one of that name gives way.
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

from model.language import Model, UsageError
from search.spark.work import Chunk
from search.verdict import DEADLOCK
from search.walks.chunks import Walks

COUNTS = ("walks", "steps", "visits", "dead_ends", "quiet")
CHUNKS = pa.schema([("first", pa.int64()), ("seconds", pa.float64())] + [(name, pa.int64()) for name in COUNTS])
FINDINGS = pa.schema([("walk", pa.int64()), ("step", pa.int64()), ("claim", pa.dictionary(pa.int32(), pa.string()))])
RULES = pa.schema([("action", pa.string())] + [(name, pa.int64()) for name in ("enabled", "taken", "changed")])


class Tables:
    """The tables of a run while it goes on; `add` each chunk once."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.folder, self.model = folder, model
        self.claims = [*(claim.key for claim in model.claims), DEADLOCK]
        self.chunks = pq.ParquetWriter(folder / "chunks.parquet", CHUNKS)
        self.findings = pq.ParquetWriter(folder / "findings.parquet", FINDINGS)

    def add(self, chunk: Chunk) -> None:
        """Write what some walks counted and found."""
        walks = chunk.walks
        row = {"first": chunk.first, "seconds": chunk.seconds} | {name: getattr(walks, name) for name in COUNTS}
        self.chunks.write_table(pa.Table.from_pylist([row], CHUNKS))
        if len(walks.findings):
            walk, step, claim = np.ascontiguousarray(walks.findings.T)
            names = pa.DictionaryArray.from_arrays(claim.astype(np.int32), self.claims)
            self.findings.write_table(pa.table([walk, step, names], FINDINGS))

    def close(self, total: Walks) -> None:
        """Write the rules, and finish all tables."""
        keys = [instance.key for instance in self.model.instances]
        rules = pa.table([keys, total.enabled, total.taken, total.changed], RULES)
        pq.write_table(rules, self.folder / "rules.parquet")
        self.chunks.close()
        self.findings.close()

    def let_go(self) -> None:
        """Close what is still open, whatever comes of it."""
        for writer in (self.chunks, self.findings):
            with suppress(OSError):
                writer.close()
            writer.is_open = False  # after an error it would be closed again, and complain, when it is collected


def folder_name(model: Model, seed: int) -> str:
    """The name of the folder of a run: letters, digits, dots, dashes and underscores only."""
    return re.sub(r"[^\w.-]+", "_", f"walks-{model.scenario.name}-{model.variant}-{seed}", flags=re.ASCII)


@contextmanager
def tables_in(out: str | Path | None, model: Model, seed: int) -> Iterator[Tables | None]:
    """The tables of a run in folder `out`, complete when this ends; None without a folder.

    UsageError if they cannot be written; then, as after any other error, nothing is left.
    """
    if out is None:
        yield None
        return
    final = Path(out) / folder_name(model, seed)
    with _refusals(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".walks-", dir=final.parent))
    try:
        with _refusals(final):
            tables = Tables(aside, model)
            try:
                yield tables
            finally:
                tables.let_go()
            _put(aside, final)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put(aside: Path, final: Path) -> None:
    """Give a finished folder its name; an older one goes away only when the new one is complete."""
    aside.chmod(0o755)
    old = aside.with_name(aside.name + "-old")
    with suppress(FileNotFoundError):
        os.replace(final, old)
    os.replace(aside, final)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _refusals(final: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        message = f"Cannot write tables to {str(final)!r}: {why}. Free space, or give another folder."
        raise UsageError(message) from error
