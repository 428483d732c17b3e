"""A verdict as one JSON object: what `--json` prints, for scripts to read. Where a field changes, FORMAT rises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from attrs import asdict

from kwalk.model.language import Model
from kwalk.search.results.trace import Trace
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import Finding, FindingGroup, ProofResult, Verdict

Files = Mapping[str, Path]
"""The trace file of each violated property, by its key ("" for a deadlock)."""
FORMAT = 3
"""To be raised when a key changes its name or its meaning."""


def _comparison(verdict: Verdict) -> dict[str, Any]:
    """Return how much was compared with plain Python, and what never was."""
    if verdict.compared is None:
        return {"compared": None, "uncompared": None}
    return {"compared": verdict.compared.counts, "uncompared": list(verdict.uncompared)}


def verdict_object(
    verdict: Verdict, files: Files, group_files: Sequence[Path] = (), model: Model | None = None
) -> dict[str, Any]:
    """Return the object; counts that the engine does not have are null.

    Args:
        verdict: The verdict.
        files: The trace file of each violated property.
        group_files: The trace files of the first groups.
        model: The model; without it, there are no sentences on what was never tested.
    """
    shown = next((f for f in verdict.findings if f.trace is not None), None)
    return {
        "verdict": verdict.answer.value,
        "format": FORMAT,
        "how": verdict.qualifier,
        "strength": verdict.strength.value,
        "stopped": None if verdict.stopped is None else verdict.stopped.value,
        "exit_code": verdict.exit_code,
        "engine": verdict.engine,
        "scenario": verdict.scenario,
        "variant": verdict.variant,
        "flags": dict(verdict.flags),
        "bounds": dict(verdict.bounds),
        "property": (shown.prop or None) if shown else None,
        "properties": list(verdict.properties),
        **_counts(verdict),
        "bounds_hit": dict(verdict.bounds_hit),
        "action_counts": {key: asdict(count) for key, count in verdict.action_counts.items()},
        "left_out": list(verdict.left_out),
        "fairness": verdict.fairness or None,
        "premises": dict(verdict.premises),
        "vacuity": None if model is None else list(vacuity_notes(verdict, model)),
        "cannot_fail": [asdict(one) for one in verdict.cannot_fail],
        "gaps": [asdict(gap) for gap in verdict.gaps],
        "findings": [_finding(finding, files) for finding in verdict.findings],
        "counterexample": counterexample_object(shown.trace, files.get(shown.prop)) if shown and shown.trace else None,
        "groups": [_group(*each) for each in zip_longest(verdict.groups, group_files)],
        **_comparison(verdict),
        "sliced_walks": verdict.sliced_walks,
        "sliced_states": verdict.sliced_states,
        "notes": list(verdict.notes),
        "proofs": list(map(_proof, verdict.proofs)),
        "command": verdict.command,
    }


def _counts(verdict: Verdict) -> dict[str, Any]:
    """Return what the search counted, and what the counts depend on; null is what the engine does not have."""
    return {
        "distinct_states": verdict.distinct_states,
        "estimated_states": verdict.estimated_states,
        "generated_states": verdict.generated_states,
        "depth": verdict.depth,
        "states_by_depth": list(verdict.states_by_depth),
        "steps": verdict.steps,
        "walks": verdict.walks,
        "quiescent_states": verdict.quiescent_states,
        "seconds": round(verdict.seconds, 3),
        "seed": verdict.seed,
    }


def _proof(proof: ProofResult) -> dict[str, Any]:
    return {**asdict(proof), "outcome": proof.outcome.value, "support": list(proof.support)}


def _group(group: FindingGroup, file: Path | None) -> dict[str, Any]:
    return {
        "property": group.prop,
        "steps": list(group.steps),
        "count": group.count,
        "properties": list(group.properties),
        "seed": group.seed,
        "walk": group.walk,
        "length": group.trace.length,
        "actions": list(group.trace.actions),
        "trace_file": str(file) if file else None,
    }


def _finding(finding: Finding, files: Files) -> dict[str, Any]:
    length = finding.trace.length if finding.trace else None
    file = files.get(finding.prop)
    return {
        "property": finding.prop or None,
        "count": finding.count,
        "length": length,
        "trace_file": str(file) if file else None,
    }


def counterexample_object(trace: Trace, file: str | Path | None) -> dict[str, Any]:
    """What `--json` prints of a trace, and of the file that it is in."""
    return {
        "length": trace.length,
        "property": trace.prop,
        "actions": list(trace.actions),
        "shortest": trace.shortest,
        "found_by": trace.found_by,
        "loop": trace.loop,
        "trace_file": str(file) if file else None,
    }
