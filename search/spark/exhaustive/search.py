"""Exhaustive search on Spark, level by level, with states on disk instead of in memory.

Words: *partitions* are the buckets of states, by hash. A level has as many tasks, and the new states of one must fit
into the memory of a task. The result does not depend on the number of partitions.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

from kwalk.model.language import Model, PropertyInstance
from kwalk.search.base.options import CheckpointOptions, SearchOptions
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.signals import interrupts_noticed
from kwalk.search.exhaustive.search import ExhaustiveVerdict
from kwalk.search.kernel.compile.compiler import compiled_model, kernel_of
from kwalk.search.kernel.compile.machine_code import cpu
from kwalk.search.results.fairness import without_liveness
from kwalk.search.results.verdict import Verdict
from kwalk.search.simulation.chunks import SimulationPlan
from kwalk.search.spark.exhaustive.explorer import LOCAL_LEVEL, DistributedEnvironment, DistributedExplorer, LevelDone
from kwalk.search.spark.exhaustive.jobs import LevelExecutors
from kwalk.search.spark.session import spark_session
from kwalk.search.spark.work import TaskPayload

TASK_MEMORY = 1 << 30
"""The default memory budget for the candidates of a partition, in bytes."""
PER_CORE = 2
"""The least default number of partitions for each core, so that a slow one delays little."""


def exhaust_on_spark(
    model: Model,
    *,
    folder: str | Path,
    properties: tuple[PropertyInstance, ...] | None = None,
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
    local_level: int = LOCAL_LEVEL,
    command: str = "",
) -> Verdict:
    """Visit every reachable state as `exhaust` does, with the same counts, but on Spark and with states in `folder`.

    All executors must see the folder. Options that `exhaust` has as well mean the same. `partitions` is rounded up to a
    power of two, and a resumed search keeps its number; `memory_bytes` is the budget for the new states of one
    partition. `workers` are the cores of a Spark on this machine; `master` names another Spark, and `session` is a
    running one. Levels of at most `local_level` states are done in this process; `on_level` receives finished levels.

    A level is finished also after a violation, so that the verdict does not depend on the order of tasks. `eventually`
    properties are not checked, and the verdict states this.

    Raises:
        UsageError: Spark does not start, or the folder cannot be used.
        SparkFailure: A Spark job failed.
    """
    checked = tuple(model.properties if properties is None else properties)
    options = SearchOptions(
        checked, keep_going=keep_going, seconds=seconds, memory=memory_bytes, report=report,
        checkpoint=CheckpointOptions(Path(folder), resume=resume),
    )  # fmt: skip
    with ExitStack() as stack:
        executors = _Executors(stack, model, partial(_session, stack, session, workers, master))
        if partitions is None:
            partitions = PER_CORE * (executors.cores if session or master else workers or os.cpu_count() or 1)
        environment = DistributedEnvironment(executors.executors, executors.interrupts, on_level, local_level)
        buckets = 1 << (partitions - 1).bit_length()
        explorer = DistributedExplorer(model, executors.kernel, options, buckets, environment)
        stack.callback(explorer.saving.close)
        return without_liveness(_search(explorer, command), checked, "a search on Spark")


def _search(explorer: DistributedExplorer, command: str) -> Verdict:
    explorer.run()
    conclusion = ExhaustiveVerdict(explorer, (), command)
    verdict = conclusion.verdict()
    if conclusion.is_over:
        explorer.saving.discard()
    return verdict


def _session(stack: ExitStack, running: SparkSession | None, workers: int | None, master: str | None) -> SparkSession:
    return running or stack.enter_context(spark_session(workers, master))


class _Executors:
    """The executors, started when they are first needed: a search with small levels only needs none."""

    def __init__(self, stack: ExitStack, model: Model, session: Callable[[], SparkSession]) -> None:
        self.stack, self.interrupts = stack, stack.enter_context(interrupts_noticed())
        self.code = compiled_model(model)
        self.kernel = kernel_of(model, self.code)
        self.session, self.executors = cache(session), cache(self._started)

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""
        return int(self.session().sparkContext.defaultParallelism)

    def _started(self) -> LevelExecutors:
        nothing = SimulationPlan(np.zeros((1, self.kernel.words), np.uint64), ())
        payload = TaskPayload(self.kernel, self.code, cpu(), nothing, most=0)
        executors = LevelExecutors(self.session(), self.kernel, payload)
        self.interrupts.arm()  # because starting Spark takes the signal
        self.stack.callback(executors.close)
        return executors
