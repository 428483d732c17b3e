"""The states of a distributed search on disk: a folder per level, in it a Parquet file per bucket that has states.

Words (see also `search.loops.levels`): a file has the states of one level and bucket, ordered by place, in columns
`word0`, `word1`, … (int64, the packed state) and `link` (int64). States are *numbered* by level, then by place, from 0:
the number says where a state is. All executors must see the folder under the same path.
"""
from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from model.language import KwalkError
from search.loops import levels
from search.loops.shelves import LEAST_WORDS
from search.nightly.files import save

ROWS = 1 << 16
"""States that are read at a time."""
ACCOUNT = "level.json"
"""The file of a level's folder by which the level counts."""

Sizes = Sequence[Sequence[int]]
"""How many states there are, by level and bucket."""


class Damaged(KwalkError):
    """A file of states that is missing, cut short or changed."""


@frozen
class Store:
    """Where the states of a search are, `words` words each."""

    folder: Path
    words: int
    numbers_are_spent: ClassVar[bool] = False
    """Parts of states have no numbers here that could run out."""

    @property
    def columns(self) -> list[str]:
        """The columns of a packed state."""
        return [f"word{number}" for number in range(self.words)]

    def level(self, depth: int) -> Path:
        """The folder of a level."""
        return self.folder / f"level-{depth:05}"

    def path(self, depth: int, bucket: int) -> Path:
        """The file of a level and bucket."""
        return self.level(depth) / f"bucket-{bucket:05}.parquet"

    def write(self, depth: int, bucket: int, rows: np.ndarray, links: np.ndarray) -> int:
        """Write the states of a level and bucket, in their order; the bytes of the file, which is there whole or not.

        The same states make the same file, so it does not matter if two executors write it.
        """
        columns = {name: rows[:, place].view(np.int64) for place, name in enumerate(self.columns)}
        table = pa.table({**columns, "link": links.view(np.int64)})
        final = self.path(depth, bucket)
        final.parent.mkdir(parents=True, exist_ok=True)
        aside = final.with_name(f".{uuid.uuid4().hex}.partial")
        try:
            with open(aside, "wb") as file:
                pq.write_table(table, file, row_group_size=ROWS, write_page_checksum=True, **self._encoding())
                file.flush()
                os.fsync(file.fileno())
            size = aside.stat().st_size
            os.replace(aside, final)
        finally:
            aside.unlink(missing_ok=True)
        return size

    def _encoding(self) -> dict[str, object]:
        """Words of long states have few values each; those of short ones are bits that differ in some bytes only."""
        if self.words >= LEAST_WORDS:
            return {"compression": "zstd", "compression_level": 1, "use_dictionary": self.columns}
        split = dict.fromkeys(self.columns, "BYTE_STREAM_SPLIT")
        return {"compression": "zstd", "compression_level": 1, "use_dictionary": False, "column_encoding": split}

    def rows(self, depth: int, bucket: int) -> Iterator[np.ndarray]:
        """The states of a level and bucket, uint64[n, words], some at a time; Damaged if the file is not whole."""
        for table in self._batches(depth, bucket, self.columns):
            yield self._packed(table)

    def _batches(self, depth: int, bucket: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        path = self.path(depth, bucket)
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                yield from file.iter_batches(ROWS, columns=columns, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise Damaged(f"{path} cannot be read ({str(error).splitlines()[0][:120]})") from error

    def _packed(self, batch: pa.RecordBatch) -> np.ndarray:
        """The states in a batch."""
        rows = np.empty((batch.num_rows, self.words), np.uint64)
        for place, name in enumerate(self.columns):
            rows[:, place] = batch.column(name).to_numpy().view(np.uint64)
        return rows

    def state(self, depth: int, bucket: int, position: int) -> tuple[np.ndarray, int]:
        """A state, uint64[words], and its link."""
        for batch in self._batches(depth, bucket, [*self.columns, "link"]):
            if position < batch.num_rows:
                one = batch.slice(position, 1)
                return self._packed(one)[0], int(one.column("link").to_numpy().view(np.uint64)[0])
            position -= batch.num_rows
        raise Damaged(f"{self.path(depth, bucket)} has too few rows")

    def near(self, depth: int, bucket: int, place: int) -> Iterator[tuple[np.ndarray, int]]:
        """The states of a bucket whose places begin as this one does, and their links."""
        for batch in self._batches(depth, bucket, [*self.columns, "link"]):
            rows = self._packed(batch)
            found = np.flatnonzero(places(rows) >> np.uint64(levels.INSTANCE_BITS) == place >> levels.INSTANCE_BITS)
            links = batch.column("link").to_numpy().view(np.uint64)
            yield from ((rows[number], int(links[number])) for number in found)

    def commit(self, depth: int, account: dict[str, Any]) -> None:
        """Let a level count from now on, with what is known when it is there. CannotSave if the disk does not."""
        text = json.dumps(account)
        self._settle(depth)
        save(self.level(depth) / ACCOUNT, json.dumps({"digest": _digest(text), "account": text}).encode())

    def committed(self) -> tuple[list[dict[str, Any]], str]:
        """The accounts of the levels 0, 1, … that count and are whole; and what is wrong with the next one, if any.

        All files are read for that.
        """
        accounts: list[dict[str, Any]] = []
        try:
            while (self.level(len(accounts)) / ACCOUNT).exists():
                accounts.append(self._whole(len(accounts)))
        except Damaged as error:
            return accounts, str(error)
        return accounts, ""

    def _whole(self, depth: int) -> dict[str, Any]:
        path = self.level(depth) / ACCOUNT
        try:
            both = json.loads(path.read_text(encoding="utf-8"))
            account: dict[str, Any] = json.loads(both["account"])
            whole = both["digest"] == _digest(both["account"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise Damaged(f"{path} cannot be read ({error})") from error
        if not whole:
            raise Damaged(f"{path} was changed")
        for bucket, count in enumerate(account["sizes"]):
            found = sum(batch.num_rows for batch in self._batches(depth, bucket, None)) if count else 0
            if found != count:
                raise Damaged(f"{self.path(depth, bucket)} has {found} rows, not {count}")
        return account

    def forget_from(self, depth: int) -> None:
        """Remove a level and all later ones."""
        for path in self.folder.glob("level-*"):
            if path.name >= self.level(depth).name:
                shutil.rmtree(path)

    def _settle(self, depth: int) -> None:
        """Let the names of a level's files be on the disk."""
        self.level(depth).mkdir(parents=True, exist_ok=True)
        for folder in (self.level(depth), self.folder):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def places(rows: np.ndarray) -> np.ndarray:
    """The places of packed states."""
    rows, made = np.ascontiguousarray(rows), np.empty(len(rows), np.uint64)
    levels.places(rows.ctypes.data, len(rows), rows.shape[1], made.ctypes.data)
    return made


def by_place(rows: np.ndarray) -> np.ndarray:
    """The order of packed states by place; of those that share one, by their words."""
    found = places(rows)
    order = np.argsort(found, kind="stable")
    if len(rows) and (np.diff(found[order]) == 0).any():
        order = np.lexsort((*rows.T[::-1], found))
    return order
