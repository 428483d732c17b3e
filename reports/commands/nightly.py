"""`kwalk nightly`: search many scenarios, in a run that can be resumed; compare a run with an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from kwalk.model.language.errors import UsageError
from kwalk.reports.options.declaration import JSON, Command, Section, argument, arguments, option
from kwalk.search.base.option_kinds import DIR, MINUTES, URL, text
from kwalk.search.base.option_table import DEFAULT_OUT, Threads


def _of_compare(rest: Sequence[str]) -> list[str]:
    """Return what follows the old name as this command has it: the later run first."""
    runs = [word for word in rest if not word.startswith("-")]
    if len(runs) != 2:
        raise UsageError("Name an earlier and a later run: kwalk nightly RUN --before EARLIER.")
    return [runs[1], "--before", runs[0], *(word for word in rest if word.startswith("-"))]


COMMAND = Command(
    "search many scenarios, in a run that can be resumed; compare a run with an earlier one",
    argument(
        "config",
        "CONFIG",
        "a TOML file: what to search, and for how long; or the folder of a run, to read it",
        nargs="?",
    ),
    option("--resume", text("RUN"), "resume the run in this folder"),
    option("--out", DIR, f"folder of the run (default: one below {DEFAULT_OUT}, named after the time)"),
    *arguments(Threads),
    option("--master", URL, "a Spark master, such as spark://host:7077, instead of this machine's cores"),
    option(
        "--minutes",
        MINUTES,
        "time budget of all tasks together, in minutes; overrides the configuration",
    ),
    option("--before", text("RUN"), "an earlier run to compare with, on the page; with the folder of a run, also here"),
    option("--history", DIR, "a folder of runs: the page has trends, and when a group was first seen"),
    JSON,
    handler="kwalk.reports.handlers.nightly:run_nightly",
    section=Section.NIGHTS,
    replaces={"compare": _of_compare, "page": ()},
    page="nightly.md",
    examples="""
  kwalk nightly nightly.toml                       (format: docs/reference/nightly.md)
  kwalk nightly nightly.toml --out runs/monday --workers 2 --minutes 60
  kwalk nightly --resume runs/monday               continue an interrupted run
  kwalk nightly runs/tuesday --before runs/monday  what is new? exit code 12: newly broken, 3: less is known
  kwalk nightly runs/tuesday --history runs        write the page of the run again, with trends""",
)
