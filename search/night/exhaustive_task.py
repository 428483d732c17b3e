"""One task of exhaustive search: a round is a level, and the search saves its states beside the tables.

On this machine, all of the search is one level.

The folder of states is the checkpoint of the search and is removed at its end; the tables remain.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from kwalk.search.base.option_table import ExhaustKeywords, complete
from kwalk.search.base.progress import Report
from kwalk.search.base.query import Query
from kwalk.search.examination.examination import examined
from kwalk.search.exhaustive.interfaces import LevelDone
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.groups import with_groups
from kwalk.search.night.config import memory_bytes
from kwalk.search.night.folder import RunFolder
from kwalk.search.night.places import ExecutionPlace
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.rows import group_id, row_of_run
from kwalk.search.night.tables import ActionRow, CoverageRow, FindingRow, LevelRow, RunRow
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import DEADLOCK, FindingGroup, Strength, Verdict

STATES = "states"
"""The folder of the states of searches, in the folder of the run."""
LEVELS = "levels"
"""The table of the last part of a round."""


@frozen
class ExhaustiveTask:
    """A task of exhaustive search."""

    task: NightlyTask
    folder: RunFolder
    place: ExecutionPlace
    report: Report

    def run(self) -> tuple[Verdict, RunRow]:
        """Search until the end or the time limit; save every level, and then the findings. Return verdict and row."""
        task, began, cpu_began = self.task, time.monotonic(), time.process_time()
        states = self.folder.path / STATES / f"{task.number:04}"
        memory = task.entry.memory
        options = {
            "keep_going": True,
            "seconds": task.seconds,
            "memory_bytes": None if memory is None else memory_bytes(memory, task.name),
        }
        every, command = complete(ExhaustKeywords, options), task.command(None)
        verdict = self.place.search(
            Query(task.reference, task.model, task.properties, every, command), states, self._save_level, self.report
        )
        verdict = with_groups(task.model, kernel_for(task.model), verdict)
        verdict = evolve(verdict, notes=(*verdict.notes, *vacuity_notes(verdict, task.model)))
        verdict = examined(task.model, task.properties, verdict)
        self._save_found(verdict)
        return verdict, self._row(verdict, time.monotonic() - began, time.process_time() - cpu_began)

    def _save_level(self, level: LevelDone) -> None:
        row = LevelRow(task=self.task.number, round=level.depth, **asdict(level))
        self.folder.save_round(self.task.number, level.depth, {LEVELS: [row]}, LEVELS)

    def _save_found(self, verdict: Verdict) -> None:
        """Save findings and counts, as a round after the last level."""
        number = self.task.number
        place = (number, len(self.folder.rounds(number, LEVELS)))
        tables: dict[str, Sequence[Any]] = {
            "findings": [_finding(self.task, group, place) for group in verdict.groups],
            "actions": _action_rows(self.task, verdict, place),
            "coverage": _coverage(self.task, verdict, place),
            LEVELS: [],
        }
        self.folder.save_round(*place, tables, LEVELS)

    def _row(self, verdict: Verdict, seconds: float, cpu: float) -> RunRow:
        states, is_exact = verdict.distinct_states, verdict.strength is Strength.EXHAUSTIVE
        return row_of_run(
            self.task,
            verdict,
            steps=verdict.generated_states or 0,
            visits=states or 0,
            distinct=None if states is None else float(states),
            distinct_exact=states if is_exact else None,
            distinct_error=0.0,
            depth=verdict.depth,
            seconds=seconds,
            cpu_seconds=cpu,
            why="" if is_exact or verdict.findings else verdict.qualifier,
        )


def _finding(task: NightlyTask, group: FindingGroup, place: tuple[int, int]) -> FindingRow:
    trace = group.trace
    first, id_ = trace.prop or DEADLOCK, group_id(group.prop, group.steps)
    kind = "" if trace.prop is None else task.model.properties_of(trace.prop)[0].kind.value
    return FindingRow(
        task=place[0],
        round=place[1],
        group=id_,
        kind=kind,
        property=group.prop,
        steps=group.steps,
        count=group.count,
        properties=(first, *(key for key in group.properties if key != first)),
        first_walk=0,
        start=trace.states[0],
        actions=trace.actions,
        length=trace.length,
        shortest=trace.shortest is not None,
        accepted=task.accepts(group.prop, id_),
    )


def _action_rows(task: NightlyTask, verdict: Verdict, place: tuple[int, int]) -> list[ActionRow]:
    with task.model.active():
        return [
            ActionRow(*place, i.key, i.action.name, i.actor, counts.enabled, counts.taken, counts.changed)
            for i in task.model.instances
            if (counts := verdict.action_counts.get(i.key)) is not None
        ]


def _coverage(task: NightlyTask, verdict: Verdict, place: tuple[int, int]) -> list[CoverageRow]:
    counts = {finding.prop: finding.count for finding in verdict.findings}
    names = {prop.key: prop.declaration.name for prop in task.model.stated_properties}
    rows = [
        CoverageRow(*place, key, names[key], premise, counts.get(key, 0))
        for key, premise in verdict.premises.items()
        if key in names
    ]
    if task.model.scenario.deadlock_is_error:
        rows.append(CoverageRow(*place, DEADLOCK, DEADLOCK, verdict.distinct_states or 0, counts.get(DEADLOCK, 0)))
    return rows
