"""What an audit finds of fixes, as plainly as a test can pin it."""

from __future__ import annotations

from collections.abc import Iterable

from kwalk.model.language import Fix
from kwalk.search.analyses.audit.audit import AuditOptions, audit, cells_of
from kwalk.search.analyses.audit.cells import CellOutcome, CellStatus

Pinned = tuple[str, int | None, int | None]


def audited(fixes: Iterable[Fix]) -> dict[str, list[Pinned]]:
    """By fix and in the order of its trials: the judgement, and what was found with the fix off and with it on.

    What was found is the length of the shortest counterexample, or the number of states without any, as a negative
    number.
    """
    found: dict[str, list[Pinned]] = {}
    for row in audit(cells_of(fixes), AuditOptions(seconds=120)):
        pinned = row.judgement.value, plainly(row.without), plainly(row.with_it)
        found.setdefault(row.fix.name, []).append(pinned)
    return found


def plainly(outcome: CellOutcome) -> int | None:
    """The length of a counterexample; minus the states of an exhaustive search without one; None for anything else."""
    if outcome.status is CellStatus.VIOLATED:
        return None if outcome.trace is None else outcome.trace.length
    return -outcome.states if outcome.status is CellStatus.EXHAUSTIVE and outcome.states is not None else None
