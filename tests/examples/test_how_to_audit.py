"""The page on auditing fixes is true: its file is written, its commands print what it shows, its Python runs."""

from __future__ import annotations

import pytest

from kwalk.search.analyses.audit.audit import Judgement
from tests.examples.reading import Reader, parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "audit-fixes.md"


def test_following_the_page_prints_what_it_shows(reader: Reader) -> None:
    compared = 0
    for part in parts_of(PAGE):
        if part.language == "sh" and "scenarios" in part.code:
            continue
        printed = squeezed(reader.do(part))
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert compared == 8
    assert (reader.folder / "fixes.md").is_file() and (reader.folder / "kwalk-out" / "audit.html").is_file()


@pytest.mark.parametrize("judgement", Judgement)
def test_every_judgement_is_explained(judgement: Judgement) -> None:
    assert f"| **{judgement.value}** |" in PAGE.read_text(encoding="utf-8")
