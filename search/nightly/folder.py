"""The folder of a run: Parquet parts, a manifest, traces, and progress; and which rounds in it count.

Words: the *last part* of a round is written when all its others are on the disk, and names them with their digests. A
round *counts* if its last part is there and all of them are whole: so a round is saved at one moment, or not at all.
"""
from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from model.language import UsageError
from search.nightly.files import refusal, save
from search.nightly.tables import SCHEMAS, TABLES, rows_of, table_of

MANIFEST, PROGRESS, PAGE, LOCK, TRACES = "manifest.json", "progress.jsonl", "index.html", ".lock", "traces"
PARTS, ROWS = b"kwalk.parts", b"kwalk.rows"
"""The keys under which a last part names the others with their digests, and any part how many rows it has."""

Row = TypeVar("Row")


class Damaged(Exception):
    """A part that is missing, cut short or changed; the round that it is of has to be done again."""


def part_name(table: str, task: int, round: int | None) -> str:
    """The path of a part in its run; tables of ended tasks have no round."""
    return f"{table}/{task:04}.parquet" if round is None else f"{table}/{task:04}-{round:06}.parquet"


class RunFolder:
    """A folder that a run writes to, or that somebody reads."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # Parts.

    def save_round(self, task: int, round: int, tables: Mapping[str, Sequence[Any]], last: str) -> None:
        """Write the parts of a round, table `last` at the end; CannotSave if the disk does not take them."""
        digests = {}
        for table, rows in tables.items():
            if table != last:
                name = part_name(table, task, round)
                content = _parquet(table, rows, {})
                save(self.path / name, content)
                digests[name] = hashlib.sha256(content).hexdigest()
        content = _parquet(last, tables[last], {PARTS: json.dumps(digests).encode()})
        save(self.path / part_name(last, task, round), content)

    def save_run(self, row: Any) -> None:
        """Write the row of a task that has ended; CannotSave if the disk does not take it."""
        save(self.path / part_name("runs", row.task, None), _parquet("runs", [row], {}))

    def rounds(self, task: int, last: str) -> list[int]:
        """The numbers of the rounds that have a last part of that table, whole or not, in order."""
        found = (self.path / last).glob(f"{task:04}-*.parquet")
        return sorted(int(number) for path in found if (number := path.stem.partition("-")[2]).isdigit())

    def check_round(self, task: int, round: int, last: str) -> None:
        """Damaged if a round does not count."""
        name = part_name(last, task, round)
        metadata = self._read(name, last).schema.metadata or {}
        try:
            digests: dict[str, str] = json.loads(metadata[PARTS])
        except (KeyError, ValueError) as error:
            raise Damaged(f"{name} does not name the other parts of its round") from error
        for other, digest in digests.items():
            try:
                content = (self.path / other).read_bytes()
            except OSError as error:
                raise Damaged(f"{other} cannot be read ({(error.strerror or str(error)).lower()})") from error
            if hashlib.sha256(content).hexdigest() != digest:
                raise Damaged(f"{other} has other bytes than were written")

    def whole_rounds(self, task: int, last: str) -> tuple[list[int], str]:
        """The rounds 0, 1, … of a task that count, and what is wrong with the one after them; "" if nothing is."""
        whole: list[int] = []
        for number in self.rounds(task, last):
            if number != len(whole):
                return whole, f"{part_name(last, task, len(whole))} is missing"
            try:
                self.check_round(task, number, last)
            except Damaged as error:
                return whole, str(error)
            whole.append(number)
        return whole, ""

    def read(self, kind: type[Row], task: int, round: int | None = None) -> list[Row]:
        """The rows of a part; Damaged if it is not whole."""
        table = next(name for name, rows in TABLES.items() if rows is kind)
        return rows_of(kind, self._read(part_name(table, task, round), table))

    def _read(self, name: str, table: str) -> pa.Table:
        try:
            found = pq.read_table(self.path / name, page_checksum_verification=True, partitioning=None)
            rows = int((found.schema.metadata or {})[ROWS])
        except FileNotFoundError as error:
            raise Damaged(f"{name} is missing") from error
        except (OSError, KeyError, ValueError, pa.ArrowException) as error:
            raise Damaged(f"{name} cannot be read ({str(error).splitlines()[0][:120]})") from error
        if found.num_rows != rows or not found.schema.equals(SCHEMAS[table]):
            raise Damaged(f"{name} has {found.num_rows} rows or other columns than were written")
        return found

    def forget_from(self, task: int, round: int) -> None:
        """Remove the parts of a round and of all later ones, the last ones first, and what was said at the end."""
        names = [name for name in TABLES if name != "runs"]
        for table in sorted(names, key=lambda name: name not in ("chunks", "levels")):
            for number in self.rounds(task, table):
                if number >= round:
                    (self.path / part_name(table, task, number)).unlink(missing_ok=True)
        (self.path / part_name("runs", task, None)).unlink(missing_ok=True)

    # Other files.

    def save_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write what the run is; CannotSave if the disk does not take it."""
        save(self.path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())

    def manifest(self) -> dict[str, Any]:
        """What the run is; UsageError if this is no folder of a run, or of another format."""
        place = self.path / MANIFEST
        try:
            found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
            known = found["format"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            why = f"{str(place)!r} cannot be read as a manifest ({error})"
            raise UsageError(f"{why}. Name the folder that `kwalk nightly` named at its start.") from error
        if known != FORMAT:
            raise UsageError(f"{str(place)!r} is of format {known}, not {FORMAT}. Use the kwalk that wrote it.")
        return found

    def say(self, moment: Mapping[str, Any]) -> None:
        """Append a line to the file of progress, for others to follow; CannotSave if the disk does not take it."""
        try:
            with open(self.path / PROGRESS, "a", encoding="utf-8") as file:
                file.write(json.dumps(moment) + "\n")
        except OSError as error:
            raise refusal(self.path / PROGRESS, error) from error

    def save_trace(self, task: int, cluster: str, text: str) -> Path:
        """Write the trace of a cluster; CannotSave if the disk does not take it."""
        path = self.path / TRACES / f"{task:04}-{cluster}.itf.json"
        save(path, text.encode())
        return path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the folder, made if need be, for one process; UsageError if another has it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise refusal(self.path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise UsageError(f"Another kwalk writes to {str(self.path)!r}. Wait, or name another.") from error
        try:
            yield
        finally:
            os.close(handle)


FORMAT = 1
"""To be raised when files are laid out otherwise."""


def _parquet(table: str, rows: Sequence[Any], more: Mapping[bytes, bytes]) -> bytes:
    made = table_of(table, rows)
    named = made.replace_schema_metadata({ROWS: str(len(rows)).encode(), **more})
    buffer = io.BytesIO()
    pq.write_table(named, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()
