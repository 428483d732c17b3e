"""The page of all failed assertions of a test run: a table of claims, then each with its steps."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from kwalk.reports.assertion_options import Failure
from kwalk.reports.document import Block, Card, CodeBlock, DataTable, Details, Heading, Paragraph, Span, code
from kwalk.reports.document.html import html_document
from kwalk.reports.files import CannotWrite, out_folder

TITLE = "Failed assertions about scenarios"


def write_page(path: Path, failures: Sequence[Failure]) -> None:
    """Write the page of some failures.

    Raises:
        CannotWrite: the file cannot be written, or is a folder.
    """
    if path.is_dir():
        raise CannotWrite(f"Cannot write to {str(path)!r}: it is a folder. Name a file with --kwalk-html.")
    with out_folder(path.parent) as folder:
        folder.write({path.name: html_document(TITLE, blocks_of(failures, path.parent))})


def blocks_of(failures: Sequence[Failure], folder: Path) -> Iterator[Block]:
    """Yield the page; links are relative to the folder."""
    yield Heading(1, TITLE)
    if not failures:
        yield Paragraph([Span("No assertion failed.", "good")])
        return
    rows = tuple(([_page_link(one, folder, one.claim)], one.subject, [code(one.test)]) for one in failures)
    yield DataTable(("claim", "checked", "test"), rows)
    for one in failures:
        yield Heading(2, one.claim)
        if one.symptom:
            yield Paragraph(one.symptom)
        steps = CodeBlock(tuple(one.text.splitlines()))
        yield Details("The steps", (Card(one.test, (steps,)),))
        if one.trace:
            yield Paragraph([_page_link(one, folder, "The page of the trace"), ", in the folder of ", code(one.trace)])
            yield CodeBlock((f"kwalk replay {shlex.quote(one.trace)}",))


def _page_link(failure: Failure, folder: Path, text: str) -> Span:
    return Span(text, "", quote(os.path.relpath(failure.page, folder)) if failure.page else "")
