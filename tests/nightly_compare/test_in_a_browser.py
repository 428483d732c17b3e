"""The page of a nightly run in a real Chromium: on a phone, on a desk, in the dark and on paper."""

from __future__ import annotations

import re

import pytest

from kwalk.reports.nightly_compare.page import write_page
from tests.nightly_compare.nightly_runs import walked, write_run
from tests.reports.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the page with")
SECTIONS = ["new", "tasks", "found", "growth", "actions", "coverage", "bounds", "cost", "run"]
LONG = "-".join(["a-long-name"] * 12)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    return Browser(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a run with findings of several lengths, against an earlier one."""
    folder = tmp_path_factory.mktemp("runs")
    works = [walked("lost-update"), walked("blocking-queue"), walked("die-hard")]
    write_run(folder / "before", works[:1], seed=2)
    write_run(folder / "after", works, master=f"spark://{LONG}:7077")
    return write_page(folder / "after", folder / "before")


@pytest.fixture(scope="module")
def measured(browser, page):
    return browser.measure(page, 390, 1280)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_and_the_page_does_not_scroll_sideways(measured, width):
    assert measured[width]["width"] == width
    assert measured[width]["scrolls"] <= width
    assert measured[width]["sticking"] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_every_section_is_to_be_seen(measured, width):
    heights = measured[width]["heights"]
    assert list(heights) == SECTIONS
    assert all(height > 40 for height in heights.values())


def test_a_screenshot_has_ink_in_the_middle_and_a_margin_on_either_side(browser, page):
    for width, height in ((390, 700), (1280, 400)):
        rows = browser.picture(page, width, height)
        ground = rows[0][0]
        columns = [{row[x] for row in rows} for x in range(len(rows[0]))]
        assert columns[0] == columns[-1] == {ground}
        assert sum(column != {ground} for column in columns) > len(columns) / 2
        assert len(set().union(*columns)) > 20


def test_in_the_dark_the_ground_is_dark(browser, page, measured):
    dark = browser.measure(page, 390, dark=True)[390]["ground"]
    assert sum(map(int, re.findall(r"\d+", measured[390]["ground"]))) > 3 * 200
    assert sum(map(int, re.findall(r"\d+", dark))) < 3 * 60


def test_it_prints_on_few_pages(browser, page):
    pdf = browser.pdf(page)
    assert pdf.startswith(b"%PDF-")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) < 10
