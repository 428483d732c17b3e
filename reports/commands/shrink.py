"""`kwalk shrink`: minimize a saved trace, then try to prove that no shorter one exists."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, TRACE, UNFOLD, Command, Section, arguments, out
from kwalk.search.base.option_table import Minute

COMMAND = Command(
    "minimize a saved trace, then try to prove that no shorter one exists",
    TRACE,
    *arguments(Minute),
    out("folder of the shorter trace and its page"),
    UNFOLD,
    JSON,
    handler="kwalk.reports.handlers.traces:run_shrink",
    section=Section.TRACE,
    page="../explanation/shrinking.md",
    examples="""
  kwalk shrink kwalk-out/found.itf.json                as short as possible, in a minute at most
  kwalk shrink kwalk-out/found.itf.json --seconds 600  or until no shorter one is known to exist""",
)
