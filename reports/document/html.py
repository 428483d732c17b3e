"""Documents and stories as self-contained HTML pages: no external resource; readable on paper and phones.

The page of a trace has a script, for the state after each step; without it the page says the same, step by step.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from typing import Any

from attrs import frozen

from kwalk.reports.document import (
    BarChart,
    Block,
    Bullets,
    Card,
    CodeBlock,
    DataTable,
    Heading,
    Lead,
    Line,
    Paragraph,
    Span,
    spans,
)
from kwalk.reports.escaping import visible
from kwalk.reports.traces.sequence import Row, SequenceDiagram, StateTable, legend_of, rows_of
from kwalk.reports.traces.sequence_svg import names_svg, svg
from kwalk.reports.traces.story import Fold, LoopStart, Story, shown_lines, why_sentences

HUES = 8
"""The number of colours for the lanes of actors."""


def render(template: str, **values: Any) -> str:
    """Return a page of a template; values are escaped when they are printed."""
    from kwalk.reports.document.templates import environment

    return environment().get_template(template).render(values)


@cache
def asset(name: str) -> str:
    """Return the text of a script or of a style sheet beside the templates."""
    from kwalk.reports.document.templates import environment

    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), name)[0]


# Documents.


def html_document(title: str, blocks: Iterable[Block]) -> str:
    """Return a page of these blocks, which ends with a line break."""
    return render("document.html.j2", title=visible(title), body=html_blocks(blocks))


def html_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML, every name escaped."""
    return "\n".join(part for block in blocks for part in _block(block))


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"<h{block.level}>{_line(block.line)}</h{block.level}>"
    elif isinstance(block, Paragraph):
        yield f"<p>{_line(block.line)}</p>"
    elif isinstance(block, Bullets):
        yield from ('<ul class="plain">', *(f"<li>{_line(item)}</li>" for item in block.items), "</ul>")
    elif isinstance(block, DataTable):
        yield from _table(block)
    elif isinstance(block, BarChart):
        yield from _bars(block)
    elif isinstance(block, CodeBlock):
        yield "<pre><code>" + "\n".join(map(_line, block.lines)) + "</code></pre>"
    elif isinstance(block, Card):
        yield f'<div class="card {block.tone}">\n<p>{_line(block.title)}</p>'
        yield from (part for inner in block.blocks for part in _block(inner))
        yield "</div>"
    else:
        yield f"<details><summary>{escape(block.summary)}</summary>\n{html_blocks(block.blocks)}\n</details>"


def _bars(block: BarChart) -> Iterator[str]:
    """Yield a figure; the numbers stand beside the bars, so that nothing is said by length or colour alone."""
    how = "; bars have the length of the logarithm" if block.logarithmic else ""
    yield f'<figure class="bars"><figcaption>{_line(block.title)} <span class="faint">({block.unit}{how})</span>'
    yield "</figcaption>"
    lengths = [math.log1p(count) if block.logarithmic else count for _, count in block.rows]
    longest = max(lengths, default=0) or 1
    for (label, count), length in zip(block.rows, lengths, strict=True):
        bar = f'<span style="width:{100 * length / longest:.1f}%"></span>' if count else ""
        tone = " bad" if block.complete and not count else ""
        yield f'<div class="bar-row{tone}"><span>{_line(label)}</span><span class="count">{count:,}</span>'
        yield f'<span class="bar">{bar}</span></div>'
    yield "</figure>"


def _table(block: DataTable) -> Iterator[str]:
    counts = [' class="count"' if number in block.numeric else "" for number in range(len(block.columns))]
    yield '<div class="wide"><table class="data" role="table"><thead role="rowgroup">'
    pairs = zip(counts, block.columns, strict=True)
    heads = "".join(f'<th role="columnheader"{kind}>{_line(cell)}</th>' for kind, cell in pairs)
    yield f'<tr role="row">{heads}</tr>'
    yield '</thead><tbody role="rowgroup">'
    for row in block.rows:
        cells = (
            f'<td role="cell"{kind} data-is="{escape(title)}">{_line(cell)}</td>'
            for kind, title, cell in zip(counts, block.columns, row, strict=True)
        )
        yield f'<tr role="row">{"".join(cells)}</tr>'
    yield "</tbody></table></div>"


def _line(line: Line) -> str:
    return "".join(map(_span, spans(line)))


def _span(span: Span) -> str:
    text = escape(visible(span.text))
    styles = span.style.split()
    if "code" not in styles:
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    for style, tag in (("code", "code"), ("strong", "strong"), ("emphasis", "em")):
        text = f"<{tag}>{text}</{tag}>" if style in styles else text
    tones = " ".join(style for style in styles if style in ("good", "bad", "open", "hollow", "faint"))
    text = f'<span class="{tones}">{text}</span>' if tones else text
    return f'<a href="{escape(span.href)}">{text}</a>' if span.href else text


# Stories.


@frozen
class PrintedDiagram:
    """A sequence diagram as it is printed: a name for its style, names of lanes, the SVG, and the rows beside it."""

    name: str
    lanes: str
    svg: str
    rows: Sequence[Row]


def html_page(
    story: Story,
    *,
    diagram: SequenceDiagram | None = None,
    states: StateTable | None = None,
    lead: Lead | None = None,
    unfold: bool = False,
) -> str:
    """Return the whole page of a story. Names from a model or a snapshot are escaped by the template.

    Args:
        story: The story.
        diagram: Its sequence diagram; None leaves it out.
        states: Its states, for the script; None leaves the script out.
        lead: What the page says before the story, under a title of its own; None for nothing.
        unfold: Whether routine steps are shown one by one.
    """
    script = asset("trace.js") if diagram is not None and states is not None else ""
    return render(
        "trace.html.j2",
        story=story,
        chapters=list(story.chapters(unfold=unfold)),
        lanes=lanes_of(story),
        is_fold=lambda chapter: isinstance(chapter, Fold),
        is_loop_start=lambda chapter: isinstance(chapter, LoopStart),
        shown_lines=shown_lines,
        why_sentences=why_sentences(story.why) if story.why else [],
        unfold=unfold,
        title=visible(lead.title if lead else f"{story.headline} {story.prop}"),
        lead=html_blocks(lead.blocks) if lead else "",
        marks=legend_of(diagram) if diagram is not None else "",
        lane_count=max(1, len(diagram.lanes)) if diagram is not None else 1,
        drawings=list(_drawings(story, diagram, unfold=unfold)) if diagram is not None else [],
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        states=_states(story, states) if script and states is not None else "",
    )


def _drawings(story: Story, diagram: SequenceDiagram, *, unfold: bool) -> Iterator[PrintedDiagram]:
    """Yield the diagram with routine steps folded, and with all of them, if that differs."""
    folded, every = (rows_of(story.chapters(unfold=each)) for each in (unfold, True))
    for name, rows in (("folded", folded), ("every", every)) if len(folded) != len(every) else (("only", every),):
        yield PrintedDiagram(name, names_svg(diagram), svg(diagram, rows, lanes_of(story), name), rows)


def _states(story: Story, states: StateTable) -> str:
    """Return what the script reads, as JSON that cannot end its element."""
    content = {
        "steps": [
            {"actor": step.actor, "text": step.full_text, "source": step.source, "key": visible(step.key)}
            for step in story.steps
        ],
        "paths": states.paths,
        "first": states.first,
        "changes": states.changes,
        "read": states.read,
    }
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def lanes_of(story: Story) -> dict[str, int]:
    """Return the number of the colour of each actor."""
    return {actor: number % HUES for number, actor in enumerate(story.actors)}
