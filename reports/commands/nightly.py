"""`kwalk nightly`: search many scenarios, in a run that can be resumed."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, Command, Section, argument, arguments, option
from kwalk.search.base.option_kinds import DIR, MINUTES, URL, text
from kwalk.search.base.option_table import DEFAULT_OUT, Threads

COMMAND = Command(
    "search many scenarios, in a run that can be resumed",
    argument("config", "CONFIG", "a TOML file: what to search, and for how long", nargs="?"),
    option("--resume", text("RUN"), "resume the run in this folder"),
    option("--out", DIR, f"the folder of the run (default: one below {DEFAULT_OUT}, named after the time)"),
    *arguments(Threads),
    option("--master", URL, "a Spark master, such as spark://host:7077, instead of this machine's cores"),
    option(
        "--minutes",
        MINUTES,
        "time budget of all tasks together, in minutes; overrides the configuration",
    ),
    option("--before", text("RUN"), "an earlier run that the page of this run compares with"),
    JSON,
    handler="kwalk.reports.handlers.nightly:run_nightly",
    section=Section.NIGHTS,
    page="nightly.md",
    examples="""
  kwalk nightly nightly.toml                       (format: docs/reference/nightly.md)
  kwalk nightly nightly.toml --out runs/monday --workers 2 --minutes 60
  kwalk nightly --resume runs/monday               continue an interrupted run""",
)
