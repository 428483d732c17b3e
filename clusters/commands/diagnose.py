"""`kwalk diagnose`: say from snapshots of a real system what is wrong, what comes next, what happened, the way out."""

from __future__ import annotations

from collections.abc import Sequence

from kwalk.reports.options.declaration import (
    HTML,
    JSON,
    MARKDOWN,
    PROPERTIES,
    UNFOLD,
    WATCH,
    Command,
    Section,
    argument,
    arguments,
    grouped,
    option,
    out,
    switch,
)
from kwalk.search.base.option_kinds import DIR, FILE, NAME, POSITIVE, ZONE, above_zero
from kwalk.search.base.option_table import ExplainKeywords, HuntKeywords

LOGS = (
    option("--logs", DIR, "the folder with the system's logs: the behaviour passes through their lines"),
    option(
        "--log-tolerance",
        above_zero("SECONDS", "seconds"),
        "by how much clocks of the system and of the snapshots may differ (default: 1)",
    ),
    option("--log-zone", ZONE, "the time zone of the times in the logs (default: UTC; --log-zone=-05:00 in the west)"),
)


def _of_hunt(rest: Sequence[str]) -> list[str]:
    """Return what follows `kwalk hunt`, where it starts from a snapshot, as this command has it."""
    words = [part for word in rest for part in (word.split("=", 1) if word.startswith("--from=") else [word])]
    words = ["--migration" if word == "--migrate" else word for word in words]
    place, scenario = words.index("--from"), [] if words[0].startswith("-") else ["--scenario", words[0]]
    others = words[len(scenario) // 2 : place] + words[place + 2 :]
    return [*words[place + 1 : place + 2], "--forecast", *scenario, *others]


COMMAND = Command(
    "say from snapshots of a real system what is wrong, what comes next, what happened, the way out",
    argument("snapshots", "SNAPSHOT", "JSON files", nargs="+"),
    switch("--plan", "plan the repair step by step, with commands, in 120 seconds by default", repeats=True),
    switch(
        "--forecast", "search for what the next usual events do, and for the shortest way to an outage", repeats=True
    ),
    switch(
        "--explain", "find a behaviour that passes through the snapshots, in the order they were taken", repeats=True
    ),
    switch(
        "--migration",
        "say what a migration to KRaft would do; with --forecast, search for the shortest way to a loss in it",
        repeats=True,
    ),
    option("--scenario", NAME, "the scenario that reads them (default: the first one that can)"),
    *(each for each in arguments(ExplainKeywords) if each[0] in ("--variant", "--seconds")),
    out("folder of pages and traces"),
    UNFOLD,
    HTML,
    MARKDOWN,
    JSON,
    *grouped(
        "without a question",
        option("--most", POSITIVE, "show at most N places of each kind (default: 5)"),
        option("--csv", FILE, "also write all findings as CSV", repeats=False),
        option("--parquet", FILE, "also write all findings as Parquet", repeats=False),
        option("--prometheus", FILE, "also write gauges in Prometheus' text format", repeats=False),
    ),
    *grouped("with --forecast", *PROPERTIES, *arguments(HuntKeywords, without=ExplainKeywords), WATCH),
    *grouped("with --explain", *arguments(ExplainKeywords, without=HuntKeywords), *LOGS),
    handler="kwalk.clusters.handlers.diagnose:run_diagnose",
    section=Section.CLUSTER,
    replaces={"inspect": (), "recover": ("--plan",), "explain": ("--explain",), "hunt --from": _of_hunt},
    page="../how-to/diagnose-a-cluster.md",
    examples="""
  kwalk diagnose cluster.json                   is the cluster consistent, latently damaged, or broken?
  kwalk diagnose cluster.json --html            a page to read and to hand on: what, why, and the way out
  kwalk diagnose cluster.json --plan            the shortest plan of repair that one fault does not defeat
  kwalk diagnose cluster.json --forecast        what will the next failover, restart or deletion do?
  kwalk diagnose cluster.json --migration       can it migrate to KRaft, and what would be lost?
  kwalk diagnose fleet/*.json --csv found.csv   a table of many clusters
  kwalk diagnose captures/*.json --explain      what happened between them?
  kwalk diagnose captures/*.json --explain --logs logs     and what do the logs say that snapshots do not?""",
    codes="0 consistent, 2 usage error, 3 undecided or not judged, 12 broken now, 13 damage that shows later, 70 "
    "internal error; with --plan 0 a plan or nothing to do, 12 no plan is safe; with --explain 0 a behaviour fits, 12 "
    "none fits; with --migration 0 ready, 3 not judged, 12 loses something or stops half-way, 13 waits; with "
    "--forecast, if it is consistent, those of a search",
)
