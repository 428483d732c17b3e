"""The page on refinement is true: its models are written, and its commands print what it shows."""

from __future__ import annotations

from tests.examples.reading import Reader, parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "refine-a-model.md"


def test_following_the_page_prints_what_it_shows(reader: Reader) -> None:
    compared = 0
    for part in parts_of(PAGE):
        printed = squeezed(reader.do(part))
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert compared == 10
