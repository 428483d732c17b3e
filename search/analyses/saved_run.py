"""A run of many tasks whose outcomes are saved as they arrive, and reused by a later run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Generic, TypeVar

from attrs import field, frozen

from kwalk.search.base.progress import Progress, Report, silent

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def _discard(outcomes: Mapping[str, Outcome]) -> None:
    """Save nothing."""


@frozen(kw_only=True)
class SavedRunOptions(Generic[Outcome]):
    """The options of a run whose outcomes are saved.

    Args:
        workers: The number of tasks that run at a time.
        saved: Outcomes of an earlier run by the keys of their tasks.
        save: Receives all outcomes so far, while the run continues and at its end.
        report: Receives progress about twice a second.
    """

    workers: int = 1
    saved: Mapping[str, Outcome] = field(factory=dict)
    save: Callable[[Mapping[str, Outcome]], None] = _discard
    report: Report = silent


class SavedRun(Generic[Task, Outcome]):
    """A run of tasks.

    `tasks`, `saved` and `outcomes` are by key: a digest of everything that the outcome of a task depends on.
    """

    engine: ClassVar[str]
    unit: ClassVar[str]
    save_period: ClassVar[float] = 0.0
    """Seconds between two calls of `save`."""

    def __init__(self, tasks: Mapping[str, Task], options: SavedRunOptions[Outcome]) -> None:
        self.tasks, self.options = tasks, options
        self.saved = {**options.saved}
        self.outcomes: dict[str, Outcome] = {}
        self.began = time.monotonic()
        self.evaluated = 0

    def is_reusable(self, task: Task, outcome: Outcome) -> bool:
        """Return whether a saved outcome of the task counts in this run."""
        raise NotImplementedError

    def evaluate(self, left: Mapping[str, Task]) -> Iterator[tuple[str, Outcome]]:
        """Run tasks; yield their outcomes by key as they arrive."""
        raise NotImplementedError

    def run(self) -> dict[str, Outcome]:
        """Reuse saved outcomes and run the other tasks; return the outcomes so far. Ctrl-C ends it."""
        for key, task in self.tasks.items():
            if key in self.saved and self.is_reusable(task, self.saved[key]):
                self.outcomes[key] = self.saved[key]
        saved_at, unsaved = self.began, False
        try:
            for key, outcome in self.evaluate({k: task for k, task in self.tasks.items() if k not in self.outcomes}):
                self.outcomes[key] = self.saved[key] = outcome
                self.evaluated += 1
                unsaved = time.monotonic() - saved_at < self.save_period
                if not unsaved:
                    saved_at = time.monotonic()
                    self.options.save(self.saved)
        except KeyboardInterrupt:
            pass
        finally:
            if unsaved:
                self.options.save(self.saved)
        return self.outcomes

    def report(self, note: str) -> None:
        """Report the progress of the run."""
        elapsed, total, left = time.monotonic() - self.began, len(self.tasks), len(self.tasks) - len(self.outcomes)
        rest = left * elapsed / self.evaluated if self.evaluated else None
        self.options.report(Progress(self.engine, len(self.outcomes), self.unit, elapsed, total, rest, note))
