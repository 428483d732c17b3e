"""A comparison of two runs as one JSON object; fields are only ever added."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import asdict

from reports.morning.circumstances import circumstances, is_repeatable
from reports.morning.comparison import Comparison, Loss, Pair
from reports.morning.sentences import trace_file
from search.nightly.reading.results import RunResult, TaskResult
from search.nightly.tables import FindingRow

TOLD = ("state", "seed", "commit", "config_sha256", "kwalk", "started", "wall_seconds")
"""Fields of a manifest that are repeated."""


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """The object."""
    before, after = comparison.before, comparison.after
    return {
        "before": _run(before),
        "after": _run(after),
        "repeatable": is_repeatable(before, after),
        "notes": list(circumstances(before, after)),
        "new": [_cluster(after, *each) for each in comparison.new],
        "gone": [_cluster(before, *each) for each in comparison.gone],
        "known": comparison.known,
        "tasks": [_pair(pair) for pair in comparison.pairs],
        "only_before": [_task(task) for task in comparison.only_before],
        "only_after": [_task(task) for task in comparison.only_after],
        "exit_code": comparison.exit_code,
    }


def _run(run: RunResult) -> dict[str, Any]:
    return {"run": str(run.path), **{name: run.manifest.get(name) for name in TOLD}, "missing": list(run.missing)}


def _task(task: TaskResult) -> dict[str, Any]:
    return {
        "task": task.number, "name": task.name, "scenario": task.scenario, "variant": task.variant,
        "bounds": dict(task.bounds), "flags": dict(task.flags), "engine": task.engine, "verdict": task.answer,
        "how": task.how,
    }  # fmt: skip


def _cluster(run: RunResult, task: TaskResult, cluster: FindingRow) -> dict[str, Any]:
    trace = trace_file(run.path, task, cluster)
    return {
        "task": task.number, "name": task.name, "cluster": cluster.cluster, "kind": cluster.kind,
        "claim": cluster.claim, "steps": list(cluster.steps), "count": cluster.count, "claims": list(cluster.claims),
        "first_walk": cluster.first_walk, "length": cluster.length, "actions": list(cluster.actions),
        "trace_file": None if trace is None else str(trace),
    }  # fmt: skip


def _pair(pair: Pair) -> dict[str, Any]:
    before, after = pair.before, pair.after
    return {
        **_task(after),
        "verdict_before": before.answer,
        "how_before": before.how,
        "new": [cluster.cluster for cluster in pair.new],
        "gone": [cluster.cluster for cluster in pair.gone],
        "shorter": [now.cluster for _, now in pair.shorter],
        "untested": _losses(pair.untested),
        "stopped": _losses(pair.stopped),
        "bounds_newly_hit": dict(pair.bounds_newly_hit),
        "rate_before": before.rate,
        "rate": after.rate,
    }


def _losses(losses: Iterable[Loss]) -> list[dict[str, Any]]:
    return [asdict(loss) for loss in losses]
