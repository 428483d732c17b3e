"""Cells of an audit in worker processes, each cell in one of its own, so that a cell's memory ends with it.

A process is forked, as models are made of functions that cannot be sent; it sends back one outcome, or what went wrong.
It ends by itself if the audit does.
"""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

from attrs import frozen

from model.language import KwalkError
from model.language.errors import InternalError
from search.audit_cells import Budget, Cell, examine
from search.audit_outcomes import Outcome

LOOK = 0.5
"""Seconds between two looks at how far the workers are, and of a worker whether the audit is still there."""


@frozen
class _Worker:
    """A process that examines a cell, and the pipe that it answers through."""

    key: str
    cell: Cell
    process: ForkProcess
    answers: Connection


def examined_by_workers(
    cells: Mapping[str, Cell], budget: Budget, workers: int, tell: Callable[[list[str]], None]
) -> Iterator[tuple[str, Outcome]]:
    """The outcomes by key, as they come; `tell` hears twice a second which cells are at work.

    KwalkError names the cell whose search failed, or whose process died.
    """
    waiting = list(cells.items())
    working: dict[Connection, _Worker] = {}
    try:
        while waiting or working:
            while waiting and len(working) < workers:
                worker = _started(*waiting.pop(0), budget)
                working[worker.answers] = worker
            tell([worker.cell.name for worker in working.values()])
            for answers in wait(list(working), timeout=LOOK):
                worker = working.pop(answers)  # type: ignore[call-overload]  # only connections are waited for
                yield worker.key, _outcome(worker)
    finally:
        for worker in working.values():
            worker.process.terminate()
            worker.process.join()


def _started(key: str, cell: Cell, budget: Budget) -> _Worker:
    context = multiprocessing.get_context("fork")
    answers, end = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(cell, budget, end, os.getpid()), daemon=True)
    process.start()
    end.close()
    return _Worker(key, cell, process, answers)


def _work(cell: Cell, budget: Budget, end: Connection, parent: int) -> None:
    """What a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, and the audit acts on it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        answer: Any = examine(cell, budget)
    except KwalkError as error:
        answer = str(error)
    except InternalError as error:
        answer = InternalError(f"{cell.name}: {error}")  # the model that it is about cannot be sent
    except Exception:  # it must not be lost with the process
        answer = RuntimeError(traceback.format_exc())
    end.send(answer)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _outcome(worker: _Worker) -> Outcome:
    try:
        answer = worker.answers.recv()
    except EOFError:
        worker.process.join()
        raise KwalkError(
            f"{worker.cell.name}: the process that searched it ended with code {worker.process.exitcode}, perhaps for "
            "want of memory. Finished cells are kept; go on with fewer --workers or smaller bounds."
        ) from None
    worker.process.join()
    if isinstance(answer, str):
        raise KwalkError(f"{worker.cell.name}: {answer}")
    if isinstance(answer, Exception):
        raise answer
    found: Outcome = answer
    return found
