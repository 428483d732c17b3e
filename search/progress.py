"""Progress of long work, as engines report it and terminals show it."""
from __future__ import annotations

from collections.abc import Callable

from attrs import frozen


@frozen
class Progress:
    """A moment of a long run.

    `done` counts `unit`s ("states", "steps"); `total` is known where the end is; `seconds` have gone by, and `left`
    are left at the present rate, or until the time budget ends; `note` is a word on the present phase.
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
    """The report of a run that nobody watches."""
