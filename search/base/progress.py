"""Progress of long work, as engines report it and terminals show it."""
from __future__ import annotations

from collections.abc import Callable

from attrs import frozen


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
    """

    engine: str
    done: int
    unit: str
    seconds: float
    total: int | None = None
    left: float | None = None
    note: str = ""

    @property
    def rate(self) -> float:
        """Units per second so far."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


Report = Callable[[Progress], None]
"""What engines call about twice a second. It must not raise."""


def silent(progress: Progress) -> None:
    """Ignore the progress of a run."""
