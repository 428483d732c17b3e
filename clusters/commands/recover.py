"""`kwalk recover`: plan the repair of a real system from its snapshot, step by step, with commands."""

from __future__ import annotations

from kwalk.reports.options.declaration import MARKDOWN, ONLY_JSON, Command, Section, argument, option
from kwalk.search.base.option_kinds import FILE, NAME, SECONDS

COMMAND = Command(
    "plan the repair of a real system from its snapshot, step by step, with commands",
    argument("snapshot", "SNAPSHOT", "a JSON file"),
    option("--scenario", NAME, "the scenario that makes plans from it"),
    option("--seconds", SECONDS, "time budget (default: 120)"),
    option("--html", FILE, "also write the page of the incident", repeats=False),
    MARKDOWN,
    ONLY_JSON,
    handler="kwalk.clusters.handlers.recover:run_recover",
    section=Section.CLUSTER,
    page="../how-to/recover-a-cluster.md",
    examples="""
  kwalk recover cluster.json                   the shortest plan that one fault does not defeat
  kwalk recover cluster.json --json            for a script""",
    codes="0 a plan or nothing to do, 2 usage error, 3 undecided, 12 no plan is safe, 70 internal error",
)
