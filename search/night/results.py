"""The result of a nightly run, read from its folder, without any model.

The run can be complete, running, interrupted, or have damaged parts; `RunResult.missing` lists what is missing. Only
rounds that count are read (see `kwalk.search.night.folder`): those from which a killed run is resumed.

Words: a *group* is all findings of one shape of a task, over its rounds. The *growth* of a task is the number of
distinct states after each number of steps (of walks) or levels (of a search).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from kwalk.model.language import UsageError
from kwalk.search.night.folder import MANIFEST, DamagedPart, RunFolder, part_name
from kwalk.search.night.tables import TABLES, ActionRow, ChunkRow, CoverageRow, FindingRow, LevelRow, RunRow

ANSWERS = {"": "deadlock", "when quiescent": "bad stable state"}
"""The answer that a group shows, by the kind of its property; "violated" for all other kinds."""


@frozen
class GrowthCurve:
    """The growth of a task: distinct states (`states`) after `steps` steps or generated successors."""

    steps: tuple[int, ...] = ()
    states: tuple[float, ...] = ()


@frozen
class TaskResult:
    """The result of a task: its rounds that count, merged, and its row in `runs` (None if it has not ended)."""

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
    groups: tuple[FindingRow, ...] = ()
    """Merged over rounds, the most frequent first."""
    actions: tuple[ActionRow, ...] = ()
    """How often each action instance was enabled, taken and changed the state, in all rounds."""
    properties: tuple[CoverageRow, ...] = ()
    """How often each property instance was tested, and violated (or witnessed), in all rounds."""
    levels: tuple[LevelRow, ...] = ()
    growth: GrowthCurve = GrowthCurve()
    bounds_hit: Mapping[str, int] = field(factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """The key that the same task has in another run."""
        sizes, settings = sorted(self.bounds.items()), sorted((name, str(set_)) for name, set_ in self.flags.items())
        return self.scenario, self.variant, repr(sizes), repr(settings), self.engine

    @property
    def answer(self) -> str:
        """The answer of the task; before its end, the answer that its groups show."""
        if self.outcome is not None:
            return self.outcome.answer
        return ANSWERS.get(self.groups[0].kind, "violated") if self.groups else "undecided"

    @property
    def accepted(self) -> tuple[str, ...]:
        """The reasons why all that the task violates is accepted; none if it is not, or before the end of the task."""
        return () if self.outcome is None else self.outcome.accepted

    @property
    def how(self) -> str:
        """The strength of the answer, or why there is none."""
        return self.outcome.how if self.outcome is not None else (self.why or self.state)

    @property
    def distinct(self) -> float | None:
        """The number of distinct states, counted or else estimated; None if unknown."""
        if self.outcome is not None and self.outcome.distinct_exact is not None:
            return float(self.outcome.distinct_exact)
        estimate = None if self.outcome is None else self.outcome.distinct
        return estimate if estimate is not None else (self.growth.states[-1] if self.growth.states else None)

    @property
    def rate(self) -> float | None:
        """Steps per CPU second, or generated successors per second; None without any time."""
        return self.steps / self.spent if self.spent > 0 else None


@frozen
class RunResult:
    """The result of a run. `missing` describes what the folder lacks, or has in damaged form."""

    path: Path
    manifest: Mapping[str, Any]
    tasks: tuple[TaskResult, ...]
    missing: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """The state of the night: "running", "complete", "interrupted" or "failed"."""
        return str(self.manifest.get("state", "interrupted"))

    def text_of(self, name: str) -> str:
        """Return a field of the manifest as text; "unknown" if it is missing."""
        found = self.manifest.get(name)
        return "unknown" if found is None else str(found)


def merged_groups(rows: Iterable[FindingRow]) -> tuple[FindingRow, ...]:
    """Merge the groups of rounds into those of a task, the most frequent first; the order of rows is irrelevant."""
    groups: dict[str, FindingRow] = {}
    for row in rows:
        groups[row.group] = _both(groups[row.group], row) if row.group in groups else row
    return tuple(sorted(groups.values(), key=lambda row: (-row.count, row.length, row.group)))


def _both(one: FindingRow, other: FindingRow) -> FindingRow:
    """Merge two groups of one shape: add the counts; keep the shortest and then earliest trace."""
    best, rest = sorted((one, other), key=lambda row: (row.length, row.round))
    return evolve(
        best,
        count=one.count + other.count,
        properties=tuple(dict.fromkeys((*best.properties, *sorted(rest.properties)))),
        first_walk=min(one.first_walk, other.first_walk),
        shortest=best.shortest or (rest.shortest and rest.length == best.length),
    )


POINTS = 400
"""The most points of a growth: more than a page can show."""
UNFINISHED = {
    "running": "The run is running, or was killed: these are the results of its finished rounds.",
    "interrupted": "The run was interrupted: these are the results of its finished rounds.",
    "failed": "The run failed: these are the results of its finished rounds.",
}
"""What is missing in a run of that state."""


def read_run(path: Path) -> RunResult:
    """Read a run folder; UsageError if it is not one."""
    folder = RunFolder(path)
    manifest = folder.manifest()
    state = str(manifest.get("state"))
    missing = [UNFINISHED[state]] if state in UNFINISHED else []
    tasks = []
    for fields in _task_fields(path, manifest):
        task, gaps = _task(folder, fields)
        tasks.append(task)
        missing += gaps
    return RunResult(path, manifest, tuple(tasks), tuple(missing))


def _task_fields(path: Path, manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of `TaskResult` that the manifest has, for each task; UsageError if one is missing."""
    names, tasks = ("name", "scenario", "variant", "engine", "state"), manifest.get("tasks")
    for task in map(_mapping, tasks if isinstance(tasks, list) else [None]):
        if type(task.get("task")) is not int or not all(isinstance(task.get(name), str) for name in names):
            raise UsageError(
                f"{str(path / MANIFEST)!r} has a task without its number, {', '.join(names)}: it was changed, or is "
                "not the manifest of a run. Give another run."
            )
        yield {
            **{name: task[name] for name in names},
            "number": task["task"],
            "bounds": _mapping(task.get("bounds")),
            "flags": _mapping(task.get("flags")),
            "why": str(task.get("why") or ""),
            "fingerprint": str(task.get("fingerprint") or ""),
        }


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# A task.


