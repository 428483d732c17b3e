"""The command that makes a saved trace as short as it gets: `kwalk shrink`."""
from __future__ import annotations

import shlex
from argparse import Namespace

from attrs import evolve

from model.language import Kind
from reports.commands.results import deliver
from reports.commands.target import Target
from reports.commands.traces import opened_to_replay
from reports.files import out_folder
from reports.progress import shown_on_stderr
from search.compile import kernel_for
from search.shrink.shortest import shortest
from search.verdict import Answer, Finding, Verdict

SECONDS = 60.0
"""Seconds that it may take if nobody says how many."""


def run_shrink(options: Namespace) -> int:
    """Minimize a trace, and try to prove that none is shorter; the exit code of what it shows."""
    opened = opened_to_replay(options.trace)
    model, began = opened.model, opened.trace
    words = ["kwalk", "shrink", options.trace]
    words += [] if options.seconds is None else ["--seconds", f"{options.seconds:g}"]
    aim = Target(began.scenario, model, model.claims, shlex.join(words))
    with out_folder(options.out) as out:
        with shown_on_stderr() as report:
            seconds = SECONDS if options.seconds is None else options.seconds
            trace, notes = shortest(model, began, kernel_for(model), seconds=seconds, report=report)
        trace = evolve(trace, command=began.command)
        claim = None if trace.claim is None else model.claims_of(trace.claim)[0]
        verdict = Verdict(
            answer=_answer(None if claim is None else claim.kind), engine="shrink",
            how=f"shortest ({trace.shortest})" if trace.shortest else "locally minimal: nothing can be left out",
            scenario=model.scenario.name, variant=model.variant, bounds=model.binding.bounds, flags=model.asked_flags,
            invariants=() if claim is None else (claim.invariant.name,), seed=trace.seed, command=aim.command,
            findings=(Finding(trace.claim or "deadlock", 1, trace),), notes=notes,
        )  # fmt: skip
        return deliver(aim, verdict, out, options)


def _answer(kind: Kind | None) -> Answer:
    if kind is None:
        return Answer.DEADLOCK
    return Answer.BAD_STABLE_STATE if kind is Kind.WHEN_QUIET else Answer.VIOLATED
