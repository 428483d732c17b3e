"""`kwalk prove`: prove properties with Z3, or find the shortest violation."""

from __future__ import annotations

from kwalk.reports.options.declaration import PROPERTIES, RESULTS, SCENARIO, Command, Section, arguments
from kwalk.search.base.option_table import ProveKeywords

COMMAND = Command(
    "prove properties with Z3, or find the shortest violation",
    SCENARIO,
    *arguments(ProveKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.search:search",
    section=Section.SEARCHES,
    page="../explanation/proof.md",
    examples="""
  kwalk prove topic-id-core --depth 6 --property disk_matches_znode
  kwalk prove two-phase-commit --seconds 60
  kwalk prove two-phase-commit --property managers_agree --json
  kwalk prove ticket-lock --induction 5 --no-support""",
)