@frozen
class _Rounds:
    """The rows of the rounds of a task that count, by table, in order."""

    count: int = 0
    chunks: list[ChunkRow] = field(factory=list)
    findings: list[FindingRow] = field(factory=list)
    actions: list[ActionRow] = field(factory=list)
    coverage: list[CoverageRow] = field(factory=list)
    levels: list[LevelRow] = field(factory=list)


def _task(folder: RunFolder, fields: dict[str, Any]) -> tuple[TaskResult, list[str]]:
    """Return the result of a task, and what of it is missing."""
    rounds, gaps = _read_rounds(folder, fields)
    outcome, unread = _outcome(folder, fields)
    walked = sum(row.steps for row in rounds.chunks)
    task = TaskResult(
        **fields,
        outcome=outcome,
        rounds=rounds.count,
        walks=sum(row.walks for row in rounds.chunks),
        steps=walked + sum(row.generated for row in rounds.levels),
        spent=_spent(rounds),
        groups=merged_groups(rounds.findings),
        actions=_summed(rounds.actions, "instance", ("enabled", "taken", "changed")),
        properties=_summed(rounds.coverage, "property", ("premise", "violated")),
        levels=tuple(sorted(rounds.levels, key=lambda row: row.depth)),
        growth=_growth(rounds),
        bounds_hit={} if outcome is None else _mapping(json.loads(outcome.bounds_hit or "{}")),
    )
    return task, [*gaps, *unread]


def _read_rounds(folder: RunFolder, fields: Mapping[str, Any]) -> tuple[_Rounds, list[str]]:
    """Read the rounds that count; return them, and why there are no more."""
    number, rounds, gaps = fields["number"], _Rounds(), []
    for last in ("chunks", "levels"):
        whole, wrong = folder.complete_rounds(number, last)
        later = len(folder.rounds(number, last)) - len(whole)
        if wrong:
            counts = f"rounds that count: {len(whole)}; that do not: {later}, as {wrong}"
            gaps.append(f"Task {number} ({fields['name']}): {counts}.")
        for round in whole:
            for table, rows in (
                ("chunks", rounds.chunks),
                ("findings", rounds.findings),
                ("actions", rounds.actions),
                ("coverage", rounds.coverage),
                ("levels", rounds.levels),
            ):
                if (folder.path / part_name(table, number, round)).exists():
                    rows.extend(folder.read(TABLES[table], number, round))
        rounds = evolve(rounds, count=rounds.count + len(whole))
    return rounds, gaps


def _outcome(folder: RunFolder, fields: Mapping[str, Any]) -> tuple[RunRow | None, list[str]]:
    """Return how a task ended; None if it did not, or if that cannot be read."""
    if not (folder.path / part_name("runs", fields["number"], None)).exists():
        return None, [f"How task {fields['number']} ({fields['name']}) ended is missing."] * (
            fields["state"] == "complete"
        )
    try:
        return folder.read(RunRow, fields["number"])[0], []
    except (DamagedPart, IndexError) as error:
        return None, [f"How task {fields['number']} ({fields['name']}) ended is not known: {error}."]


# Sums over rounds.


def _summed(rows: Iterable[Any], key: str, counts: Iterable[str]) -> tuple[Any, ...]:
    """Add counts of the rows that are about one thing, which `key` names, in the order of the first round."""
    totals: dict[str, Any] = {}
    for row in rows:
        old = totals.get(getattr(row, key))
        added = {} if old is None else {name: getattr(old, name) + getattr(row, name) for name in counts}
        totals[getattr(row, key)] = row if old is None else evolve(old, **added)
    return tuple(totals.values())


def _spent(rounds: _Rounds) -> float:
    return sum(row.seconds for row in rounds.chunks) + sum(row.seconds for row in rounds.levels)


def _growth(rounds: _Rounds) -> GrowthCurve:
    """Return the growth, in the order of walks; at most POINTS points."""
    done, points = 0, []
    for chunk in sorted(rounds.chunks, key=lambda row: (row.round, row.first)):
        done += chunk.steps
        points += [] if chunk.distinct is None else [(done, chunk.distinct)]
    for level in sorted(rounds.levels, key=lambda row: row.depth):
        done += level.generated
        points.append((done, float(level.total)))
    every = -(-len(points) // POINTS) or 1
    thinned = points[:-1:every] + points[-1:]
    return GrowthCurve(tuple(steps for steps, _ in thinned), tuple(states for _, states in thinned))
