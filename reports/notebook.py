"""What the engines return as text, and as HTML for notebooks: both are one rendering by rich."""

from __future__ import annotations

import base64
import colorsys
import io
import re
from collections.abc import Callable
from html import escape

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kwalk.model.language import Model
from kwalk.reports.document.html import html_page
from kwalk.reports.document.text import print_blocks, story_text
from kwalk.reports.pages.verdict import summary
from kwalk.reports.terminal import printed
from kwalk.reports.traces.save import stem
from kwalk.reports.traces.sequence import sequence_of, states_of
from kwalk.reports.traces.story import story_of
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Verdict

WIDTH = 116
"""Columns of a rendering: what fits into a notebook's cell."""
ANALYSES = "kwalk.search.analyses", "kwalk.reports.pages.explanation"
"""Where the classes of the objects are that analyses return."""
LARGEST_PAGE = 400_000
"""Bytes of a page that is saved with the notebook."""
STYLE = re.compile(r'style="[^"]*"')
COLOUR = re.compile("#([0-9a-f]{6})")
DARK = ",".join(
    f"{theme} .kwalk-output" for theme in ('[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]')
)
"""The outputs in notebooks with a dark theme."""
FRAME = '<pre style="white-space:pre;overflow-x:auto;line-height:1.3;font-family:monospace">{code}</pre>'


def text(value: object) -> str | None:
    """Return the text of an object, without colours; None if it is of another class."""
    return printed(lambda out: _print(value, out), WIDTH) or None


def html(value: object) -> str | None:
    """Return an object as HTML, with every text escaped; None if it is of another class.

    A counterexample is folded and unfolded by a click, and its page is a link that saves it as a file. Colours follow
    the theme of the notebook.
    """
    trace = _trace_of(value)
    if trace is None or trace.model is None:
        shown = _exported(lambda out: _print(value, out))
        return None if shown is None else _themed(shown)
    story = _exported(lambda out: _print_trace(trace, out)) or ""
    heading = f"{escape(trace.prop or 'trace')}: {trace.length} step{'s' * (trace.length != 1)}"
    rest = "" if value is trace else _exported(lambda out: _print_summary(value, out)) or ""
    return _themed(f"<details open><summary>{heading}</summary>{story}</details>{rest}{_page_link(trace)}")


def _exported(print_to: Callable[[Console], object]) -> str | None:
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
    return out.export_html(inline_styles=True, code_format=FRAME) if print_to(out) is not False else None


def _trace_of(value: object) -> Trace | None:
    if isinstance(value, Verdict):
        return next((finding.trace for finding in value.findings if finding.trace is not None), None)
    return value if isinstance(value, Trace) else None


def _page_link(trace: Trace) -> str:
    """Return a link that saves the page of a trace; nothing if the page is too large for the notebook's file."""
    assert trace.model is not None
    model, story = trace.model, story_of(trace.model, trace)
    page = html_page(story, diagram=sequence_of(model, trace), states=states_of(model, trace)).encode()
    if len(page) > LARGEST_PAGE:
        return ""
    address = f"data:text/html;base64,{base64.b64encode(page).decode()}"
    return f'<a download="{escape(stem(model, trace), quote=True)}.html" href="{address}">Save the page</a>'


def _themed(body: str) -> str:
    """Return HTML whose colours are lighter where the notebook is dark: in JupyterLab, VS Code and Colab."""
    styles = STYLE.findall(body)
    colours = sorted({colour for style in styles for colour in COLOUR.findall(style)})
    dark = "".join(f"--kwalk-{colour}:#{_lighter(colour)};" for colour in colours)
    body = STYLE.sub(lambda style: COLOUR.sub(r"var(--kwalk-\1,#\1)", style[0]), body)
    return f'<style>{DARK}{{{dark}}}</style><div class="kwalk-output">{body}</div>'


def _lighter(colour: str) -> str:
    """Return a colour of the same hue that is read on a dark ground: #800000 is #ffb9b9."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    return "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, 1 - 0.55 * light, saturation))


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
    _print_summary(verdict, out)


def _print_summary(verdict: object, out: Console) -> None:
    """Print what a verdict says beside its counterexample."""
    assert isinstance(verdict, Verdict) and verdict.model is not None
    found = next((finding for finding in verdict.findings if finding.trace is not None), None)
    print_blocks(summary(verdict, verdict.model, found), out)


def _print_trace(trace: Trace, out: Console) -> None:
    """Print the story of a trace; the names of its steps where its model is not at hand."""
    if trace.model is None:
        for number, step in enumerate(trace.actions, start=1):
            out.print(f"{number:5}  {step}")
        return
    print_blocks(story_text(story_of(trace.model, trace)), out)


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
