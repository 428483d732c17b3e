"""One document is written as text, Markdown and HTML; names in it are harmless in all three."""

from __future__ import annotations

import io

import pytest

from kwalk.reports.document import (
    Bullets,
    Card,
    CodeBlock,
    DataTable,
    Details,
    Heading,
    Paragraph,
    Span,
    code,
    listed_code,
    strong,
)
from kwalk.reports.document.html import html_blocks, html_document
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.document.text import print_blocks
from kwalk.reports.terminal import console
from tests.bad_input.harmless import assert_harmless
from tests.reports.test_page import read

LONG = "kwalk exhaust " + "--bound a=1 " * 30


def every_block(name: str) -> list:
    card = Card([strong("NEW", "bad"), f"  {name}"], (Paragraph("3 steps", 7), CodeBlock((f"kwalk replay {name}",), 7)))
    return [
        Heading(1, name),
        Paragraph(["Written by ", code(name), " in ", Span("one", "emphasis"), " run."], 2),
        Bullets(([strong(name, "good"), ": holds."], "second")),
        DataTable(("fix", "count"), (([code(name)], "12"), (name, "3")), frozenset({1})),
        CodeBlock((LONG, f"   # {name}")),
        card,
        Details("1 more is new", (card,)),
        Paragraph([Span("its trace", href="t.html"), *listed_code(["a", "b"])]),
    ]


def text(blocks: list) -> str:
    stream = io.StringIO()
    print_blocks(blocks, console(stream))
    return stream.getvalue()


def test_text_wraps_paragraphs_and_never_code():
    shown = text(every_block("x"))
    assert LONG in shown and "\n  NEW  x\n       3 steps\n       kwalk replay x\n" in shown
    assert max(len(line) for line in shown.splitlines() if LONG not in line) <= 140


def test_markdown_has_the_syntax_of_each_block():
    shown = markdown_document(every_block("x"))
    assert shown.startswith("# x\n\nWritten by `x` in *one* run.\n\n* **x**: holds.\n* second\n\n")
    assert "| fix | count |\n|---|---:|\n| `x` | 12 |\n| x | 3 |\n\n```sh\n" in shown
    assert shown.endswith("its trace`a`, `b`\n")


def test_a_span_inside_a_line_is_not_escaped_as_its_start():
    assert markdown_document([Paragraph([code("x"), " - one", "1. two"])]) == "`x` - one1. two\n"


def test_html_closes_every_tag_and_links():
    page = html_document("a title", every_block("x"))
    assert read(page) and '<a href="t.html">its trace</a>' in page
    assert '<td role="cell" class="count" data-is="count">12</td>' in html_blocks(every_block("x"))


@pytest.mark.parametrize("name", ["\x1b[31m<script>|`x`", "[a](http://evil)\n## h", "<img src=x onerror=alert(1)>"])
def test_names_are_harmless(name):
    blocks = every_block(name)
    literal = [block for block in blocks if not isinstance(block, (CodeBlock, Card, Details))]
    assert_harmless("markdown", markdown_document(literal))
    assert_harmless("html", html_document(name, blocks[:-1]))
    assert "\x1b" not in text(blocks)
