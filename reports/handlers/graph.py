"""`kwalk explore --graph`: the state graph of a model as a DOT file, and its figures."""

from __future__ import annotations

import hashlib
import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

from attrs import asdict

from kwalk.reports.escaping import file_stem
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.handlers.target import query_of
from kwalk.reports.pages.graph_page import graph_drawing, graph_page
from kwalk.reports.pages.state_graph import LABELS, Drawing, dot_text, graph_text
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import PAGE, Written, deliver
from kwalk.search.analyses.state_graph import MOST, Statistics, explore, statistics_of
from kwalk.search.base.option_table import GraphKeywords
from kwalk.search.base.query import Query

INTERRUPTED = 3
"""The exit code after Ctrl-C, as of an undecided search."""


def graph(options: Namespace) -> int:
    """Draw the first states of a model and count them; 0, or 3 if it was interrupted."""
    query = query_of(options, GraphKeywords)
    with out_folder(options.out) as out:
        with shown_on_stderr() as report:
            explored = explore(query.model, properties=query.properties, most=options.most or MOST, report=report)
        return _deliver(query, Drawing(explored, options.label or LABELS[0], query.command), out, options)


def _deliver(query: Query, drawing: Drawing, out: OutFolder, options: Namespace) -> int:
    """Write the file, print the figures; return the exit code."""
    figures, code = statistics_of(drawing.graph), INTERRUPTED * drawing.graph.interrupted
    file: Path | None = None
    with Written() as written:
        name = _file_name(query, drawing)
        texts = {name: dot_text(drawing)}
        page, svg = f"{name.removesuffix('.dot')}.html", f"{name.removesuffix('.dot')}.svg"
        if options.html:
            texts[page] = graph_page(drawing)
        if options.svg:
            texts[svg] = graph_drawing(drawing.graph)
        paths = out.write(texts)
        file = paths[name]
        written.names = {label: str(paths[n]) for label, n in ((PAGE, page), ("Drawing", svg)) if n in paths}
    more = {"file": file and str(file), **{label.lower(): at for label, at in written.names.items()}}
    if file is not None:
        written.names |= {"Graph": str(file), "Draw": f"dot -Tsvg -O {shlex.quote(str(file))}"}
    blocks = graph_text(drawing.graph, figures)
    return deliver(
        options, lambda: {**_object(drawing, figures), **more}, blocks, written, code=code, command=drawing.command
    )


def _file_name(query: Query, drawing: Drawing) -> str:
    """Return a name with a digest of the command."""
    digits = hashlib.blake2b(drawing.command.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{file_stem(query.model.scenario.name, query.model.variant, 'graph', longest=80)}-{digits}.dot"


# JSON.


def _object(drawing: Drawing, figures: Statistics) -> dict[str, Any]:
    explored, model = drawing.graph, drawing.graph.model
    return {
        "scenario": model.scenario.name,
        "variant": model.variant,
        "flags": dict(model.flag_overrides),
        "bounds": dict(model.binding.bounds),
        "states": len(explored.nodes),
        "left_out": explored.left_out,
        "interrupted": explored.interrupted,
        **asdict(figures),
        "bounds_hit": explored.bounds_hit,
    }
