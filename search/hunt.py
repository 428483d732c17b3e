"""A hunt: exhaust; if that does not finish in its share of the time, walk on Spark; then shrink what was found.

Words: the *share* is the part of the time that exhaustive search gets. What it finds is the shortest already; what the
walks find is shrunk to a locally minimal trace.
"""
from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from model.language import Claim, DomainError, KwalkError, Model
from search.compile import kernel_for
from search.contradiction import agreed
from search.exhaust import exhaust
from search.progress import Progress, Report, silent
from search.shrink import shrink
from search.shrink.clusters import with_clusters
from search.verdict import Answer, Finding, RuleCount, Verdict
from search.walks import walk
from search.walks.allowed import allowed_instances
from search.walks.manner import SWARM, Manner

SECONDS = 60.0
"""Seconds of a hunt that nobody gave a time."""
SHARE = 0.4
"""The part of the time that exhaustive search gets."""
SHRINKING = 10.0
"""Seconds that shrinking one trace may take, at most."""
STARTING = 6.0
"""Seconds that Spark takes to start."""
LEAST = 20.0
"""Seconds that the walks get, at least: Spark's first round takes several, whatever it does."""


def hunt(
    model: Model,
    *,
    claims: Iterable[Claim] | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
    keep_going: bool = False,
    minimize: int = 0,
    manner: Manner = SWARM,
    out: str | Path | None = None,
    report: Report = silent,
    command: str = "",
) -> Verdict:
    """Look for a counterexample to the claims (all of the model's without any), and minimize it.

    `seconds` is for the whole hunt, SECONDS if None; `out` is the folder where walks keep their tables. With
    `keep_going` every violation is counted, and `minimize` of them are grouped by shape. An interrupted hunt has a
    verdict too: what was found, or undecided. `manner` says how walks choose; exhaustive search takes every step.
    """
    began, budget = time.monotonic(), seconds or SECONDS
    kept = tuple(model.claims if claims is None else claims)
    common: dict[str, Any] = {"claims": kept, "keep_going": keep_going, "report": report, "command": command}
    allowed_instances(model, manner.only, manner.without)  # refuses unknown names before anything starts
    first = exhaust(model, seconds=budget * SHARE, **common, **_given(workers=workers))
    if first.answer is not Answer.UNDECIDED or first.findings or "interrupt" in first.how:
        first = with_clusters(model, kernel_for(model), first, report) if minimize else first
        return evolve(first, seconds=time.monotonic() - began, seed=seed)
    left = max(LEAST, budget - (time.monotonic() - began) - SHRINKING - STARTING)
    report(Progress("spark", 0, "steps", time.monotonic() - began, note="starting"))
    wanted = {**common, "seed": seed, "seconds": left, "minimize": minimize, "manner": manner}
    walks = _minimized(model, _walks(model, wanted, workers, out))
    agreed(model, first, walks)
    return evolve(_joined(first, walks), seconds=time.monotonic() - began, seed=seed, command=command)


def _walks(model: Model, wanted: dict[str, Any], workers: int | None, out: str | Path | None) -> Verdict:
    """Walks on Spark; in this process where Spark cannot run, and the verdict says so."""
    try:
        from search.spark.walks import walk_on_spark

        verdict = walk_on_spark(model, **wanted, **_given(partitions=workers, out=out))
        if verdict.walks or "interrupt" in verdict.how:
            return verdict
        why = "Spark had no time for a walk"
    except DomainError:
        raise
    except (KwalkError, ImportError) as error:
        why = f"Spark could not run ({error})"
    verdict = walk(model, **wanted, **_given(workers=workers))
    return evolve(verdict, notes=(*verdict.notes, f"{why}; these walks did without it."))


def _given(**wanted: Any) -> dict[str, Any]:
    """What was asked for; what was not is the engine's own choice."""
    return {name: value for name, value in wanted.items() if value is not None}


def _minimized(model: Model, walks: Verdict) -> Verdict:
    """The walks' verdict with shrunk traces, the shortest first."""
    return evolve(walks, findings=tuple(sorted((shrunk(model, f) for f in walks.findings), key=_length)))


def _joined(first: Verdict, walks: Verdict) -> Verdict:
    """The walks' verdict, with what exhaustive search counted before it."""
    return evolve(
        walks,
        engine=f"{first.engine}, then {walks.engine}",
        distinct_states=first.distinct_states,
        generated_states=first.generated_states,
        depth=first.depth,
        quiet_states=first.quiet_states,
        bounds_hit=_sum(first.bounds_hit, walks.bounds_hit),
        estimated_states=None,
        premises=_sum(first.premises, walks.premises),
        rules=_sum_rules(first.rules, walks.rules),
        findings=walks.findings,
        notes=(f"Exhaustive search did not finish ({first.how}) and found nothing so far.", *walks.notes),
    )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in dict.fromkeys((*one, *other))}


def _sum_rules(one: Mapping[str, RuleCount], other: Mapping[str, RuleCount]) -> dict[str, RuleCount]:
    none = RuleCount()
    pairs = {key: (one.get(key, none), other.get(key, none)) for key in (*one, *other)}
    return {
        key: RuleCount(a.enabled + b.enabled, a.taken + b.taken, a.changed + b.changed) for key, (a, b) in pairs.items()
    }


def shrunk(model: Model, finding: Finding, *, seconds: float = SHRINKING) -> Finding:
    """The finding with a locally minimal trace; as it was if that is the shortest already, or on Ctrl-C."""
    if finding.trace is None or finding.trace.shortest:
        return finding
    try:
        return evolve(finding, trace=shrink(model, finding.trace, kernel=kernel_for(model), seconds=seconds))
    except KeyboardInterrupt:
        return finding


def _length(finding: Finding) -> float:
    return finding.trace.length if finding.trace else float("inf")
