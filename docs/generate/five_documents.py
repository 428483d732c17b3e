"""The page `five-documents.md`: where each section of the five documents is in the model, from a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docs.generate.tables import lines_of, tables

FOLDER = Path(__file__).parents[1] / "reference"
TABLES = tables("five_documents")
DOCUMENTS = TABLES["document"]
HEAD = """# The sections of the five documents

For each section: where it is in the model, in which scenarios, which properties it is about, on which page, and which
[experiment](experiments.md) tries it on real servers; then what is wrong in them. [What the model lacks](sources.md) is
another page. `make docs` writes this page from `docs/generate/five_documents.toml`.
"""

WRONG = """## What the documents have wrong

Each with the source that shows it. `scenario-…` are snapshots of real clusters, in `tests/captures`.
"""


def page() -> str:
    """Return the text of the page."""
    columns = {"document": "document", "says": "it says", "so": "what is so", "evidence": "evidence"}
    sections = (line for document in DOCUMENTS for line in _lines(document))
    return "\n".join([HEAD, *sections, WRONG, *lines_of(TABLES["wrong"], columns)]) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {document['number']}: {document['title']}", "")
    yield from ("| section | model | scenarios | properties | page | experiments |", "|---|---|---|---|---|---|")
    yield from map(_row, document["section"])
    yield ""


def _row(section: Mapping[str, Any]) -> str:
    if "why_not" in section:
        return f"| {section['title']} | {section['why_not']} | | | | |"
    files = ", ".join(f"[{Path(file).name}](../../{file})" for file in section["model"])
    named = (", ".join(f"`{name}`" for name in section.get(key, ())) for key in ("scenarios", "properties"))
    pages = ", ".join(f"[{_title(page)}]({page})" for page in section["pages"])
    experiments = ", ".join(f"`{name}`" for name in section.get("experiments", ()))
    return f"| {section['title']} | {files} | {' | '.join(named)} | {pages} | {experiments} |"


def _title(page: str) -> str:
    text = (FOLDER / page.partition("#")[0]).read_text(encoding="utf-8")
    return text.splitlines()[0].removeprefix("# ")
