"""Every story about Kafka has a page, every page of a story is in the index, and links to sections find them."""

from __future__ import annotations

import re

import pytest

from kwalk.invariants.stories import SCENARIOS
from tests.structure.documents import FENCE, documents, links, text_of
from tests.structure.rooms import ROOT

STORIES = ROOT / "docs" / "stories"
PAGES = [*STORIES.glob("*.md"), *(ROOT / "docs" / "explanation").glob("*.md")]
TOLD = {name for page in PAGES for name in re.findall(r"`([a-z-]+)`", page.read_text(encoding="utf-8"))}
SECTION = re.compile(r"\]\(([^)\s#]*)#([^)\s]+)\)")


def anchors(page):
    """The names under which a page's headings are found, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_every_story_is_named_on_a_page(name):
    assert name in TOLD


def test_every_page_of_a_story_is_in_the_index():
    index = STORIES / "README.md"
    pages = {page.name for page in STORIES.glob("*.md")} - {index.name}
    assert pages <= set(links(index.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "page", sorted({*STORIES.glob("[a-z]*.md")} - {STORIES / "not-reported.md"}), ids=lambda page: page.stem
)
def test_a_page_says_once_which_versions_are_affected_and_what_to_do(page):
    headings = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [headings.count(section) for section in ("Affected versions", "Remedy")] == [1, 1]


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_heading_stands_on_a_line_of_its_own(page):
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    assert not re.findall(r"^.*\S #{1,4} [A-Z].*$", prose, re.MULTILINE)


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_to_sections_lead_to_headings(page):
    for target, section in SECTION.findall(page.read_text(encoding="utf-8")):
        assert section in anchors((page.parent / target) if target else page)
