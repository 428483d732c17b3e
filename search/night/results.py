"""The result of a nightly run, read from its folder, without any model.

The run can be complete, running, interrupted, or have damaged parts; `RunResult.missing` lists what is missing. Only
rounds that count are read (see `kwalk.search.night.folder`): those from which a killed run is resumed.

Words: a *group* is all findings of one shape of a task, over its rounds. The *growth* of a task is the number of
distinct states after each number of steps (of walks) or levels (of a search).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeGuard

from attrs import evolve, field, frozen

from kwalk.model.language import UsageError
from kwalk.search.night.folder import MANIFEST, RunFolder
from kwalk.search.night.tables import ActionRow, ChunkRow, CoverageRow, FindingRow, LevelRow, RunRow, TaskRecord

ANSWERS = {"": "deadlock", "when quiescent": "bad stable state"}
"""The answer that a group shows, by the kind of its property; "violated" for all other kinds."""


@frozen
class GrowthCurve:
    """The growth of a task: distinct states (`states`) after `steps` steps or generated successors."""

    steps: tuple[int, ...] = ()
    states: tuple[float, ...] = ()


@frozen
class TaskResult:
    """The result of a task: its rounds that count, merged, and its outcome (None if it has not ended)."""

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
    """Merge the groups of rounds, in their order, into those of a task, the most frequent first."""
    groups: dict[str, FindingRow] = {}
    for row in rows:
        groups[row.group] = _both(groups[row.group], row) if row.group in groups else row
    return tuple(sorted(groups.values(), key=lambda row: (-row.count, row.length, row.group)))


def _both(one: FindingRow, other: FindingRow) -> FindingRow:
    """Merge two groups of one shape: add the counts; keep the shortest and then earliest trace."""
    best, rest = sorted((one, other), key=lambda row: row.length)
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


def _task(folder: RunFolder, fields: dict[str, Any]) -> tuple[TaskResult, list[str]]:
    """Return the result of a task, and what of it is missing."""
    lines, label = list(folder.lines(fields["number"])), f"task {fields['number']} ({fields['name']})"
    rounds = [line for line in takewhile(_is_record, lines) if _is_record(line) and line.outcome is None]
    ended = [line.outcome for line in lines if _is_record(line) and line.outcome is not None]
    outcome, gaps = ended[-1] if ended else None, []
    wrong = next((line for line in lines if isinstance(line, str)), None)
    if wrong is not None:
        lost = len(lines) - len(rounds) - len(ended)
        gaps.append(f"{label.capitalize()}: rounds that count: {len(rounds)}; that do not: {lost}, as {wrong}.")
    if outcome is None and fields["state"] == "complete":
        gaps.append(f"How {label} ended is missing.")
    chunks = [row for one in rounds for row in one.chunks]
    levels = [row for one in rounds for row in one.levels]
    task = TaskResult(
        **fields,
        outcome=outcome,
        rounds=len(rounds),
        walks=sum(row.walks for row in chunks),
        steps=sum(row.steps for row in chunks) + sum(row.generated for row in levels),
        spent=sum(row.seconds for row in chunks) + sum(row.seconds for row in levels),
        groups=merged_groups(row for one in rounds for row in one.findings),
        actions=_summed((row for one in rounds for row in one.actions), "instance", ("enabled", "taken", "changed")),
        properties=_summed((row for one in rounds for row in one.coverage), "property", ("premise", "violated")),
        levels=tuple(levels),
        growth=_growth(chunks, levels),
        bounds_hit={} if outcome is None else outcome.bounds_hit,
    )
    return task, gaps


def _is_record(line: TaskRecord | str) -> TypeGuard[TaskRecord]:
    return not isinstance(line, str)


# Sums over rounds.


def _summed(rows: Iterable[Any], key: str, counts: Iterable[str]) -> tuple[Any, ...]:
    """Add counts of the rows that are about one thing, which `key` names, in the order of the first round."""
    totals: dict[str, Any] = {}
    for row in rows:
        old = totals.get(getattr(row, key))
        added = {} if old is None else {name: getattr(old, name) + getattr(row, name) for name in counts}
        totals[getattr(row, key)] = row if old is None else evolve(old, **added)
    return tuple(totals.values())


def _growth(chunks: Iterable[ChunkRow], levels: Iterable[LevelRow]) -> GrowthCurve:
    """Return the growth, in the order of walks; at most POINTS points."""
    done, points = 0, []
    for chunk in chunks:
        done += chunk.steps
        points += [] if chunk.distinct is None else [(done, chunk.distinct)]
    for level in levels:
        done += level.generated
        points.append((done, float(level.total)))
    every = -(-len(points) // POINTS) or 1
    thinned = points[:-1:every] + points[-1:]
    return GrowthCurve(tuple(steps for steps, _ in thinned), tuple(states for _, states in thinned))
