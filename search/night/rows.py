"""Rows of tables from the counts and groups of walks, and groups and counts from rows."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from attrs import fields, frozen

from kwalk.model.language import Model
from kwalk.search.executors.chunks import Chunk
from kwalk.search.kernel.interface import Kernel
from kwalk.search.minimize.groups import FindingGroups, FindingSample, ShapeGroup, merge
from kwalk.search.minimize.shape import TraceShape
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.tables import ActionRow, ChunkRow, CoverageRow, FindingRow, RunRow
from kwalk.search.results.confirmation import Origin
from kwalk.search.results.vacuity import unfailing_notes
from kwalk.search.results.verdict import DEADLOCK, Verdict
from kwalk.search.simulation.chunks import WalkCounts
from kwalk.search.simulation.hyperloglog import distinct, merged


@frozen
class TaskTotals:
    """The counts of all rounds of a task so far."""

    walks: WalkCounts
    seconds: float = 0.0
    """Wall time of the rounds, in seconds."""
    cpu: float = 0.0
    """CPU seconds of the executors."""
    minimized: int = 0
    """The number of findings that were minimized."""
    sliced: int = 0
    """The number of walks on bit-sliced code."""

    def pack(self) -> bytes:
        """Return the totals as an archive of arrays, which is read without unpickling."""
        walks, buffer = self.walks.with_findings(0), io.BytesIO()
        counts = {one.name: getattr(walks, one.name) for one in fields(WalkCounts)}
        others = {one.name: getattr(self, one.name) for one in fields(TaskTotals) if one.name != "walks"}
        np.savez_compressed(buffer, **counts | others | {"failed": -1 if walks.failed is None else walks.failed})
        return buffer.getvalue()


def unpack_totals(content: bytes) -> TaskTotals:
    """Return what `TaskTotals.pack` packed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        values = {name: archive[name] if archive[name].ndim else archive[name].item() for name in archive.files}
    values["failed"] = None if values["failed"] < 0 else values["failed"]
    counts = {one.name: values.pop(one.name) for one in fields(WalkCounts)}
    return TaskTotals(WalkCounts(**counts), **values)


def chunk_rows(chunks: Sequence[Chunk], sketch: np.ndarray) -> Iterator[ChunkRow]:
    """Yield the rows of the chunks of a round; `sketch` has the registers of the rounds before."""
    for chunk in chunks:
        counts = {name: getattr(chunk.counts, name) for name in ("walks", "steps", "visits", "dead_ends", "quiescent")}
        sketch = merged(sketch, chunk.counts.sketch)
        hosts = ", ".join(chunk.hosts)
        yield ChunkRow(first=chunk.first, seconds=chunk.cpu, host=hosts, distinct=distinct(sketch), **counts)


def action_rows(model: Model, counts: Mapping[str, Iterable[int]]) -> tuple[ActionRow, ...]:
    """Return how often each action instance was enabled, taken, and changed the state; `counts` has these by key."""
    with model.active():
        return tuple(
            ActionRow(one.key, one.action.name, one.actor, *counts[one.key])
            for one in model.instances
            if one.key in counts
        )


def coverage_rows(
    model: Model, premises: Mapping[str, int], violated: Mapping[str, int], states: int
) -> tuple[CoverageRow, ...]:
    """Return how often each stated property instance was tested and violated, both by key, in so many states."""
    stated = (prop for prop in model.stated_properties if prop.key in premises)
    rows = [CoverageRow(c.key, c.declaration.name, premises[c.key], violated.get(c.key, 0)) for c in stated]
    if model.scenario.deadlock_is_error:
        rows.append(CoverageRow(DEADLOCK, DEADLOCK, states, violated.get(DEADLOCK, 0)))
    return tuple(rows)


def group_id(prop: str, steps: Iterable[str]) -> str:
    """Return the id of a group, a digest of its shape: the same in all runs."""
    return hashlib.sha256(json.dumps([prop, *steps]).encode()).hexdigest()[:12]


def rows_of_groups(task: NightlyTask, kernel: Kernel, groups: FindingGroups) -> tuple[FindingRow, ...]:
    """Return the rows of a round, those of fewest steps first."""
    ordered = sorted(groups.groups.items(), key=lambda pair: (len(pair[0].steps), pair[0]))
    return tuple(_row(task, kernel, pair) for pair in ordered)


