"""The commands about nightly runs: `kwalk nightly`, `compare` and `page`."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from kwalk.model.language import KwalkError, UsageError
from kwalk.reports.document import CodeBlock
from kwalk.reports.document.text import print_blocks
from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder
from kwalk.reports.handlers.output import document_folder, print_result
from kwalk.reports.handlers.target import command_line
from kwalk.reports.json_output import print_json
from kwalk.reports.nightly_compare.comparison import Comparison, compare
from kwalk.reports.nightly_compare.output import comparison_object, comparison_text
from kwalk.reports.streams import remark
from kwalk.reports.terminal import console
from kwalk.search.base.option_table import DEFAULT_OUT
from kwalk.search.night.results import read_run

if TYPE_CHECKING:
    from kwalk.search.night.run import ExecutionTarget, NightlyResult


def run_nightly(options: Namespace) -> int:
    """Start a run, or resume one; return the exit code."""
    from kwalk.reports.nightly.result import exit_code, result_object, result_text
    from kwalk.search.night.folder import RunFolder

    _check(options)
    before = None if options.before is None else Path(options.before)
    if before is not None:
        RunFolder(before).manifest()  # raises UsageError before anything starts if the folder has no run
    result = _resumed(options) if options.resume else _begun(options)
    _write_page(result, before)
    if options.json:
        print_json(result_object(result))
    else:
        print_blocks(result_text(result), console())
    return exit_code(result)


def _write_page(result: NightlyResult, before: Path | None) -> None:
    """Write the page of the run. If that fails, print why: the run is complete without it."""
    from kwalk.reports.nightly_compare.page import write_page

    try:
        write_page(result.folder, before)
    except KwalkError as error:
        remark(f"kwalk: the page of this run was not written: {error}")


def _check(options: Namespace) -> None:
    """Raise UsageError if options contradict each other."""
    if (options.config is None) == (options.resume is None):
        raise UsageError("Name either a configuration (kwalk nightly CONFIG) or a run to resume (--resume RUN).")
    if options.resume and options.out:
        raise UsageError("A resumed run stays in its folder: leave out --out.")


def _place(options: Namespace) -> ExecutionTarget:
    from kwalk.search.night.run import ExecutionTarget

    return ExecutionTarget(options.workers, options.master)


def _begun(options: Namespace) -> NightlyResult:
    from kwalk.reports.nightly.result import watched
    from kwalk.search.night.config import read_config
    from kwalk.search.night.run import begin_run

    config = read_config(Path(options.config))
    if options.minutes is not None:
        config = evolve(config, minutes=options.minutes)
    out = Path(options.out) if options.out else Path(DEFAULT_OUT) / f"nightly-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    with watched() as watcher:
        return begin_run(config, options.config, out, _place(options), watcher)


def _resumed(options: Namespace) -> NightlyResult:
    from kwalk.reports.nightly.result import watched
    from kwalk.search.night.run import resume_run

    with watched() as watcher:
        return resume_run(Path(options.resume), _place(options), watcher, options.minutes)


def run_compare(options: Namespace) -> int:
    """Compare two runs; 12 if something is newly broken, 3 if the later run knows less, else 0."""
    before, after = Path(options.before), Path(options.after)
    if before.resolve() == after.resolve():
        raise UsageError(f"{visible(options.before)!r} is named twice: name an earlier and a later run.")
    command = command_line(options, (options.before, options.after))
    with document_folder(options.html, "--html") as folder:
        comparison = compare(read_run(before), read_run(after))
        written = None if folder is None else _page(comparison, folder, options.html)
        more = {"command": command, "page": None if written is None else str(written)}
        files = {} if written is None else {"Read": str(written)}
        blocks = (*comparison_text(comparison), CodeBlock(("",)))
        print_result(options, lambda: {**comparison_object(comparison), **more}, blocks, files, command)
    return comparison.exit_code


def _page(comparison: Comparison, folder: OutFolder, file: str) -> Path:
    from kwalk.reports.nightly_compare.page import comparison_page

    name = Path(file).name
    return folder.write({name: comparison_page(comparison, folder.path)})[name]


def run_page(options: Namespace) -> int:
    """Write the page of a run; 0."""
    from kwalk.reports.nightly_compare.page import write_page

    before, history = (None if name is None else Path(name) for name in (options.before, options.history))
    path = write_page(Path(options.run), before, history)
    print_blocks([CodeBlock((f"Read: {path}",))], console())
    return 0
