"""`kwalk shrink`: minimize a saved trace, then try to prove that no shorter one exists."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, SIXTY_SECONDS, TRACE, UNFOLD, Command, Section, out

COMMAND = Command(
    "minimize a saved trace, then try to prove that no shorter one exists",
    TRACE,
    SIXTY_SECONDS,
    out("folder of the shorter trace and its page"),
    UNFOLD,
    JSON,
    handler="kwalk.reports.handlers.traces:run_shrink",
    section=Section.TRACES,
    page="../explanation/shrinking.md",
    examples="""
  kwalk shrink kwalk-out/found.itf.json                as short as possible, in a minute at most
  kwalk shrink kwalk-out/found.itf.json --seconds 600  or until no shorter one is known to exist""",
)
