"""Where a run is done: on processes of this machine, or on Spark (`kwalk.search.spark.place`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Protocol

from kwalk.model.language import Model
from kwalk.search.base.components import entry
from kwalk.search.base.options import CheckpointOptions
from kwalk.search.base.progress import Report
from kwalk.search.base.query import Query
from kwalk.search.base.worker_processes import process_pool
from kwalk.search.executors.processes import ProcessExecutors, WalkerProcesses
from kwalk.search.executors.work import Executors, TaskPayload
from kwalk.search.exhaustive.checkpoint import MANIFEST
from kwalk.search.exhaustive.interfaces import LevelDone
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Verdict


class ExecutionPlace(Protocol):
    """Where walks and searches are done."""

    facts: dict[str, str | None]
    """What the manifest says of it: `master`, `spark` and `java`."""

    @property
    def cores(self) -> int:
        """How many chunks are done at a time."""

    def executors(self, model: Model, payload: TaskPayload) -> AbstractContextManager[Executors]:
        """Return executors that have a payload."""

    def search(self, query: Query, folder: Path, save: Callable[[LevelDone], None], report: Report) -> Verdict:
        """Search exhaustively, with the states in a folder, from which a search that was killed continues.

        Args:
            query: The model and the properties, with the options of an exhaustive search.
            folder: The folder of the states.
            save: Receives the finished levels.
            report: Receives progress.
        """


def is_submitted() -> bool:
    """Return whether `spark-submit` started this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


@contextmanager
def place_of(workers: int | None, master: str | None) -> Iterator[ExecutionPlace]:
    """Yield the place of a run: Spark if a master is named or `spark-submit` started this process, else processes."""
    if master is not None or is_submitted():
        with entry("spark_place")(workers, master) as place:
            yield place
        return
    with process_pool() as pool:
        yield ThisMachine(WalkerProcesses(workers or os.cpu_count() or 1, pool))


class ThisMachine:
    """Processes of this machine; a search takes its turn in this process, with as many threads."""

    def __init__(self, processes: WalkerProcesses) -> None:
        self.processes = processes
        self.facts: dict[str, str | None] = {"master": "this machine", "spark": None, "java": None}

    @property
    def cores(self) -> int:
        """The number of processes."""
        return len(self.processes.walkers)

    def executors(self, model: Model, payload: TaskPayload) -> AbstractContextManager[Executors]:
        return nullcontext(ProcessExecutors(self.processes, payload))

    def search(self, query: Query, folder: Path, save: Callable[[LevelDone], None], report: Report) -> Verdict:
        checkpoint = CheckpointOptions(folder, resume=(folder / MANIFEST).exists())
        keywords = query.keywords(report, "seconds", "keep_going", "memory_bytes")
        verdict = exhaust(query.model, workers=self.cores, checkpoint=checkpoint, **keywords)
        states, generated = verdict.distinct_states or 0, verdict.generated_states or 0
        save(LevelDone(0, states, generated, states, verdict.seconds, 0))
        return verdict
