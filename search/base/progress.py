"""Progress of long work, as engines report it and terminals show it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from attrs import field, frozen


@frozen
class Progress:
    """One report of a running engine.

    Args:
        engine: The name of the engine.
        done: The work done so far, in `unit`s.
        unit: "states", "steps", …
        seconds: The time since the start.
        total: The whole work, where it is known.
        left: The estimated seconds to the end, or to the end of the time budget.
        note: The present phase.
        depth: The depth of the states that are visited now.
        frontier: The number of states that wait to be visited.
        memory: The bytes that the states use.
        memory_budget: The bytes that they may use.
        count_steps: Returns how often each action was taken so far, by its name; to be called in the report only.
    """

    engine: str
    done: int
    unit: str
    seconds: float
    total: int | None = None
    left: float | None = None
    note: str = ""
    depth: int | None = None
    frontier: int | None = None
    memory: int | None = None
    memory_budget: int | None = None
    count_steps: Callable[[], Mapping[str, int]] | None = field(default=None, eq=False, repr=False)

    @property
    def rate(self) -> float:
        """Units per second so far."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


Report = Callable[[Progress], None]
"""What engines call about twice a second. It must not raise."""


def silent(progress: Progress) -> None:
    """Ignore the progress of a run."""


# Phases without a count, such as compiling a model.

_listeners: list[Callable[[str], None]] = []


def announce(phase: str) -> None:
    """Say what begins now, where no engine reports progress: lifting a model, compiling it."""
    for listener in _listeners:
        listener(phase)


def announce_nothing() -> None:
    """Let no announcement of this process be heard: that of a parent process shows the progress."""
    _listeners.clear()


LOOP_SECONDS: dict[str, float] = {}
"""How long each loop took that this process has compiled, by its name."""


@contextmanager
def loop_compilation(name: str) -> Iterator[None]:
    """Announce that a loop is compiled, and keep how long the block takes."""
    announce(f"compiling the loop {name} for this machine")
    begin = time.monotonic()
    yield
    LOOP_SECONDS[name] = time.monotonic() - begin


@contextmanager
def unannounced() -> Iterator[None]:
    """Let no announcement of the block be heard, nor of processes that it starts: it reports progress itself."""
    heard, _listeners[:] = _listeners[:], []
    try:
        yield
    finally:
        _listeners[:] = heard


@contextmanager
def announcements_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a function at each `announce` of the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
