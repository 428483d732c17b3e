"""The command about nightly runs: `kwalk nightly`."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve

from kwalk.model.language import KwalkError, UsageError
from kwalk.reports.document import CodeBlock
from kwalk.reports.escaping import visible
from kwalk.reports.handlers.target import command_line
from kwalk.reports.nightly_compare.comparison import compare
from kwalk.reports.nightly_compare.output import comparison_object, comparison_text
from kwalk.reports.reporter import PAGE, Written, deliver
from kwalk.reports.streams import remark
from kwalk.search.base.option_table import DEFAULT_OUT
from kwalk.search.night.results import read_run


def run_nightly(options: Namespace) -> int:
    """Start a run, resume one, or read one; return the exit code."""
    if options.config is not None and Path(options.config).is_dir():
        return _read(options)
    from kwalk.reports.nightly.result import exit_code, result_object, result_text, watched
    from kwalk.search.night.config import read_config
    from kwalk.search.night.folder import RunFolder
    from kwalk.search.night.run import ExecutionTarget, begin_run, resume_run

    _check(options)
    before = None if options.before is None else Path(options.before)
    if before is not None:
        RunFolder(before).manifest()  # raises UsageError before anything starts if the folder has no run
    target = ExecutionTarget(options.workers, options.master)
    if options.resume:
        with watched() as watcher:
            result = resume_run(Path(options.resume), target, watcher, options.minutes)
    else:
        config = read_config(Path(options.config))
        config = config if options.minutes is None else evolve(config, minutes=options.minutes)
        out = options.out or Path(DEFAULT_OUT) / f"nightly-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        with watched() as watcher:
            result = begin_run(config, options.config, Path(out), target, watcher)
    _write_page(result.folder, before)
    return deliver(options, lambda: result_object(result), result_text(result), code=exit_code(result))


def _write_page(run: Path, before: Path | None, history: Path | None = None) -> Path | None:
    """Write the page of a run. If that fails, print why: the run is complete without it."""
    from kwalk.reports.nightly_compare.page import write_page

    try:
        return write_page(run, before, history)
    except KwalkError as error:
        remark(f"kwalk: the page of this run was not written: {error}")
        return None


def _check(options: Namespace) -> None:
    """Raise UsageError if options contradict each other."""
    if (options.config is None) == (options.resume is None):
        raise UsageError("Name either a configuration (kwalk nightly CONFIG) or a run to resume (--resume RUN).")
    if options.history:
        raise UsageError("--history is about the page of a run that is read: kwalk nightly RUN --history DIR.")
    if options.resume and options.out:
        raise UsageError("A resumed run stays in its folder: leave out --out.")


def _read(options: Namespace) -> int:
    """Write the page of a run; with an earlier one 12 if something is newly broken, 3 if less is known, else 0."""
    given = [f"--{name}" for name in ("resume", "out", "workers", "master", "minutes") if getattr(options, name)]
    if given:
        raise UsageError(f"{visible(options.config)!r} is a run, which is read. Leave out {', '.join(given)}.")
    run, history = Path(options.config), None if options.history is None else Path(options.history)
    before = None if options.before is None else Path(options.before)
    if before is not None and before.resolve() == run.resolve():
        raise UsageError(f"{visible(options.config)!r} is named twice: name an earlier and a later run.")
    if before is None:
        from kwalk.reports.nightly_compare.page import write_page

        page = str(write_page(run, None, history))
        return deliver(options, lambda: {"run": str(run), "page": page}, (), Written({PAGE: page}))
    comparison = compare(read_run(before), read_run(run))
    written = _write_page(run, before, history)
    files = Written({} if written is None else {PAGE: str(written)})
    data = {**comparison_object(comparison), "page": files.names.get(PAGE)}
    blocks = (*comparison_text(comparison), CodeBlock(("",)))
    command = command_line(options, [options.config])
    return deliver(options, lambda: data, blocks, files, code=comparison.exit_code, command=command)
