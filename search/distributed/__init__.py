"""Exhaustive search on Spark, level by level, with states on disk instead of in memory.

Words: *partitions* are the buckets that states are in, by hash. A level has as many tasks, and the new states of one
must fit into the memory of a task. What is found does not depend on how many there are.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

from model.language import Claim, Model
from search.checkpoint import Checkpoint
from search.compile import compiled, kernel_of
from search.compile.machine_code import cpu
from search.distributed.exploration import FEW, Exploration, LevelDone, Means
from search.distributed.jobs import Fleet
from search.exhaust import Conclusion
from search.exploration import Wish
from search.fairness import without_liveness
from search.interrupts import interrupts_noticed
from search.progress import Report, silent
from search.spark.session import spark_session
from search.spark.work import Parcel
from search.verdict import Verdict
from search.walks.chunks import Course

TASK_MEMORY = 1 << 30
"""Bytes for the candidates of a partition, if nobody says how many."""
PER_CORE = 2
"""Partitions for each core, at least, if nobody says how many: so that one that is late holds up little."""


def exhaust_on_spark(
    model: Model,
    *,
    folder: str | Path,
    claims: tuple[Claim, ...] | None = None,
    partitions: int | None = None,
    workers: int | None = None,
    master: str | None = None,
    session: SparkSession | None = None,
    keep_going: bool = False,
    seconds: float | None = None,
    memory_bytes: int = TASK_MEMORY,
    resume: bool = False,
    report: Report = silent,
    on_level: Callable[[LevelDone], None] = lambda level: None,
    few: int = FEW,
    command: str = "",
) -> Verdict:
    """Visit every reachable state as `exhaust` does, with the same counts, but with states in `folder` and on Spark.

    All executors must see the folder. `partitions` becomes a power of two, and stays what it was when a search is
    resumed; `memory_bytes` is for the new states of one of them. Levels of up to `few` states are done in this process.
    At a violation the level is finished first, so that what is found does not depend on who was fast.
    UsageError if Spark does not start or the folder is no use; SparkFailure if a job fails. Claims on what comes
    eventually are not looked at, and the verdict says so.
    """
    wanted = tuple(model.claims if claims is None else claims)
    wish = Wish(
        wanted, keep_going=keep_going, seconds=seconds, memory=memory_bytes, report=report,
        checkpoint=Checkpoint(Path(folder), resume=resume),
    )  # fmt: skip
    with ExitStack() as stack:
        executors = _Executors(stack, model, partial(_session, stack, session, workers, master))
        if partitions is None:
            partitions = PER_CORE * (executors.cores if session or master else workers or os.cpu_count() or 1)
        means = Means(executors.fleet, executors.interrupts, on_level, few)
        exploration = Exploration(model, executors.kernel, wish, 1 << (partitions - 1).bit_length(), means)
        stack.callback(exploration.saving.close)
        exploration.run()
        conclusion = Conclusion(exploration, (), command)
        verdict = without_liveness(conclusion.verdict(), wanted, "a search on Spark")
        if conclusion.is_over:
            exploration.saving.discard()
    return verdict


def _session(stack: ExitStack, running: SparkSession | None, workers: int | None, master: str | None) -> SparkSession:
    return running or stack.enter_context(spark_session(workers, master))


class _Executors:
    """The executors, begun when they are first needed: a search whose levels are all small needs none."""

    def __init__(self, stack: ExitStack, model: Model, session: Callable[[], SparkSession]) -> None:
        self.stack, self.interrupts = stack, stack.enter_context(interrupts_noticed())
        self.code = compiled(model)
        self.kernel = kernel_of(model, self.code)
        self.session, self.fleet = cache(session), cache(self._begun)

    @property
    def cores(self) -> int:
        """How many tasks there can be at a time."""
        return int(self.session().sparkContext.defaultParallelism)

    def _begun(self) -> Fleet:
        nothing = Course(np.zeros((1, self.kernel.words), np.uint64), ())
        fleet = Fleet(self.session(), self.kernel, Parcel(self.kernel, self.code, cpu(), nothing, most=0))
        self.interrupts.arm()  # because starting Spark takes the signal
        self.stack.callback(fleet.close)
        return fleet
