"""The command `kwalk nightly`: a run of many tasks, begun or gone on with."""
from __future__ import annotations

import json
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve

from model.language import KwalkError, UsageError
from reports.commands.options import DEFAULT_OUT
from reports.nightly.result import exit_code, printed, result_object
from reports.nightly.watching import watched
from reports.streams import remark
from reports.terminal import console, put
from search.nightly.config import read_config
from search.nightly.folder import RunFolder
from search.nightly.run import Place, Result, begin, go_on


def run_nightly(options: Namespace) -> int:
    """Do a run, or go on with one; the exit code."""
    _check(options)
    before = None if options.before is None else Path(options.before)
    if before is not None:
        RunFolder(before).manifest()  # what is no run is refused before anything starts
    result = _resumed(options) if options.resume else _begun(options)
    _write_page(result, before)
    if options.json:
        print(json.dumps(result_object(result), indent=2))
    else:
        put(console(), *printed(result))
    return exit_code(result)


def _write_page(result: Result, before: Path | None) -> None:
    """Write the run's page; where that cannot be, say so and go on: the run is whole without it."""
    from reports.morning.page import write_page

    try:
        write_page(result.folder, before)
    except KwalkError as error:
        remark(f"kwalk: there is no page of this run: {error}")


def _check(options: Namespace) -> None:
    """UsageError if options do not go together."""
    if (options.config is None) == (options.resume is None):
        raise UsageError("Name either a configuration (kwalk nightly CONFIG) or a run to go on with (--resume RUN).")
    if options.resume and options.out:
        raise UsageError("A run that goes on stays in its folder: leave out --out.")


def _place(options: Namespace) -> Place:
    return Place(options.workers, options.master)


def _begun(options: Namespace) -> Result:
    config = read_config(Path(options.config))
    if options.minutes is not None:
        config = evolve(config, minutes=options.minutes)
    out = Path(options.out) if options.out else Path(DEFAULT_OUT) / f"nightly-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    with watched() as watcher:
        return begin(config, options.config, out, _place(options), watcher)


def _resumed(options: Namespace) -> Result:
    with watched() as watcher:
        return go_on(Path(options.resume), _place(options), watcher, options.minutes)
