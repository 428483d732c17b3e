"""`kwalk scenarios`: list the scenarios."""

from __future__ import annotations

from kwalk.reports.options.declaration import ANY_SCENARIO, ONLY_JSON, Command, Section, switch

COMMAND = Command(
    "list the scenarios",
    ANY_SCENARIO,
    switch("--variants", "also list bounds, and variants with their flags"),
    ONLY_JSON,
    handler="kwalk.reports.handlers.listing:scenarios",
    section=Section.MODEL,
    examples="""
  kwalk scenarios                      all scenarios
  kwalk scenarios --variants           with variants, flags and bounds
  kwalk scenarios lost-update --variants""",
)
