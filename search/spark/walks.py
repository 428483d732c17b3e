"""Random walks on Spark: on as many cores and machines as there are, with the same findings as on one.

Words: a *round* is a Spark job that does the next walks, cut into chunks; between rounds the driver checks budgets and
signals and reports progress. Chunks are added up in the order of their walks, so a run finds the same on any number of
partitions; only with a time budget does it depend on how fast the machines are.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any

from attrs import evolve
from pyspark.sql import SparkSession

from kwalk.model.language import Model
from kwalk.search.base.progress import Progress
from kwalk.search.base.signals import Interrupts, interrupts_noticed
from kwalk.search.executors.chunks import Chunk
from kwalk.search.executors.work import Round, TaskPayload
from kwalk.search.kernel.compile.compiler import compiled_model, kernel_of
from kwalk.search.kernel.compile.slices import compiled_slices
from kwalk.search.native.processor import cpu
from kwalk.search.results.fairness import without_liveness
from kwalk.search.results.verdict import Verdict
from kwalk.search.simulation.options import UNIFORM, SimulationOptions
from kwalk.search.simulation.run import SimulationRun, SimulationVerdict
from kwalk.search.simulation.walk import FIRST_CHUNK, MAX_CHUNK, SlicingChoice
from kwalk.search.spark.executors import CodeSource, ExecutorPool
from kwalk.search.spark.session import spark_session

CHUNKS_PER_PARTITION = 2
"""More than one, so that a time budget ends soon after it is over: no chunk begins then."""
GROWTH = 8
"""How many times larger than in the round before chunks may become."""
MIN_ROUND, MAX_ROUND, ROUNDS = 1.0, 10.0, 20
"""Seconds that a round takes, at least and at most, and how many rounds a time budget has."""


def walk_on_spark(
    model: Model,
    options: SimulationOptions = UNIFORM,
    *,
    partitions: int | None = None,
    session: SparkSession | None = None,
    **changes: Any,
) -> Verdict:
    """Take random walks as `walk` does, but on Spark. Starting Spark does not count as time of the walks.

    Args:
        model: the model.
        options: see `SimulationOptions`; `workers` is ignored.
        partitions: how many chunks are done at a time; None for as many as there are cores.
        session: a running session; without one, Spark is started on the cores of this machine.
        changes: fields of `options` with other values, as in `walk_on_spark(model, seed=7, walks=100)`.

    Raises:
        DomainError: an action leaves its domain.
        SparkFailure: a job failed.
        UsageError: Spark does not start, or an option names an unknown action or actor.
    """
    options, code = evolve(options, **changes), compiled_model(model)
    run = SimulationRun.of(model, evolve(kernel_of(model, code), can_be_sliced=True), options)
    payload = TaskPayload(run.kernel, code, cpu(), run.plan)
    with (
        interrupts_noticed() as interrupts,
        _session(session, partitions) as spark,
        ExecutorPool(
            spark, partitions or spark.sparkContext.defaultParallelism, payload, CodeSource(model, code.terms)
        ) as executors,
    ):
        interrupts.arm()
        SparkSimulation(run, executors, interrupts).run_all()
    properties = model.properties if options.properties is None else options.properties
    return evolve(without_liveness(SimulationVerdict(run).verdict(), properties, "a random walk"), engine="spark")


def _session(session: SparkSession | None, partitions: int | None) -> AbstractContextManager[SparkSession]:
    return nullcontext(session) if session else spark_session(partitions)


class SparkSimulation:
    """Does the walks of a run in rounds; Ctrl-C ends it with what was counted so far."""

    def __init__(self, run: SimulationRun, executors: ExecutorPool, interrupts: Interrupts) -> None:
        self.run, self.executors, self.interrupts = run, executors, interrupts
        self.size = FIRST_CHUNK
        """Walks of a chunk."""
        self._slicing = SlicingChoice(run.model, run.kernel)

    def run_all(self) -> None:
        """Do all rounds."""
        run, note = self.run, f" on {self.executors.partitions} partitions"
        self.executors.make_ready(self.interrupts)
        run.started = time.monotonic()
        while not self.interrupts.noticed and (work := self._next_round()) is not None and self._do(work):
            progress = run.progress("spark", note)
            run.options.report(progress)
            if self._slicing.is_worth(progress.left):
                self._take_slices(progress)
        run.interrupted = self.interrupts.noticed
        run.seconds = time.monotonic() - run.started

    def _take_slices(self, progress: Progress) -> None:
        """Let executors continue on bit-sliced functions; compiling them takes from the time budget of the run."""
        run = self.run
        run.options.report(evolve(progress, note="bit-sliced code is compiled"))
        code = compiled_slices(run.model, run.kernel.terms, seconds=(progress.left or 0.0) / 2)
        if code is not None:
            self.executors.take_slices(code)

    def _next_round(self) -> Round | None:
        """Return the next round; None if no walks or no time is left."""
        run, partitions = self.run, self.executors.partitions
        if run.needs_plan:
            run.plan_generation()
        left = run.time_left
        if left is not None and left <= 0:
            return None
        first, last = run.next, run.last_of(self.size * partitions * CHUNKS_PER_PARTITION)
        run.next = last
        size = min(self.size, max(1, -(-(last - first) // partitions)))
        deadline = None if left is None else time.time() + left
        most = run.options.minimize - len(run.counts.findings)
        return Round(first, last, size, deadline, plan=run.plan.present, most=most) if first < last else None

    def _do(self, work: Round) -> bool:
        """Do a round and add it up; return whether the run continues."""
        chunks = self.executors.do(work, self.interrupts)
        if chunks is None:
            return False
        self._set_size(chunks)
        return all(self.run.add(chunk.counts, chunk.visit_records, sliced=chunk.sliced) for chunk in chunks)

    def _set_size(self, chunks: list[Chunk]) -> None:
        """Set the size of chunks so that a round takes as long as it should at the pace of the median chunk.

        The time that Spark itself takes does not count: smaller chunks would not lessen it.
        """
        budget = self.run.options.seconds
        round_seconds = MIN_ROUND if budget is None else min(max(MIN_ROUND, budget / ROUNDS), MAX_ROUND)
        paces = [chunk.seconds / chunk.counts.walks for chunk in chunks if chunk.counts.walks]
        if paces:
            wanted = round_seconds / CHUNKS_PER_PARTITION / max(median(paces), 1e-9)
            self.size = max(1, min(int(wanted), GROWTH * self.size, MAX_CHUNK))
