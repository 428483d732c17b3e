"""A check: exhaustive search, random walks and proofs about the same claims, each for a share of the time, compared.

The strongest of what they say is the verdict. If they contradict each other, that is an error of kwalk, and no verdict.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import evolve

from model.language import Claim, Model
from search.compile import kernel_for
from search.contradiction import agreed
from search.exhaust import exhaust
from search.hunt import shrunk
from search.progress import Report, silent
from search.prove import prove
from search.verdict import Answer, Verdict
from search.walks import walk

SECONDS = 60.0
"""Seconds of a check that nobody gave a time."""
ENGINES = 3
WALK_DEPTH = 100
Engine = Callable[..., Verdict]


def check(
    model: Model,
    *,
    claims: Iterable[Claim] | None = None,
    seed: int = 0,
    seconds: float | None = None,
    workers: int | None = None,
    report: Report = silent,
    command: str = "",
) -> Verdict:
    """Ask three engines, and compare what they say; Contradiction if it does not fit together.

    Each has a third of the `seconds`. What the walks find is minimized first. Ctrl-C ends the engine at work, and no
    other one begins.
    """
    began, share = time.monotonic(), (seconds or SECONDS) / ENGINES
    asked = tuple(model.claims if claims is None else claims)
    common: dict[str, Any] = {"claims": asked, "seconds": share, "report": report, "command": command}
    verdicts = list(_until_interrupted(model, common, seed, {} if workers is None else {"workers": workers}))
    agreed(model, *verdicts)
    return evolve(
        min(verdicts, key=_weakness), engine="check", seed=seed, seconds=time.monotonic() - began, command=command,
        notes=tuple(_told(verdicts)),
    )  # fmt: skip


def _until_interrupted(model: Model, common: dict[str, Any], seed: int, cores: dict[str, Any]) -> Iterator[Verdict]:
    asked: list[tuple[Engine, dict[str, Any]]] = [(exhaust, cores), (_walks, {"seed": seed, **cores}), (prove, {})]
    for engine, wanted in asked:
        verdict = engine(model, **common, **wanted)
        yield verdict
        if "interrupt" in verdict.how:
            return


def _walks(model: Model, **wanted: Any) -> Verdict:
    """Random walks, with what they found minimized."""
    verdict = walk(model, depth=WALK_DEPTH, kernel=kernel_for(model), **wanted)
    return evolve(verdict, findings=tuple(shrunk(model, finding) for finding in verdict.findings))


def _weakness(verdict: Verdict) -> tuple[int, float]:
    """What is worth least comes last: violations by length, then what is known for sure, samples, the undecided."""
    trace = verdict.counterexample
    if verdict.answer not in (Answer.HOLDS, Answer.UNDECIDED):
        return 0, float("inf") if trace is None else trace.length + (not trace.shortest) / 2
    if verdict.answer is Answer.UNDECIDED:
        return 3, 0
    return (1 if verdict.how in ("proved", "exhaustive") else 2), 0


def _told(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """What each engine says, and that nothing contradicts."""
    for verdict in verdicts:
        trace = verdict.counterexample
        met = "" if trace is None else f", {trace.claim or 'deadlock'} in {trace.length} steps"
        yield f"{verdict.engine}: {verdict.answer.value}{met} ({verdict.how}, {verdict.seconds:.1f} s)"
        yield from (f"  {note}" for note in verdict.notes)
    yield "Nothing that they say contradicts anything else."
