"""A document: headings, paragraphs, lists, tables and code, which text, Markdown and HTML renderers write.

A page is a sequence of blocks. A renderer (`document.text`, `document.markdown`, `document.html`) decides on syntax
only; it makes names from models and snapshots harmless. JSON objects (`--json`) are built from data, not from blocks.

Words: a *span* is a piece of a line in one style; a *line* is a string or a sequence of spans. Styles are words
separated by blanks: `strong`, `emphasis`, `code`, and the tones `good`, `bad`, `open` (undecided), `hollow` (cannot
fail), `notable` and `faint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attrs import frozen


class Span(NamedTuple):
    """A piece of a line in one style; with `href`, a link in HTML."""

    text: str
    style: str = ""
    href: str = ""


Line = str | Sequence[str | Span]


@frozen
class Heading:
    """A heading; level 1 is the title of the document."""

    level: int
    line: Line


@frozen
class Paragraph:
    """A paragraph; text output indents it by `indent` columns."""

    line: Line
    indent: int = 0


@frozen
class Bullets:
    """A list without numbers."""

    items: tuple[Line, ...]


@frozen
class DataTable:
    """A table: the titles of the columns, and rows of as many cells. `numeric` columns are aligned to the right.

    In text output, the `wide` column takes the rest of the width, and the table is indented by `indent` columns.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numeric: frozenset[int] = frozenset()
    wide: int | None = None
    indent: int = 0


@frozen
class BarChart:
    """Counts as horizontal bars, with the numbers beside them; text and Markdown have a table of the numbers.

    Args:
        title: What is counted.
        unit: The unit of the counts.
        rows: A label and a count for each bar.
        logarithmic: Whether the length of a bar is the logarithm of its count, so that rare things remain visible.
        complete: Whether no count should be 0, so that one is shown as bad news.
    """

    title: str
    unit: str
    rows: tuple[tuple[str, int], ...]
    logarithmic: bool = False
    complete: bool = False

    @property
    def table(self) -> DataTable:
        """The numbers as a table."""
        rows = tuple((label, f"{count:,}") for label, count in self.rows)
        return DataTable((self.title, self.unit), rows, frozenset({1}))


@frozen
class CodeBlock:
    """Lines that are never wrapped, such as commands and file names; `indent` as of a paragraph."""

    lines: tuple[Line, ...]
    indent: int = 0


@frozen
class Card:
    """Blocks that belong together under a title, with a tone in HTML; text output puts an empty line before it."""

    title: Line
    blocks: tuple[Paragraph | CodeBlock, ...]
    tone: str = ""


@frozen
class Details:
    """Blocks that HTML shows on a click on the summary; text and Markdown show them without it.

    If it `is_closed`, text and Markdown show the summary alone: what it has is of little use to most readers.
    """

    summary: str
    blocks: tuple[Card | CodeBlock, ...]
    is_closed: bool = False


@frozen
class Lead:
    """What a page of a story says first: the title of the page, and blocks that begin with a heading of level 1."""

    title: str
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Bullets | DataTable | BarChart | CodeBlock | Card | Details


def spans(line: Line) -> list[Span]:
    """Return the spans of a line; a plain string is one span without a style."""
    pieces = [line] if isinstance(line, (str, Span)) else line
    return [piece if isinstance(piece, Span) else Span(piece) for piece in pieces]


def strong(text: str, tone: str = "") -> Span:
    """Return a span of strong text."""
    return Span(text, f"strong {tone}".strip())


def code(text: str) -> Span:
    """Return a span of code."""
    return Span(text, "code")


def listed_code(names: Sequence[str]) -> list[str | Span]:
    """Return names as code, separated by commas."""
    return [piece for number, name in enumerate(names) for piece in ([", "] if number else []) + [code(name)]]
