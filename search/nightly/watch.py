"""Who watches a run: moments of it as they are told to a terminal and to the file of progress."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from attrs import asdict, frozen

from model.language import Model
from search.nightly.tables import RunRow
from search.trace import Trace


@frozen
class Moment:
    """How far a run is. `done` is the part of it that is done, from 0 to 1; `left` the seconds that the rest takes."""

    time: str
    task: int
    name: str
    tasks_ended: int
    tasks: int
    walks: int
    """Of the present task, as are the three that follow."""
    steps: int
    findings: int
    clusters: int
    rate: float
    """Steps a second in the last round."""
    done: float
    left: float | None
    seconds: float
    """Since the start of this process."""

    @property
    def content(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


class Watch(Protocol):
    """What a run calls while it goes on. None of it may raise."""

    def moment(self, moment: Moment) -> None:
        """A round has been saved."""

    def remark(self, text: str) -> None:
        """Something happened that people should know."""

    def ended(self, row: RunRow) -> None:
        """A task has ended."""

    def trace_text(self, model: Model, trace: Trace, reference: str) -> str:
        """A trace as it is saved."""


def seconds_left(fractions: Sequence[tuple[float, float, float | None]]) -> float | None:
    """How long the tasks will take, of each what is done, in how many seconds, and its budget; None if unknown."""
    left = 0.0
    for done, seconds, budget in fractions:
        if budget is not None:
            left += max(0.0, budget - seconds)
        elif done > 0:
            left += seconds * max(0.0, 1 - done) / done
        else:
            return None
    return left
