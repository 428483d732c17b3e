"""`kwalk page`: write the page of a nightly run again."""

from __future__ import annotations

from kwalk.reports.options.declaration import Command, Section, argument, option
from kwalk.search.base.option_kinds import DIR, NAME, text

COMMAND = Command(
    "write the page of a nightly run again",
    argument("run", "RUN", "the folder of the run; the page is its index.html", type=NAME),
    option("--before", text("RUN"), "an earlier run to compare with"),
    option("--history", DIR, "a folder of runs: trends, and when a group was first seen"),
    handler="kwalk.reports.handlers.nightly:run_page",
    section=Section.NIGHTS,
    page="../how-to/compare-nightly-runs.md",
    examples="""
  kwalk page runs/tuesday --before runs/monday
  kwalk page runs/tuesday --before runs/monday --history runs""",
)
