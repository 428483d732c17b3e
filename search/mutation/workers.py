"""Mutants in worker processes: some at a time, each process with a few mutants one after another.

A process is forked, as models are made of functions that cannot be sent, and ends after a few mutants, so that the
terms and the code of mutants end with it. It sends an outcome for each, or what went wrong. It ends by itself if the
parent does.
"""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from attrs import define

from model.language import KwalkError
from search.mutation.examining import Budget, examined
from search.mutation.fates import Outcome
from search.mutation.grounds import Ground
from search.mutation.mutants import Mutant

LOOK = 0.5
"""Seconds between two looks of a worker whether its parent is still there, and of the parent at progress."""
MUTANTS_EACH = 20
"""How many mutants a process looks at before another one takes over."""


@define(eq=False)
class _Worker:
    """A process that looks at some mutants, and the pipe that it answers through."""

    mutants: list[Mutant]
    process: ForkProcess
    answers: Connection


def examined_by_workers(
    mutants: Sequence[Mutant],
    grounds: Sequence[Ground],
    budget: Budget,
    workers: int,
    tell: Callable[[str], None],
) -> Iterator[tuple[Mutant, Outcome]]:
    """The outcomes as they come; `tell` hears twice a second what is at work. KwalkError if a process fails."""
    each = max(1, min(MUTANTS_EACH, -(-len(mutants) // workers)))
    batches = [list(mutants[first : first + each]) for first in range(0, len(mutants), each)]
    working: dict[Connection, _Worker] = {}
    try:
        while batches or working:
            while batches and len(working) < workers:
                worker = _started(batches.pop(0), grounds, budget)
                working[worker.answers] = worker
            tell(", ".join(worker.mutants[0].id for worker in working.values()))
            for answers in wait(list(working), timeout=LOOK):
                worker = working[answers]  # type: ignore[index]  # only connections are waited for
                yield worker.mutants[0], _outcome(worker)
                del worker.mutants[0]
                if not worker.mutants:
                    worker.process.join()
                    del working[worker.answers]
    finally:
        for worker in working.values():
            worker.process.terminate()
            worker.process.join()


def _started(mutants: list[Mutant], grounds: Sequence[Ground], budget: Budget) -> _Worker:
    context = multiprocessing.get_context("fork")
    answers, end = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(mutants, grounds, budget, end, os.getpid()), daemon=True)
    process.start()
    end.close()
    return _Worker(mutants, process, answers)


def _work(mutants: list[Mutant], grounds: Sequence[Ground], budget: Budget, end: Connection, parent: int) -> None:
    """What a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, and the parent acts on it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    for mutant in mutants:
        try:
            end.send(examined(mutant, grounds, budget))
        except Exception:  # it must not be lost with the process
            end.send(traceback.format_exc())
            return


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _outcome(worker: _Worker) -> Outcome:
    mutant = worker.mutants[0]
    try:
        answer = worker.answers.recv()
    except EOFError:
        worker.process.join()
        raise KwalkError(
            f"{mutant.id}: the process that looked at it ended with code {worker.process.exitcode}, perhaps for want "
            "of memory. What is finished is kept; go on with fewer --workers or smaller bounds."
        ) from None
    if isinstance(answer, str):
        raise RuntimeError(f"{mutant.id} ({mutant.file}:{mutant.line}), {mutant.after}:\n{answer}")
    found: Outcome = answer
    return found
