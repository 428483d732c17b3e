"""Names from a snapshot or a trace file are harmless in every output: markup, escapes and paths stay mere text."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser

import pytest

from kwalk.reports.document.html import html_page
from kwalk.reports.document.markdown import markdown_page
from kwalk.reports.document.text import print_blocks, story_text
from kwalk.reports.escaping import code_span, file_stem, markdown, mermaid, visible
from kwalk.reports.terminal import console
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.save import stem
from kwalk.reports.traces.story import story_of
from tests.reports.traces import HOSTILE, model, trace

STREET = model({"houses": HOSTILE, "seals": ("</style><img src=x onerror=alert(1)>", "\x07\x9b2J", "-->")})
BOTH_HOUSES = ("post(1, FIRST)", "post(0, FIRST)", "deliver()", "let_dog_out(0)", "drive()", "deliver()")
STORY = story_of(STREET, trace(BOTH_HOUSES, "nothing_is_lost(1)", of=STREET))


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_text_has_no_control_character_but_line_breaks():
    stream = io.StringIO()
    print_blocks(story_text(STORY, unfold=True), console(stream))
    assert "\\x1b" in re.sub(r"\s+", "", stream.getvalue())
    assert {c for c in stream.getvalue() if not c.isprintable()} == {"\n"}


def test_a_page_has_only_our_own_tags_and_no_script():
    tags = Tags()
    tags.feed(html_page(STORY, unfold=True))
    assert not tags.tags & {"script", "img", "iframe", "object", "link", "base", "form", "svg", "a"}
    assert not {name for name in tags.attributes if name.startswith("on") or name in ("src", "href", "style")}


def test_a_page_needs_nothing_from_elsewhere():
    page = html_page(story_of(model(), trace()))
    assert not re.search(r"(?:src|href|url|@import)\s*[=(]", page)
    assert "default-src 'none'" in page


def test_markdown_shows_hostile_names_to_the_letter():
    page = markdown_page(STORY, unfold=True)
    rest = re.sub(r"```mermaid\n.*?\n```", "", page, flags=re.DOTALL)
    assert "<script" not in rest and "<img" not in rest
    assert not re.search(r"(?<!\\)\]\(", rest) and "http://" not in rest
    assert not re.search(r"^## end", rest, flags=re.MULTILINE)
    assert {c for c in page if not c.isprintable()} == {"\n"}


def test_every_line_of_a_mermaid_diagram_is_one_of_ours():
    diagram = re.search(r"```mermaid\nsequenceDiagram\n(.*?)\n```", markdown_page(STORY, unfold=True), flags=re.DOTALL)
    text = r"[^;<>\[\]{}|:]*"
    ours = rf"    (participant a\d+ as |a\d+->>a\d+: |Note over a\d+(,a\d+)?: ){text}(#\d+;{text}|<br/>)*"
    assert diagram and all(re.fullmatch(ours, line) for line in diagram.group(1).splitlines())


def test_a_table_row_keeps_its_four_cells():
    rows = [line for line in markdown_page(STORY, unfold=True).splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_itf_is_ascii_json_that_keeps_the_names():
    text = itf_text(STREET, trace(of=STREET), "0")
    assert text.isascii() and json.loads(text)["#meta"]["labels"]["houses"] == list(HOSTILE)


def test_file_names_have_no_folder_and_no_markup():
    assert re.fullmatch(r"[A-Za-z0-9.-]+", stem(STREET, trace(of=STREET)))


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("..", "trace"),
        ("a/../b", "a-b"),
        ("<script>", "script"),
        ("x\0y\n", "x-y"),
        ("", "trace"),
        (".hidden", "hidden"),
        ("old-client-expansion", "old-client-expansion"),
    ],
)
def test_a_file_stem_is_made_of_plain_words(name, stem):
    assert file_stem(name) == stem


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[0m", "\\x1b[0m"),
        ("\u202e", "\\u202e"),
        ("a\nb", "a\\x0ab"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("Käse → ∅", "Käse → ∅"),
    ],
)
def test_what_is_not_drawn_is_written_as_an_escape(text, shown):
    assert visible(text) == shown


def test_a_long_text_is_cut_and_says_so():
    assert visible("x" * 1000, 10) == "xxxxxxxxxx… (1,000 characters)"


def test_the_word_that_ends_a_mermaid_block_is_disarmed():
    assert mermaid("the end") == "the #101;nd" and mermaid("endless") == "endless"


def test_markdown_leaves_plain_names_readable():
    assert markdown("context_id A → none, replicas 1.2") == "context_id A → none, replicas 1.2"
    assert markdown("1. first") == "1\\. first"


def test_code_that_could_end_its_span_is_escaped_instead():
    assert code_span("kwalk replay x") == "`kwalk replay x`"
    assert code_span("a`<b>|") == "<code>a\\`&lt;b&gt;\\|</code>"