def _row(task: NightlyTask, kernel: Kernel, pair: tuple[TraceShape, ShapeGroup]) -> FindingRow:
    (shape, group), model = pair, task.model
    id_ = group_id(shape.prop, shape.steps)
    start = kernel.unpack(np.frombuffer(group.best.start, np.uint64).reshape(1, -1))[0]
    numbers = sorted(group.properties, key=lambda prop: (prop != group.best.prop, -1 if prop is None else prop))
    properties = tuple(DEADLOCK if number is None else model.properties[number].key for number in numbers)
    return FindingRow(
        group=id_,
        kind=shape.kind,
        property=shape.prop,
        steps=shape.steps,
        count=group.count,
        properties=properties,
        first_walk=group.first.walk or 0,
        start=tuple(int(number) for number in start),
        actions=tuple(model.instances[step].key for step in group.best.steps),
        length=len(group.best.steps),
        shortest=group.best.origin.shortest is not None,
        accepted=task.accepts(shape.prop, id_),
    )


def row_of_run(task: NightlyTask, verdict: Verdict, **fields: Any) -> RunRow:
    """Return the row of a task that has ended with a verdict; `fields` are the other fields of `RunRow`."""
    fairness = (f"Fairness: {verdict.fairness}.",) if verdict.fairness else ()
    worth = (*unfailing_notes(verdict), *(gap.text for gap in verdict.gaps if gap.bound))
    return RunRow(
        task=task.number,
        name=task.name,
        scenario=task.reference,
        variant=task.model.variant,
        bounds=dict(verdict.bounds),
        flags=dict(verdict.flags),
        engine=task.entry.engine,
        seed=task.seed,
        answer=verdict.answer.value,
        how=verdict.qualifier,
        bounds_hit=dict(verdict.bounds_hit),
        command=verdict.command,
        notes=(*worth, *verdict.notes, *fairness, *verdict.comparison_notes, *verdict.code_notes),
        accepted=reasons_of(task, verdict),
        **fields,
    )


def reasons_of(task: NightlyTask, verdict: Verdict) -> tuple[str, ...]:
    """Return why all that a verdict found violated is accepted; nothing if some of it is not, or nothing was found.

    Where single shapes of a property are accepted, all its minimized findings must have one of them.
    """
    reasons: list[str] = []
    for finding in verdict.findings:
        whole = task.accepts(finding.prop)
        shapes = (one for one in verdict.groups if finding.prop in one.properties)
        each = [whole] if whole else [task.accepts(one.prop, group_id(one.prop, one.steps)) for one in shapes]
        if not each or "" in each:
            return ()
        reasons += each
    return tuple(dict.fromkeys(reasons))


class GroupReader:
    """Makes groups from the rows of one task."""

    def __init__(self, model: Model, kernel: Kernel, seed: int) -> None:
        self.model, self.kernel, self.seed = model, kernel, seed
        self.numbers: Mapping[str, int | None] = {DEADLOCK: None} | {c.key: c.index for c in model.properties}

    def groups(self, rows: Iterable[FindingRow], minimized: int) -> FindingGroups:
        """Return the groups of the rows of a round."""
        made = (FindingGroups({self._shape(row): self._group(row)}, row.count) for row in rows)
        found = reduce(merge, made, FindingGroups())
        return FindingGroups(found.groups, minimized)

    @staticmethod
    def _shape(row: FindingRow) -> TraceShape:
        return TraceShape(row.kind, row.property, row.steps)

    def _group(self, row: FindingRow) -> ShapeGroup:
        properties = [self.numbers[key] for key in row.properties]
        start = self.kernel.pack(np.array([row.start], np.int64)).tobytes()
        steps = tuple(self.model.instance(key).index for key in row.actions)
        proved = f"exhaustive to depth {max(0, row.length - 1)}" if row.shortest else None
        origin = Origin("random walks; locally minimal", proved, self.seed)
        best = FindingSample(properties[0], start, steps, origin, row.first_walk)
        return ShapeGroup(row.count, frozenset(properties), best, best)
