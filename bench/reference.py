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
    """How large the reference model is, in the order of the peers' arguments."""

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
    """Bounds, what a complete search counts there, and how long the shortest traces are."""

    bounds: Bounds
    distinct: int
    generated: int
    to_i2: int
    """Steps to the first state that violates I2; to I1 it is three."""


SIZES = {
    "3k": Size(Bounds(2, 2, 3, 1, 1), 3_092, 8_129, 7),
    "88k": Size(Bounds(3, 2, 3, 1, 1), 88_366, 322_590, 9),
    "0.8M": Size(Bounds(3, 2, 3, 2, 2), 805_904, 4_390_996, 9),
    "2.5M": Size(Bounds(3, 2, 3, 3, 3), 2_515_719, 15_712_997, 9),
    "24M": Size(Bounds(4, 2, 3, 2, 2), 23_882_115, 167_867_172, 11),
    "32M": Size(Bounds(3, 3, 3, 1, 1), 32_023_820, 160_929_701, 9),
}
"""By what a reader calls them: about the number of distinct states."""


class Work(Enum):
    """What is measured; the value is its heading."""

    WALKS = "random walks, one core, steps/s"
    ONE_CORE = "exhaustive, one core, distinct states/s"
    ALL_CORES = "exhaustive, all cores, distinct states/s"
    TO_I1 = "from the start of the process to the shortest trace to I1, seconds"
    TO_I2 = "from the start of the process to the shortest trace to I2, seconds"

    @property
    def is_time(self) -> bool:
        """Whether the tables show seconds; otherwise units a second."""
        return self in (Work.TO_I1, Work.TO_I2)


WORKS = {
    "walks": (Work.WALKS,),
    "search": (Work.ONE_CORE, Work.ALL_CORES),
    "traces": (Work.TO_I1, Work.TO_I2),
    "ports": (),
}
"""By the names that --works takes; ports are measured apart (`bench.ports`), as they are other models."""


@frozen
class Reading:
    """What one run of a tool did: units of its work, in how many seconds, and what can be held against the size."""

    units: float
    seconds: float
    counts: tuple[int, int] | None = None
    """Distinct and generated states, of a complete search."""
    steps: int | None = None
    """Of the trace that was looked for."""

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.units / self.seconds

    def __str__(self) -> str:
        return f"{in_words(self.units) if self.steps is None else f'{self.steps} steps'} in {self.seconds:.3g} s"


@frozen
class Plan:
    """What every tool is to do."""

    size: Size
    cores: int
    walking: int = field(default=1)
    """Seconds that a run of walks is to take, where a tool has that option; whole ones, because some take no others."""
