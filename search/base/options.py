"""The options of an exhaustive search, and the reasons why a search stops."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from attrs import field, frozen

from kwalk.model.language import PropertyInstance
from kwalk.search.base.progress import Report, silent

CHECKPOINT_INTERVAL = 1800.0
"""Seconds between two checkpoints; TLC's default."""
DEFAULT_INDUCTION = 3
"""Largest k of k-induction."""


class StopReason(Enum):
    """Why a search stopped. Decisions are made on the members; the values are for people and for JSON."""

    COMPLETE = "complete"
    """Nothing is left to do: every state, or every walk that was requested."""
    VIOLATION = "violation"
    FAILURE = "failure"
    """An action left its domain."""
    TIME = "time budget"
    MEMORY = "memory budget"
    INTERRUPT = "interrupted"
    DEPTH = "depth limit"
    EFFORT = "solver limit"
    """A proof engine gave up: its limits of effort are reached, or Z3 does not know."""
    LIVENESS = "liveness not checked"
    """Everything but properties about behaviours is settled, and the engine cannot check these."""
    DEADLOCKS = "deadlocks not checked"
    """Everything but deadlocks is settled, and the engine cannot check these."""
    MODEL = "model lacks what the snapshot shows"
    """Nothing was found, and the system that the search is about is not as the snapshot says."""
    NO_STEP = "no step possible"
    ERROR = "failed"

    @property
    def is_early(self) -> bool:
        """Whether more time, more memory or another run could have given more."""
        return self not in (StopReason.COMPLETE, StopReason.VIOLATION, StopReason.FAILURE)


@frozen
class CheckpointOptions:
    """Where checkpoints are written, and how often.

    Args:
        folder: The folder of the checkpoint; it is created where it is missing.
        every: Seconds between two checkpoints.
        resume: Whether the search continues from the checkpoint in `folder`.
    """

    folder: Path
    every: float = CHECKPOINT_INTERVAL
    resume: bool = False


@frozen
class SearchOptions:
    """The options of an exhaustive search.

    Args:
        properties: The property instances to check.
        keep_going: Whether the search continues after a violation.
        seconds: The time budget; None for no limit.
        memory: The memory budget in bytes.
        workers: The number of threads.
        report: Receives progress about twice a second.
        checkpoint: Where checkpoints are written; None for none.
        reduce: Whether to use partial-order reduction (see `kwalk.search.partial_order`).
        symmetry: A domain with interchangeable members: states that differ only by their names count as one.
        command: The command that repeats the search, for notes and traces.
        compare: Whether to compare some states with plain Python (see `kwalk.search.kernel.sampling`).
    """

    properties: tuple[PropertyInstance, ...]
    keep_going: bool = False
    seconds: float | None = None
    memory: int = 1 << 30
    workers: int = 1
    report: Report = field(default=silent, repr=False)
    checkpoint: CheckpointOptions | None = None
    reduce: bool = False
    symmetry: str | None = None
    command: str = ""
    compare: bool = True

    @property
    def checked(self) -> tuple[int, ...]:
        """The indices of the properties; of those about behaviours, errors are noticed in each state."""
        return tuple(prop.index for prop in self.properties)
