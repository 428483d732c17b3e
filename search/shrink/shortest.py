"""From a trace to the shortest: minimized first, then searched exhaustively, then by bounded checking, as time allows.

What proves it is said: "exhaustive to depth N" or "bounded checking to depth N" means that no trace of N steps or fewer
violates the same claim within the bounds, and that this one has one step more. Otherwise the trace is locally minimal.
"""
from __future__ import annotations

import time

from attrs import evolve

from model.language import Claim, Model
from search.contradiction import Position, agreed, positions
from search.exhaust import exhaust
from search.kernel import Kernel
from search.progress import Report, silent
from search.prove import prove
from search.shrink import Minimizer
from search.trace import Trace
from search.verdict import DEADLOCK, Finding, Verdict

MINIMIZING, SEARCHING = 0.2, 0.6
"""The parts of the time that minimizing and exhaustive search get, at most; bounded checking has what is left."""


def shortest(
    model: Model, trace: Trace, kernel: Kernel, *, seconds: float, report: Report = silent
) -> tuple[Trace, tuple[str, ...]]:
    """The shortest trace found for the same claim, with what proves that none is shorter if anything does, and notes.

    Contradiction if the engines do not agree; UsageError if the trace does not show what it claims.
    """
    began = time.monotonic()
    best = Minimizer(model, kernel).minimized(trace, seconds=seconds * MINIMIZING)
    notes = [f"{trace.length} steps were given; {best.length} are left when nothing more can be left out."]
    claim = None if best.claim is None else model.claims_of(best.claim)[0]
    if best.shortest or (claim is None and not model.scenario.deadlock_is_error):
        return best, tuple(notes)
    asked = () if claim is None else (claim,)
    searched = exhaust(model, claims=asked, seconds=seconds * SEARCHING, kernel=kernel, report=report)
    best = _settled(model, best, searched, "exhaustive")
    left = seconds - (time.monotonic() - began)
    if not best.shortest and claim is not None and left > 0 and "interrupt" not in searched.how:
        notes.append(f"Exhaustive search did not finish: {searched.how}.")
        best, note = _bounded(model, best, claim, left, report)
        notes.append(note)
    return best, tuple(notes)


def _bounded(model: Model, best: Trace, claim: Claim, seconds: float, report: Report) -> tuple[Trace, str]:
    checked = prove(model, claims=(claim,), depth=max(0, best.length - 1), seconds=seconds, report=report)
    depth = positions(model, checked).get(claim.key, Position()).refuted
    return _settled(model, best, checked, "bounded checking"), f"Bounded checking refutes {depth:.0f} steps and fewer."


def _settled(model: Model, best: Trace, verdict: Verdict, engine: str) -> Trace:
    """The trace that is best after a search, and whether the search proves that it is the shortest."""
    found = verdict.counterexample
    key = best.claim or DEADLOCK
    agreed(model, verdict, _as_verdict(verdict, key, best))
    refuted = positions(model, verdict).get(key, Position()).refuted
    if found is not None and found.length < best.length:
        best = evolve(found, found_by=f"{best.found_by}; then {verdict.engine}", seed=best.seed, shortest=None)
    return evolve(best, shortest=f"{engine} to depth {best.length - 1}") if refuted >= best.length - 1 else best


def _as_verdict(verdict: Verdict, key: str, trace: Trace) -> Verdict:
    """What the trace says, as a verdict to compare with another."""
    return evolve(verdict, engine="shrink", how="replayed", proofs=(), premises={}, findings=(Finding(key, 1, trace),))
