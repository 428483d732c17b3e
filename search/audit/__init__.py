"""Auditing fixes: each trial of each fix is searched with the fix off and with it on, and the two are compared.

Words: a *row* of the table is a trial of a fix, with a *cell* for each setting of its flag. Cells that would be the
same search are searched once. Outcomes that were *kept* from an earlier audit are taken over where they are decided, or
had as much time as there is now, and the model is still the same.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import define, evolve, field, frozen

from model.language import Fix, KwalkError, Scenario, Trial, UsageError
from model.language.errors import unknown
from model.language.registry import find_scenario
from search.audit.cells import Budget, Cell, Fingerprint, examine
from search.audit.outcomes import Judgement, Known, Outcome, judged
from search.audit.workers import examined_by_workers
from search.compile.fingerprint import fingerprint
from search.progress import Progress, Report, silent

Kept = Mapping[str, Outcome]
"""Outcomes by the keys of their cells."""
INTERRUPTED = Outcome(Known.UNDECIDED, why="interrupted")
"""The outcome of a cell that an interrupted audit did not come to."""


@frozen
class Row:
    """A trial of a fix: what was found without it and with it."""

    off: Cell
    on: Cell
    without: Outcome
    with_it: Outcome

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
        """What the row says of the fix."""
        return judged(self.without, self.with_it)

    @property
    def is_decided(self) -> bool:
        """Whether both cells are."""
        return self.without.is_decided and self.with_it.is_decided

    @property
    def cells(self) -> tuple[tuple[Cell, Outcome], tuple[Cell, Outcome]]:
        """Both cells with their outcomes, off before on."""
        return (self.off, self.without), (self.on, self.with_it)


def cells_of(fixes: Iterable[Fix], scenario: str | None = None) -> list[tuple[Cell, Cell]]:
    """The cells of each row, off and on; of one scenario's trials only if it is named.

    UsageError if a trial names what does not exist, or if no fix is tried in that scenario.
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


def _cells(fix: Fix, trial: Trial) -> tuple[Cell, Cell]:
    try:
        found = trial.scenario if isinstance(trial.scenario, Scenario) else find_scenario(trial.scenario)
        off, on = (Cell(fix, trial, found, setting) for setting in (fix.off, fix.on))
        for cell in (off, on):
            _ = cell.claims
    except KwalkError as error:
        raise UsageError(f"Fix {fix.name!r}, trial in {trial.scenario_name!r}: {error}") from error
    return off, on


def audit(
    rows: Iterable[tuple[Cell, Cell]],
    budget: Budget,
    *,
    workers: int = 1,
    text: Fingerprint = fingerprint,
    kept: Kept | None = None,
    keep: Callable[[Kept], None] | None = None,
    report: Report = silent,
) -> tuple[Row, ...]:
    """The rows, with their outcomes. On Ctrl-C the cells that are left are undecided.

    With several workers, as many cells are searched at a time, each in a process of its own. What was `kept` is taken
    over where the fingerprint of the model's `text` and all that was asked are the same; `keep` is called after each
    cell with all outcomes so far. KwalkError, with the name of the cell, if an action leaves its domain there.
    """
    pairs = list(rows)
    keys = {id(cell): cell.key(budget, text) for pair in pairs for cell in pair}
    cells = {keys[id(cell)]: cell for pair in pairs for cell in pair}
    run = _Run(cells, evolve(budget, share=budget.share / workers), keep or _forget, report, {**(kept or {})})
    run.go(workers)
    outcomes = {key: run.outcomes.get(key, INTERRUPTED) for key in cells}
    return tuple(Row(off, on, outcomes[keys[id(off)]], outcomes[keys[id(on)]]) for off, on in pairs)


def _forget(outcomes: Kept) -> None:
    """Keep nothing."""


@define(eq=False)
class _Run:
    """An audit that goes on: the cells by key, what is kept, and what has been found out."""

    cells: dict[str, Cell]
    budget: Budget
    keep: Callable[[Kept], None]
    report: Report
    kept: dict[str, Outcome]
    outcomes: dict[str, Outcome] = field(factory=dict)
    began: float = field(factory=time.monotonic)
    examined: int = 0

    def go(self, workers: int) -> None:
        """Take over what was kept, and examine the rest; Ctrl-C ends it."""
        for key, cell in self.cells.items():
            if self._is_good(cell, self.kept.get(key)):
                self.outcomes[key] = self.kept[key]
        left = {key: cell for key, cell in self.cells.items() if key not in self.outcomes}
        try:
            for key, outcome in self._examined(left, min(workers, len(left))):
                self.outcomes[key] = self.kept[key] = outcome
                self.examined += 1
                self.keep(self.kept)
        except KeyboardInterrupt:
            pass

    def _is_good(self, cell: Cell, outcome: Outcome | None) -> bool:
        """Whether a kept outcome can be taken over."""
        if outcome is None or not (outcome.is_decided or (outcome.seconds or 0.0) >= self.budget.seconds):
            return False
        return cell.still_fits(outcome)

    def _examined(self, left: dict[str, Cell], workers: int) -> Iterator[tuple[str, Outcome]]:
        if workers > 1:
            yield from examined_by_workers(left, self.budget, workers, lambda names: self._tell(", ".join(names)))
            return
        for key, cell in left.items():
            self._tell(cell.name)
            try:
                outcome = examine(cell, self.budget, self._inner(cell))
            except KwalkError as error:
                raise _named(cell, error) from error
            yield key, outcome

    def _inner(self, cell: Cell) -> Report:
        """The report of an engine at work on a cell: how far it is goes into the note."""

        def report(inner: Progress) -> None:
            self._tell(f"{cell.name}: {inner.engine}, {inner.done:,} {inner.unit}")

        return report

    def _tell(self, note: str) -> None:
        gone, left = time.monotonic() - self.began, len(self.cells) - len(self.outcomes)
        rest = left * gone / self.examined if self.examined else None
        self.report(Progress("audit", len(self.outcomes), "cells", gone, len(self.cells), rest, note))


def _named(cell: Cell, error: KwalkError) -> KwalkError:
    return KwalkError(f"{cell.name}: {error}")


__all__ = ["Budget", "Cell", "Judgement", "Kept", "Known", "Outcome", "Row", "audit", "cells_of", "judged"]
