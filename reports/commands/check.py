"""`kwalk check`: run exhaustive search, random walks and Z3, and compare their verdicts."""

from __future__ import annotations

from kwalk.reports.options.declaration import PROPERTIES, RESULTS, SCENARIO, Command, Section, arguments
from kwalk.search.base.option_table import CheckKeywords

COMMAND = Command(
    "run exhaustive search, random walks and Z3, and compare their verdicts",
    SCENARIO,
    *arguments(CheckKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.search:search",
    section=Section.SEARCHES,
    page="../explanation/verdicts.md#three-engines-one-verdict",
    examples="""
  kwalk check two-phase-commit         three engines, one verdict; 60 seconds by default
  kwalk check topic-id-core --property disk_matches_znode --seconds 30""",
)
