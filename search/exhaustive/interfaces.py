"""What exhaustive search expects of components that can be taken out: reductions and liveness; and what a level is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import frozen

from kwalk.model.language import PropertyInstance
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.layout import SuccessorFunctions
from kwalk.search.kernel.interface import Kernel
from kwalk.search.results.confirmation import PackedPath

if TYPE_CHECKING:
    from kwalk.search.exhaustive.explorer import ExplorationResult


class LivenessVerdict(Protocol):
    """The result for one property about behaviours (`kwalk.search.liveness`)."""

    prop: PropertyInstance
    premises: int
    """The number of states where its premise holds."""
    starts: int
    """The number of states where a wait starts that need not end; 1 if the search stopped at the first."""
    lasso: Any
    """A behaviour that waits for ever; None if none was found."""
    stop_reason: StopReason | None
    """Why the property is not settled; None if it is."""

    def path(self, exploration: ExplorationResult) -> tuple[PackedPath, int]:
        """Return the path to the wait and around its loop, and the number of steps before the loop."""


class StateReduction(Protocol):
    """A reduction that chooses some of the enabled instances in each state (`kwalk.search.partial_order`)."""

    plan: Any
    """What was proved about the model; its `digest` names it."""
    open: np.ndarray
    """int64 per goal: whether the search still looks for it."""
    sleep_sets: Any
    finds_quiescent: bool
    """Whether all quiescent states are found."""

    def workspace_words(self, kernel: Kernel) -> int:
        """Return the words of the workspace that one worker needs."""

    def functions(self, kernel: Kernel) -> SuccessorFunctions:
        """Return what the loops need; it is valid until the next call."""

    def close(self, properties: Iterable[int]) -> None:
        """Stop looking for some properties, given by their indices, but not for their errors."""

    def check(self, kernel: Kernel, packed: np.ndarray) -> None:
        """Compare the set of instances that is chosen in a state with what is computed in plain Python."""

    def notes(self, enabled: np.ndarray, not_taken: np.ndarray, in_sleep_sets: int) -> Iterator[str]:
        """Yield notes on a search: what the reduction saved, and what the search does not know."""


@frozen
class LevelDone:
    """The result of a level.

    `states` states have this `depth`; they were new among `generated` successors. `total` are all states so far,
    `seconds` is the time for the level, and `bytes` the size of its states on the disk.
    """

    depth: int
    states: int
    generated: int
    total: int
    seconds: float
    bytes: int
