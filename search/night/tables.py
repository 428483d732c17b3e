"""The tables of a nightly run: a class per row, with the columns that Spark, pandas and DuckDB see.

Words: a *task* is one scenario in one variant, with bounds and flags, searched by one engine; they have numbers from 0.
A *round* is what a task does between two checkpoints. A *part* is the file of one table, task and round; all parts of a
table have the same columns. Rows of `chunks`, `findings`, `actions`, `coverage` and `levels` are of a round, so that
sums over rounds are those of the task; rows of `runs` are of a task that has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import pyarrow as pa
from attrs import asdict, fields, frozen

TASK, ROUND, COUNT, REAL, TEXT = pa.int32(), pa.int32(), pa.int64(), pa.float64(), pa.string()
TEXTS = pa.list_(pa.field("element", TEXT))


@frozen
class ChunkRow:
    """Consecutive walks whose counts executors have merged; `first` is the number of the first one in the task."""

    task: int
    round: int
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
    sketch: bytes | None = None
    """In the last chunk of a round: the registers that the estimate is made from, for all walks of the task so far."""
    merged: bytes | None = None
    """In the last chunk of a round: the counts of all walks of the task so far, as an Arrow stream."""


@frozen
class FindingRow:
    """The findings of one shape in one round. Those of a task are the merged rows of its rounds: see `groups`."""

    task: int
    round: int
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

    task: int
    round: int
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

    task: int
    round: int
    property: str
    """The key of the property instance."""
    declaration: str
    """The name of the property."""
    premise: int
    violated: int


@frozen
class LevelRow:
    """A level of a breadth-first search: new states, generated successors, and the total of states so far."""

    task: int
    round: int
    depth: int
    states: int
    generated: int
    total: int
    seconds: float
    bytes: int


@frozen(kw_only=True)
class RunRow:
    """The result of a task; JSON objects are strings."""

    task: int
    name: str
    scenario: str
    variant: str
    bounds: str
    """A JSON object: sizes by name."""
    flags: str
    """A JSON object: settings by name."""
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
    bounds_hit: str
    """A JSON object: how often, by the bound's name."""
    notes: tuple[str, ...]
    command: str
    """The command that reproduces the task."""
    accepted: tuple[str, ...] = ()
    """The reasons why all that the task violates is accepted; empty if it violates nothing, or something else."""


TABLES: Mapping[str, type] = {
    "chunks": ChunkRow,
    "findings": FindingRow,
    "actions": ActionRow,
    "coverage": CoverageRow,
    "levels": LevelRow,
    "runs": RunRow,
}
"""The class of the rows of each table."""
NARROW = {"task": TASK, "round": ROUND, "length": pa.int32(), "depth": pa.int32()}
KINDS: Mapping[str, pa.DataType] = {
    "int": COUNT,
    "float": REAL,
    "str": TEXT,
    "bool": pa.bool_(),
    "bytes": pa.binary(),
    "tuple[str, ...]": TEXTS,
    "tuple[int, ...]": pa.list_(pa.field("element", COUNT)),
}
"""The column of each Python type."""


def schema_of(table: str) -> pa.Schema:
    """Return the columns of a table; a column is nullable if the field of its class can be None."""
    return pa.schema([_column(field.name, str(field.type)) for field in fields(TABLES[table])])


def _column(name: str, kind: str) -> pa.Field:
    plain = kind.removesuffix(" | None")
    return pa.field(name, NARROW.get(name, KINDS[plain]) if plain == "int" else KINDS[plain], nullable=plain != kind)


SCHEMAS: Mapping[str, pa.Schema] = {table: schema_of(table) for table in TABLES}

Row = TypeVar("Row")


def table_of(name: str, rows: Iterable[Any]) -> pa.Table:
    """Return the rows as a table with the columns of that name."""
    return pa.Table.from_pylist([asdict(row, recurse=False) for row in rows], SCHEMAS[name])


def rows_of(kind: type[Row], table: pa.Table) -> list[Row]:
    """Return the rows of a table, in order."""
    return [kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}) for row in table.to_pylist()]
