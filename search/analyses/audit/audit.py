"""An audit of fixes: search each trial of each fix with the fix off and with it on, and compare the two.

Words: a *row* of the table is a trial of a fix, with a *cell* for each setting of its flag. Cells that would be the
same search are searched once. A *saved* outcome of an earlier audit is reused if it is decided, or had as much time as
there is now, and the model is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from kwalk.model.language import Fix, KwalkError, Scenario, Trial, UsageError
from kwalk.model.language.display import Displayed
from kwalk.model.language.errors import unknown
from kwalk.model.language.registry import find_scenario
from kwalk.search.analyses.audit.cells import (
    AuditCell,
    AuditOptions,
    CellOutcome,
    CellStatus,
    Judgement,
    audit_journal,
    examine,
    judge,
)
from kwalk.search.analyses.saved_run import SavedRun
from kwalk.search.base.progress import Report
from kwalk.search.base.worker_processes import run_in_processes
from kwalk.search.results.verdict import Answer

INTERRUPTED = CellOutcome(CellStatus.UNDECIDED, why="interrupted")
"""The outcome of a cell that was not searched before Ctrl-C."""


@frozen
class AuditRow:
    """A trial of a fix: its cells with the fix off and on, and their outcomes."""

    off: AuditCell
    on: AuditCell
    without: CellOutcome
    with_it: CellOutcome

    @property
    def fix(self) -> Fix:
        """The fix."""
        return self.on.fix

    @property
    def trial(self) -> Trial:
        """The trial."""
        return self.on.trial

    @property
    def judgement(self) -> Judgement:
        """The result of the comparison."""
        return judge(self.without, self.with_it)

    @property
    def is_decided(self) -> bool:
        """Whether both cells are decided."""
        return self.without.is_decided and self.with_it.is_decided

    @property
    def cells(self) -> tuple[tuple[AuditCell, CellOutcome], tuple[AuditCell, CellOutcome]]:
        """Both cells with their outcomes, off before on."""
        return (self.off, self.without), (self.on, self.with_it)


@frozen
class AuditReport(Displayed):
    """The table of an audit."""

    rows: Sequence[AuditRow]

    @property
    def answer(self) -> Answer:
        """HOLDS if every search was decided; what a fix closes is the judgement of its rows."""
        return Answer.HOLDS if all(row.is_decided for row in self.rows) else Answer.UNDECIDED

    def __iter__(self) -> Iterator[AuditRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def cells_of(fixes: Iterable[Fix], scenario: str | None = None) -> list[tuple[AuditCell, AuditCell]]:
    """Return the cells (off, on) of each row; with `scenario`, only of the trials in the scenario of that name.

    Raises:
        UsageError: A trial names an unknown scenario or property, or no fix has a trial in `scenario`.
    """
    rows, names = [], []
    for fix in fixes:
        for trial in fix.trials:
            names.append(trial.scenario_name)
            if scenario in (None, trial.scenario_name):
                rows.append(_cells(fix, trial))
    if not rows:
        raise unknown("scenario in which these fixes are tried", str(scenario), dict.fromkeys(names))
    return rows


def _cells(fix: Fix, trial: Trial) -> tuple[AuditCell, AuditCell]:
    try:
        found = trial.scenario if isinstance(trial.scenario, Scenario) else find_scenario(trial.scenario)
        off, on = (AuditCell(fix, trial, found, setting) for setting in (fix.off, fix.on))
        for cell in (off, on):
            _ = cell.properties
    except KwalkError as error:
        raise UsageError(f"Fix {fix.name!r}, trial in {trial.scenario_name!r}: {error}") from error
    return off, on


def audit(
    rows: Iterable[tuple[AuditCell, AuditCell]], options: AuditOptions | None = None, **others: Any
) -> tuple[AuditRow, ...]:
    """Search the cells; return the rows with their outcomes. After Ctrl-C the cells that are left are undecided.

    Args:
        rows: See `cells_of`.
        options: The options.
        **others: Fields of `AuditOptions`, as keywords.

    Raises:
        KwalkError: An action leaves its domain, or a process died; the message names the cell.
        InternalError: Two engines contradict each other.
    """
    options, pairs = evolve(options or AuditOptions(), **others), list(rows)
    keys = {id(cell): cell.key(options) for pair in pairs for cell in pair}
    cells = {keys[id(cell)]: cell for pair in pairs for cell in pair}
    outcomes = dict.fromkeys(cells, INTERRUPTED)
    outcomes |= _Audit(cells, evolve(options, share=options.share / options.workers)).run()
    return tuple(AuditRow(off, on, outcomes[keys[id(off)]], outcomes[keys[id(on)]]) for off, on in pairs)


class _Audit(SavedRun[AuditCell, CellOutcome]):
    """A run of `audit`."""

    options: AuditOptions
    engine, unit = "audit", "cells"

    def is_reusable(self, cell: AuditCell, outcome: CellOutcome) -> bool:
        had_time = outcome.is_decided or (outcome.seconds or 0.0) >= self.options.seconds
        return had_time and cell.confirms(outcome)

    def evaluate(self, left: Mapping[str, AuditCell]) -> Iterator[tuple[str, CellOutcome]]:
        """Yield the outcomes by key as they arrive; with several workers, each cell has a process of its own."""
        workers = min(self.options.workers, len(left))
        if workers > 1:
            yield from run_in_processes(
                [[key] for key in left],
                lambda key: examine(left[key], self.options),
                workers=workers,
                name=lambda key: left[key].name,
                report=lambda keys: self.report(", ".join(left[key].name for key in keys)),
            )
            return
        for key, cell in left.items():
            self.report(cell.name)
            try:
                outcome = examine(cell, evolve(self.options, report=self._report_of(cell)))
            except KwalkError as error:
                raise KwalkError(f"{cell.name}: {error}") from error
            yield key, outcome

    def _report_of(self, cell: AuditCell) -> Report:
        """Return the report function for the engine that searches a cell; its progress goes into the note."""
        return lambda inner: self.report(f"{cell.name}: {inner.engine}, {inner.done:,} {inner.unit}")


__all__ = [
    "AuditCell",
    "AuditOptions",
    "AuditReport",
    "AuditRow",
    "CellOutcome",
    "CellStatus",
    "Judgement",
    "audit",
    "audit_journal",
    "cells_of",
    "judge",
]
