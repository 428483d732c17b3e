"""Exhaustive search on Spark, level by level, with states on disk instead of in memory.

Words: *partitions* are the buckets of states, by hash. A level has as many tasks, and the new states of one must fit
into the memory of a task. The result does not depend on the number of partitions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from pyspark.sql import SparkSession

from kwalk.model.language import Model, PropertyInstance
from kwalk.search.base.options import CheckpointOptions, SearchOptions
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.signals import interrupts_noticed
from kwalk.search.executors.work import TaskPayload
from kwalk.search.exhaustive.interfaces import LevelDone
from kwalk.search.exhaustive.search import ExhaustiveVerdict
from kwalk.search.kernel.compile.compiler import compiled_model, kernel_of
from kwalk.search.native.processor import cpu
from kwalk.search.results.fairness import without_liveness
from kwalk.search.results.verdict import Verdict
from kwalk.search.simulation.chunks import SimulationPlan
from kwalk.search.spark.exhaustive.explorer import LOCAL_LEVEL, DistributedEnvironment, DistributedExplorer
from kwalk.search.spark.exhaustive.jobs import LevelExecutors
from kwalk.search.spark.session import spark_session

TASK_MEMORY = 1 << 30
"""The default memory budget for the candidates of a partition, in bytes."""
PER_CORE = 2
"""The least default number of partitions for each core, so that a slow one delays little."""


@frozen(kw_only=True)
class DistributedOptions:
    """The options of `exhaust_on_spark`.

    Args:
        folder: The folder of the states; all executors must see it.
        properties: The property instances to check; None for all of the model.
        partitions: The number of partitions, rounded up to a power of two; a resumed search keeps its number.
        workers: The cores of a Spark on this machine; None for all.
        master: The URL of another Spark.
        session: A running session.
        memory_bytes: The memory budget for the new states of one partition.
        resume: Whether the search continues from the states in `folder`.
        on_level: Receives finished levels.
        local_level: The largest level that is done in this process, in states.
    """

    folder: str | Path
    properties: tuple[PropertyInstance, ...] | None = None
    partitions: int | None = None
    workers: int | None = None
    master: str | None = None
    session: SparkSession | None = None
    keep_going: bool = False
    seconds: float | None = None
    memory_bytes: int = TASK_MEMORY
    resume: bool = False
    report: Report = silent
    on_level: Callable[[LevelDone], None] = lambda level: None
    local_level: int = LOCAL_LEVEL
    command: str = ""


def exhaust_on_spark(model: Model, options: DistributedOptions | None = None, **others: Any) -> Verdict:
    """Visit every reachable state as `exhaust` does, with the same counts, but on Spark and with states in a folder.

    A level is finished also after a violation, so that the verdict does not depend on the order of tasks. `eventually`
    properties are not checked, and the verdict states this.

    Args:
        model: The model to search.
        options: The options; those that `exhaust` has as well mean the same.
        **others: Fields of `DistributedOptions`, as keywords.

    Raises:
        UsageError: Spark does not start, or the folder cannot be used.
        SparkFailure: A Spark job failed.
    """
    asked = DistributedOptions(**others) if options is None else evolve(options, **others)
    checked = tuple(model.properties if asked.properties is None else asked.properties)
    search = SearchOptions(
        checked,
        keep_going=asked.keep_going,
        seconds=asked.seconds,
        memory=asked.memory_bytes,
        report=asked.report,
        checkpoint=CheckpointOptions(Path(asked.folder), resume=asked.resume),
        command=asked.command,
    )
    with ExitStack() as stack:
        session = cache(lambda: asked.session or stack.enter_context(spark_session(asked.workers, asked.master)))
        executors = _Executors(stack, model, session)
        partitions = asked.partitions
        if partitions is None:
            cores = executors.cores if asked.session or asked.master else asked.workers or os.cpu_count() or 1
            partitions = PER_CORE * cores
        environment = DistributedEnvironment(
            executors.executors, executors.interrupts, asked.on_level, asked.local_level
        )
        buckets = 1 << (partitions - 1).bit_length()
        explorer = DistributedExplorer(model, executors.kernel, search, buckets, environment)
        stack.callback(explorer.saving.close)
        explorer.run()
        conclusion = ExhaustiveVerdict(explorer)
        verdict = conclusion.verdict()
        if conclusion.is_over:
            explorer.saving.discard()
        return without_liveness(verdict, checked, "a search on Spark")


class _Executors:
    """The executors, started when they are first needed: a search with small levels only needs none."""

    def __init__(self, stack: ExitStack, model: Model, session: Callable[[], SparkSession]) -> None:
        self.stack, self.interrupts = stack, stack.enter_context(interrupts_noticed())
        self.code = compiled_model(model)
        self.kernel = kernel_of(model, self.code)
        self.session, self.executors = session, cache(self._started)

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""
        return int(self.session().sparkContext.defaultParallelism)

    def _started(self) -> LevelExecutors:
        nothing = SimulationPlan(np.zeros((1, self.kernel.words), np.uint64), ())
        payload = TaskPayload(self.kernel, self.code, cpu(), nothing)
        executors = LevelExecutors(self.session(), self.kernel, payload)
        self.interrupts.arm()  # because starting Spark takes the signal
        self.stack.callback(executors.close)
        return executors
