"""The project's documents as the tests of this folder see them: their code blocks, their links, their commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from tests.structure.rooms import ROOT

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@frozen
class Block:
    """A fenced block of code, and the line of its document on which the code begins."""

    language: str
    code: str
    line: int


def documents() -> list[Path]:
    """All Markdown files at the top and in `docs`."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(document: Path, language: str) -> Iterator[Block]:
    """The fenced blocks in one language."""
    text = document.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        if found[1] == language:
            yield Block(language, found[2], text.count("\n", 0, found.start(2)) + 1)


def links(document: Path) -> Iterator[str]:
    """Where the document's links lead, less those to the web and within the page."""
    prose = FENCE.sub("", document.read_text(encoding="utf-8"))
    for target in LINK.findall(prose):
        if not target.startswith(("http://", "https://", "#", "mailto:")):
            yield target.split("#")[0]
