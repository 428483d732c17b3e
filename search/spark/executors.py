"""The pool of Spark executors that the driver sends rounds of chunks to.

Words: a *round* is a Spark job that does the next walks, cut into chunks; between rounds the driver checks budgets and
signals.
"""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

from attrs import evolve
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kwalk.model.language import KwalkError, Model
from kwalk.search.base.signals import Interrupts
from kwalk.search.kernel.compile.cache import Compiled
from kwalk.search.kernel.compile.compiler import compile_model, compiled_model
from kwalk.search.native.machine_code import cpu
from kwalk.search.spark.work import SCHEMA, Chunk, CpuMismatch, Round, TaskPayload, chunks_of, send, walker_of

JOB_GROUP = "kwalk walks"
"""The group of our jobs, by which they are cancelled."""
POLL_SECONDS = 0.2
"""Seconds between two checks for Ctrl-C while a job runs."""


class SparkFailure(KwalkError):
    """A Spark job failed: an executor died, or cannot run the driver's machine code."""


CodeFor = Callable[[str], Compiled]
"""Returns object code for a CPU, given its name."""


def code_for(model: Model) -> CodeFor:
    """Return a source of object code: the cache; for this CPU the compiler, as the cached code does not load there."""
    return lambda cpu_name: compile_model(model) if cpu_name == cpu() else compiled_model(model, target=cpu_name)


class _NoCode(Exception):
    """An executor has no code that it can run; the message is the name of its CPU."""


class ExecutorPool:
    """Executors that have a payload, and a thread that submits jobs to them.

    Args:
        session: the Spark session.
        partitions: how many chunks are done at a time.
        payload: what executors need.
        code_for: returns object code for executors whose CPU differs, or where the code does not load.
    """

    def __init__(
        self, session: SparkSession, partitions: int, payload: TaskPayload, code_for: CodeFor | None = None
    ) -> None:
        self.session, self.partitions = session, partitions
        self.payload, self.code_for = payload, code_for
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

    def do(
        self, work: Round, interrupts: Interrupts, poll: Callable[[], None] = lambda: None
    ) -> list[Chunk] | None:
        """Do a round; return its chunks in the order of their walks, or None if interrupted.

        Args:
            work: the round.
            interrupts: cancels the job when it notices Ctrl-C.
            poll: called about five times a second while the job runs.

        Raises:
            SparkFailure: the job failed.
        """
        while True:
            try:
                return self._try(work, interrupts, poll)
            except _NoCode as need:
                self._send_code_for(str(need))

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
        assert self.code_for is not None
        other_code = {**self.payload.other_code, cpu_name: self.code_for(cpu_name)}
        self.payload = evolve(self.payload, other_code=other_code)
        self._remove_payload()
        self.sent = send(self.session, self.payload)

    def _run(self, work: Round) -> list[Chunk]:
        self.session.sparkContext.setJobGroup(JOB_GROUP, "random walks", interruptOnCancel=True)
        numbers = self.session.range(0, work.chunks, 1, self.partitions)
        chunks = numbers.mapInArrow(walker_of(self.sent, work), from_arrow_schema(SCHEMA))
        try:
            return chunks_of(chunks.toArrow())
        except (PySparkException, Py4JError) as error:
            match = CpuMismatch.PATTERN.search(str(error))
            if match and self.code_for is not None and match[1] not in self.payload.other_code:
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
