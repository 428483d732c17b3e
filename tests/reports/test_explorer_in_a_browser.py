"""The explorer in a real Chromium: steps, keys, the way to a violation, hostile names, a phone, a server that ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.reports.explorer.server import ExplorerServer
from tests.reports.browser import CHROMIUM
from tests.reports.devtools import chromium
from tests.reports.exploring import exploring
from tests.reports.traces import HOSTILE, model, trace

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the page with"),
]
NOW, NEAREST = "document.getElementById('now').textContent", "document.getElementById('distance').textContent"
FIELDS = ("counts_every_increment", "nothing_is_lost")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as devtools:
        yield devtools


@contextmanager
def served(subject: Model, out, first=None) -> Iterator[ExplorerServer]:
    """The explorer of a model in another thread."""
    with exploring(subject, out, first) as one, ExplorerServer(one) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def opened(browser, server, width=1280, *, dark=False):
    tab = browser.tab(width, dark=dark)
    tab.open(server.address)
    tab.until("!document.getElementById('page').hidden && !!document.querySelector('#path li')")
    return tab


def test_a_user_steps_walks_saves_and_is_shown_the_way(browser, tmp_path):
    with served(Model(find_scenario("lost-update")), tmp_path) as server:
        tab = opened(browser, server)
        assert tab.value(NOW).startswith("Initial state: no property is violated")
        assert "4 steps from here" in tab.until(f"{NEAREST}.includes('from here') && {NEAREST}")
        assert tab.value("document.querySelectorAll('.toward').length") == 1
        tab.press("j")
        tab.press("Enter")
        tab.until(f"{NOW}.startsWith('After step 1')")
        assert tab.value("document.querySelectorAll('#state .changed').length") >= 1
        tab.until("!document.getElementById('way').hidden")
        tab.click("#way")
        tab.until("document.querySelectorAll('#path .ahead').length === 3")
        for step in (2, 3, 4):
            tab.press("ArrowRight")
            tab.until(f"{NOW}.startsWith('After step {step}')")
        assert all(name in tab.value(NOW) for name in FIELDS)
        assert tab.value("document.querySelectorAll('.prop.violated').length") == 2
        assert tab.until("document.querySelectorAll('#state .matters').length") >= 1
        tab.press("s")
        tab.until("document.getElementById('message').textContent.startsWith('Saved')")
        assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".html", ".md"}
        tab.press("b")
        tab.until("document.querySelectorAll('#bookmarks li').length === 1")
        tab.press("ArrowLeft")
        tab.until(f"{NOW}.startsWith('After step 3')")
        tab.value("history.back()")
        tab.until(f"{NOW}.startsWith('After step 4')")
        assert tab.errors == []


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_a_counterexample_is_opened_at_its_end_and_left_at_any_step(browser, tmp_path, width, dark):
    found = trace()
    with served(model(), tmp_path, found) as server:
        tab = opened(browser, server, width, dark=dark)
        assert "violated: nothing_is_lost" in tab.value(NOW)
        tab.click("#path li:nth-child(3) button")
        tab.until(f"{NOW}.startsWith('After step 2')")
        assert tab.value("document.querySelectorAll('#path .ahead').length") == len(found.actions) - 2
        tab.press("g")
        tab.until("document.querySelectorAll('#drawing .node').length > 3")
        tab.click("#drawing .node:not(.start)")
        tab.until(f"{NOW}.startsWith('After step')")
        assert not tab.scrolls_sideways() and tab.errors == []


def test_hostile_names_are_text(browser, tmp_path):
    hostile = model({"houses": HOSTILE, "seals": ("<img src=x onerror=alert(1)>", "B", "C")})
    with served(hostile, tmp_path, trace(of=hostile)) as server:
        tab = opened(browser, server)
        tab.press("g")
        tab.until("document.querySelectorAll('#drawing .node').length > 3")
        assert tab.value("document.querySelectorAll('main img, main script, main a').length") == 0
        assert "<script>" in tab.value("document.body.textContent")
        assert tab.errors == []


def test_a_page_says_so_when_the_command_has_ended(browser, tmp_path):
    with served(Model(find_scenario("lost-update")), tmp_path) as server:
        tab = opened(browser, server)
        tab.click("#end")
        tab.until("document.getElementById('message').textContent.startsWith('The command has ended')")
        assert tab.value("[...document.querySelectorAll('button')].every((one) => one.disabled)")
