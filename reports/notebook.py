"""What the engines return as text, and as HTML for notebooks: both are one rendering by rich."""

from __future__ import annotations

import io

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kwalk.model.language import Model
from kwalk.reports.document.text import print_blocks, print_story
from kwalk.reports.pages.verdict import summary
from kwalk.reports.terminal import printed
from kwalk.reports.traces.story import story_of
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Verdict

WIDTH = 116
"""Columns of a rendering: what fits into a notebook's cell."""
ANALYSES = "kwalk.search.analyses", "kwalk.reports.pages.explanation"
"""Where the classes of the objects are that analyses return."""
FRAME = '<pre style="white-space:pre;overflow-x:auto;line-height:1.3;font-family:monospace">{code}</pre>'


def text(value: object) -> str | None:
    """Return the text of an object, without colours; None if it is of another class."""
    return printed(lambda out: _print(value, out), WIDTH) or None


def html(value: object) -> str | None:
    """Return an object as HTML, with every text escaped; None if it is of another class."""
    out = Console(
        file=io.StringIO(),
        record=True,
        force_terminal=True,
        color_system="truecolor",
        width=WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
    )
    return out.export_html(inline_styles=True, code_format=FRAME) if _print(value, out) else None


def _print(value: object, out: Console) -> bool:
    """Print an object; return whether there is a rendering for its class."""
    match value:
        case Verdict():
            _print_verdict(value, out)
        case Trace():
            _print_trace(value, out)
        case Model():
            out.print(_model(value))
        case _:
            return _print_analysis(value, out)
    return True


def _print_analysis(value: object, out: Console) -> bool:
    """Print what an analysis returns; its module is loaded already, and is not asked for any other object."""
    if not type(value).__module__.startswith(ANALYSES):
        return False
    from kwalk.reports.pages.analysis import print_analysis

    return print_analysis(value, out)


def _print_verdict(verdict: Verdict, out: Console) -> None:
    """Print the steps of the first counterexample, then the summary."""
    found = next((finding for finding in verdict.findings if finding.trace is not None), None)
    if verdict.model is None:
        out.print(f"{verdict.answer.value}: {verdict.scenario} {verdict.variant}")
        return
    if found is not None and found.trace is not None:
        _print_trace(found.trace, out)
    print_blocks(summary(verdict, verdict.model, found), out)


def _print_trace(trace: Trace, out: Console) -> None:
    """Print the story of a trace; the names of its steps where its model is not at hand."""
    if trace.model is None:
        for number, step in enumerate(trace.actions, start=1):
            out.print(f"{number:5}  {step}")
        return
    print_story(story_of(trace.model, trace), out)


def _model(model: Model) -> Group:
    sizes = ", ".join(f"{name} {size:,}" for name, size in model.binding.bounds.items())
    table = Table(box=None, padding=(0, 2))
    for column in ("", "name", "instances", "what it does"):
        table.add_column(column, style="dim" if not column else "")
    for action in model.scenario.actions:
        count = sum(instance.action is action for instance in model.instances)
        table.add_row("action", action.name, f"{count:,}", _first_line(action.about))
    for declared in model.scenario.declared_properties:
        count = sum(instance.declaration is declared for instance in model.properties)
        table.add_row(declared.kind.value, declared.name, f"{count:,}", _first_line(declared.about))
    heading = Text.assemble(("MODEL", "bold"), f"  {model.scenario.name}, variant {model.variant}")
    facts = Text(f"  bounds: {sizes or 'none'}; {len(model.leaves):,} fields of the state")
    return Group(heading, facts, table)


def _first_line(about: str) -> str:
    """Return the first line of a docstring."""
    return about.strip().split("\n")[0]
