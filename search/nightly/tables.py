"""The tables of a nightly run: a class per row, with the columns that Spark, pandas and DuckDB see.

Words: a *task* is one scenario in one variant, with bounds and flags, searched by one engine; they have numbers from 0.
A *round* is what a task does between two checkpoints. A *part* is the file of one table, task and round; all parts of a
table have the same columns. Rows of `chunks`, `findings`, `rules`, `coverage` and `levels` are of a round, so that sums
over rounds are those of the task; rows of `runs` are of a task that has ended.
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
    """Consecutive walks that one executor has done, the first of them number `first` of the task."""

    task: int
    round: int
    first: int
    walks: int
    steps: int
    visits: int
    dead_ends: int
    quiet: int
    """Visits to quiet states."""
    seconds: float
    """CPU seconds of the executor."""
    host: str
    distinct: float | None = None
    """An estimate of the distinct states of the task up to this chunk, None where it was not asked for."""
    sketch: bytes | None = None
    """In the last chunk of a round: the registers that the estimate is made from, for all walks of the task so far."""
    merged: bytes | None = None
    """In the last chunk of a round: all that the walks of the task have counted so far, as an Arrow stream."""


@frozen
class FindingRow:
    """The findings of one shape in one round. Those of a task are the merged rows of its rounds: see `clusters`."""

    task: int
    round: int
    cluster: str
    """The first 12 hexadecimal digits of the SHA-256 of the claim and steps of the shape."""
    kind: str
    """"always", "when quiet", "step"; empty for a deadlock."""
    claim: str
    """The claim of the shape, with parameters renamed."""
    steps: tuple[str, ...]
    """The steps of the shape."""
    count: int
    """Findings of this round that were minimized to this shape."""
    claims: tuple[str, ...]
    """The claims that they violate, by key; first the one that the shortest trace shows."""
    first_walk: int
    start: tuple[int, ...]
    """The first state of the shortest trace, a number per leaf."""
    actions: tuple[str, ...]
    """The steps of the shortest trace, by key."""
    length: int
    shortest: bool
    """Whether it is known that no trace to the claim is shorter."""


@frozen
class RuleRow:
    """How often an action instance was enabled, taken, and changed the state, in one round."""

    task: int
    round: int
    action: str
    """The key of the instance."""
    name: str
    actor: str
    enabled: int
    taken: int
    changed: int


@frozen
class CoverageRow:
    """How often a claim could have failed in one round, and in how many walks (or states) it was violated.

    A reachable claim is "violated" where it was witnessed. A deadlock that counts as an error is a claim of that name.
    """

    task: int
    round: int
    claim: str
    invariant: str
    premise: int
    violated: int


@frozen
class LevelRow:
    """A level of a breadth-first search: `states` are new, of `generated` successors; `total` are all so far."""

    task: int
    round: int
    depth: int
    states: int
    generated: int
    total: int
    seconds: float
    bytes: int


@frozen
class RunRow:
    """What came of a task; JSON objects are strings."""

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
    walks: int
    steps: int
    visits: int
    distinct: float | None
    distinct_exact: int | None
    distinct_error: float | None
    """The relative standard error of `distinct`."""
    depth: int | None
    seconds: float
    """Wall time."""
    cpu_seconds: float
    why: str
    """Why the task did not end as planned; empty if it did."""
    bounds_hit: str
    """A JSON object: how often, by the bound's name."""
    notes: tuple[str, ...]
    command: str
    """The command that does the same again."""


TABLES: Mapping[str, type] = {
    "chunks": ChunkRow, "findings": FindingRow, "rules": RuleRow, "coverage": CoverageRow, "levels": LevelRow,
    "runs": RunRow,
}  # fmt: skip
"""The class of the rows of each table."""
NARROW = {"task": TASK, "round": ROUND, "length": pa.int32(), "depth": pa.int32()}
KINDS: Mapping[str, pa.DataType] = {
    "int": COUNT, "float": REAL, "str": TEXT, "bool": pa.bool_(), "bytes": pa.binary(), "tuple[str, ...]": TEXTS,
    "tuple[int, ...]": pa.list_(pa.field("element", COUNT)),
}  # fmt: skip
"""The column of each Python type."""


def schema_of(table: str) -> pa.Schema:
    """The columns of a table; those that may be null have a class whose field may be None."""
    return pa.schema([_column(field.name, str(field.type)) for field in fields(TABLES[table])])


def _column(name: str, kind: str) -> pa.Field:
    plain = kind.removesuffix(" | None")
    return pa.field(name, NARROW.get(name, KINDS[plain]) if plain == "int" else KINDS[plain], nullable=plain != kind)


SCHEMAS: Mapping[str, pa.Schema] = {table: schema_of(table) for table in TABLES}

Row = TypeVar("Row")


def table_of(name: str, rows: Iterable[Any]) -> pa.Table:
    """The rows as a table with the columns of that name."""
    return pa.Table.from_pylist([asdict(row, recurse=False) for row in rows], SCHEMAS[name])


def rows_of(kind: type[Row], table: pa.Table) -> list[Row]:
    """The rows of a table, in its order."""
    return [kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}) for row in table.to_pylist()]
