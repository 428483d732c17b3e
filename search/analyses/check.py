"""A check: exhaustive search, random walks and proofs of the same properties, compared with each other.

Each engine gets a third of the time. The strongest of the three verdicts is the result. A contradiction between them is
an error of kwalk, and there is no verdict.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import evolve

from kwalk.model.language import DomainError, Model
from kwalk.search.base.components import entry
from kwalk.search.base.option_table import ProveKeywords, complete
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.query import Query
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.shrink import minimize_findings
from kwalk.search.results.cross_check import check_agreement
from kwalk.search.results.verdict import Answer, Verdict, total_compared
from kwalk.search.results.verdict_builder import error_notes
from kwalk.search.simulation.walk import walk

SECONDS = 60.0
"""The default time budget of a check."""
WALK_DEPTH = 100


def check(query: Query, report: Report = silent) -> Verdict:
    """Run three engines and compare their verdicts; return the strongest.

    Traces of walks and of proofs are minimized. Ctrl-C ends the running engine, and the others are skipped.

    Args:
        query: The model and the properties, with the options `CheckKeywords`.
        report: Receives progress about twice a second.

    Raises:
        Contradiction: Two verdicts contradict each other.
        DomainError: An action or a property leaves its domain, and no engine finds a violation.
    """
    began, errors = time.monotonic(), list[DomainError]()
    verdicts = list(_verdicts(query, report, errors))
    if errors and not any(verdict.findings for verdict in verdicts):
        raise errors[0]
    check_agreement(query.model, *verdicts)
    return evolve(
        min(verdicts, key=_weakness),
        engine="check",
        seed=query.options["seed"],
        seconds=time.monotonic() - began,
        command=query.command,
        compared=total_compared(verdicts),
        notes=(*error_notes(errors[0] if errors else None), *_notes(verdicts)),
    )


def _verdicts(query: Query, report: Report, errors: list[DomainError]) -> Iterator[Verdict]:
    """Run the engines one after another, until Ctrl-C; add the errors of the model that end one."""
    share = (query.options["seconds"] or SECONDS) / 3
    engines: list[Callable[[], Verdict]] = [
        lambda: exhaust(query.model, seconds=share, **query.keywords(report, "workers")),
        lambda: _walks(query.model, seconds=share, **query.keywords(report, "seed", "workers")),
        lambda: _proof(query, report, share),
    ]
    for engine in engines:
        try:
            verdict = engine()
        except DomainError as error:
            errors.append(error)
            continue
        yield verdict
        if verdict.is_interrupted:
            return


def _walks(model: Model, **options: Any) -> Verdict:
    """Run random walks, and minimize their findings."""
    return minimize_findings(model, walk(model, depth=WALK_DEPTH, kernel=kernel_for(model), **options))


def _proof(query: Query, report: Report, seconds: float) -> Verdict:
    """Attempt proofs, and minimize the violations that are found."""
    proof = evolve(query, options=complete(ProveKeywords, {"seconds": seconds}))
    return minimize_findings(query.model, entry("prove")(proof, report))


def _weakness(verdict: Verdict) -> tuple[int, float]:
    """Return a sort key: violations by length, then conclusive answers, samples, undecided ones."""
    trace = verdict.counterexample
    if verdict.answer not in (Answer.HOLDS, Answer.UNDECIDED):
        return 0, float("inf") if trace is None else trace.length + (not trace.shortest) / 2
    if verdict.answer is Answer.UNDECIDED:
        return 3, 0
    return (1 if verdict.strength.is_conclusive else 2), 0


def _notes(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield the result of each engine, and that there is no contradiction."""
    for verdict in verdicts:
        trace = verdict.counterexample
        found = "" if trace is None else f", {trace.prop or 'deadlock'} in {trace.length} steps"
        yield f"{verdict.engine}: {verdict.answer.value}{found} ({verdict.qualifier}, {verdict.seconds:.1f} s)"
        yield from (f"  {note}" for note in verdict.notes)
    yield "The engines do not contradict each other."
