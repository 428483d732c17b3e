"""`kwalk scenarios`: list the scenarios, their variants and bounds, or their properties."""

from __future__ import annotations

from kwalk.reports.options.declaration import ANY_SCENARIO, JSON, Command, Section, switch

COMMAND = Command(
    "list the scenarios, their variants and bounds, or their properties",
    ANY_SCENARIO,
    switch("--variants", "also list bounds, and variants with their flags"),
    switch("--properties", "list the properties instead, and the symptoms of their violations"),
    JSON,
    handler="kwalk.reports.handlers.listing:scenarios",
    section=Section.MODEL,
    codes="0 listed, 2 usage error",
    replaces={"properties": ("--properties",), "invariants": ("--properties",)},
    examples="""
  kwalk scenarios                      all scenarios
  kwalk scenarios --variants           with variants, flags and bounds
  kwalk scenarios lost-update --variants
  kwalk scenarios topic-id-core --properties      with the symptoms that users see""",
)
