"""What analyses return, as text for a console: graphs, mutations, audits and explanations."""

from __future__ import annotations

from rich.console import Console

from kwalk.reports.document.text import print_blocks
from kwalk.reports.pages.audit import audit_text
from kwalk.reports.pages.explanation import ReportedExplanation, explanation_text
from kwalk.reports.pages.mutation import mutation_text
from kwalk.reports.pages.state_graph import graph_text
from kwalk.search.analyses.audit.audit import AuditReport
from kwalk.search.analyses.mutation.mutate import MutationReport
from kwalk.search.analyses.state_graph import StateGraph, statistics_of


def print_analysis(value: object, out: Console) -> bool:
    """Print an object; return whether there is a rendering for its class."""
    match value:
        case StateGraph():
            print_blocks(graph_text(value, statistics_of(value)), out)
        case MutationReport():
            print_blocks(mutation_text(value), out)
        case AuditReport():
            print_blocks(audit_text(value.rows, {}), out)
        case ReportedExplanation():
            print_blocks(explanation_text(value), out)
        case _:
            return False
    return True
