"""Links to the documentation from files that are saved anywhere, and so to published pages only."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata

from kwalk.reports.document import Span

TITLE = "documentation"
"""The label of the project's address of its published documentation, in lower case."""


def link(page: str) -> Span:
    """Return a span that names a page, such as `docs/stories/stray-logs.md`, with a link where there is one."""
    return Span(page, "", address(page))


def address(page: str) -> str:
    """Return the published address of a page; "" if the documentation is not published."""
    published = _published()
    path = page.removeprefix("docs/").removesuffix(".md")
    return f"{published.rstrip('/')}/{path}.html" if published else ""


def _published() -> str:
    try:
        urls = metadata("kwalk").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    labelled = (url.partition(", ") for url in urls)
    return next((found for label, _, found in labelled if label.lower() == TITLE), "")
