"""The pool of Spark executors that the driver sends rounds of chunks to.

Words: a *round* is a Spark job that does the next walks, cut into chunks; between rounds the driver checks budgets and
signals.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

from attrs import evolve, frozen
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kwalk.model.language import Model
from kwalk.search.base.signals import Interrupts
from kwalk.search.executors.chunks import Chunk
from kwalk.search.executors.work import CpuMismatch, ExecutorFailure, Round, TaskPayload, check_agreement
from kwalk.search.kernel.compile.cache import Compiled
from kwalk.search.kernel.compile.compiler import compile_model, compiled_model
from kwalk.search.kernel.compile.slices import CompiledSlices, compile_slices, compiled_slices
from kwalk.search.native.processor import cpu
from kwalk.search.spark.packets import PACKED, chunks_of, groups_of, merger_of
from kwalk.search.spark.payload import send, walker_of

JOB_GROUP = "kwalk walks"
"""The group of our jobs, by which they are cancelled."""
POLL_SECONDS = 0.2
"""Seconds between two checks for Ctrl-C while a job runs."""


class SparkFailure(ExecutorFailure):
    """A Spark job failed."""


@frozen
class CodeSource:
    """Object code of a model for executors: from the cache, or compiled."""

    model: Model
    terms: str
    """The digest of its terms, as the kernel of the run has it."""

    def kernel(self, cpu_name: str) -> Compiled:
        """Return the code of the kernel for a CPU; for this one it is compiled, as the cached code does not load."""
        return compile_model(self.model) if cpu_name == cpu() else compiled_model(self.model, target=cpu_name)

    def slices(self, cpu_name: str) -> CompiledSlices | None:
        """Return the bit-sliced functions for a CPU, as wide as its registers; None if the model is too large."""
        if cpu_name == cpu():
            return compile_slices(self.model)
        return compiled_slices(self.model, self.terms, target=cpu_name)


class _NoCode(Exception):
    """An executor has no code that it can run; the message is the name of its CPU."""


class ExecutorPool:
    """Executors that have a payload, and a thread that submits jobs to them.

    Args:
        session: the Spark session.
        partitions: how many chunks are done at a time.
        payload: what executors need.
        source: object code for executors whose CPU differs, or where the code does not load.
    """

    def __init__(
        self, session: SparkSession, partitions: int, payload: TaskPayload, source: CodeSource | None = None
    ) -> None:
        self.session, self.partitions = session, partitions
        self.payload, self.source = payload, source
        self.sent = send(session, payload)
        self.thread = ThreadPoolExecutor(1)

    def __enter__(self) -> ExecutorPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.shutdown()
        self._remove_payload()

    def _remove_payload(self) -> None:
        """Remove the payload from the executors; those that have ended are ignored."""
        with suppress(Py4JError):
            self.sent.broadcast.unpersist()

    def make_ready(self, interrupts: Interrupts) -> None:
        """Let executors load the kernel and the loops, compiled there if necessary, before the first round."""
        self.do(Round(0, self.partitions, 1, deadline=0.0), interrupts)

    def take_slices(self, code: CompiledSlices) -> None:
        """Let executors walk on bit-sliced functions from the next round on; `code` is for the driver's CPU."""
        slices = {cpu(): code}
        for name in self.payload.other_code:
            other = code if name == cpu() or self.source is None else self.source.slices(name)
            slices |= {} if other is None else {name: other}
        self._send(evolve(self.payload, slices=slices))

    def do(self, work: Round, interrupts: Interrupts, poll: Callable[[], None] = lambda: None) -> list[Chunk] | None:
        """Do a round; return its merged chunks in the order of their walks, or None if interrupted.

        Args:
            work: the round.
            interrupts: cancels the job when it notices Ctrl-C.
            poll: called about five times a second while the job runs.

        Raises:
            EngineDisagreement: the two kernels of an executor do not count the same.
            SparkFailure: the job failed.
        """
        while True:
            try:
                chunks = self._try(work, interrupts, poll)
            except _NoCode as need:
                self._send_code_for(str(need))
                continue
            check_agreement(chunks or [])
            return chunks

    def _try(self, work: Round, interrupts: Interrupts, poll: Callable[[], None]) -> list[Chunk] | None:
        job = self.thread.submit(self._run, work)
        while not wait([job], POLL_SECONDS).done:
            poll()
            if interrupts.noticed:
                with suppress(Py4JError):
                    self.session.sparkContext.cancelJobGroup(JOB_GROUP)
        return None if interrupts.noticed else job.result()

    def _send_code_for(self, cpu_name: str) -> None:
        """Compile for a CPU, and send the payload again."""
        assert self.source is not None
        other_code, slices = {**self.payload.other_code, cpu_name: self.source.kernel(cpu_name)}, self.payload.slices
        if slices and (other := self.source.slices(cpu_name)) is not None:
            slices = {**slices, cpu_name: other}
        self._send(evolve(self.payload, other_code=other_code, slices=slices))

    def _send(self, payload: TaskPayload) -> None:
        """Send another payload in place of the one before."""
        self.payload = payload
        self._remove_payload()
        self.sent = send(self.session, self.payload)

    def _run(self, work: Round) -> list[Chunk]:
        self.session.sparkContext.setJobGroup(JOB_GROUP, "random walks", interruptOnCancel=True)
        schema = from_arrow_schema(PACKED)
        groups = groups_of(self.partitions)
        numbers = self.session.range(0, work.chunks, 1, self.partitions)
        chunks = numbers.mapInArrow(walker_of(self.sent, evolve(work, groups=groups)), schema)
        if groups < self.partitions:
            chunks = chunks.repartition(groups, "group").mapInArrow(merger_of(work.most), schema)
        try:
            return chunks_of(chunks.toArrow())
        except (PySparkException, Py4JError) as error:
            match = CpuMismatch.PATTERN.search(str(error))
            if match and self.source is not None and match[1] not in self.payload.other_code:
                raise _NoCode(match[1]) from error
            raise SparkFailure(
                f"A Spark job failed: {last_words(error)} Run it again; if it fails again, walk without Spark."
            ) from error


def last_words(error: Exception) -> str:
    """Return the last line of an executor's Python traceback, else the first line of the error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = [line for line in lines if ": " in line and not line.startswith(("at ", "File "))]
    last = python[-1] if "Traceback" in str(error) and python else (lines or [type(error).__name__])[0]
    return last if last.endswith(".") else f"{last}."
