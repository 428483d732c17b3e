"""Every kind of page in a real Chromium: axe-core's rules, no error, nothing wider than a desk's or a phone's window.

The rules are those of axe-core, contrast among them, with all that is folded unfolded.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kwalk.model.language.inspection import FactTable, FindingKind, Inspection, Observation, Severity
from kwalk.reports.command_line import main
from kwalk.reports.document.html import html_document, html_page
from kwalk.reports.nightly_compare.page import write_page
from kwalk.reports.pages.incident import Incident, cause_of
from kwalk.reports.traces.sequence import sequence_of, states_of
from kwalk.reports.traces.story import story_of
from kwalk.reports.watch import WatchPage
from kwalk.search.base.progress import Progress
from tests.nightly_compare.nightly_runs import walked, write_run
from tests.reports.browser import AXE, CHROMIUM, violations
from tests.reports.devtools import chromium
from tests.reports.traces import HOSTILE, model, trace

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the pages with"),
    pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed: `make setup` installs it"),
]
LOST = FindingKind(
    "letter-lost",
    Severity.BROKEN,
    "a letter is lost",
    ("nothing_is_lost",),
    now="no letter comes",
    later="nobody writes any more",
    way_out="search the street",
    log="none: the box is empty",
    cause="a dog",
    grep=("grep -E 'bark(s|ed)' street.log",),
    story="docs/stories/stray-logs.md",
)
STREET = Inspection(
    "a street with 2 houses",
    (Observation(LOST, "The Mill", "a dog is out"),) * 7,
    {"house": 2},
    ("It rains.",),
    (FactTable("Letters, and who has them", ("letter", "house", "who has it"), (("A", "none", "the dog " * 20),) * 3),),
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """A page of each kind, by its name."""
    folder = tmp_path_factory.mktemp("pages")
    here = Path.cwd()
    os.chdir(folder)
    try:
        for command in (
            "exhaust lost-update --html --out search",
            "explore die-hard --graph --html --out graph",
            "audit tests.search.leases:FIXES --html --out audit",
        ):
            main(command.split())
    finally:
        os.chdir(here)
    write_run(folder / "before", [walked("lost-update")], seed=2)
    write_run(folder / "after", [walked("lost-update"), walked("die-hard")])
    for name, labels in (("trace", None), ("hostile", {"houses": HOSTILE, "seals": ("<img src=x>", "B", "C")})):
        (folder / f"{name}.html").write_text(_story_page(labels), encoding="utf-8")
    watched = WatchPage(folder / "watch.html", "kwalk exhaust <street>")
    for second in range(1, 9):
        watched(
            Progress(
                "exhaust",
                second**3,
                "states",
                float(second),
                depth=second,
                frontier=second,
                memory=second << 20,
                count_steps=lambda: {"write <b>": 1_234, "never": 0},
            )
        )
    watched.end("holds")
    lead = Incident("street.json", STREET).lead()
    (folder / "incident.html").write_text(html_document(lead.title, lead.blocks), encoding="utf-8")
    return {
        "search": _only(folder, "search/*-exhaust-*.html"),
        "graph": _only(folder, "graph/*.html"),
        "audit": folder / "audit/audit.html",
        "night": write_page(folder / "after", folder / "before"),
        "trace": folder / "trace.html",
        "hostile": folder / "hostile.html",
        "incident": folder / "incident.html",
        "watch": folder / "watch.html",
    }


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def _story_page(labels) -> str:
    """The page of a trace that begins with an incident."""
    named = model(labels)
    traced = trace(of=named)
    story = story_of(named, traced)
    incident = Incident(
        "street.json", STREET, diagnosis=["If it snows: nothing."], forecast=story, cause=cause_of(story)
    )
    drawn = sequence_of(named, traced)
    return html_page(story, diagram=drawn, states=states_of(named, traced), lead=incident.lead())


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as devtools:
        yield devtools


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.parametrize("kind", ["search", "graph", "audit", "night", "trace", "hostile", "incident", "watch"])
def test_a_page_keeps_the_rules_of_accessibility(browser, pages, kind, width, dark):
    tab = browser.tab(width, dark=dark)
    tab.open(pages[kind].as_uri())
    if kind in ("trace", "hostile"):
        tab.press("j")
        tab.press("j")
        tab.until("!document.getElementById('panel').hidden")
    assert violations(tab) == []
    assert not tab.scrolls_sideways()
    assert tab.errors == []
    assert tab.value("document.querySelectorAll('main img, main iframe').length") == 0
