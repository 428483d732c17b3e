"""One task of exhaustive search on Spark: a round is a level, and the search saves its states beside the tables.

The folder of states is the checkpoint of the search and is removed at its end; the tables remain.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from attrs import asdict, evolve, frozen
from pyspark.sql import SparkSession

from kwalk.search.base.option_table import ExhaustKeywords, complete
from kwalk.search.base.progress import Report
from kwalk.search.base.query import Query
from kwalk.search.examination.examination import examined
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.clusters import with_clusters
from kwalk.search.night.config import memory_bytes
from kwalk.search.night.folder import MANIFEST, RunFolder
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.rows import cluster_id, row_of_run
from kwalk.search.night.tables import ActionRow, CoverageRow, FindingRow, LevelRow, RunRow
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import DEADLOCK, FindingCluster, Strength, Verdict
from kwalk.search.spark.exhaustive.explorer import LevelDone
from kwalk.search.spark.exhaustive.search import exhaust_on_spark

STATES = "states"
"""The folder of the states of searches, in the folder of the run."""
LEVELS = "levels"
"""The table of the last part of a round."""


@frozen
class ExhaustiveTask:
    """A task of exhaustive search."""

    task: NightlyTask
    folder: RunFolder
    session: SparkSession
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
            "resume": (states / MANIFEST).exists(),
        }
        every, command = complete(ExhaustKeywords, options), task.command(None)
        verdict = exhaust_on_spark(
            Query(task.reference, task.model, task.properties, every, command),
            states,
            self.report,
            session=self.session,
            on_level=self._save_level,
        )
        verdict = with_clusters(task.model, kernel_for(task.model), verdict)
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
            "findings": [_finding(self.task, cluster, place) for cluster in verdict.clusters],
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
            walks=0,
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


def _finding(task: NightlyTask, cluster: FindingCluster, place: tuple[int, int]) -> FindingRow:
    trace = cluster.trace
    first = trace.prop or DEADLOCK
    kind = "" if trace.prop is None else task.model.properties_of(trace.prop)[0].kind.value
    return FindingRow(
        task=place[0],
        round=place[1],
        cluster=cluster_id(cluster.prop, cluster.steps),
        kind=kind,
        property=cluster.prop,
        steps=cluster.steps,
        count=cluster.count,
        properties=(first, *(key for key in cluster.properties if key != first)),
        first_walk=0,
        start=trace.states[0],
        actions=trace.actions,
        length=trace.length,
        shortest=trace.shortest is not None,
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
