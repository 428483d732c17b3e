"""Start or resume a run, and its result.

Words: the *answer* of a run is the most serious one of its tasks.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from kwalk.model.language import UsageError
from kwalk.search.base.signals import interrupts_noticed
from kwalk.search.night.config import Config, config_from
from kwalk.search.night.driver import Environment, NightlyRun, RunObserver, ahead_compiler
from kwalk.search.night.folder import (
    MANIFEST,
    Manifest,
    RunFolder,
    new_manifest,
    resumed_manifest,
    set_environment,
)
from kwalk.search.night.places import place_of
from kwalk.search.night.plan import NightlyTask, tasks_of
from kwalk.search.night.tables import RunRow
from kwalk.search.results.verdict import Answer

SERIOUS = (
    Answer.VIOLATED,
    Answer.BAD_STABLE_STATE,
    Answer.DEADLOCK,
    Answer.NOT_REACHABLE,
    Answer.CANNOT_FAIL,
    Answer.GAPS,
    Answer.UNDECIDED,
    Answer.HOLDS,
)
"""Answers, the most serious first."""


@frozen
class ExecutionTarget:
    """Where a run executes: in `workers` processes of this machine (None for one a core), or on a Spark `master`."""

    workers: int | None = None
    master: str | None = None


@frozen
class NightlyResult:
    """The result of a run."""

    folder: Path
    rows: tuple[RunRow, ...]
    """The rows of the tasks that have ended or were cut short."""
    tasks: int
    state: str
    internal: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer:
        """The most serious answer; a task without one is undecided. What is accepted is no bad news."""
        found = {_answer_beside(row) for row in self.rows}
        if len(self.rows) < self.tasks:
            found.add(Answer.UNDECIDED)
        return next(answer for answer in SERIOUS if answer in found)


def _answer_beside(row: RunRow) -> Answer:
    """Return the answer of a task beside what is accepted."""
    if not row.accepted:
        return Answer(row.answer)
    return Answer.UNDECIDED if row.why else Answer.HOLDS


def begin_run(config: Config, source: str, out: Path, target: ExecutionTarget, observer: RunObserver) -> NightlyResult:
    """Start a new run in folder `out`; `source` names the configuration in errors.

    Raises:
        UsageError: The configuration has an error, or the folder already has a run. Nothing has started then.
    """
    tasks = tasks_of(config, source)
    folder = RunFolder(out)
    if (out / MANIFEST).exists():
        again = f"Resume it with --resume {out}, or give another folder with --out."
        raise UsageError(f"{str(out)!r} already has a run. {again}")
    with folder.locked():
        manifest = new_manifest(folder, config, tasks)
        manifest.save()
        observer.note(f"The run is in {out}")
        return _done(manifest, tasks, target, observer)


def resume_run(
    out: Path, target: ExecutionTarget, observer: RunObserver, minutes: float | None = None
) -> NightlyResult:
    """Resume the run in a folder, to its end; `minutes` is a new time budget for all of it.

    Raises:
        UsageError: There is no run, or it cannot be resumed here.
    """
    folder = RunFolder(out)
    content = folder.manifest()
    config = config_from(_without_none(content["config"]), str(out / MANIFEST))
    config = config if minutes is None else evolve(config, minutes=minutes)
    tasks = tasks_of(config, str(out / MANIFEST))
    with folder.locked():
        manifest = resumed_manifest(folder, content, tasks)
        manifest.save()
        return _done(manifest, tasks, target, observer)


def _without_none(config: dict[str, object]) -> dict[str, object]:
    """Return a configuration without the settings that are None, as a file has it."""
    tables = config["tasks"]
    assert isinstance(tables, list)
    entries = [{name: value for name, value in table.items() if value is not None} for table in tables]
    return {name: value for name, value in config.items() if value is not None} | {"tasks": entries}


def _done(
    manifest: Manifest, tasks: Sequence[NightlyTask], target: ExecutionTarget, observer: RunObserver
) -> NightlyResult:
    """Run the tasks that are left."""
    began, complete = time.monotonic(), _ended_before(manifest, tasks)
    left = [task for task in tasks if task.number not in complete]
    rows, internal, state = dict(complete), [], "complete"
    if left:
        with ahead_compiler(left) as kernels, interrupts_noticed(signal.SIGTERM) as interrupts:
            with place_of(target.workers, target.master) as place:
                interrupts.arm()
                set_environment(manifest, place.cores, place.facts)
                environment = Environment(place, kernels, interrupts, observer)
                run = NightlyRun(manifest.folder, manifest, tasks, environment, rows=rows)
                run.run()
            state, internal = "interrupted" if interrupts.noticed else "complete", run.internal
    manifest.end(state, time.monotonic() - began)
    ended = tuple(rows[number] for number in sorted(rows))
    return NightlyResult(manifest.folder.path, ended, len(tasks), state, tuple(internal))


def _ended_before(manifest: Manifest, tasks: Sequence[NightlyTask]) -> dict[int, RunRow]:
    """Return the rows of the complete tasks of which every record is intact."""
    rows: dict[int, RunRow] = {}
    for task in tasks:
        records, why = manifest.folder.records(task.number)
        outcome = records[-1].outcome if records else None
        walks = sum(chunk.walks for record in records for chunk in record.chunks)
        is_complete = manifest.task(task.number)["state"] == "complete"
        if is_complete and not why and outcome is not None and outcome.walks == walks:
            rows[task.number] = outcome
    return rows
