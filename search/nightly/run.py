"""Beginning a run, going on with one, and what came of it.

Words: a run's *answer* is the most serious one of its tasks.
"""
from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve, frozen

from model.language import UsageError
from search.interrupts import interrupts_noticed
from search.nightly.config import Config, config_from
from search.nightly.driver import Means, Night
from search.nightly.folder import MANIFEST, Damaged, RunFolder
from search.nightly.kernels import kernels_ahead
from search.nightly.manifest import Manifest, begun, describe_place, resumed
from search.nightly.plan import Task, tasks_of
from search.nightly.tables import ChunkRow, RunRow
from search.nightly.walking import LAST
from search.nightly.watch import Watch
from search.spark.session import spark_session
from search.verdict import Answer

SERIOUS = (Answer.VIOLATED, Answer.BAD_STABLE_STATE, Answer.DEADLOCK, Answer.UNDECIDED, Answer.HOLDS)
"""Answers, the most serious first."""


@frozen
class Place:
    """Where a run runs: on so many cores of this machine (None: all), or on a cluster."""

    workers: int | None = None
    master: str | None = None


@frozen
class Result:
    """What came of a run."""

    folder: Path
    rows: tuple[RunRow, ...]
    """Of all tasks that have ended or were cut short."""
    tasks: int
    state: str
    internal: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer:
        """The most serious answer; a task without one is undecided."""
        found = {Answer(row.answer) for row in self.rows}
        if len(self.rows) < self.tasks:
            found.add(Answer.UNDECIDED)
        return next(answer for answer in SERIOUS if answer in found)


def begin(config: Config, source: str, out: Path, place: Place, watch: Watch) -> Result:
    """Do a new run in folder `out`; `source` is where the configuration stands.

    UsageError before anything starts if something in it cannot be, or if the folder has a run already.
    """
    tasks = tasks_of(config, source)
    folder = RunFolder(out)
    if (out / MANIFEST).exists():
        again = f"Go on with it by --resume {out}, or name another folder with --out."
        raise UsageError(f"{str(out)!r} has a run already. {again}")
    with folder.locked():
        manifest = begun(folder, config, tasks)
        manifest.save()
        watch.remark(f"The run is in {out}")
        return _done(manifest, tasks, place, watch)


def go_on(out: Path, place: Place, watch: Watch, minutes: float | None = None) -> Result:
    """Go on with the run in a folder, to its end; `minutes` is a new budget of time for all of it.

    UsageError if there is none, or if it cannot be gone on with here.
    """
    folder = RunFolder(out)
    content = folder.manifest()
    config = config_from(_without_none(content["config"]), str(out / MANIFEST))
    config = config if minutes is None else evolve(config, minutes=minutes)
    tasks = tasks_of(config, str(out / MANIFEST))
    with folder.locked():
        manifest = resumed(folder, content, tasks)
        manifest.save()
        return _done(manifest, tasks, place, watch)


def _without_none(config: dict[str, object]) -> dict[str, object]:
    """A configuration as a file would have it: what is not said is not there."""
    tables = config["tasks"]
    assert isinstance(tables, list)
    entries = [{name: value for name, value in table.items() if value is not None} for table in tables]
    return {name: value for name, value in config.items() if value is not None} | {"tasks": entries}


def _done(manifest: Manifest, tasks: Sequence[Task], place: Place, watch: Watch) -> Result:
    """Do what is left of a run."""
    began, kept = time.monotonic(), _ended_before(manifest, tasks)
    left = [task for task in tasks if task.number not in kept]
    rows, internal, state = dict(kept), [], "complete"
    if left:
        with kernels_ahead(left) as kernels, interrupts_noticed(signal.SIGTERM) as interrupts:
            with spark_session(place.workers, place.master) as session:
                interrupts.arm()
                context = session.sparkContext
                java = context._jvm.java.lang.System.getProperty("java.version")
                describe_place(manifest, context.master, context.defaultParallelism, java)
                night = Night(manifest.folder, manifest, tasks, Means(session, kernels, interrupts, watch), rows=rows)
                night.go()
            state, internal = "interrupted" if interrupts.noticed else "complete", night.internal
    manifest.end(state, time.monotonic() - began)
    ended = tuple(rows[number] for number in sorted(rows))
    return Result(manifest.folder.path, ended, len(tasks), state, tuple(internal))


def _ended_before(manifest: Manifest, tasks: Sequence[Task]) -> dict[int, RunRow]:
    """The rows of the tasks that are complete, with every part of them whole."""
    rows: dict[int, RunRow] = {}
    for task in tasks:
        if manifest.task(task.number)["state"] == "complete":
            with suppress(Damaged):
                rows[task.number] = _whole(manifest.folder, task)
    return rows


def _whole(folder: RunFolder, task: Task) -> RunRow:
    """The row of a complete task; Damaged if something of it is missing."""
    (row,) = folder.read(RunRow, task.number)
    rounds, why = folder.whole_rounds(task.number, LAST)
    walks = sum(chunk.walks for number in rounds for chunk in folder.read(ChunkRow, task.number, number))
    if why or walks != row.walks:
        raise Damaged(why or f"task {task.number} has {walks:,} walks in its rounds, and should have {row.walks:,}")
    return row
