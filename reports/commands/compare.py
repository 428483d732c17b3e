"""`kwalk compare`: compare a nightly run with an earlier one."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, Command, Section, argument, option
from kwalk.search.base.option_kinds import FILE, NAME

COMMAND = Command(
    "compare a nightly run with an earlier one",
    argument("before", "RUN_A", "the folder of the earlier run", type=NAME),
    argument("after", "RUN_B", "the folder of the later run", type=NAME),
    option("--html", FILE, "also write a page"),
    JSON,
    handler="kwalk.reports.handlers.nightly:run_compare",
    section=Section.NIGHTS,
    page="../how-to/compare-nightly-runs.md",
    examples="""
  kwalk compare runs/monday runs/tuesday              exit code 12: newly broken, 3: less is known
  kwalk compare runs/monday runs/tuesday --html new.html""",
)
