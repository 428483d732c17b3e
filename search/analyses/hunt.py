"""A hunt: exhaustive search, then, if that does not finish in its share of the time, random walks.

Counterexamples of exhaustive search are shortest; those of random walks are minimized to locally minimal traces.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from attrs import evolve

from kwalk.search.base.progress import Report, silent
from kwalk.search.base.query import Query
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.groups import with_groups
from kwalk.search.minimize.shrink import SHRINK_SECONDS, minimize_findings
from kwalk.search.results.cross_check import check_agreement
from kwalk.search.results.verdict import ActionCount, Answer, Finding, Verdict, total_compared
from kwalk.search.simulation.options import allowed_instances, steps_of
from kwalk.search.simulation.walk import walk

SECONDS = 60.0
"""The default time budget of a hunt."""
EXHAUSTIVE_SHARE = 0.4
"""The share of the time that exhaustive search gets."""
LEAST_WALK_SECONDS = 5.0
"""The least time budget of the walks, however long the model took to compile."""


def hunt(query: Query, report: Report = silent) -> Verdict:
    """Search for a counterexample, and minimize it.

    An interrupted hunt has a verdict too: what was found, or undecided.

    Args:
        query: The model and the properties, with the options `Hunt`.
        report: Receives progress about twice a second.

    Raises:
        UsageError: An action or actor of the steps is unknown.
        Contradiction: The two verdicts contradict each other.
        DomainError: An action leaves its domain.
    """
    model, options, began = query.model, query.options, time.monotonic()
    budget = options["seconds"] or SECONDS
    allowed_instances(model, options["only"], options["without"])  # refuses unknown names before anything starts
    first = exhaust(model, seconds=budget * EXHAUSTIVE_SHARE, **query.keywords(report, "keep_going", "workers"))
    if first.answer is not Answer.UNDECIDED or first.findings or first.is_interrupted:
        first = with_groups(model, kernel_for(model), first, report) if query.minimized else first
        return evolve(first, seconds=time.monotonic() - began, seed=options["seed"])
    keywords = query.keywords(report, "keep_going", "seed")
    keywords["seconds"] = max(LEAST_WALK_SECONDS, budget - (time.monotonic() - began) - SHRINK_SECONDS)
    keywords["workers"] = options["workers"] or os.cpu_count() or 1
    walks = minimize_findings(model, walk(model, steps_of(options), minimize=query.minimized, **keywords))
    check_agreement(model, first, walks)
    seconds = time.monotonic() - began
    return evolve(_combined(first, walks), seconds=seconds, seed=options["seed"], command=query.command)


def _combined(first: Verdict, walks: Verdict) -> Verdict:
    """Return the verdict of the walks, shortest trace first, with the counts of the exhaustive search added."""
    return evolve(
        walks,
        engine=f"{first.engine}, then {walks.engine}",
        distinct_states=first.distinct_states,
        generated_states=first.generated_states,
        depth=first.depth,
        quiescent_states=first.quiescent_states,
        bounds_hit=_sum(first.bounds_hit, walks.bounds_hit),
        estimated_states=None,
        compared=total_compared((first, walks)),
        premises=_sum(first.premises, walks.premises),
        action_counts=_sum_counts(first.action_counts, walks.action_counts),
        findings=tuple(sorted(walks.findings, key=_length)),
        notes=(f"Exhaustive search did not finish ({first.qualifier}) and found nothing so far.", *walks.notes),
    )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in dict.fromkeys((*one, *other))}


def _sum_counts(one: Mapping[str, ActionCount], other: Mapping[str, ActionCount]) -> dict[str, ActionCount]:
    none = ActionCount()
    pairs = {key: (one.get(key, none), other.get(key, none)) for key in (*one, *other)}
    return {
        key: ActionCount(a.enabled + b.enabled, a.taken + b.taken, a.changed + b.changed)
        for key, (a, b) in pairs.items()
    }


def _length(finding: Finding) -> float:
    return finding.trace.length if finding.trace else float("inf")
