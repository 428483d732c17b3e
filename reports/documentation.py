"""Links to the documentation from files that are saved anywhere: to published pages, or to those beside the code."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from kwalk.reports.document import Span

ROOT = Path(__file__).parent.parent
"""The folder of `docs/` in a checkout."""
TITLE = "documentation"
"""The label of the project's address of its published documentation, in lower case."""


def link(page: str) -> Span:
    """Return a span that names a page, such as `docs/stories/stray-logs.md`, with a link where there is one."""
    return Span(page, "", address(page))


def address(page: str) -> str:
    """Return the address of a page: published, else built here, else its source; empty if there is none."""
    path = page.removeprefix("docs/").removesuffix(".md")
    published = _published()
    if published:
        return f"{published.rstrip('/')}/{path}.html"
    for file in (ROOT / "build" / "docs" / f"{path}.html", ROOT / page):
        if file.is_file():
            return file.resolve().as_uri()
    return ""


def _published() -> str:
    try:
        urls = metadata("kwalk").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    labelled = (url.partition(", ") for url in urls)
    return next((found for label, _, found in labelled if label.lower() == TITLE), "")
