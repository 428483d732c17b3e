"""What a nightly run came to, as its folder tells it: plain values, without any model.

Words: a *cluster* is all findings of one shape of a task, over its rounds. The *growth* of a task is how many distinct
states were known after how many steps (of walks) or levels (of a search). What is *missing* is said in sentences.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from search.nightly.tables import FindingRow, LevelRow, RunRow

ANSWERS = {"": "deadlock", "when quiet": "bad stable state"}
"""The answer that a cluster is evidence for, by the kind of its claim; "violated" for all other kinds."""


@frozen
class RuleTotal:
    """How often an action instance was enabled, taken and changed the state, in all rounds of a task."""

    action: str
    name: str
    actor: str
    enabled: int = 0
    taken: int = 0
    changed: int = 0


@frozen
class ClaimTotal:
    """How often a claim was put to the test, and violated (or witnessed), in all rounds of a task."""

    claim: str
    invariant: str
    premise: int = 0
    violated: int = 0


@frozen
class Growth:
    """Points of a growing count: distinct states (`states`) after so many steps (or generated successors)."""

    steps: tuple[int, ...] = ()
    states: tuple[float, ...] = ()


@frozen
class TaskResult:
    """What a task came to: the rounds of it that count, merged, and its row in `runs` (None if it has not ended)."""

    number: int
    name: str
    scenario: str
    variant: str
    bounds: Mapping[str, int]
    flags: Mapping[str, Any]
    engine: str
    state: str
    """"waiting", "running", "complete", "cut" or "failed"."""
    why: str = ""
    fingerprint: str = ""
    outcome: RunRow | None = None
    rounds: int = 0
    walks: int = 0
    steps: int = 0
    """Steps of walks, or generated successors."""
    spent: float = 0.0
    """CPU seconds of its walks; of a search, the seconds that its levels took."""
    clusters: tuple[FindingRow, ...] = ()
    """Merged over rounds, the most frequent first."""
    rules: tuple[RuleTotal, ...] = ()
    claims: tuple[ClaimTotal, ...] = ()
    levels: tuple[LevelRow, ...] = ()
    growth: Growth = Growth()
    bounds_hit: Mapping[str, int] = field(factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same task in another run."""
        sizes, settings = sorted(self.bounds.items()), sorted((name, str(set_)) for name, set_ in self.flags.items())
        return self.scenario, self.variant, repr(sizes), repr(settings), self.engine

    @property
    def answer(self) -> str:
        """What is known: the answer of the task, or where it has none yet, what its clusters are evidence for."""
        if self.outcome is not None:
            return self.outcome.answer
        return ANSWERS.get(self.clusters[0].kind, "violated") if self.clusters else "undecided"

    @property
    def how(self) -> str:
        """How the answer is known, or why there is none."""
        return self.outcome.how if self.outcome is not None else (self.why or self.state)

    @property
    def distinct(self) -> float | None:
        """Distinct states: counted, or else estimated; None where neither is known."""
        if self.outcome is not None and self.outcome.distinct_exact is not None:
            return float(self.outcome.distinct_exact)
        estimate = None if self.outcome is None else self.outcome.distinct
        return estimate if estimate is not None else (self.growth.states[-1] if self.growth.states else None)

    @property
    def rate(self) -> float | None:
        """Steps per CPU second, or generated successors per second; None where no time was spent."""
        return self.steps / self.spent if self.spent > 0 else None


@frozen
class RunResult:
    """A run as its folder tells it. `missing` says what the folder lacks, or has and cannot be believed."""

    path: Path
    manifest: Mapping[str, Any]
    tasks: tuple[TaskResult, ...]
    missing: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """"running", "complete", "interrupted" or "failed"."""
        return str(self.manifest.get("state", "interrupted"))

    def told(self, name: str) -> str:
        """A field of the manifest as text, "unknown" where it has none."""
        found = self.manifest.get(name)
        return "unknown" if found is None else str(found)


def merged_clusters(rows: Iterable[FindingRow]) -> tuple[FindingRow, ...]:
    """The clusters of a task from those of its rounds, the most frequent first; in whatever order the rows come."""
    clusters: dict[str, FindingRow] = {}
    for row in rows:
        clusters[row.cluster] = _both(clusters[row.cluster], row) if row.cluster in clusters else row
    return tuple(sorted(clusters.values(), key=lambda row: (-row.count, row.length, row.cluster)))


def _both(one: FindingRow, other: FindingRow) -> FindingRow:
    """Two clusters of one shape as one: counts add up, of the traces the shortest and then earliest is kept."""
    best, rest = sorted((one, other), key=lambda row: (row.length, row.round))
    return evolve(
        best, count=one.count + other.count, claims=tuple(dict.fromkeys((*best.claims, *sorted(rest.claims)))),
        first_walk=min(one.first_walk, other.first_walk),
        shortest=best.shortest or (rest.shortest and rest.length == best.length),
    )  # fmt: skip
