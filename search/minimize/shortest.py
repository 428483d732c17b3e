"""From a trace to the shortest: minimize it, then search exhaustively, then by bounded checking, as time allows.

`Trace.shortest` names the proof: "exhaustive to depth N" or "bounded checking to depth N" means that no trace of N
steps or fewer violates the same property within the bounds, and that this one has N + 1 steps. Without a proof the
trace is locally minimal.
"""

from __future__ import annotations

import time

from attrs import evolve

from kwalk.model.language import Model, PropertyInstance
from kwalk.search.base.components import entry
from kwalk.search.base.option_table import ProveKeywords
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.query import Query
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.interface import Kernel
from kwalk.search.minimize.shrink import Minimizer, minimize_findings
from kwalk.search.results.cross_check import PropertyConclusion, check_agreement, conclusions
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, Finding, Strength, Verdict

MINIMIZE_SHARE, EXHAUST_SHARE = 0.2, 0.6
"""The largest shares of the time for minimizing and for exhaustive search; bounded checking gets the rest."""


def shortest(
    model: Model, trace: Trace, kernel: Kernel, *, seconds: float, report: Report = silent
) -> tuple[Trace, tuple[str, ...]]:
    """Return the shortest trace found for the same property, and notes on the search for it.

    Raises:
        Contradiction: the engines do not agree.
        UsageError: the trace does not show its property in this model.
    """
    began = time.monotonic()
    best = Minimizer(model, kernel).minimize(trace, seconds=seconds * MINIMIZE_SHARE)
    notes = [f"{trace.length} steps were given; {best.length} are left when nothing more can be left out."]
    prop = None if best.prop is None else model.properties_of(best.prop)[0]
    if best.shortest or (prop is None and not model.scenario.deadlock_is_error):
        return best, tuple(notes)
    properties = () if prop is None else (prop,)
    searched = exhaust(model, properties=properties, seconds=seconds * EXHAUST_SHARE, kernel=kernel, report=report)
    best = _settled(model, best, searched, "exhaustive")
    left = seconds - (time.monotonic() - began)
    if not best.shortest and prop is not None and left > 0 and not searched.is_interrupted:
        notes.append(f"Exhaustive search did not finish: {searched.qualifier}.")
        best, note = _bounded(model, best, prop, left, report)
        notes.append(note)
    return best, tuple(notes)


def _bounded(model: Model, best: Trace, prop: PropertyInstance, seconds: float, report: Report) -> tuple[Trace, str]:
    known = max(0, best.length - 1)
    query = Query.of(model, ProveKeywords, {"depth": known, "seconds": seconds}, prop)
    checked: Verdict = entry("prove")(query, report)
    checked = minimize_findings(model, checked)
    depth = conclusions(model, checked).get(prop.key, PropertyConclusion()).refuted
    return _settled(model, best, checked, "bounded checking"), f"Bounded checking refutes {depth:.0f} steps and fewer."


def _settled(model: Model, best: Trace, verdict: Verdict, engine: str) -> Trace:
    """Return the best trace after a search, marked as the shortest if the search proves it."""
    found = verdict.counterexample
    key = best.prop or DEADLOCK
    check_agreement(model, verdict, _as_verdict(verdict, key, best))
    refuted = conclusions(model, verdict).get(key, PropertyConclusion()).refuted
    if found is not None and found.length < best.length:
        best = evolve(found, found_by=f"{best.found_by}; then {verdict.engine}", seed=best.seed, shortest=None)
    return evolve(best, shortest=f"{engine} to depth {best.length - 1}") if refuted >= best.length - 1 else best


def _as_verdict(verdict: Verdict, key: str, trace: Trace) -> Verdict:
    """Return what the trace shows as a verdict, to compare it with another one."""
    return evolve(
        verdict,
        engine="shrink",
        strength=Strength.REPLAYED,
        stopped=None,
        detail="",
        proofs=(),
        premises={},
        findings=(Finding(key, 1, trace),),
    )
