"""Executors that are processes of this machine.

The processes are forked once for all tasks of a run, before threads start. Each does a share of consecutive chunks; one
that died is replaced before the next round.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

from attrs import evolve

from kwalk.search.base.signals import Interrupts
from kwalk.search.base.worker_processes import ProcessPool, WorkerProcess
from kwalk.search.executors.chunks import Chunk, in_order
from kwalk.search.executors.work import ExecutorFailure, Round, TaskPayload, check_agreement, do_chunks
from kwalk.search.kernel.compile.slices import CompiledSlices
from kwalk.search.native.processor import cpu


class _Walker:
    """A process, and the connection through which it receives shares of rounds."""

    def __init__(self, number: int) -> None:
        requests, self.requests = multiprocessing.get_context("fork").Pipe(duplex=False)
        self.process = WorkerProcess(number, _served(requests))
        self.payload = b""
        """The payload that the process has."""
        requests.close()

    def ask(self, payload: bytes, work: Round, share: range) -> None:
        """Send a share, with the payload unless the process has it."""
        with suppress(BrokenPipeError):  # it has died: there will be no answer
            self.requests.send((b"" if payload == self.payload else payload, work, share))
        self.payload = payload


def _served(requests: Connection) -> Callable[[Callable[[Any], None]], None]:
    """Return what a process runs: it answers each share with a pickled chunk, or with the text of an error."""

    def serve(send: Callable[[Any], None]) -> None:
        packed = b""
        while True:
            payload, work, share = requests.recv()
            packed = payload or packed
            try:
                done = do_chunks(packed, work, share)
            except Exception as error:  # whatever it is, the driver says it and tries the round again
                send(f"{type(error).__name__}: {error}")
            else:
                send(None if done is None else pickle.dumps(done[1]))

    return serve


class WalkerProcesses:
    """The processes of a run.

    Args:
        count: How many there are.
        pool: Ends them.
    """

    def __init__(self, count: int, pool: ProcessPool) -> None:
        self.pool = pool
        self.walkers = [self._started(number) for number in range(count)]

    def _started(self, number: int) -> _Walker:
        walker = _Walker(number)
        self.pool.add(walker.process)
        return walker

    def do(self, payload: bytes, work: Round, interrupts: Interrupts) -> list[Chunk] | None:
        """Do a round; see `Executors.do`."""
        count = len(self.walkers)
        cuts = [work.chunks * number // count for number in range(count + 1)]
        waiting: dict[Any, _Walker] = {}
        for walker, (first, last) in zip(self.walkers, pairwise(cuts), strict=True):
            walker.ask(payload, work, range(first, last))
            waiting[walker.process.answers] = walker
        answers, chunks = list[Any](), list[Chunk]()
        while waiting and not interrupts.noticed:
            for process in self.pool.ready():
                answering = waiting.pop(process.answers, None)
                if answering is not None:
                    answers.append(self._answer(answering))
        if waiting:
            for walker in waiting.values():
                self._replace(walker)
            return None
        for answer in answers:
            if isinstance(answer, str):
                raise ExecutorFailure(f"A process that walks failed: {answer}")
            chunks += [] if answer is None else [pickle.loads(answer)]
        check_agreement(chunks)
        return in_order(chunks)

    def _answer(self, walker: _Walker) -> Any:
        """Return the answer of a process that has one; the text of an error if it died, and replace it then."""
        try:
            return walker.process.answer()
        except EOFError:
            return f"it ended with {self._replace(walker)}, perhaps for want of memory"

    def _replace(self, walker: _Walker) -> str:
        """Start another process in place of one; return how that one ended."""
        walker.process.process.terminate()
        code = walker.process.end()
        self.pool.remove(walker.process)
        walker.requests.close()
        place = self.walkers.index(walker)
        self.walkers[place] = self._started(place)
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


class ProcessExecutors:
    """The processes with one payload; see `Executors`."""

    def __init__(self, processes: WalkerProcesses, payload: TaskPayload) -> None:
        self.processes, self.payload, self.packed = processes, payload, payload.pack()
        self.partitions = len(processes.walkers)

    def make_ready(self, interrupts: Interrupts) -> None:
        self.do(Round(0, self.partitions, 1, deadline=0.0), interrupts)

    def take_slices(self, code: CompiledSlices) -> None:
        self.payload = evolve(self.payload, slices={cpu(): code})
        self.packed = self.payload.pack()

    def do(self, work: Round, interrupts: Interrupts) -> list[Chunk] | None:
        return self.processes.do(self.packed, work, interrupts)
