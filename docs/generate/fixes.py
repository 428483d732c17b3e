"""The page `fixes.md`: what an audit of all fixes of Kafka finds, from the outcomes in `tests/kafka/outcomes.json`."""

from __future__ import annotations

from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.pages.audit import audit_document
from kwalk.search.analyses.audit.audit import AuditRow
from kwalk.search.analyses.audit.cells import AuditCell, CellOutcome, CellStatus
from kwalk.search.results.trace import Trace
from tests.kafka.outcomes import command_of_cell, pinned_searches, trial_cells


def page() -> str:
    """Return the text of the page."""
    return markdown_document(audit_document(rows(), "make docs"))


def rows() -> list[AuditRow]:
    """Return the trials of all fixes with the outcomes of their cells."""
    return [AuditRow(off, on, _outcome(off), _outcome(on)) for off, on in trial_cells()]


def _outcome(cell: AuditCell) -> CellOutcome:
    """Return the outcome of a cell; of a trace only its length is known."""
    found = pinned_searches()[command_of_cell(cell)]
    if not found.violates:
        status, prop, trace = CellStatus.EXHAUSTIVE, None, None
    else:
        status, prop = CellStatus.VIOLATED, found.violates
        steps = ("",) * (found.steps or 0)
        trace = None if found.steps is None else Trace(cell.scenario.name, "", {}, (), steps, shortest="exhaust")
    return CellOutcome(
        status, found.states, found.depth, prop=prop, trace=trace, bounds_hit=found.bounds, fairness=found.fairness
    )
