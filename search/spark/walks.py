"""Random walks on Spark: as many cores and machines as there are, with the same findings as on one.

Words: a *round* is a Spark job that does the next walks, cut into chunks; between rounds the driver looks at budgets
and signals and tells how far it is. Chunks are added up in the order of their walks, so a run finds the same on any
number of partitions; only a time budget makes it depend on how fast the machines are.
"""
from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median

from attrs import evolve
from pyspark.sql import SparkSession

from model.language import Claim, Model
from search.compile import compiled, kernel_of
from search.compile.machine_code import cpu
from search.fairness import without_liveness
from search.interrupts import Interrupts, interrupts_noticed
from search.progress import Progress, Report, silent
from search.spark.fleet import Fleet, code_for
from search.spark.session import spark_session
from search.spark.tables import Tables, folder_name, tables_in
from search.spark.work import Chunk, Parcel, Round
from search.verdict import Verdict
from search.walks.chunks import run_chunk
from search.walks.conclusion import Conclusion
from search.walks.generations import next_generation
from search.walks.manner import UNIFORM, Manner
from search.walks.outing import Outing, outing_for

FIRST_CHUNK, MOST_IN_CHUNK = 64, 1 << 24
CHUNKS_PER_PARTITION = 2
"""More than one, so that a partition that is done early does not wait long."""
GROWTH = 8
"""How many times larger than before chunks may become."""
LEAST_ROUND, MOST_ROUND, ROUNDS = 1.0, 10.0, 20
"""Seconds that a round should take, at least and at most, and how many rounds a time budget should have."""


def walk_on_spark(
    model: Model,
    *,
    claims: Iterable[Claim] | None = None,
    seed: int = 0,
    walks: int | None = None,
    depth: int = 100,
    seconds: float | None = None,
    keep_going: bool = False,
    minimize: int = 0,
    manner: Manner = UNIFORM,
    partitions: int | None = None,
    out: str | Path | None = None,
    session: SparkSession | None = None,
    report: Report = silent,
    command: str = "",
) -> Verdict:
    """Walk as `walk` does, but on Spark; tables of what was found and counted go to a folder in `out`.

    `session` is a running one, else Spark is started on this machine's cores; `partitions` is how many chunks are done
    at a time (by default, as many as there are cores). Starting does not count in `seconds`.
    UsageError if Spark does not start or `out` cannot be written; SparkFailure if a job fails.
    """
    wanted = tuple(model.claims if claims is None else claims)
    code = compiled(model)
    kernel = kernel_of(model, code)
    outing = outing_for(
        model, kernel, wanted, manner, seed=seed, depth=depth, walks=walks, seconds=seconds, keep_going=keep_going,
        workers=1, report=report, minimize=minimize,
    )  # fmt: skip
    parcel = Parcel(kernel, code, cpu(), outing.course, most=minimize if out is None else None)
    with (
        interrupts_noticed() as interrupts,
        _session(session, partitions) as spark,
        tables_in(out, model, seed) as tables,
        Fleet(spark, partitions or spark.sparkContext.defaultParallelism, parcel, code_for(model)) as fleet,
    ):
        interrupts.arm()
        run = Expedition(outing, fleet, tables, interrupts)
        if tables:
            tables.close(run.total)
    conclusion = Conclusion(evolve(outing, course=run.course), run, command)
    verdict = without_liveness(conclusion.verdict(), wanted, "random walks")
    verdict = evolve(verdict, engine="spark")
    where = [f"Tables: {Path(out) / folder_name(model, seed)}"] if out is not None else []
    return evolve(verdict, notes=(*verdict.notes, *where))


def _session(session: SparkSession | None, partitions: int | None) -> AbstractContextManager[SparkSession]:
    return nullcontext(session) if session else spark_session(partitions)


class Expedition:
    """The rounds of an outing, and what they counted together. Ctrl-C ends it, with what was done so far."""

    def __init__(self, outing: Outing, fleet: Fleet, tables: Tables | None, interrupts: Interrupts) -> None:
        self.outing, self.fleet, self.tables, self.interrupts = outing, fleet, tables, interrupts
        self.next, self.size, self.course = 0, FIRST_CHUNK, outing.course
        self.total = run_chunk(outing.kernel, outing.course, range(0))
        fleet.make_ready(interrupts)
        self.started, self.seconds = time.monotonic(), 0.0
        while not interrupts.noticed and (work := self._next_round()) is not None and self._add(work):
            outing.report(self._progress())
        self.interrupted = interrupts.noticed
        self.seconds = time.monotonic() - self.started

    def _next_round(self) -> Round | None:
        """What to do next; None if there is nothing, or no time."""
        if self.next == self.course.last and self.next != self.outing.walks:
            self.course = next_generation(self.outing.kernel, self.course, self.total)
        first, deadline = self.next, None
        last = first + self.size * self.fleet.partitions * CHUNKS_PER_PARTITION
        if self.outing.walks is not None:
            last = min(last, self.outing.walks)
        if self.course.last is not None:
            last = min(last, self.course.last)
        if self.outing.seconds is not None:
            left = self.outing.seconds - (time.monotonic() - self.started)
            if left <= 0:
                return None
            deadline = time.time() + left
        self.next = last
        size = min(self.size, max(1, -(-(last - first) // self.fleet.partitions)))
        return Round(first, last, size, deadline, course=self.course.present) if first < last else None

    def _add(self, work: Round) -> bool:
        """Do a round and add it up; whether to go on."""
        chunks = self.fleet.do(work, self.interrupts)
        if chunks is None:
            return False
        self._set_size(chunks)
        for chunk in chunks:
            walks = chunk.walks
            self.total = (self.total + walks).with_findings(self.outing.minimize)
            if self.tables:
                self.tables.add(chunk)
            if walks.stopped or walks.failed is not None:
                return False
        return True

    def _set_size(self, chunks: list[Chunk]) -> None:
        """Make chunks as large as lets a round take the time that it should, by the pace of the median chunk.

        Time that Spark itself takes does not count: smaller chunks would not lessen it.
        """
        budget = self.outing.seconds
        round_seconds = LEAST_ROUND if budget is None else min(max(LEAST_ROUND, budget / ROUNDS), MOST_ROUND)
        paces = [chunk.seconds / chunk.walks.walks for chunk in chunks if chunk.walks.walks]
        if paces:
            wanted = round_seconds / CHUNKS_PER_PARTITION / max(median(paces), 1e-9)
            self.size = max(1, min(int(wanted), GROWTH * self.size, MOST_IN_CHUNK))

    def _progress(self) -> Progress:
        outing, total = self.outing, self.total
        self.seconds = time.monotonic() - self.started
        left = None if outing.seconds is None else max(0.0, outing.seconds - self.seconds)
        if outing.walks is not None and total.walks:
            rest = (outing.walks - total.walks) * self.seconds / total.walks
            left = rest if left is None else min(left, rest)
        note = f"{total.walks:,} walks on {self.fleet.partitions} partitions"
        return Progress("spark", total.steps, "steps", self.seconds, left=left, note=note)
