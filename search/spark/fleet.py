"""Spark's executors as the driver sees them: they have what they need to walk, and do rounds of chunks.

Words: a *round* is a Spark job that does the next walks, cut into chunks; between rounds the driver looks at budgets
and signals.
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

from model.language import KwalkError, Model
from search.compile import compile_model, compiled
from search.compile.cache import Compiled
from search.compile.machine_code import cpu
from search.interrupts import Interrupts
from search.spark.work import SCHEMA, Chunk, OtherCpu, Parcel, Round, chunks_of, walker_of

JOBS = "kwalk walks"
"""The name of our jobs, by which they are cancelled."""
LOOK = 0.2
"""Seconds between looks whether somebody has pressed Ctrl-C."""


class SparkFailure(KwalkError):
    """A Spark job failed: an executor died, or cannot run the driver's machine code."""


CodeFor = Callable[[str], Compiled]
"""Makes object code for a CPU, given what that says of itself."""


def code_for(model: Model) -> CodeFor:
    """Makes object code of a model: from the cache, but for this CPU anew, as what was in the cache is no use then."""
    return lambda line: compile_model(model) if line == cpu() else compiled(model, line=line)


class _NoCode(Exception):
    """An executor of this CPU has no code that it can run."""


class Fleet:
    """Executors that have what they need to walk, and a thread that talks to them.

    With `code_for`, an executor whose CPU is another, or where the code does not load, gets code of its own.
    """

    def __init__(
        self, session: SparkSession, partitions: int, parcel: Parcel, code_for: CodeFor | None = None
    ) -> None:
        self.session, self.partitions = session, partitions
        self.parcel, self.code_for = parcel, code_for
        self.sent = session.sparkContext.broadcast(parcel.pack())
        self.thread = ThreadPoolExecutor(1)

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.shutdown()
        self._forget()

    def _forget(self) -> None:
        """Let executors forget what they have; one that is gone has forgotten it already."""
        with suppress(Py4JError):
            self.sent.unpersist()

    def make_ready(self, interrupts: Interrupts) -> None:
        """Let executors load the kernel and the loops (compiled there, if need be), so that no round waits for it."""
        self.do(Round(0, self.partitions, 1, deadline=0.0), interrupts)

    def do(
        self, work: Round, interrupts: Interrupts, look: Callable[[], None] = lambda: None
    ) -> list[Chunk] | None:
        """The chunks of a round that were done, in the order of their walks; None if interrupted; SparkFailure.

        `look` is called now and then while they are at it.
        """
        while True:
            try:
                return self._try(work, interrupts, look)
            except _NoCode as need:
                self._send_code_for(str(need))

    def _try(self, work: Round, interrupts: Interrupts, look: Callable[[], None]) -> list[Chunk] | None:
        job = self.thread.submit(self._run, work)
        while not wait([job], LOOK).done:
            look()
            if interrupts.noticed:
                with suppress(Py4JError):
                    self.session.sparkContext.cancelJobGroup(JOBS)
        return None if interrupts.noticed else job.result()

    def _send_code_for(self, line: str) -> None:
        """Compile for a CPU, and send what executors need once more."""
        assert self.code_for is not None
        self.parcel = evolve(self.parcel, others={**self.parcel.others, line: self.code_for(line)})
        self._forget()
        self.sent = self.session.sparkContext.broadcast(self.parcel.pack())

    def _run(self, work: Round) -> list[Chunk]:
        self.session.sparkContext.setJobGroup(JOBS, "random walks", interruptOnCancel=True)
        numbers = self.session.range(0, work.chunks, 1, self.partitions)
        chunks = numbers.mapInArrow(walker_of(self.sent, work), from_arrow_schema(SCHEMA))
        try:
            return chunks_of(chunks.toArrow())
        except (PySparkException, Py4JError) as error:
            line = OtherCpu.PATTERN.search(str(error))
            if line and self.code_for is not None and line[1] not in self.parcel.others:
                raise _NoCode(line[1]) from error
            raise SparkFailure(
                f"A Spark job failed: {last_words(error)} Run it again; if it fails again, walk without Spark."
            ) from error


def last_words(error: Exception) -> str:
    """What the Python on an executor said last, else the error's first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = [line for line in lines if ": " in line and not line.startswith(("at ", "File "))]
    said = python[-1] if "Traceback" in str(error) and python else (lines or [type(error).__name__])[0]
    return said if said.endswith(".") else f"{said}."
