"""Work in processes of their own, some at a time: forked, as models are made of functions that cannot be sent.

A process sends its answers through a pipe, one after another. It ends by itself if the parent does, and Ctrl-C is left
to the parent.
"""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

LOOK = 0.5
"""Seconds between two looks of a process whether its parent is still there, and of the parent at progress."""
Work = Callable[[Callable[[Any], None]], None]
"""What a process does, given what sends an answer."""


class Forked:
    """A process at work, about whatever `task` says."""

    def __init__(self, task: Any, work: Work) -> None:
        self.task = task
        context = multiprocessing.get_context("fork")
        self.answers, end = context.Pipe(duplex=False)
        self.process = context.Process(target=_run, args=(work, end, os.getpid()), daemon=True)
        self.process.start()
        end.close()

    def answer(self) -> Any:
        """Its next answer; EOFError if it ended without one."""
        return self.answers.recv()

    def end(self) -> int | None:
        """Wait for its end; the exit code."""
        self.process.join()
        return self.process.exitcode


def _run(work: Work, end: Connection, parent: int) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, and the parent acts on it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    work(end.send)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


class Crowd:
    """The processes at work. Within `crowd`, none outlives an error."""

    def __init__(self) -> None:
        self.working: dict[Any, Forked] = {}

    def add(self, forked: Forked) -> None:
        """Watch a process."""
        self.working[forked.answers] = forked

    def leave(self, forked: Forked) -> None:
        """Watch it no longer."""
        del self.working[forked.answers]

    def ready(self) -> Iterator[Forked]:
        """Those that have an answer, or have ended; waits LOOK seconds for one."""
        for answers in wait(list(self.working), timeout=LOOK):
            yield self.working[answers]


@contextmanager
def crowd() -> Iterator[Crowd]:
    """Processes that end with the block."""
    made = Crowd()
    try:
        yield made
    finally:
        for forked in made.working.values():
            forked.process.terminate()
            forked.process.join()
