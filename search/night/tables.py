"""What a task of a nightly run saves: rows of tables, in the lines of its journal.

Words: a *task* is one scenario in one variant, with bounds and flags, searched by one engine; they have numbers from 0.
A *round* is what a task does between two records of its journal; sums over its rounds are those of the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen


@frozen
class ChunkRow:
    """Consecutive walks whose counts executors have merged; `first` is the number of the first one in the task."""

    first: int
    walks: int
    steps: int
    visits: int
    dead_ends: int
    quiescent: int
    """Visits to quiescent states."""
    seconds: float
    """CPU seconds of the executors."""
    host: str
    """The names of their machines, separated by commas."""
    distinct: float | None = None
    """An estimate of the distinct states of the task up to this chunk, None if it was not requested."""


@frozen
class FindingRow:
    """The findings of one shape in one round. Those of a task are the merged rows of its rounds: see `groups`."""

    group: str
    """The first 12 hexadecimal digits of the SHA-256 of the property and steps of the shape."""
    kind: str
    """"always", "when quiescent", "step"; empty for a deadlock."""
    property: str
    """The property instance of the shape, with parameters renamed."""
    steps: tuple[str, ...]
    """The steps of the shape."""
    count: int
    """Findings of this round that were minimized to this shape."""
    properties: tuple[str, ...]
    """The keys of the property instances that they violate; the one of the shortest trace first."""
    first_walk: int
    start: tuple[int, ...]
    """The first state of the shortest trace, a number per leaf."""
    actions: tuple[str, ...]
    """The steps of the shortest trace, by key."""
    length: int
    shortest: bool
    """Whether it is known that no shorter trace violates the property."""
    accepted: str = ""
    """The reason why the configuration accepts it; empty if it does not."""


@frozen
class ActionRow:
    """How often an action instance was enabled, taken, and changed the state, in one round."""

    instance: str
    """The key of the action instance."""
    action: str
    """The name of the action."""
    actor: str
    enabled: int
    taken: int
    changed: int


@frozen
class CoverageRow:
    """How often a property instance was tested in one round, and in how many walks (or states) it was violated.

    A `reachable` property is "violated" where it was witnessed. A deadlock that is an error has a row of that name.
    """

    property: str
    """The key of the property instance."""
    declaration: str
    """The name of the property."""
    premise: int
    violated: int


@frozen
class LevelRow:
    """A level of a breadth-first search: new states, generated successors, and the total of states so far."""

    depth: int
    states: int
    generated: int
    total: int
    seconds: float
    bytes: int


@frozen(kw_only=True)
class RunRow:
    """The result of a task."""

    task: int
    name: str
    scenario: str
    variant: str
    bounds: Mapping[str, int]
    flags: Mapping[str, Any]
    engine: str
    seed: int
    answer: str
    """"holds", "violated", "bad stable state", "deadlock" or "undecided"."""
    how: str
    """"sampled", "exhaustive", "interrupted", or which limit was hit."""
    walks: int = 0
    steps: int = 0
    visits: int = 0
    distinct: float | None = None
    distinct_exact: int | None = None
    distinct_error: float | None = None
    """The relative standard error of `distinct`."""
    depth: int | None = None
    seconds: float = 0.0
    """Wall time."""
    cpu_seconds: float = 0.0
    why: str
    """Why the task did not end as planned; empty if it did."""
    bounds_hit: Mapping[str, int]
    """How often, by the bound's name."""
    notes: tuple[str, ...]
    command: str
    """The command that reproduces the task."""
    accepted: tuple[str, ...] = ()
    """The reasons why all that the task violates is accepted; empty if it violates nothing, or something else."""


@frozen(kw_only=True)
class TaskRecord:
    """A line of the journal of a task: a round of walks, a level of a search, what a search found, or how it ended."""

    round: int | None = None
    """The number of a round of walks, from 0."""
    chunks: tuple[ChunkRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    actions: tuple[ActionRow, ...] = ()
    coverage: tuple[CoverageRow, ...] = ()
    levels: tuple[LevelRow, ...] = ()
    totals: bytes = b""
    """The counts of all walks of the task so far, packed."""
    outcome: RunRow | None = None
