"""The command `kwalk explore`: a page on this machine on which a user takes the steps of a model; or its graph."""

from __future__ import annotations

import webbrowser
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from kwalk.model.language import UsageError
from kwalk.reports.escaping import visible
from kwalk.reports.explorer.server import ExplorerServer
from kwalk.reports.explorer.session import ExplorerSession
from kwalk.reports.files import out_folder
from kwalk.reports.handlers.target import command_line, query_of
from kwalk.reports.handlers.traces import opened_to_replay
from kwalk.reports.streams import remark
from kwalk.search.analyses.distance import MEMORY, SECONDS, DistanceSearch
from kwalk.search.base.option_table import ExploreKeywords, ModelKeywords, rows
from kwalk.search.base.query import Query
from kwalk.search.results.trace import Trace

OF_GRAPH = ("most", "label", "svg", "html", "json")
OF_PAGE = ("seconds", "memory_bytes", "port", "open")
DECIDED = {**{name: row.name_on_command_line(name) for name, row in rows(ModelKeywords).items()}, "snapshot": "--from"}
"""Options that a trace decides, as the command line has them."""


def run_explore(options: Namespace) -> int:
    """Serve the page until Ctrl-C or until the page ends it, and return 0; or draw the graph."""
    if options.graph:
        from kwalk.reports.handlers.graph import graph

        _refuse(options, OF_PAGE, "is about the page of the explorer: leave it out, or --graph")
        return graph(options)
    _refuse(options, OF_GRAPH, "is about a graph: leave it out, or add --graph")
    query, trace = _selected(options)
    memory = options.memory_bytes or MEMORY
    with out_folder(options.out) as out:
        query.model.initial  # noqa: B018  an error of the initial states is one of the command
        search = DistanceSearch(query.model, query.properties, seconds=options.seconds or SECONDS, memory=memory)
        try:
            exploration = ExplorerSession(query, out, search, trace)
            with ExplorerServer(exploration, options.port or 0) as server:
                server.on_leave = lambda: remark(
                    f"kwalk: the page was closed. Open {server.address} again, or press Ctrl-C."
                )
                print(f"Explore: {server.address}\nEnd: Ctrl-C, or the button End on the page", flush=True)
                if options.open and not webbrowser.open(server.address):
                    remark("kwalk: no browser could be opened. Open the address yourself.")
                _serve(server)
        finally:
            search.close()
    return 0


def _refuse(options: Namespace, names: Iterable[str], why: str) -> None:
    """Raise UsageError for an option that is given without what it is about."""
    for name in names:
        if getattr(options, name):
            raise UsageError(f"{options.rows[name].name_on_command_line(name)} {why}.")


def _serve(server: ExplorerServer) -> None:
    """Serve until the page ends it, or Ctrl-C."""
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        remark("kwalk: ended.")


def _selected(options: Namespace) -> tuple[Query, Trace | None]:
    """Return what the options select, and the trace to start with."""
    name = options.trace
    if name is None and options.scenario and options.scenario.endswith(".json") and Path(options.scenario).exists():
        name, options.scenario = options.scenario, None
    if name is None:
        return query_of(options, ExploreKeywords), None
    given = [word for name, word in DECIDED.items() if getattr(options, name)]
    if given:
        raise UsageError(f"A trace has its own variant, flags and bounds. Leave out {', '.join(given)}, or the trace.")
    opened = opened_to_replay(name)
    model = opened.model
    if options.scenario and options.scenario not in (opened.trace.scenario, model.scenario.name):
        raise UsageError(
            f"{visible(name)!r} is a trace of {visible(opened.trace.scenario)!r}, not of "
            f"{visible(options.scenario)!r}. Leave out the scenario: kwalk explore {visible(name)}"
        )
    command = command_line(options, [name])
    properties = model.properties_named(options.properties)
    return Query(opened.trace.scenario, model, properties, command=command), evolve(opened.trace)
