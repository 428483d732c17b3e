"""The states of a distributed search on disk: a folder for each level, with a Parquet file for each non-empty bucket.

Words (see also `level_loops`): a file has the states of one level and bucket, ordered by place, in columns `word0`,
`word1`, … (int64, the packed state) and `link` (int64). States are *numbered* from 0 by level, then by place, so that
the number gives the position of a state. All executors must see the folder under the same path.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from kwalk.model.language import KwalkError
from kwalk.search.base.atomic_files import replacing, save, sync_folder
from kwalk.search.spark.exhaustive import level_loops as levels
from kwalk.search.visited.tree_compression import LEAST_WORDS

ROWS = 1 << 16
"""States that are read at a time."""
LEVEL_FILE = "level.json"
"""The manifest of a level; it commits the level."""

Sizes = Sequence[Sequence[int]]
"""The number of states by level and bucket."""


class DamagedStates(KwalkError):
    """A file of states is missing, truncated or changed."""


@frozen
class Store:
    """The states of a search, `words` words each, in a folder."""

    folder: Path
    words: int
    numbers_exhausted: ClassVar[bool] = False
    """There are no 32-bit numbers here that could be used up."""

    @property
    def columns(self) -> list[str]:
        """The columns of a packed state."""
        return [f"word{number}" for number in range(self.words)]

    def level(self, depth: int) -> Path:
        """Return the folder of a level."""
        return self.folder / f"level-{depth:05}"

    def path(self, depth: int, bucket: int) -> Path:
        """Return the file of a level and bucket."""
        return self.level(depth) / f"bucket-{bucket:05}.parquet"

    def write(self, depth: int, bucket: int, rows: np.ndarray, links: np.ndarray) -> int:
        """Write the states of a level and bucket, uint64[n, words], in their order; return the bytes of the file.

        The same states make the same file, so that two executors may write it at once.
        """
        columns = {name: rows[:, place].view(np.int64) for place, name in enumerate(self.columns)}
        table = pa.table({**columns, "link": links.view(np.int64)})
        final = self.path(depth, bucket)
        final.parent.mkdir(parents=True, exist_ok=True)
        with replacing(final, shared=True) as file:
            pq.write_table(table, file, row_group_size=ROWS, write_page_checksum=True, **self._encoding())
        return final.stat().st_size

    def _encoding(self) -> dict[str, object]:
        """Return the encoding: words of long states have few values; those of short ones differ in some bytes."""
        if self.words >= LEAST_WORDS:
            return {"compression": "zstd", "compression_level": 1, "use_dictionary": self.columns}
        split = dict.fromkeys(self.columns, "BYTE_STREAM_SPLIT")
        return {"compression": "zstd", "compression_level": 1, "use_dictionary": False, "column_encoding": split}

    def rows(self, depth: int, bucket: int) -> Iterator[np.ndarray]:
        """Yield the states of a level and bucket, uint64[n, words], in batches, or raise DamagedStates."""
        for table in self._batches(depth, bucket, self.columns):
            yield self._packed(table)

    def _batches(self, depth: int, bucket: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        path = self.path(depth, bucket)
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                yield from file.iter_batches(ROWS, columns=columns, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise DamagedStates(f"{path} cannot be read ({str(error).splitlines()[0][:120]})") from error

    def _packed(self, batch: pa.RecordBatch) -> np.ndarray:
        """Return the states in a batch."""
        rows = np.empty((batch.num_rows, self.words), np.uint64)
        for place, name in enumerate(self.columns):
            rows[:, place] = batch.column(name).to_numpy().view(np.uint64)
        return rows

    def state(self, depth: int, bucket: int, position: int) -> tuple[np.ndarray, int]:
        """Return a state, uint64[words], and its link."""
        for batch in self._batches(depth, bucket, [*self.columns, "link"]):
            if position < batch.num_rows:
                one = batch.slice(position, 1)
                return self._packed(one)[0], int(one.column("link").to_numpy().view(np.uint64)[0])
            position -= batch.num_rows
        raise DamagedStates(f"{self.path(depth, bucket)} has too few rows")

    def near(self, depth: int, bucket: int, place: int) -> Iterator[tuple[np.ndarray, int]]:
        """Yield the states of a bucket whose places have the same leading bits, and their links."""
        for batch in self._batches(depth, bucket, [*self.columns, "link"]):
            rows = self._packed(batch)
            found = np.flatnonzero(places(rows) >> np.uint64(levels.INSTANCE_BITS) == place >> levels.INSTANCE_BITS)
            links = batch.column("link").to_numpy().view(np.uint64)
            yield from ((rows[number], int(links[number])) for number in found)

    def commit(self, depth: int, manifest: dict[str, Any]) -> None:
        """Commit a level with its manifest. CannotSave if the disk refuses."""
        text = json.dumps(manifest)
        self.level(depth).mkdir(parents=True, exist_ok=True)
        for folder in (self.level(depth), self.folder):
            sync_folder(folder)
        save(self.level(depth) / LEVEL_FILE, json.dumps({"digest": _digest(text), "manifest": text}).encode())

    def committed(self) -> tuple[list[dict[str, Any]], str]:
        """Return the manifests of the committed, intact levels 0, 1, …, and what is wrong with the next one, or "".

        All files are read.
        """
        manifests: list[dict[str, Any]] = []
        try:
            while (self.level(len(manifests)) / LEVEL_FILE).exists():
                manifests.append(self._whole(len(manifests)))
        except DamagedStates as error:
            return manifests, str(error)
        return manifests, ""

    def _whole(self, depth: int) -> dict[str, Any]:
        path = self.level(depth) / LEVEL_FILE
        try:
            both = json.loads(path.read_text(encoding="utf-8"))
            manifest: dict[str, Any] = json.loads(both["manifest"])
            whole = both["digest"] == _digest(both["manifest"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DamagedStates(f"{path} cannot be read ({error})") from error
        if not whole:
            raise DamagedStates(f"{path} was changed")
        for bucket, count in enumerate(manifest["sizes"]):
            found = sum(batch.num_rows for batch in self._batches(depth, bucket, None)) if count else 0
            if found != count:
                raise DamagedStates(f"{self.path(depth, bucket)} has {found} rows, not {count}")
        return manifest

    def forget_from(self, depth: int) -> None:
        """Remove a level and all later ones."""
        for path in self.folder.glob("level-*"):
            if path.name >= self.level(depth).name:
                shutil.rmtree(path)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def places(rows: np.ndarray) -> np.ndarray:
    """Return the places of packed states, uint64[n]."""
    rows, made = np.ascontiguousarray(rows), np.empty(len(rows), np.uint64)
    levels.places(rows.ctypes.data, len(rows), rows.shape[1], made.ctypes.data)
    return made


def by_place(rows: np.ndarray) -> np.ndarray:
    """Return the order of packed states by place, and by their words where places are equal."""
    found = places(rows)
    order = np.argsort(found, kind="stable")
    if len(rows) and (np.diff(found[order]) == 0).any():
        order = np.lexsort((*rows.T[::-1], found))
    return order
