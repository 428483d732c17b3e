"""The command that tries fixes: `kwalk audit`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from kwalk.model.language.registry import find_fixes
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.handlers.target import command_line
from kwalk.reports.pages.audit import (
    PAGE,
    TITLE,
    Files,
    audit_document,
    audit_object,
    audit_text,
    command_of,
    reference_of,
)
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import Written, deliver, folder_of
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import save
from kwalk.search.analyses.audit.audit import AuditReport, AuditRow, audit, audit_journal, cells_of
from kwalk.search.base.option_table import present


def run_audit(options: Namespace) -> int:
    """Search each trial of the fixes with the fix off and on; 0 if all of it was decided, else 3."""
    rows = cells_of(find_fixes(options.fixes).values(), options.scenario)
    with out_folder(options.out) as out, folder_of(options.markdown, "--markdown") as beside:
        journal = audit_journal(out.path)
        if options.fresh:
            journal.cut(0)
        with shown_on_stderr() as report:
            budgets = present(vars(options), "seconds", "workers", "prove")
            done = audit(rows, journal=journal, report=report, **budgets)
        return _deliver(done, options, out, beside)


def _deliver(rows: Sequence[AuditRow], options: Namespace, out: OutFolder, beside: OutFolder | None) -> int:
    """Write the files, print the table; return the exit code."""
    code = AuditReport(rows).answer.exit_code
    command = command_line(options, options.fixes)
    files: Files = {}
    with Written() as written:
        files = dict(_saved(rows, out))
        written.markdown(options, beside, audit_document(rows, command))
        written.document(options, out, PAGE, TITLE, audit_document(rows, command, files))

    def data() -> dict[str, Any]:
        return {**audit_object(rows, files), "files": written.names}

    return deliver(options, data, audit_text(rows, files), written, code=code, command=command)


def _saved(rows: Sequence[AuditRow], out: OutFolder) -> Iterator[tuple[str, dict[str, Path]]]:
    """Yield the files of each trace, by the command that finds it; a trace that several cells share is written once."""
    cells = ((cell, outcome, outcome.trace) for row in rows for cell, outcome in row.cells)
    found = {command_of(cell, o): (cell, o.compared, trace) for cell, o, trace in cells if trace is not None}
    for command, (cell, compared, trace) in found.items():
        full = evolve(stamped(trace, cell.model, reference_of(cell)), command=command)
        yield command, save(cell.model, full, out, compared)
