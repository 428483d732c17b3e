"""What analyses return, as text for a console: graphs, mutations, audits and explanations."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kwalk.reports.document.text import print_blocks
from kwalk.reports.pages.audit import audit_text
from kwalk.reports.pages.explanation import ReportedExplanation, explanation_text
from kwalk.reports.pages.mutation import mutation_text
from kwalk.search.analyses.audit.audit import AuditReport
from kwalk.search.analyses.mutation.mutate import MutationReport
from kwalk.search.analyses.state_graph import StateGraph, statistics_of

MOST_STATES = 20
"""A graph with more states is shown by its figures only."""


def print_analysis(value: object, out: Console) -> bool:
    """Print an object; return whether there is a rendering for its class."""
    match value:
        case StateGraph():
            out.print(_graph(value))
        case MutationReport():
            print_blocks(mutation_text(value), out)
        case AuditReport():
            print_blocks(audit_text(value.rows, {}), out)
        case ReportedExplanation():
            print_blocks(explanation_text(value), out)
        case _:
            return False
    return True


def _graph(graph: StateGraph) -> Group:
    figures = statistics_of(graph)
    heading = Text.assemble(("STATE GRAPH", "bold"), f"  {graph.model.scenario.name}, variant {graph.model.variant}")
    rest = f", {graph.left_out:,} more states are known" if graph.left_out else ", complete"
    depth = max(each.depth for each in figures.depths)
    facts = f"  {len(graph.nodes):,} states, {figures.steps:,} steps, depth {depth}{rest}"
    return Group(heading, Text(facts), *(_nodes(graph) if len(graph.nodes) <= MOST_STATES else ()))


def _nodes(graph: StateGraph) -> Iterator[RenderableType]:
    table = Table(box=None, padding=(0, 2))
    for column in ("state", "depth", "steps", "violated"):
        table.add_column(column)
    for node in graph.nodes:
        steps = ", ".join(f"→ {edge.target}" for edge in node.edges)
        table.add_row(str(node.number), str(node.depth), steps, ", ".join(prop.key for prop in node.violated))
    yield table
