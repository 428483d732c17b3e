"""Object code of the tasks, compiled by a process of its own while other tasks are at work."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from model.language import KwalkError
from search.compile import Compiled, compiled
from search.compile.cache import unpack
from search.forked import LOOK, Crowd, Forked, crowd
from search.interrupts import Interrupts
from search.nightly.plan import Task

HURRY = 60.0
"""Tasks of fewer seconds than this get code that is soon ready."""


class Kernels:
    """The code of tasks, in their order: one is made ahead, as the process waits until its answer is taken."""

    def __init__(self, tasks: Sequence[Task], processes: Crowd) -> None:
        self._ahead: Forked | None = Forked("kernels", _work(tasks))
        self._made: dict[int, Any] = {}
        processes.add(self._ahead)

    def code(self, task: Task, interrupts: Interrupts) -> Compiled | None:
        """The code of a task; None if interrupted before it is there; KwalkError if the model cannot be compiled."""
        while self._ahead is not None and task.number not in self._made:
            if interrupts.noticed:
                return None
            if self._ahead.answers.poll(LOOK):
                self._take(self._ahead)
        answer = self._made.pop(task.number, None)
        if isinstance(answer, str):
            raise KwalkError(answer)
        return _compiled(task) if answer is None else unpack(answer)

    def _take(self, ahead: Forked) -> None:
        try:
            number, answer = ahead.answer()
        except EOFError:  # it is done, or died, perhaps for want of memory: this process can compile, too
            self._ahead = None
        else:
            self._made[number] = answer


def _compiled(task: Task) -> Compiled:
    return compiled(task.model, hurried=task.seconds is not None and task.seconds < HURRY)


def _work(tasks: Sequence[Task]) -> Callable[[Callable[[Any], None]], None]:
    def work(send: Callable[[Any], None]) -> None:
        for task in tasks:
            if task.entry.engine != "walk":
                continue  # a search compiles for itself
            try:
                answer: Any = _compiled(task).pack()
            except KwalkError as error:
                answer = str(error)
            send((task.number, answer))

    return work


@contextmanager
def kernels_ahead(tasks: Sequence[Task]) -> Iterator[Kernels]:
    """Kernels of these tasks; to be entered before Java or threads are started, as the process is forked."""
    with crowd() as processes:
        yield Kernels(tasks, processes)
