"""The page is whole HTML, self-contained, and folds what the text folds."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from kwalk.reports.document.html import html_page
from kwalk.reports.traces.story import story_of
from tests.reports.traces import LONG, model, trace

VOID = {"meta", "br", "hr", "img", "link", "input", "wbr"}


class Balance(HTMLParser):
    """Whether every tag that opens is closed in order, and what is inside of `details`."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.folded = ""
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        self.text += data
        self.folded += data if "details" in self.open else ""


def read(page: str) -> Balance:
    reader = Balance()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.mark.parametrize("actions", [(), trace().actions])
def test_every_tag_is_closed_in_order(actions):
    read(html_page(story_of(model(), trace(actions))))


def test_routine_steps_are_there_folded_away():
    page = read(html_page(story_of(model(), trace(LONG))))
    assert page.folded.count("drives a mile") >= 9
    assert "9 routine steps" in page.text


def test_a_page_says_what_is_wrong_why_and_how_to_see_it_again():
    text = " ".join(read(html_page(story_of(model(), trace()))).text.split())
    for said in ("VIOLATED", "nothing_is_lost(seal A)", "No seal is ever lost.", "Search again: kwalk exhaust"):
        assert said in text


@pytest.mark.parametrize("media", ["(prefers-color-scheme: dark)", "print", "(max-width: 44rem)"])
def test_a_page_fits_the_dark_paper_and_a_phone(media):
    page = html_page(story_of(model(), trace()))
    assert f"@media {media}" in page and 'name="viewport"' in page
