"""The folder of a run: a journal for each task, the manifest, traces and progress.

Words: a round *counts* if its line and all lines before it are intact. The *manifest* records what the run ran with and
the state of its tasks: *waiting*, *running*, *complete*, *cut* (its time or the run ended before its walks were done)
or *failed*. A run is *running*, *complete*, *interrupted* or *failed*.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import define

from kwalk.model.language import UsageError
from kwalk.model.language.distributions import kwalk_version
from kwalk.search.base.atomic_files import cannot_save, save
from kwalk.search.base.journal import Journal
from kwalk.search.native.processor import cpu
from kwalk.search.night.config import Config
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.tables import TaskRecord

MANIFEST, PROGRESS, PAGE, LOCK, TRACES = "manifest.json", "progress.jsonl", "index.html", ".lock", "traces"
TASKS = "tasks"
"""The folder of the journals."""
FORMAT = 4
"""The version of the layout of files and records; a change of them raises it."""


class RunFolder:
    """The folder of a run, for writing and reading."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def journal(self, task: int) -> Journal[TaskRecord]:
        """Return the journal of a task: its rounds in order, and then how it ended."""
        return Journal(self.path / TASKS / f"{task:04}.jsonl", TaskRecord, f"kwalk night {FORMAT}")

    def records(self, task: int) -> tuple[list[TaskRecord], str]:
        """Return the records of a task that count, and why the next one does not; "" if there is no next one."""
        counted: list[TaskRecord] = []
        for line in self.lines(task):
            if isinstance(line, str):
                return counted, line
            counted.append(line)
        return counted, ""

    def lines(self, task: int) -> Iterator[TaskRecord | str]:
        """Yield the record of each line, or why it does not count; a round does not after a gap."""
        for number, line in enumerate(self.journal(task).read()):
            is_gap = isinstance(line, TaskRecord) and line.round not in (None, number)
            yield f"round {number} of task {task} is missing" if is_gap else line

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
