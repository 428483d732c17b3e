"""`kwalk prove`: prove properties with Z3, or find the shortest violation."""

from __future__ import annotations

from kwalk.reports.options.declaration import RESULTS, SCENARIO, SECONDS, SUBJECT, Command, Section, option, switch
from kwalk.reports.options.values import natural

COMMAND = Command(
    "prove properties with Z3, or find the shortest violation",
    SCENARIO,
    *SUBJECT,
    SECONDS,
    *RESULTS,
    option("--depth", natural, "N", "check unproved properties up to N steps (default: 20)"),
    option("--induction", natural, "N", "the largest k of k-induction (default: 3); 0 for no induction"),
    switch("--no-support", "do not search for supporting invariants"),
    handler="kwalk.reports.handlers.search:prove",
    section=Section.SEARCHES,
    page="../explanation/proof.md",
    examples="""
  kwalk prove topic-id-core --depth 6 --property disk_matches_znode
  kwalk prove two-phase-commit --seconds 60
  kwalk prove two-phase-commit --property managers_agree --json
  kwalk prove ticket-lock --induction 5 --no-support""",
)
