"""The manifest of a run: what it ran with, and how far its tasks are.

Words: a task is *waiting*, *running*, *complete*, *cut* (its time or the run ended before its walks were done) or
*failed*; a run is *running*, *complete*, *interrupted* or *failed*.
"""
from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pyspark
from attrs import define

from model.language import UsageError
from search.compile.machine_code import cpu
from search.nightly.config import Config
from search.nightly.folder import FORMAT, RunFolder
from search.nightly.plan import Task


def now() -> str:
    """The present moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def kwalk_version() -> str:
    """The installed version of kwalk."""
    try:
        return version("kwalk")
    except PackageNotFoundError:
        return "from source"


def _git(*words: str) -> str | None:
    """What git says of the present folder; None if there is no git, or no repository."""
    try:
        ran = subprocess.run(["git", *words], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout.strip()


@define
class Manifest:
    """A manifest on the disk: it is written anew whenever something in it changes."""

    folder: RunFolder
    content: dict[str, Any]

    def save(self) -> None:
        """Write it; CannotSave if the disk does not take it."""
        self.folder.save_manifest(self.content)

    def task(self, number: int) -> dict[str, Any]:
        """What it says of a task."""
        found: dict[str, Any] = self.content["tasks"][number]
        return found

    def set_task(self, number: int, state: str, why: str = "") -> None:
        """Note what has become of a task."""
        if (state, why) != (self.task(number)["state"], self.task(number)["why"]):
            self.task(number).update(state=state, why=why)
            self.save()

    def end(self, state: str, wall_seconds: float) -> None:
        """Note that the run has ended, and how."""
        before = self.content["wall_seconds"] or 0.0
        self.content.update(state=state, ended=now(), wall_seconds=round(before + wall_seconds, 3))
        self.save()


def begun(folder: RunFolder, config: Config, tasks: Sequence[Task]) -> Manifest:
    """The manifest of a run that begins now; where it runs is not known yet."""
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return Manifest(folder, {
        "format": FORMAT, "kwalk": kwalk_version(), "python": platform.python_version(), "spark": pyspark.__version__,
        "java": None, "platform": platform.platform(), "cpu": cpu(), "commit": _git("rev-parse", "HEAD"),
        "dirty": None if changes is None else bool(changes), "config": config.content, "config_sha256": config.digest,
        "seed": config.seed, "master": None, "cores": None, "started": now(), "ended": None, "wall_seconds": None,
        "state": "running", "resumed": [],
        "tasks": [{**task.identity, "state": "waiting", "why": ""} for task in tasks],
    })  # fmt: skip


def resumed(folder: RunFolder, content: dict[str, Any], tasks: Sequence[Task]) -> Manifest:
    """The manifest of a run that goes on; UsageError if it cannot be gone on with here."""
    place = str(folder.path)
    if content["kwalk"] != kwalk_version():
        raise UsageError(
            f"{place!r} was begun with kwalk {content['kwalk']}, and this is {kwalk_version()}: walks of both cannot "
            "be added up. Go on with that version, or start a new run."
        )
    for task, known in zip(tasks, content["tasks"], strict=True):
        changed = [name for name, value in task.identity.items() if known.get(name) != value]
        if changed:
            what = "the source of its model or of its language" if changed == ["fingerprint"] else ", ".join(changed)
            raise UsageError(
                f"{place!r} cannot be gone on with: task {task.number} ({task.name}) is another one by now ({what} "
                "changed). Go on with the sources of then, or start a new run."
            )
    again = Manifest(folder, content)
    again.content.update(state="running", ended=None, resumed=[*content["resumed"], now()])
    return again


def describe_place(manifest: Manifest, master: str, cores: int, java: str) -> None:
    """Note where the run runs, and save."""
    manifest.content.update(master=master, cores=cores, java=java, python=platform.python_version())
    manifest.save()


