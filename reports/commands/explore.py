"""`kwalk explore`: take the steps of a model by hand, on a page in the browser, or draw its first states as a graph."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    ANY_SCENARIO,
    HTML,
    JSON,
    PROPERTIES,
    Command,
    Section,
    argument,
    arguments,
    grouped,
    option,
    out,
    switch,
)
from kwalk.search.base.option_kinds import one_of
from kwalk.search.base.option_table import ExploreKeywords, GraphKeywords

COMMAND = Command(
    "take the steps of a model by hand, on a page in the browser, or draw its first states as a graph",
    ANY_SCENARIO,
    argument("trace", "TRACE", "a saved trace to start with", nargs="?"),
    argument("--from", "SNAPSHOT", "start from the state of a real system", dest="snapshot"),
    *arguments(ExploreKeywords, variant=PROPERTIES),
    switch("--open", "open the page in the browser"),
    switch("--graph", "write the first states as a graph (DOT), and print its figures", repeats=True),
    out("folder of saved traces, and of the graph"),
    *grouped(
        "with --graph",
        *arguments(GraphKeywords, without=ExploreKeywords),
        option("--label", one_of("changes", "state"), "what a state shows: its changes (default), or all that varies"),
        switch("--svg", "also draw it as SVG, which needs no Graphviz"),
        HTML,
        JSON,
    ),
    handler="kwalk.reports.handlers.explore:run_explore",
    section=Section.MODEL,
    codes="0 ended, or drawn, 2 usage error, 3 interrupted while drawing",
    replaces={"graph": ("--graph",)},
    page="../how-to/explore-a-model.md",
    examples="""
  kwalk explore two-phase-commit                   which steps are possible, and what do they do?
  kwalk explore kwalk-out/found.itf.json           start at the end of a counterexample
  kwalk explore --from cluster.json --open         start from the state of a real cluster
  kwalk explore die-hard --graph                   a DOT file of all states, with figures
  kwalk explore old-client-expansion --graph --most 100 --label state
  kwalk explore die-hard --graph --html            a page: collapse it, colour it, follow the shortest path""",
)
