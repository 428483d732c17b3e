"""Reading a run folder: complete, running, interrupted, or with parts that are damaged; what is missing is said.

Only rounds that count are read (see `search.nightly.folder`), so that what is read of a run that was killed is what it
will go on from.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from model.language import UsageError
from search.nightly.folder import MANIFEST, Damaged, RunFolder, part_name
from search.nightly.reading.results import ClaimTotal, Growth, RuleTotal, RunResult, TaskResult, merged_clusters
from search.nightly.tables import TABLES, ChunkRow, CoverageRow, FindingRow, LevelRow, RuleRow, RunRow

POINTS = 400
"""Points of a growth that are kept: more than a page can show."""
UNENDED = {
    "running": "The run goes on, or was killed: what is read is what its finished rounds say.",
    "interrupted": "The run was interrupted: what is read is what its finished rounds say.",
    "failed": "The run failed: what is read is what its finished rounds say.",
}
"""What is missing, by the state of a run."""


def read_run(path: Path) -> RunResult:
    """What a run folder holds; UsageError if it is none."""
    folder = RunFolder(path)
    manifest = folder.manifest()
    state = str(manifest.get("state"))
    missing = [UNENDED[state]] if state in UNENDED else []
    tasks = []
    for told in _told(path, manifest):
        task, lacks = _task(folder, told)
        tasks.append(task)
        missing += lacks
    return RunResult(path, manifest, tuple(tasks), tuple(missing))


def _told(path: Path, manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the manifest says of each task, as fields of `TaskResult`; UsageError if it does not say it."""
    names, tasks = ("name", "scenario", "variant", "engine", "state"), manifest.get("tasks")
    for task in map(_mapping, tasks if isinstance(tasks, list) else [None]):
        if type(task.get("task")) is not int or not all(isinstance(task.get(name), str) for name in names):
            raise UsageError(
                f"{str(path / MANIFEST)!r} has a task without its number, {', '.join(names)}; it was changed, or is no "
                "manifest of a run. Name another run."
            )
        yield {
            **{name: task[name] for name in names},
            "number": task["task"], "bounds": _mapping(task.get("bounds")), "flags": _mapping(task.get("flags")),
            "why": str(task.get("why") or ""), "fingerprint": str(task.get("fingerprint") or ""),
        }  # fmt: skip


def _mapping(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


# A task.


@frozen
class _Rounds:
    """The rows of all rounds of a task that count, by table, in the order of the rounds."""

    count: int = 0
    chunks: list[ChunkRow] = field(factory=list)
    findings: list[FindingRow] = field(factory=list)
    rules: list[RuleRow] = field(factory=list)
    coverage: list[CoverageRow] = field(factory=list)
    levels: list[LevelRow] = field(factory=list)


def _task(folder: RunFolder, told: dict[str, Any]) -> tuple[TaskResult, list[str]]:
    """What a task came to, and what of it is missing."""
    rounds, lacks = _read_rounds(folder, told)
    outcome, unread = _outcome(folder, told)
    walked = sum(row.steps for row in rounds.chunks)
    task = TaskResult(
        **told, outcome=outcome, rounds=rounds.count, walks=sum(row.walks for row in rounds.chunks),
        steps=walked + sum(row.generated for row in rounds.levels), spent=_spent(rounds),
        clusters=merged_clusters(rounds.findings), rules=_rule_totals(rounds.rules),
        claims=_claim_totals(rounds.coverage), levels=tuple(sorted(rounds.levels, key=lambda row: row.depth)),
        growth=_growth(rounds), bounds_hit={} if outcome is None else _mapping(json.loads(outcome.bounds_hit or "{}")),
    )  # fmt: skip
    return task, [*lacks, *unread]


def _read_rounds(folder: RunFolder, told: Mapping[str, Any]) -> tuple[_Rounds, list[str]]:
    """The rounds that count, from the first on, and why there are no more of them."""
    number, rounds, lacks = told["number"], _Rounds(), []
    for last in ("chunks", "levels"):
        whole, wrong = folder.whole_rounds(number, last)
        later = len(folder.rounds(number, last)) - len(whole)
        if wrong:
            counts = f"rounds that count: {len(whole)}; that do not: {later}, as {wrong}"
            lacks.append(f"Task {number} ({told['name']}): {counts}.")
        for round in whole:
            for table, rows in (("chunks", rounds.chunks), ("findings", rounds.findings), ("rules", rounds.rules),
                                ("coverage", rounds.coverage), ("levels", rounds.levels)):
                if (folder.path / part_name(table, number, round)).exists():
                    rows.extend(folder.read(TABLES[table], number, round))
        rounds = evolve(rounds, count=rounds.count + len(whole))
    return rounds, lacks


def _outcome(folder: RunFolder, told: Mapping[str, Any]) -> tuple[RunRow | None, list[str]]:
    """How a task ended, None if it did not or if that cannot be read."""
    if not (folder.path / part_name("runs", told["number"], None)).exists():
        return None, [f"How task {told['number']} ({told['name']}) ended is missing."] * (told["state"] == "complete")
    try:
        return folder.read(RunRow, told["number"])[0], []
    except (Damaged, IndexError) as error:
        return None, [f"How task {told['number']} ({told['name']}) ended is not known: {error}."]


# Sums over rounds.


def _rule_totals(rows: Iterable[RuleRow]) -> tuple[RuleTotal, ...]:
    """The counts of each instance, in the order of the first round."""
    totals: dict[str, RuleTotal] = {}
    for row in rows:
        old = totals.get(row.action) or RuleTotal(row.action, row.name, row.actor)
        totals[row.action] = evolve(
            old, enabled=old.enabled + row.enabled, taken=old.taken + row.taken, changed=old.changed + row.changed
        )
    return tuple(totals.values())


def _claim_totals(rows: Iterable[CoverageRow]) -> tuple[ClaimTotal, ...]:
    """The counts of each claim, in the order of the first round."""
    totals: dict[str, ClaimTotal] = {}
    for row in rows:
        old = totals.get(row.claim) or ClaimTotal(row.claim, row.invariant)
        totals[row.claim] = evolve(old, premise=old.premise + row.premise, violated=old.violated + row.violated)
    return tuple(totals.values())


def _spent(rounds: _Rounds) -> float:
    return sum(row.seconds for row in rounds.chunks) + sum(row.seconds for row in rounds.levels)


def _growth(rounds: _Rounds) -> Growth:
    """Distinct states after so many steps, in the order in which walks are numbered; at most POINTS points."""
    done, points = 0, []
    for chunk in sorted(rounds.chunks, key=lambda row: (row.round, row.first)):
        done += chunk.steps
        points += [] if chunk.distinct is None else [(done, chunk.distinct)]
    for level in sorted(rounds.levels, key=lambda row: row.depth):
        done += level.generated
        points.append((done, float(level.total)))
    every = -(-len(points) // POINTS) or 1
    kept = points[: -1 : every] + points[-1:]
    return Growth(tuple(steps for steps, _ in kept), tuple(states for _, states in kept))
