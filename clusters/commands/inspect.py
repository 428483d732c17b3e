"""`kwalk inspect`: inspect snapshots of a real system: what is wrong now, what comes next, the way out."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, MARKDOWN, Command, Section, argument, option, switch
from kwalk.search.base.option_kinds import FILE, NAME, POSITIVE

COMMAND = Command(
    "inspect snapshots of a real system: what is wrong now, what comes next, the way out",
    argument("snapshots", "SNAPSHOT", "JSON files", nargs="+"),
    option("--scenario", NAME, "the scenario that inspects them (default: the first one that can)"),
    option("--most", POSITIVE, "show at most N places of each kind (default: 5)"),
    switch("--migration", "say what a migration to KRaft would do, and exit with that", repeats=True),
    option("--html", FILE, "also write the page of the incident, with a plan of repair", repeats=False),
    MARKDOWN,
    option("--csv", FILE, "also write all findings as CSV", repeats=False),
    option("--parquet", FILE, "also write all findings as Parquet", repeats=False),
    option("--prometheus", FILE, "also write gauges in Prometheus' text format", repeats=False),
    JSON,
    handler="kwalk.clusters.handlers.inspect:run_inspect",
    section=Section.CLUSTER,
    page="../how-to/diagnose-a-cluster.md",
    examples="""
  kwalk inspect cluster.json                   is the cluster consistent, latently damaged, or broken?
  kwalk inspect cluster.json --html now.html   a page to read and to hand on: what, why, and the way out
  kwalk inspect fleet/*.json --csv found.csv   a table of many clusters
  kwalk inspect cluster.json --migration       can it migrate to KRaft, and what would be lost?""",
    codes="0 consistent, 2 usage error, 12 broken now, 13 damage that shows later, 70 internal error; with --migration "
    "0 ready, 3 not judged, 12 loses something or stops half-way, 13 waits",
)
