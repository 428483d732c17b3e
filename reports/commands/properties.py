"""`kwalk properties`: list the properties, and the symptoms of their violations."""

from __future__ import annotations

from kwalk.reports.options.declaration import ANY_SCENARIO, ONLY_JSON, Command, Section

COMMAND = Command(
    "list the properties, and the symptoms of their violations",
    ANY_SCENARIO,
    ONLY_JSON,
    handler="kwalk.reports.handlers.listing:properties",
    section=Section.MODEL,
    examples="""
  kwalk properties                     of every scenario
  kwalk properties topic-id-core       of one, with the symptoms that users see""",
    aliases=("invariants",),
)
