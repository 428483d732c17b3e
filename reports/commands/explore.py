"""`kwalk explore`: take the steps of a model by hand, on a page in the browser."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    ANY_SCENARIO,
    PROPERTIES,
    Command,
    Section,
    argument,
    arguments,
    out,
    switch,
)
from kwalk.search.base.option_table import ExploreKeywords

COMMAND = Command(
    "take the steps of a model by hand, on a page in the browser",
    ANY_SCENARIO,
    argument("trace", "TRACE", "a saved trace to start with", nargs="?"),
    argument("--from", "SNAPSHOT", "start from the state of a real system", dest="snapshot"),
    *arguments(ExploreKeywords, variant=PROPERTIES),
    switch("--open", "open the page in the browser"),
    out("folder of saved traces"),
    handler="kwalk.reports.handlers.explore:run_explore",
    section=Section.TRACES,
    page="../how-to/explore-a-model.md",
    examples="""
  kwalk explore two-phase-commit                   which steps are possible, and what do they do?
  kwalk explore kwalk-out/found.itf.json           start at the end of a counterexample
  kwalk explore --from cluster.json --open         start from the state of a real cluster""",
)
