"""The page on mutating a model is true: its files are written, its commands print what it shows, its Python runs."""

from __future__ import annotations

import pytest

from kwalk.search.analyses.mutation.mutate import MutantStatus
from tests.examples.reading import Reader, parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "mutate-a-model.md"


def test_following_the_page_prints_what_it_shows(reader: Reader) -> None:
    compared = 0
    for part in parts_of(PAGE):
        if part.language == "toml":
            (reader.folder / "survivors.toml").write_text(part.code, encoding="utf-8")
            continue
        printed = squeezed(reader.do(part))
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert compared == 13
    assert (reader.folder / "mutants.md").is_file()


@pytest.mark.parametrize("status", MutantStatus)
def test_every_status_is_explained(status: MutantStatus) -> None:
    assert f"| **{status.value}** |" in PAGE.read_text(encoding="utf-8")
