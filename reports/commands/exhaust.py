"""`kwalk exhaust`: visit every reachable state within the bounds."""

from __future__ import annotations

from kwalk.reports.options.declaration import PROPERTIES, RESULTS, SCENARIO, Command, Section, arguments
from kwalk.search.base.option_table import ExhaustKeywords

COMMAND = Command(
    "visit every reachable state within the bounds",
    SCENARIO,
    *arguments(ExhaustKeywords, variant=PROPERTIES, strict=RESULTS),
    handler="kwalk.reports.handlers.search:search",
    section=Section.SEARCHES,
    page="../how-to/search-for-hours.md",
    examples="""
  kwalk exhaust two-phase-commit
  kwalk exhaust topic-id-core --bound restarts=1 --property disk_matches_znode
  kwalk exhaust lost-update --flag lock=on
  kwalk exhaust topic-id-core --reduce          fewer states, the same verdict
  kwalk exhaust my_package.my_model:STORY --keep-going --json
  kwalk exhaust topic-id-core --checkpoint saved           can be killed at any time,
  kwalk exhaust topic-id-core --checkpoint saved --resume  and continues from there
  kwalk exhaust topic-id-core --spark --keep-going         with states on disk, on any number of machines""",
)
