"""The page on implementations is true: its test finds the planted bug, and prints what it shows."""

from __future__ import annotations

import re

from hypothesis import settings

from tests.examples.conftest import reader as reader
from tests.examples.reading import Reader, parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "test-an-implementation.md"


def renamed(text: str) -> str:
    """A text in which the client and the lock of the first call have the number 0, as on the page."""
    first = re.search(r"\[acquire\((\d), (\d)\)\]", text)
    if first is None:
        return text
    client, lock = map(int, first.groups())
    text = re.sub(r"(client ?)(\d)", lambda m: f"{m[1]}{int(m[2]) ^ client}", text)
    text = re.sub(r"(lock ?)(\d)", lambda m: f"{m[1]}{int(m[2]) ^ lock}", text)
    return re.sub(r"\((\d), (\d)\)", lambda m: f"({int(m[1]) ^ client}, {int(m[2]) ^ lock})", text)


def lines_of(text: str) -> list[str]:
    """The lines of a text; what is in braces is sorted, as its order depends on which lock was first."""
    lines = [squeezed(line) for line in renamed(text).splitlines()]
    return [re.sub(r"\{(.*)\}", lambda m: str(sorted(re.findall(r"'lock\d': \(.*?\)", m[1]))), line) for line in lines]


def test_following_the_page_finds_the_planted_bug_and_prints_what_it_shows(reader: Reader) -> None:
    settings.register_profile("page", derandomize=True, database=None)
    compared, before = 0, settings.get_current_profile_name()
    settings.load_profile("page")
    try:
        for part in parts_of(PAGE):
            printed = lines_of(reader.do(part))
            for line in filter(None, lines_of("\n".join(part.shown))):
                assert any(found.startswith(line) for found in printed)
                compared += 1
    finally:
        settings.load_profile(before)
    assert compared == 14
