"""The folder of a run: Parquet parts, the manifest, traces and progress.

Words: the *last part* of a round is written after all others, and names them with their digests. A round *counts* if
its last part exists and all of its parts are intact; so a round is saved atomically. The *manifest* records what the
run ran with and the state of its tasks: *waiting*, *running*, *complete*, *cut* (its time or the run ended before its
walks were done) or *failed*. A run is *running*, *complete*, *interrupted* or *failed*.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import define

from kwalk.model.language import UsageError
from kwalk.model.language.distributions import kwalk_version
from kwalk.search.base.atomic_files import cannot_save, save
from kwalk.search.native.processor import cpu
from kwalk.search.night.config import Config
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.tables import SCHEMAS, TABLES, rows_of, table_of

MANIFEST, PROGRESS, PAGE, LOCK, TRACES = "manifest.json", "progress.jsonl", "index.html", ".lock", "traces"
PARTS, ROWS = b"kwalk.parts", b"kwalk.rows"
"""Metadata keys: the other parts of a round with their digests (last part only), and the number of rows."""

Row = TypeVar("Row")


class DamagedPart(Exception):
    """A part is missing, truncated or changed; its round must be repeated."""


def part_name(table: str, task: int, round: int | None) -> str:
    """Return the path of a part in its run; tables of ended tasks have no round."""
    return f"{table}/{task:04}.parquet" if round is None else f"{table}/{task:04}-{round:06}.parquet"


class RunFolder:
    """The folder of a run, for writing and reading."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # Parts.

    def save_round(self, task: int, round: int, tables: Mapping[str, Sequence[Any]], last: str) -> None:
        """Write the parts of a round, the one of table `last` at the end.

        Raises:
            CannotSave: The file cannot be written.
        """
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
        """Write the row of a task that has ended.

        Raises:
            CannotSave: The file cannot be written.
        """
        save(self.path / part_name("runs", row.task, None), _parquet("runs", [row], {}))

    def rounds(self, task: int, last: str) -> list[int]:
        """Return the numbers of the rounds with a last part of that table, intact or not, in order."""
        found = (self.path / last).glob(f"{task:04}-*.parquet")
        return sorted(int(number) for path in found if (number := path.stem.partition("-")[2]).isdigit())

    def check_round(self, task: int, round: int, last: str) -> None:
        """Raise DamagedPart if a round does not count."""
        name = part_name(last, task, round)
        metadata = self._read(name, last).schema.metadata or {}
        try:
            digests: dict[str, str] = json.loads(metadata[PARTS])
        except (KeyError, ValueError) as error:
            raise DamagedPart(f"{name} does not name the other parts of its round") from error
        for other, digest in digests.items():
            try:
                content = (self.path / other).read_bytes()
            except OSError as error:
                raise DamagedPart(f"{other} cannot be read ({(error.strerror or str(error)).lower()})") from error
            if hashlib.sha256(content).hexdigest() != digest:
                raise DamagedPart(f"{other} has other bytes than were written")

    def complete_rounds(self, task: int, last: str) -> tuple[list[int], str]:
        """Return the first rounds that count, and why the next one does not; "" if there is no next one."""
        whole: list[int] = []
        for number in self.rounds(task, last):
            if number != len(whole):
                return whole, f"{part_name(last, task, len(whole))} is missing"
            try:
                self.check_round(task, number, last)
            except DamagedPart as error:
                return whole, str(error)
            whole.append(number)
        return whole, ""

    def read(self, kind: type[Row], task: int, round: int | None = None) -> list[Row]:
        """Return the rows of a part; DamagedPart if it is not intact."""
        table = next(name for name, rows in TABLES.items() if rows is kind)
        return rows_of(kind, self._read(part_name(table, task, round), table))

    def _read(self, name: str, table: str) -> pa.Table:
        try:
            found = pq.read_table(self.path / name, page_checksum_verification=True, partitioning=None)
            rows = int((found.schema.metadata or {})[ROWS])
        except FileNotFoundError as error:
            raise DamagedPart(f"{name} is missing") from error
        except (OSError, KeyError, ValueError, pa.ArrowException) as error:
            raise DamagedPart(f"{name} cannot be read ({str(error).splitlines()[0][:120]})") from error
        if found.num_rows != rows or not found.schema.equals(SCHEMAS[table]):
            raise DamagedPart(f"{name} has {found.num_rows} rows or other columns than were written")
        return found

    def remove_from(self, task: int, round: int) -> None:
        """Remove a round and all later ones, last parts first, and the row of the ended task."""
        names = [name for name in TABLES if name != "runs"]
        for table in sorted(names, key=lambda name: name not in ("chunks", "levels")):
            for number in self.rounds(task, table):
                if number >= round:
                    (self.path / part_name(table, task, number)).unlink(missing_ok=True)
        (self.path / part_name("runs", task, None)).unlink(missing_ok=True)

    # Other files.

    def save_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest.

        Raises:
            CannotSave: The file cannot be written.
        """
        save(self.path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())

    def manifest(self) -> dict[str, Any]:
        """Return the manifest.

        Raises:
            UsageError: There is no manifest, or it has another format.
        """
        place = self.path / MANIFEST
        try:
            found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
            known = found["format"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            why = f"{str(place)!r} is not a readable manifest ({error})"
            raise UsageError(f"{why}. Give the folder that `kwalk nightly` printed at its start.") from error
        if known != FORMAT:
            raise UsageError(
                f"{str(place)!r} has format {known}, not {FORMAT}. Use the kwalk that wrote it, or start a new run."
            )
        return found

    def append_progress(self, event: Mapping[str, Any]) -> None:
        """Append a line to the progress file.

        Raises:
            CannotSave: The file cannot be written.
        """
        try:
            with open(self.path / PROGRESS, "a", encoding="utf-8") as file:
                file.write(json.dumps(event) + "\n")
        except OSError as error:
            raise cannot_save(self.path / PROGRESS, error) from error

    def save_trace(self, task: int, group: str, text: str) -> Path:
        """Write the trace of a group.

        Raises:
            CannotSave: The file cannot be written.
        """
        path = self.path / TRACES / f"{task:04}-{group}.itf.json"
        save(path, text.encode())
        return path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder if it is missing, and lock it for this process.

        Raises:
            UsageError: Another process has the lock.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise cannot_save(self.path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise UsageError(
                f"Another kwalk process writes to {str(self.path)!r}. Wait, or give another folder."
            ) from error
        try:
            yield
        finally:
            os.close(handle)


FORMAT = 3
"""The version of the layout of files and columns; a change of them raises it."""


def _parquet(table: str, rows: Sequence[Any], more: Mapping[bytes, bytes]) -> bytes:
    made = table_of(table, rows)
    named = made.replace_schema_metadata({ROWS: str(len(rows)).encode(), **more})
    buffer = io.BytesIO()
    pq.write_table(named, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


def now() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git(*words: str) -> str | None:
    """Return the output of git in the current folder; None without git or repository."""
    try:
        ran = subprocess.run(["git", *words], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout.strip()


@define
class Manifest:
    """A manifest; it is written to disk whenever it changes."""

    folder: RunFolder
    content: dict[str, Any]

    def save(self) -> None:
        """Write the manifest to disk.

        Raises:
            CannotSave: The file cannot be written.
        """
        self.folder.save_manifest(self.content)

    def task(self, number: int) -> dict[str, Any]:
        """Return the entry of a task."""
        found: dict[str, Any] = self.content["tasks"][number]
        return found

    def set_task(self, number: int, state: str, why: str = "") -> None:
        """Record the state of a task."""
        if (state, why) != (self.task(number)["state"], self.task(number)["why"]):
            self.task(number).update(state=state, why=why)
            self.save()

    def end(self, state: str, wall_seconds: float) -> None:
        """Record that the run has ended, and its state."""
        before = self.content["wall_seconds"] or 0.0
        self.content.update(state=state, ended=now(), wall_seconds=round(before + wall_seconds, 3))
        self.save()


def new_manifest(folder: RunFolder, config: Config, tasks: Sequence[NightlyTask]) -> Manifest:
    """Return the manifest of a new run, without its environment."""
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return Manifest(
        folder,
        {
            "format": FORMAT,
            "kwalk": kwalk_version(),
            "python": platform.python_version(),
            "spark": None,
            "java": None,
            "platform": platform.platform(),
            "cpu": cpu(),
            "commit": _git("rev-parse", "HEAD"),
            "dirty": None if changes is None else bool(changes),
            "config": config.content,
            "config_sha256": config.digest,
            "seed": config.seed,
            "master": None,
            "cores": None,
            "started": now(),
            "ended": None,
            "wall_seconds": None,
            "state": "running",
            "resumed": [],
            "tasks": [{**task.identity, "state": "waiting", "why": ""} for task in tasks],
        },
    )


def resumed_manifest(folder: RunFolder, content: dict[str, Any], tasks: Sequence[NightlyTask]) -> Manifest:
    """Return the manifest of a resumed run.

    Raises:
        UsageError: The run cannot be resumed by this version, or a task has changed.
    """
    place = str(folder.path)
    if content["kwalk"] != kwalk_version():
        raise UsageError(
            f"{place!r} was begun with kwalk {content['kwalk']}, and this is {kwalk_version()}: their walks cannot be "
            "added. Resume it with that version, or start a new run."
        )
    for task, known in zip(tasks, content["tasks"], strict=True):
        changed = [name for name, value in task.identity.items() if known.get(name) != value]
        if changed:
            what = "the source of its model or of its language" if changed == ["fingerprint"] else ", ".join(changed)
            raise UsageError(
                f"{place!r} cannot be resumed: task {task.number} ({task.name}) has changed ({what}). Resume it "
                "with the sources of that time, or start a new run."
            )
    again = Manifest(folder, content)
    again.content.update(state="running", ended=None, resumed=[*content["resumed"], now()])
    return again


def set_environment(manifest: Manifest, cores: int, facts: Mapping[str, str | None]) -> None:
    """Record where the run is done (`master`, `spark`, `java`) and on how many cores, and save."""
    manifest.content.update(facts, cores=cores, python=platform.python_version())
    manifest.save()
