"""A run of many tasks whose outcomes are saved as they arrive, and reused by a later run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import ClassVar, Generic, Protocol, TypeVar

from attrs import evolve, frozen

from kwalk.search.base.journal import Journal
from kwalk.search.base.progress import Progress, Report, silent


class SavedOutcome(Protocol):
    """An outcome that is saved, with the key of its task: a digest of everything that the outcome depends on."""

    @property
    def key(self) -> str:
        """The key; "" as long as it is not saved."""


Task = TypeVar("Task")
Outcome = TypeVar("Outcome", bound=SavedOutcome)


@frozen(kw_only=True)
class SavedRunOptions(Generic[Outcome]):
    """The options of a run whose outcomes are saved.

    Args:
        workers: The number of tasks that run at a time.
        journal: Has the outcomes of earlier runs, and receives each outcome of this one; None to save nothing.
        report: Receives progress about twice a second.
    """

    workers: int = 1
    journal: Journal[Outcome] | None = None
    report: Report = silent


class SavedRun(Generic[Task, Outcome]):
    """A run of tasks; `tasks`, `saved` and `outcomes` are by key."""

    engine: ClassVar[str]
    unit: ClassVar[str]

    def __init__(self, tasks: Mapping[str, Task], options: SavedRunOptions[Outcome]) -> None:
        self.tasks, self.options = tasks, options
        lines = () if options.journal is None else options.journal.read()
        self.saved = {line.key: line for line in lines if not isinstance(line, str)}
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
        try:
            for key, outcome in self.evaluate({k: task for k, task in self.tasks.items() if k not in self.outcomes}):
                self.outcomes[key] = outcome
                self.evaluated += 1
                if self.options.journal is not None:
                    self.options.journal.append(evolve(outcome, key=key))  # type: ignore[misc]
        except KeyboardInterrupt:
            pass
        return self.outcomes

    def report(self, note: str) -> None:
        """Report the progress of the run."""
        elapsed, total, left = time.monotonic() - self.began, len(self.tasks), len(self.tasks) - len(self.outcomes)
        rest = left * elapsed / self.evaluated if self.evaluated else None
        self.options.report(Progress(self.engine, len(self.outcomes), self.unit, elapsed, total, rest, note))
