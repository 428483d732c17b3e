"""One task of exhaustive search on Spark: a round is a level, and the search keeps its own states beside the tables.

The folder of states is the checkpoint of the search, and goes away when it is over; the tables are what is left.
"""
from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen
from pyspark.sql import SparkSession

from search.compile import kernel_for
from search.distributed import TASK_MEMORY, exhaust_on_spark
from search.distributed.exploration import LevelDone
from search.nightly.config import memory_bytes
from search.nightly.findings import cluster_id
from search.nightly.folder import MANIFEST, RunFolder
from search.nightly.plan import Task
from search.nightly.tables import CoverageRow, FindingRow, LevelRow, RuleRow, RunRow
from search.progress import Report
from search.shrink.clusters import with_clusters
from search.untried import untried
from search.verdict import DEADLOCK, Cluster, Verdict

STATES = "states"
"""The folder of the states of searches, in that of the run."""
LEVELS = "levels"
"""The table whose part makes a round count."""


@frozen
class Search:
    """What a search is done with."""

    task: Task
    folder: RunFolder
    session: SparkSession
    report: Report

    def run(self) -> tuple[Verdict, RunRow]:
        """Search to the end, or until the time is up; every level, and then what was found, is saved."""
        task, began, cpu_began = self.task, time.monotonic(), time.process_time()
        states = self.folder.path / STATES / f"{task.number:04}"
        memory = task.entry.memory
        verdict = exhaust_on_spark(
            task.model, folder=states, claims=task.claims, session=self.session, keep_going=True, seconds=task.seconds,
            memory_bytes=TASK_MEMORY if memory is None else memory_bytes(memory, task.name), report=self.report,
            resume=(states / MANIFEST).exists(), on_level=self._save_level, command=task.command(None),
        )  # fmt: skip
        verdict = with_clusters(task.model, kernel_for(task.model), verdict)
        verdict = evolve(verdict, notes=(*verdict.notes, *untried(verdict, task.model)))
        self._save_found(verdict)
        return verdict, self._row(verdict, time.monotonic() - began, time.process_time() - cpu_began)

    def _save_level(self, done: LevelDone) -> None:
        row = LevelRow(
            task=self.task.number, round=done.depth, depth=done.depth, states=done.states, generated=done.generated,
            total=done.total, seconds=done.seconds, bytes=done.bytes,
        )  # fmt: skip
        self.folder.save_round(self.task.number, done.depth, {LEVELS: [row]}, LEVELS)

    def _save_found(self, verdict: Verdict) -> None:
        """Save what was found and counted, as a round after the last level."""
        number = self.task.number
        place = (number, len(self.folder.rounds(number, LEVELS)))
        tables: dict[str, Sequence[Any]] = {
            "findings": [_finding(self.task, cluster, place) for cluster in verdict.clusters],
            "rules": _rules(self.task, verdict, place), "coverage": _coverage(self.task, verdict, place), LEVELS: [],
        }  # fmt: skip
        self.folder.save_round(*place, tables, LEVELS)

    def _row(self, verdict: Verdict, seconds: float, cpu: float) -> RunRow:
        task, states = self.task, verdict.distinct_states
        is_exact = verdict.how == "exhaustive"
        return RunRow(
            task=task.number, name=task.name, scenario=task.reference, variant=task.model.variant,
            bounds=json.dumps(dict(verdict.bounds)), flags=json.dumps(dict(verdict.flags)), engine=task.entry.engine,
            seed=task.seed, answer=verdict.answer.value, how=verdict.how, walks=0, steps=verdict.generated_states or 0,
            visits=states or 0, distinct=None if states is None else float(states),
            distinct_exact=states if is_exact else None, distinct_error=0.0, depth=verdict.depth, seconds=seconds,
            cpu_seconds=cpu, why="" if is_exact or verdict.findings else verdict.how,
            bounds_hit=json.dumps(dict(verdict.bounds_hit)), notes=verdict.notes, command=verdict.command,
        )  # fmt: skip


def _finding(task: Task, cluster: Cluster, place: tuple[int, int]) -> FindingRow:
    trace = cluster.trace
    first = trace.claim or DEADLOCK
    kind = "" if trace.claim is None else task.model.claims_of(trace.claim)[0].kind.value
    return FindingRow(
        task=place[0], round=place[1], cluster=cluster_id(cluster.claim, cluster.steps), kind=kind, claim=cluster.claim,
        steps=cluster.steps, count=cluster.count, claims=(first, *(key for key in cluster.claims if key != first)),
        first_walk=0, start=trace.states[0], actions=trace.actions, length=trace.length,
        shortest=trace.shortest is not None,
    )  # fmt: skip


def _rules(task: Task, verdict: Verdict, place: tuple[int, int]) -> list[RuleRow]:
    with task.model.active():
        return [
            RuleRow(*place, i.key, i.action.name, i.actor, rule.enabled, rule.taken, rule.changed)
            for i in task.model.instances if (rule := verdict.rules.get(i.key)) is not None
        ]  # fmt: skip


def _coverage(task: Task, verdict: Verdict, place: tuple[int, int]) -> list[CoverageRow]:
    counts = {finding.claim: finding.count for finding in verdict.findings}
    names = {claim.key: claim.invariant.name for claim in task.model.claims}
    rows = [
        CoverageRow(*place, key, names[key], premise, counts.get(key, 0)) for key, premise in verdict.premises.items()
    ]
    if task.model.scenario.deadlock_is_error:
        rows.append(CoverageRow(*place, DEADLOCK, DEADLOCK, verdict.distinct_states or 0, counts.get(DEADLOCK, 0)))
    return rows
