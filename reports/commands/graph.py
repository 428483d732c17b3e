"""`kwalk graph`: write the first states as a graph (DOT), and print its figures."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    HTML,
    JSON,
    PROPERTIES,
    SCENARIO,
    Command,
    Section,
    arguments,
    option,
    out,
    switch,
)
from kwalk.search.base.option_kinds import one_of
from kwalk.search.base.option_table import GraphKeywords

COMMAND = Command(
    "write the first states as a graph (DOT), and print its figures",
    SCENARIO,
    *arguments(GraphKeywords, variant=PROPERTIES),
    option(
        "--label",
        one_of("changes", "state"),
        "label of a state: its changes against its parent (default), or every part that varies",
    ),
    switch("--svg", "also draw the graph as SVG, which needs no Graphviz"),
    HTML,
    out("folder of the DOT file"),
    JSON,
    handler="kwalk.reports.handlers.graph:graph",
    section=Section.TRACES,
    page="../how-to/draw-a-state-graph.md",
    examples="""
  kwalk graph die-hard                     a DOT file of all states, with figures
  kwalk graph old-client-expansion --most 100 --label state
  kwalk graph die-hard --html              a page: collapse it, colour it, follow the shortest path
  kwalk graph lost-update --flag lock=on --json""",
)
