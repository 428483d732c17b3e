"""One task of exhaustive search: a round is a level, and the search saves its states beside its journal.

On this machine, all of the search is one level.

The folder of states is the checkpoint of the search and is removed at its end; the journal remains.
"""

from __future__ import annotations

import time

from attrs import asdict, evolve, frozen

from kwalk.search.base.journal import Journal
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
from kwalk.search.night.rows import action_rows, coverage_rows, group_id, row_of_run
from kwalk.search.night.tables import FindingRow, LevelRow, RunRow, TaskRecord
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import DEADLOCK, FindingGroup, Strength, Verdict

STATES = "states"
"""The folder of the states of searches, in the folder of the run."""


@frozen
class ExhaustiveTask:
    """A task of exhaustive search."""

    task: NightlyTask
    folder: RunFolder
    place: ExecutionPlace
    report: Report

    @property
    def journal(self) -> Journal[TaskRecord]:
        """Its levels, then what it found; a search that continues saves the levels before again."""
        return self.folder.journal(self.task.number)

    def run(self) -> tuple[Verdict, RunRow]:
        """Search until the end or the time limit; save every level, and then the findings. Return verdict and row."""
        task, began, cpu_began = self.task, time.monotonic(), time.process_time()
        self.journal.cut(0)
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
        self.journal.append(TaskRecord(levels=(LevelRow(**asdict(level)),)))

    def _save_found(self, verdict: Verdict) -> None:
        """Save findings and counts, as a round after the last level."""
        counts = {key: (one.enabled, one.taken, one.changed) for key, one in verdict.action_counts.items()}
        violated = {finding.prop: finding.count for finding in verdict.findings}
        self.journal.append(
            TaskRecord(
                findings=tuple(_finding(self.task, group) for group in verdict.groups),
                actions=action_rows(self.task.model, counts),
                coverage=coverage_rows(self.task.model, verdict.premises, violated, verdict.distinct_states or 0),
            )
        )

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


def _finding(task: NightlyTask, group: FindingGroup) -> FindingRow:
    trace = group.trace
    first, id_ = trace.prop or DEADLOCK, group_id(group.prop, group.steps)
    kind = "" if trace.prop is None else task.model.properties_of(trace.prop)[0].kind.value
    return FindingRow(
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
