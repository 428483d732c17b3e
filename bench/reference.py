"""The reference model that kwalk and its peers are measured on, the sizes of it, and the works.

Words: a *size* is the reference model with its bounds, and what every exact tool must count there, the initial state
among the generated ones. A *work* is one thing that is measured, the same for every tool that can do it.
"""
from __future__ import annotations

from enum import Enum
from pathlib import Path

from attrs import astuple, field, frozen

from bench.measure import in_words

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "bench" / "peers"
SCENARIO = "topic-id-core"
DEPTH = 100
"""The steps that a random walk is allowed; with two failovers and two restarts a walk ends by itself after some 20."""


@frozen
class Bounds:
    """How large the reference model is, in the order in which the peers are told."""

    brokers: int
    partitions: int
    topic_ids: int
    failovers: int
    restarts: int

    @property
    def words(self) -> tuple[str, ...]:
        """The bounds as arguments of a command."""
        return tuple(map(str, astuple(self)))

    def __str__(self) -> str:
        return "-".join(self.words)


@frozen
class Size:
    """Bounds, and what a complete search counts there."""

    bounds: Bounds
    distinct: int
    generated: int


SIZES = {
    "3k": Size(Bounds(2, 2, 3, 1, 1), 3_092, 8_129),
    "88k": Size(Bounds(3, 2, 3, 1, 1), 88_366, 322_590),
    "0.8M": Size(Bounds(3, 2, 3, 2, 2), 805_904, 4_390_996),
    "2.5M": Size(Bounds(3, 2, 3, 3, 3), 2_515_719, 15_712_997),
    "24M": Size(Bounds(4, 2, 3, 2, 2), 23_882_115, 167_867_172),
    "32M": Size(Bounds(3, 3, 3, 1, 1), 32_023_820, 160_929_701),
}
"""By what a reader calls them: about the number of distinct states."""


class Work(Enum):
    """What is measured; the value is its heading."""

    WALKS = "random walks, one core, steps/s"
    ONE_CORE = "exhaustive, one core, distinct states/s"
    ALL_CORES = "exhaustive, all cores, distinct states/s"


@frozen
class Reading:
    """What one run of a tool did: units of its work, in how many seconds, and its counts if its search was complete."""

    units: float
    seconds: float
    counts: tuple[int, int] | None = None
    """Distinct and generated states."""

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.units / self.seconds

    def __str__(self) -> str:
        return f"{in_words(self.units)} in {self.seconds:.3g} s"


@frozen
class Plan:
    """What is asked of every tool."""

    size: Size
    cores: int
    walking: int = field(default=1)
    """Seconds that a run of walks is to take, where a tool can be told; whole ones, because some take no others."""
