"""What a verdict reads of a search for all reachable states, wherever its states were kept.

Words: see `search.exploration`.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from model.language import Model
from search.confirm import Path
from search.kernel import Kernel
from search.loops.counts import Counts
from search.loops.frontier import NEXT, SIZE

if TYPE_CHECKING:
    from search.exploration import Ending, Wish
    from search.reduction import Reduction


class Saves(Protocol):
    """The checkpoints of a search."""

    before: float
    """Seconds that the search took before it was resumed."""

    def notes(self, command: str, *, over: bool) -> Iterator[str]:
        """Sentences for people on what is saved, and how to go on unless it is `over`."""


class Keeps(Protocol):
    """Where the states are."""

    @property
    def numbers_are_spent(self) -> bool:
        """Whether it was full because of its numbers, not of its bytes."""


class Explored(Protocol):
    """A search that has ended. States have numbers from 0, in the order of their discovery."""

    model: Model
    kernel: Kernel
    wish: Wish
    counts: Counts
    cursor: np.ndarray
    """Numbers of the whole search, see `search.loops.frontier`."""
    states: Keeps
    initial: int
    """How many initial states there are."""
    reduction: Reduction | None
    saving: Saves | None
    ending: Ending
    seconds: float
    """The time that it took since it was begun or resumed."""

    @property
    def stored(self) -> int:
        """How many distinct states are known."""
        return int(self.cursor[SIZE])

    @property
    def expanded(self) -> int:
        """How many of them are expanded."""
        return int(self.cursor[NEXT])

    @property
    def seconds_in_all(self) -> float:
        """The time that the search took, with what it took before it was resumed."""
        return self.seconds + (0 if self.saving is None else self.saving.before)

    def notes(self) -> Iterator[str]:
        """Sentences for people on how this search is special."""

    def path_to(self, index: int, last_step: int | None = None) -> Path:
        """A shortest path to the state of a number, and on by one more instance if `last_step` gives it."""
