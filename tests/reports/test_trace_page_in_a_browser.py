"""The page of a trace in a real Chromium: what the script does, by keyboard and address, on a desk and a phone."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from kwalk.reports.document.html import html_page
from kwalk.reports.traces.sequence import sequence_of, states_of
from kwalk.reports.traces.story import story_of
from tests.reports.browser import CHROMIUM, Browser
from tests.reports.traces import HOSTILE, LONG, model, trace

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the page with"),
]
SESSION = """<!doctype html><body style="margin:0"><iframe width="%d" height="800" src="%s"></iframe>
<pre id="found"></pre><script>
const frame = document.querySelector("iframe"), errors = [];
const looks = () => {
  const page = frame.contentDocument, panel = page.getElementById("panel");
  const current = page.querySelector('[aria-current="step"]');
  return {
    step: current && current.dataset.step,
    panel: panel.hidden ? "" : panel.querySelector("h3").textContent,
    changed: [...panel.querySelectorAll(".changed")].map((line) => line.textContent),
    address: frame.contentWindow.location.hash,
    rows: [...page.querySelectorAll(".diagram a[data-step]")].filter((row) => row.offsetParent).length,
    dim: page.querySelectorAll(".diagram.every .out").length,
    matches: page.getElementById("matches").textContent,
    images: page.querySelectorAll("main img, main iframe").length,
  };
};
onload = () => {
  frame.contentWindow.addEventListener("error", (event) => errors.push(event.message));
  const page = frame.contentDocument, found = [looks()];
  for (const act of %s) {
    if (act.key) page.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key: act.key, bubbles: true }));
    if (act.find !== undefined) {
      const box = page.getElementById("find");
      box.value = act.find;
      box.dispatchEvent(new frame.contentWindow.Event("input"));
    }
    if (act.click) page.querySelector(act.click).click();
    found.push(looks());
  }
  document.getElementById("found").textContent = JSON.stringify({ found, errors });
};
</script>"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    return Browser(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def page(browser):
    return written(browser, "plain", None)


def written(browser: Browser, name: str, labels):
    """The page of a trace of the post office, with these names."""
    named = model(labels)
    traced = trace(LONG, of=named)
    file = browser.folder / f"{name}.html"
    content = html_page(story_of(named, traced), diagram=sequence_of(named, traced), states=states_of(named, traced))
    file.write_text(content, encoding="utf-8")
    return file


def session(browser: Browser, page, *acts: dict[str, str], width: int = 1280, address: str = ""):
    """How the page looks at first and after each act."""
    probe = browser.folder / "session.html"
    probe.write_text(SESSION % (width, page.as_uri() + address, json.dumps(acts)), encoding="utf-8")
    printed = browser.run(probe, "--dump-dom")
    found = re.search(r'<pre id="found">(.*?)</pre>', printed, re.DOTALL)
    assert found is not None and found[1], printed[:2000]
    result = json.loads(unescape(found[1]))
    assert result["errors"] == []
    return result["found"]


def test_keys_go_from_step_to_step_and_the_address_follows(browser, page):
    first, one, two, back, all_steps, last, closed = session(
        browser, page, {"key": "j"}, {"key": "j"}, {"key": "k"}, {"key": "f"}, {"key": "End"}, {"key": "Escape"}
    )
    assert (first["step"], first["panel"]) == (None, "")
    assert (one["step"], one["panel"]) == ("0", "Initial state")
    assert (two["step"], two["address"]) == ("1", "#step=1") and two["panel"].startswith("1  customer")
    assert back["step"] == "0"
    assert all_steps["rows"] > back["rows"]
    assert last["step"] == "13" and last["changed"]
    assert (closed["step"], closed["panel"], closed["address"]) == (None, "", "")


def test_an_address_names_a_step_that_may_be_folded(browser, page):
    (opened,) = session(browser, page, address="#step=3")
    assert opened["step"] == "3" and opened["panel"].startswith("3  driver")
    (other,) = session(browser, page, address="#step=99")
    assert other["step"] is None


def test_a_search_dims_what_does_not_match(browser, page):
    _, found, cleared = session(browser, page, {"find": "drive"}, {"find": ""})
    assert found["matches"] == "10 of 13 steps" and found["dim"] == 4  # the initial state as well
    assert (cleared["matches"], cleared["dim"]) == ("", 0)


def test_a_click_opens_the_state_after_a_step(browser, page):
    _, clicked, closed = session(
        browser, page, {"click": '.diagram.folded a[data-step="13"]'}, {"click": "#panel .close"}, width=390
    )
    assert clicked["step"] == "13" and clicked["changed"]
    assert closed["panel"] == ""


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_sticks_out_on_a_desk_and_on_a_phone(browser, page, dark):
    measured = browser.measure(page, 390, 1280, dark=dark)
    for width, found in measured.items():
        assert found["scrolls"] <= width and found["sticking"] == []


def test_hostile_names_are_text(browser):
    hostile = written(browser, "hostile", {"houses": HOSTILE, "seals": ("<img src=x onerror=alert(1)>", "B", "C")})
    *_, last = session(browser, hostile, {"key": "j"}, {"key": "j"}, {"key": "End"})
    assert last["step"] == "13" and last["images"] == 0


def test_it_prints_on_few_pages(browser, page):
    pdf = browser.pdf(page)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 3
