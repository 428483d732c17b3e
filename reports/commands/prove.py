"""`kwalk prove`: prove properties with Z3, or find the shortest violation."""

from __future__ import annotations

from kwalk.reports.options.declaration import PROPERTIES, RESULTS, Command, Section, argument, arguments, option
from kwalk.search.base.option_kinds import NAME
from kwalk.search.base.option_table import ProveKeywords

COMMAND = Command(
    "prove properties with Z3, or find the shortest violation",
    argument("scenario", "SCENARIO", "a scenario; or the JSON file of a proof, which is checked again without Z3"),
    option("--scenario", NAME, "the scenario of a saved proof (default: the one that the file names)", dest="proved"),
    *arguments(ProveKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.certificate:run_prove",
    section=Section.MODEL,
    replaces={"check-certificate": ()},
    page="../explanation/proof.md",
    examples="""
  kwalk prove topic-id-core --depth 6 --property disk_matches_znode
  kwalk prove two-phase-commit --seconds 60
  kwalk prove two-phase-commit --json > proof.json; kwalk prove proof.json
  kwalk prove ticket-lock --induction 5 --no-support""",
)
