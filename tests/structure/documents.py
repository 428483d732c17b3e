"""The project's documents as the tests of this folder see them: their code blocks, their links, their commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from attrs import frozen

from docs.generate.pages import FOLDER, PAGES
from tests.structure.rooms import ROOT

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@frozen
class Block:
    """A fenced block of code, and the line of its document on which the code begins."""

    language: str
    code: str
    line: int


GENERATED = frozenset(FOLDER / name for name in PAGES)
"""The pages that `make docs` writes, whether they are there or not."""


def documents() -> list[Path]:
    """All Markdown files at the top and in `docs` but for generated pages."""
    return sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - GENERATED)


@cache
def text_of(document: Path) -> str:
    """The text of a document, or of a generated page as `make docs` writes it."""
    path = document.resolve()
    return PAGES[path.name]() if path in GENERATED else path.read_text(encoding="utf-8")


def blocks(document: Path, language: str) -> Iterator[Block]:
    """The fenced blocks in one language."""
    text = document.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        if found[1] == language:
            yield Block(language, found[2], text.count("\n", 0, found.start(2)) + 1)


def links(text: str) -> list[str]:
    """The files to which the links of a page lead, less those to the web and within the page."""
    targets = (target.split("#")[0] for target in LINK.findall(FENCE.sub("", text)))
    return [target for target in targets if target and not target.startswith(("http://", "https://", "mailto:"))]


def missing_links(text: str, folder: Path) -> list[str]:
    """The links of a page in that folder that lead to no file and no generated page."""
    return [t for t in links(text) if not (folder / t).exists() and (folder / t).resolve() not in GENERATED]
