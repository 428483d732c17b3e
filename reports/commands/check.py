"""`kwalk check`: run exhaustive search, random walks and Z3, and compare their verdicts."""

from __future__ import annotations

from kwalk.reports.options.declaration import RESULTS, SCENARIO, SEED, SIXTY_SECONDS, SUBJECT, WORKERS, Command, Section

COMMAND = Command(
    "run exhaustive search, random walks and Z3, and compare their verdicts",
    SCENARIO,
    *SUBJECT,
    SIXTY_SECONDS,
    SEED,
    WORKERS,
    *RESULTS,
    handler="kwalk.reports.handlers.search:check",
    section=Section.SEARCHES,
    page="../explanation/verdicts.md#three-engines-one-verdict",
    examples="""
  kwalk check two-phase-commit         three engines, one verdict; 60 seconds by default
  kwalk check topic-id-core --property disk_matches_znode --seconds 30""",
)
