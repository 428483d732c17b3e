"""Worker processes, forked, because a model consists of functions that cannot be pickled.

A process sends its answers through a pipe, one after another. It ends when its parent ends, and ignores Ctrl-C, which
the parent handles.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from attrs import frozen

from kwalk.model.language import KwalkError
from kwalk.model.language.errors import InternalError

LOOK = 0.5
"""Seconds between two checks of a process that its parent is alive, and between two progress reports of the parent."""
Work = Callable[[Callable[[Any], None]], None]
"""What a process runs; it receives the function that sends an answer."""
Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerProcess:
    """A running process.

    Args:
        task: Any object that identifies its work for the parent.
        work: What it runs.
        starts_others: Whether it may start processes of its own; the parent has to end it then.
    """

    def __init__(self, task: Any, work: Work, *, starts_others: bool = False) -> None:
        self.task = task
        context = multiprocessing.get_context("fork")
        self.answers, end = context.Pipe(duplex=False)
        self.process = context.Process(target=_run, args=(work, end, os.getpid()), daemon=not starts_others)
        self.process.start()
        end.close()

    def answer(self) -> Any:
        """Return the next answer; EOFError if the process ended without one."""
        return self.answers.recv()

    def end(self) -> int | None:
        """Wait until the process ends; return its exit code."""
        self.process.join()
        return self.process.exitcode


def _run(work: Work, end: Connection, parent: int) -> None:
    """Run `work` in the child process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all processes; the parent handles it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    work(end.send)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


class ProcessPool:
    """The running processes. `process_pool` ends them with its block, also after an error."""

    def __init__(self) -> None:
        self.working: dict[Any, WorkerProcess] = {}

    def add(self, worker: WorkerProcess) -> None:
        """Add a process."""
        self.working[worker.answers] = worker

    def remove(self, worker: WorkerProcess) -> None:
        """Remove a process that has ended."""
        del self.working[worker.answers]

    def ready(self) -> Iterator[WorkerProcess]:
        """Yield the processes that have sent an answer or have ended; wait LOOK seconds at most for one."""
        for answers in wait(list(self.working), timeout=LOOK):
            yield self.working[answers]


@contextmanager
def process_pool() -> Iterator[ProcessPool]:
    """Yield a pool whose processes are terminated at the end of the block."""
    pool = ProcessPool()
    try:
        yield pool
    finally:
        for worker in pool.working.values():
            worker.process.terminate()
        for worker in pool.working.values():
            worker.process.join()


class _ProcessDied(KwalkError):
    """A process ended without an answer."""


@frozen
class _Failure:
    """An exception of a worker, as text: the objects that an exception refers to cannot be pickled."""

    kind: type[Exception]
    text: str


def run_in_processes(
    batches: Iterable[Sequence[Task]],
    work: Callable[[Task], Result],
    *,
    workers: int,
    name: Callable[[Task], str],
    report: Callable[[Sequence[Task]], None],
    lost: Callable[[Task, str], Result] | None = None,
) -> Iterator[tuple[Task, Result]]:
    """Run `work` on each task, each batch in a process of its own, and yield the results as they arrive.

    The memory that a batch takes ends with its process. When the caller stops, for example at Ctrl-C, all processes are
    terminated.

    Args:
        batches: The tasks; those of a batch run one after another.
        work: The function to run; its result must be picklable.
        workers: The most processes at a time.
        name: Returns the name of a task for error messages.
        report: Called twice a second with the tasks that are running.
        lost: Returns the result of a task whose process died, from the error's text; the rest of its batch continues in
            another process. None if that is to end the run.

    Raises:
        KwalkError: `work` raised it, or a process died and `lost` is None; the message names the task.
        InternalError: `work` raised it.
        RuntimeError: `work` raised another exception; the message has its traceback.
    """
    waiting = [list(batch) for batch in batches if batch]
    with process_pool() as pool:
        while waiting or pool.working:
            while waiting and len(pool.working) < workers:
                if batch := waiting.pop(0):
                    pool.add(_started(batch, work))
            report([worker.task[0] for worker in pool.working.values()])
            for worker in list(pool.ready()):
                task = worker.task[0]
                try:
                    result = _result(worker, name(task))
                except _ProcessDied as error:
                    if lost is None:
                        raise
                    result = lost(task, str(error))
                    waiting.insert(0, worker.task[1:])
                    del worker.task[1:]
                del worker.task[0]
                if not worker.task:
                    worker.end()
                    pool.remove(worker)
                yield task, result


def _started(batch: list[Any], work: Callable[[Any], Any]) -> WorkerProcess:
    """Start a process for a batch; its `task` is the list of the tasks that it has not answered yet."""

    def run(send: Callable[[Any], None]) -> None:
        for task in batch:
            try:
                answer = work(task)
            except InternalError as error:
                answer = _Failure(InternalError, str(error))
            except KwalkError as error:
                answer = _Failure(KwalkError, str(error))
            except Exception:
                answer = _Failure(RuntimeError, traceback.format_exc())
            send(answer)
            if isinstance(answer, _Failure):
                return

    return WorkerProcess(list(batch), run)


def _result(worker: WorkerProcess, name: str) -> Any:
    """Return the next answer of a process, or raise its failure."""
    try:
        answer = worker.answer()
    except EOFError:
        raise _ProcessDied(
            f"{name}: its process ended with code {worker.end()}, perhaps because memory ran out. Finished results are "
            "saved; continue with fewer --workers or smaller bounds."
        ) from None
    if isinstance(answer, _Failure):
        raise answer.kind(f"{name}: {answer.text}")
    return answer
