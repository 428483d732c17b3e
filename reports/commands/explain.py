"""`kwalk explain`: find a behaviour that passes through snapshots of a real system."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, UNFOLD, Command, Section, argument, arguments, option, out
from kwalk.search.base.option_kinds import DIR, NAME, ZONE, above_zero
from kwalk.search.base.option_table import ExplainKeywords

LOGS = (
    option("--logs", DIR, "the folder with the system's logs: the behaviour passes through their lines"),
    option(
        "--log-tolerance",
        above_zero("SECONDS", "seconds"),
        "by how much clocks of the system and of the snapshots may differ (default: 1)",
    ),
    option(
        "--log-zone",
        ZONE,
        "the time zone of the times in the logs (default: UTC; --log-zone=-05:00 in the west)",
    ),
)
COMMAND = Command(
    "find a behaviour that passes through snapshots of a real system",
    argument("snapshots", "SNAPSHOT", "JSON files, in the order in which they were taken", nargs="+"),
    option("--scenario", NAME, "the scenario that reads them"),
    *arguments(ExplainKeywords, events=LOGS),
    out("folder of the trace and its page"),
    UNFOLD,
    JSON,
    handler="kwalk.reports.handlers.explain:run_explain",
    section=Section.CLUSTERS,
    page="../how-to/explain-a-cluster.md",
    examples="""
  kwalk explain first.json second.json third.json     what happened between them?
  kwalk explain captures/*.json --variant 3.9.0       and could it have happened in another version?
  kwalk explain captures/*.json --logs logs           and what do the logs say that snapshots do not?""",
    codes="0 a behaviour fits, 2 usage error, 3 undecided, 12 no behaviour fits, 70 internal error",
)
