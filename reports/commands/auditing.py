"""The command that tries fixes: `kwalk audit`."""
from __future__ import annotations

import json
import shlex
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from attrs import evolve
from rich.text import Text

from model.language.registry import find_fixes
from reports.audit import Files, audit_lines, audit_object, audit_table, command_of, reference_of
from reports.audit_file import keep, kept_in
from reports.audit_markdown import audit_document
from reports.audit_page import NAME as PAGE
from reports.audit_page import audit_page
from reports.escaping import visible
from reports.files import CannotWrite, OutFolder, out_folder
from reports.fingerprint import fingerprint
from reports.progress import shown_on_stderr
from reports.replaying import stamped
from reports.saving import save
from reports.terminal import console, put
from search.audit import Budget, Row, audit, cells_of
from search.verdict import Answer


def run_audit(options: Namespace) -> int:
    """Search each trial of the fixes with the fix off and on; 0 if all of it was decided, else 3."""
    rows = cells_of(find_fixes(options.fixes).values(), options.scenario)
    budget = Budget(prove=options.prove)
    budget = budget if options.seconds is None else evolve(budget, seconds=options.seconds)
    with ExitStack() as stack:
        out = stack.enter_context(out_folder(options.out))
        beside = stack.enter_context(out_folder(folder_of(options.markdown))) if options.markdown else None
        kept = {} if options.fresh else kept_in(out.path)
        with shown_on_stderr() as report:
            done = audit(
                rows, budget, workers=options.workers or 1, text=fingerprint, kept=kept,
                keep=lambda kept: keep(kept, out), report=report,
            )  # fmt: skip
        return _deliver(done, options, out, beside)


def folder_of(file: str) -> Path:
    """The folder that a document goes to; CannotWrite if the name is no file's."""
    path = Path(file)
    if not path.name or path.is_dir():
        raise CannotWrite(f"Cannot write to {visible(file)!r}: it is a folder. Name a file with --markdown.")
    return path.parent


def _deliver(rows: Sequence[Row], options: Namespace, out: OutFolder, beside: OutFolder | None) -> int:
    """Write the files, print the table; the exit code. What cannot be written is told after the table."""
    files: Files = {}
    written: dict[str, Path] = {}
    failure: CannotWrite | None = None
    try:
        files = dict(_saved(rows, out))
        written = _documents(rows, files, options, (out, beside))
    except CannotWrite as error:
        failure = error
    code = 0 if all(row.is_decided for row in rows) else Answer.UNDECIDED.exit_code
    if options.json:
        page = {**audit_object(rows, files), "exit_code": code, "command": _command(options)}
        print(json.dumps({**page, "files": {kind: str(path) for kind, path in written.items()}}, indent=2))
    else:
        _print(rows, files, {**{kind: str(path) for kind, path in written.items()}, "Reproduce": _command(options)})
    if failure:
        raise failure
    return code


def _print(rows: Sequence[Row], files: Files, ending: Mapping[str, str]) -> None:
    out = console()
    put(out, audit_table(rows))
    for line in (*audit_lines(rows, files), *(Text(visible(f"{what}: {where}")) for what, where in ending.items())):
        out.print(line, soft_wrap=True)


def _saved(rows: Sequence[Row], out: OutFolder) -> Iterator[tuple[str, dict[str, Path]]]:
    """The files of each trace, by the command that finds it; a trace that several cells share is written once."""
    found = {command_of(cell, o): (cell, o.trace) for row in rows for cell, o in row.cells if o.trace is not None}
    for command, (cell, trace) in found.items():
        full = evolve(stamped(trace, cell.model, reference_of(cell)), command=command)
        yield command, save(cell.model, full, out)


def _documents(
    rows: Sequence[Row], files: Files, options: Namespace, folders: tuple[OutFolder, OutFolder | None]
) -> dict[str, Path]:
    """The documents that were asked for, written; their paths."""
    out, beside = folders
    written = {}
    if beside is not None:
        name = Path(options.markdown).name
        written["Markdown"] = beside.write({name: audit_document(rows, _command(options))})[name]
    if options.html:
        written["Page"] = out.write({PAGE: audit_page(rows, files, _command(options))})[PAGE]
    return written


def _command(options: Namespace) -> str:
    """The command line that audits the same again."""
    words = ["kwalk", "audit", *options.fixes]
    words += ["--scenario", options.scenario] if options.scenario else []
    words += ["--seconds", f"{options.seconds:g}"] if options.seconds is not None else []
    words += ["--prove"] if options.prove else []
    words += ["--markdown", options.markdown] if options.markdown else []
    words += ["--html"] if options.html else []
    return shlex.join(words)
