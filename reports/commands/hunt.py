"""`kwalk hunt`: find a counterexample: exhaustive search, then walks, then minimize."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    ANY_SCENARIO,
    MIGRATION,
    PROPERTIES,
    RESULTS,
    Command,
    Section,
    argument,
    arguments,
    switch,
)
from kwalk.search.base.option_table import HuntKeywords

COMMAND = Command(
    "find a counterexample: exhaustive search, then walks, then minimize",
    ANY_SCENARIO,
    argument(
        "--from",
        "SNAPSHOT",
        "start from the state of a real system; an installed scenario that reads it is found",
        dest="snapshot",
    ),
    switch("--migrate", f"search the shortest way from there to a loss in a migration: the scenario {MIGRATION}"),
    *arguments(HuntKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.search:search",
    section=Section.MODEL,
    page="../how-to/diagnose-a-cluster.md",
    examples="""
  kwalk hunt old-client-expansion
  kwalk hunt old-client-expansion --variant 3.9.0 --seconds 120 --out hunts
  kwalk hunt --from cluster.json       start from the state of a real cluster
  kwalk hunt --from cluster.json --migrate""",
)
