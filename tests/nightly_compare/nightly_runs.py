"""Run folders with real findings: what in-process engines say, written as a nightly run writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import stamped
from kwalk.search.night.folder import RunFolder
from kwalk.search.night.rows import group_id
from kwalk.search.night.tables import ActionRow, ChunkRow, CoverageRow, FindingRow, LevelRow, RunRow, TaskRecord
from kwalk.search.results.verdict import FindingGroup, Verdict
from kwalk.search.simulation.walk import walk
from tests.nightly.small_run import manifest

ROUNDS = 3
"""Rounds of a task: its counts are divided among them."""


@frozen
class Searched:
    """A task that has been searched."""

    reference: str
    model: Model
    verdict: Verdict
    state: str = "complete"
    why: str = ""
    properties: Sequence[str] = field(factory=list)
    """Keys of the listed properties; all of the model's if empty."""


def walked(reference: str, variant: str | None = None, *, walks: int = 200, depth: int = 30, **other: Any) -> Searched:
    """A task of walks, with all findings minimized."""
    bounds, seed = other.pop("bounds", {}), other.pop("seed", 1)
    model = Model(find_scenario(reference), variant, bounds)
    command = f"kwalk walk {reference}"
    verdict = walk(model, seed=seed, walks=walks, depth=depth, keep_going=True, minimize=100, command=command)
    return Searched(reference, model, verdict, **other)


def write_run(path: Path, searched: Iterable[Searched], **manifested: Any) -> RunFolder:
    """Write a run of these tasks, its manifest with some of it otherwise; the folder."""
    folder, tasks = RunFolder(path), list(searched)
    manifests = [_task_manifest(number, one) for number, one in enumerate(tasks)]
    folder.save_manifest(manifest(tasks=manifests, **manifested))
    for number, one in enumerate(tasks):
        for round in range(ROUNDS):
            with one.model.active():
                folder.journal(number).append(_round(round, one))
        if one.state == "complete":
            folder.journal(number).append(TaskRecord(outcome=_run_row(number, one)))
            for group in one.verdict.groups:
                text = itf_text(one.model, stamped(group.trace, one.model, one.reference), "0")
                folder.save_trace(number, _digest(group), text)
    return folder


def _task_manifest(number: int, one: Searched) -> dict[str, Any]:
    verdict = one.verdict
    return {
        "task": number,
        "name": f"{one.reference} {verdict.variant}",
        "scenario": one.reference,
        "variant": verdict.variant,
        "bounds": dict(verdict.bounds),
        "flags": dict(verdict.flags),
        "engine": verdict.engine,
        "fingerprint": "0" * 16,
        "state": one.state,
        "why": one.why,
    }


def _round(round: int, one: Searched) -> TaskRecord:
    verdict = one.verdict
    return TaskRecord(
        round=round,
        findings=tuple(_finding(round, c, one) for c in verdict.groups if _share(c.count, round)),
        actions=tuple(
            ActionRow(
                i.key,
                i.action.name,
                i.actor,
                *(_share(n, round) for n in (count.enabled, count.taken, count.changed)),
            )
            for i in one.model.instances
            if (count := verdict.action_counts.get(i.key)) is not None
        ),
        coverage=tuple(
            CoverageRow(key, key.partition("(")[0], _share(count, round), _share(_times(verdict, key), round))
            for key, count in verdict.premises.items()
            if not one.properties or key in one.properties
        ),
        chunks=() if verdict.walks is None else (_chunk(round, verdict),),
        levels=() if verdict.walks is not None else (_level(round, verdict),),
    )


def _chunk(round: int, verdict: Verdict) -> ChunkRow:
    walks, steps = _share(verdict.walks or 0, round), _share(verdict.steps or 0, round)
    seen = 1000.0 * (1 - 0.5 ** (round + 1))
    return ChunkRow(1000 * round, walks, steps, steps, 0, 0, 0.5, "one", seen)


def _level(round: int, verdict: Verdict) -> LevelRow:
    states = verdict.distinct_states or 0
    total = sum(_share(states, n) for n in range(round + 1))
    generated = _share(verdict.generated_states or 0, round)
    return LevelRow(round, _share(states, round), generated, total, 0.5, 8 * states)


def _share(count: int, round: int) -> int:
    """What falls to one of the rounds, the rest to the first."""
    return count // ROUNDS + (count % ROUNDS if round == 0 else 0)


def _times(verdict: Verdict, key: str) -> int:
    return sum(finding.count for finding in verdict.findings if finding.prop == key)


def _digest(group: FindingGroup) -> str:
    return group_id(group.prop, group.steps)


def _finding(round: int, group: FindingGroup, one: Searched) -> FindingRow:
    kinds = {prop.declaration.name: prop.kind.value for prop in one.model.properties}
    trace = group.trace
    return FindingRow(
        _digest(group),
        kinds.get(group.prop.partition("(")[0], ""),
        group.prop,
        group.steps,
        count=_share(group.count, round),
        properties=group.properties,
        first_walk=(group.walk or 0) + round,
        start=trace.states[0],
        actions=trace.actions,
        length=trace.length,
        shortest=trace.shortest is not None,
    )


def _run_row(task: int, one: Searched) -> RunRow:
    verdict = one.verdict
    return RunRow(
        task=task,
        name=f"{one.reference} {verdict.variant}",
        scenario=one.reference,
        variant=verdict.variant,
        bounds=dict(verdict.bounds),
        flags=dict(verdict.flags),
        engine=verdict.engine,
        seed=verdict.seed or 0,
        answer=verdict.answer.value,
        how=verdict.qualifier,
        walks=verdict.walks or 0,
        steps=verdict.steps or 0,
        visits=verdict.steps or 0,
        distinct=875.0 if verdict.walks is not None else None,
        distinct_exact=verdict.distinct_states,
        distinct_error=0.01,
        depth=verdict.depth,
        seconds=verdict.seconds,
        cpu_seconds=0.5 * ROUNDS,
        why="",
        bounds_hit=dict(verdict.bounds_hit),
        notes=verdict.notes,
        command=verdict.command,
    )
