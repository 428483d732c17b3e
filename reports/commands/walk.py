"""`kwalk walk`: take random walks."""

from __future__ import annotations

from kwalk.reports.options.declaration import PROPERTIES, RESULTS, SCENARIO, Command, Section, arguments
from kwalk.search.base.option_table import WalkKeywords

COMMAND = Command(
    "take random walks",
    SCENARIO,
    *arguments(WalkKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.search:search",
    section=Section.SEARCHES,
    page="../explanation/swarm.md",
    examples="""
  kwalk walk topic-id-core --seconds 10 --seed 7
  kwalk walk topic-id-core --walks 1000 --depth 200 --keep-going
  kwalk walk topic-id-core --keep-going --minimize 500     500 findings, grouped by shape
  kwalk walk old-client-expansion --without fault --without operator   no faults, no repairs
  kwalk walk topic-id-core --uniform                       uniform random choice""",
)
