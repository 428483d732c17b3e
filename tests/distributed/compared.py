"""What a distributed search and one in memory must agree on."""

from __future__ import annotations

from typing import Any

from kwalk.search.results.verdict import Verdict

COUNTS = (
    "scenario",
    "variant",
    "bounds",
    "flags",
    "properties",
    "qualifier",
    "distinct_states",
    "generated_states",
    "depth",
    "quiescent_states",
    "bounds_hit",
    "action_counts",
    "premises",
)


def counts(verdict: Verdict) -> dict[str, Any]:
    """All counts, with how often each property fails and how soon; which of several shortest traces is free."""
    found = {f.prop: (f.count, f.trace.length if f.trace else None) for f in verdict.findings}
    return {name: getattr(verdict, name) for name in COUNTS} | {"found": found}


def everything(verdict: Verdict) -> str:
    """All that must be the same for any number of partitions, executors and interruptions."""
    traces = [(f.prop, f.count, f.trace and (f.trace.actions, f.trace.states)) for f in verdict.findings]
    return repr((verdict.answer, counts(verdict), traces))
