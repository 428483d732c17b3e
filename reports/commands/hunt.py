"""`kwalk hunt`: find a counterexample: exhaustive search, then walks, then minimize."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    PROPERTIES,
    RESULTS,
    SCENARIO,
    Command,
    Section,
    arguments,
)
from kwalk.search.base.option_table import HuntKeywords

COMMAND = Command(
    "find a counterexample: exhaustive search, then walks, then minimize",
    SCENARIO,
    *arguments(HuntKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.search:search",
    section=Section.MODEL,
    page="../how-to/search-for-hours.md",
    examples="""
  kwalk hunt old-client-expansion
  kwalk hunt old-client-expansion --variant 3.9.0 --seconds 120 --out hunts""",
)
