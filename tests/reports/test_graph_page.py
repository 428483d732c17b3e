"""The page of a state graph and the pages of searches: what they draw, count and merge, and what hostile names do."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.reports.document import BarChart
from kwalk.reports.document.html import html_document
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.pages.graph_drawing import GraphArrow, GraphNode, graph_svg
from kwalk.reports.pages.graph_page import graph_drawing, graph_page
from kwalk.reports.pages.state_graph import Drawing
from kwalk.search.analyses.state_graph import explore
from tests.reports.browser import CHROMIUM
from tests.reports.devtools import chromium
from tests.reports.traces import HOSTILE, model

SVG = "{http://www.w3.org/2000/svg}"
DIE_HARD = Model(find_scenario("die-hard"))


def data_of(page: str) -> dict:
    """What the script of a page reads."""
    found = re.search(r'<script type="application/json" id="graph">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def graph():
    return explore(DIE_HARD)


@pytest.fixture(scope="module")
def page(graph):
    return graph_page(Drawing(graph, command="kwalk explore die-hard --graph"))


def test_the_drawing_has_every_state_every_edge_and_the_shortest_path(graph):
    svg = ElementTree.fromstring(graph_drawing(graph))
    nodes = svg.findall(f"{SVG}g")
    arrows = {(a.get("data-source"), a.get("data-target")): a for a in svg.findall(f"{SVG}path")}
    edges = {(str(n.number), str(e.target)) for n in graph.nodes for e in n.edges if e.target != n.number}
    assert len(nodes) == 16 and set(arrows) == edges
    bad = {node.get("data-node") for node in nodes if "bad" in node.get("class", "").split()}
    assert bad == {str(node.number) for node in graph.nodes if node.violated}
    on = [pair for pair, arrow in arrows.items() if "on" in arrow.get("class", "").split()]
    assert len(on) == min(graph.nodes[int(number)].depth for number in bad) == 6


def test_nodes_do_not_lie_on_each_other_and_arrows_of_a_ladder_do_not_cross():
    nodes = [GraphNode(layer=number // 2, sign=str(number)) for number in range(12)]
    arrows = [GraphArrow(number, (number + 2) ^ 1) for number in range(10)]  # each layer in the other order
    svg = ElementTree.fromstring(graph_svg(nodes, arrows))
    places = [(float(c.get("cx")), float(c.get("cy"))) for c in svg.iter(f"{SVG}circle")]
    assert len(set(places)) == 12
    for one, other in zip(arrows[::2], arrows[1::2], strict=True):
        first, last = places[one.source][1] - places[other.source][1], places[one.target][1] - places[other.target][1]
        assert first * last > 0


def test_views_merge_states_with_one_value_or_that_one_actor_connects(graph, page):
    found = data_of(page)
    assert found["nearest"] is not None and len(found["states"]) == 16
    names = re.findall(r"<option value=\"\d+\">(all states|by \w+|without [^<]*)</option>", page)
    views = dict(zip(names, found["views"], strict=True))
    assert views["all states"]["of"] == list(range(16))
    big = [state.big for state in (DIE_HARD.state(node.vector) for node in graph.nodes)]
    classes: dict[int, set[int]] = {}
    for number, value in zip(views["by big"]["of"], big, strict=True):
        classes.setdefault(number, set()).add(value)
    assert all(len(values) == 1 for values in classes.values()) and len(classes) == len(set(big))
    assert not [name for name in names if name.startswith("without")]  # one actor connects everything


def test_steps_of_an_actor_are_left_out():
    subject = Model(find_scenario("lost-update"))
    small = explore(subject)
    found = graph_page(Drawing(small))
    names = re.findall(r"<option value=\"\d+\">(all states|by [^<]*|without [^<]*)</option>", found)
    views = dict(zip(names, data_of(found)["views"], strict=True))
    for name, view in views.items():
        if name.startswith("without the steps of "):
            actor = name.removeprefix("without the steps of ")
            for node in small.nodes:
                for edge in node.edges:
                    if any(subject.instances[i].action.by.name == actor for i in edge.instances):
                        assert view["of"][node.number] == view["of"][edge.target]


def test_every_truth_is_that_of_plain_python(graph, page):
    found = data_of(page)
    for node, state in zip(graph.nodes, found["states"], strict=True):
        truths = [DIE_HARD.truth(prop, node.vector) for prop in DIE_HARD.properties if not prop.declaration.only_counts]
        assert [truth == "t" for truth in state["truths"]] == [truth is True for truth in truths]
        assert len(state["values"]) == len(found["fields"])


def test_the_page_and_the_drawing_are_written_beside_the_dot_file(kwalk):
    ran = kwalk("explore", "--graph", "die-hard", "--html", "--svg")
    assert ran.code == 0
    assert ran.file("Page").suffix == ".html" and ran.file("Drawing").suffix == ".svg"
    assert ran.file("Graph").exists()


@pytest.mark.parametrize("command", ["exhaust", "walk", "prove", "check"])
def test_every_search_writes_a_page_with_charts(kwalk, command):
    budget = {"walk": ("--walks", "50"), "check": ("--seconds", "3")}.get(command, ())
    ran = kwalk(command, "lost-update", "--html", *budget)
    text = ran.file("Page").read_text("utf-8")
    assert ran.code == 12 and "counts_every_increment" in text
    assert "default-src 'none'" in text
    if command != "prove":
        assert "Steps of each action" in text and "Tests of each property" in text
    if command in ("exhaust", "walk"):
        assert ("Distinct states by depth" in text) == (command == "exhaust")
    for name in re.findall(r'href="([^"]+)"', text):
        assert (ran.file("Page").parent / name).exists()


def test_mutation_testing_writes_a_page(kwalk):
    ran = kwalk("mutate", "lost-update", "--sample", "2", "--seconds", "5", "--html")
    assert "Mutants" in ran.file("Page").read_text("utf-8")


def test_a_chart_has_its_numbers_in_every_format():
    chart = BarChart("Steps <b>", "times", (("one", 1234), ("none", 0)), logarithmic=True, complete=True)
    html = html_document("x", [chart])
    assert "1,234" in html and "Steps &lt;b&gt;" in html and html.count("bar-row bad") == 1
    assert "| one | 1,234 |" in markdown_document([chart])


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the page with")
def test_the_page_collapses_colours_and_shows_paths_in_a_browser(tmp_path, page):
    hostile = model({"houses": HOSTILE, "seals": ("<img src=x onerror=alert(1)>", "B", "C")})
    files = {"plain.html": page, "hostile.html": graph_page(Drawing(explore(hostile, most=60)))}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with chromium(tmp_path) as browser:
        for width, dark in ((1280, False), (390, True)):
            tab = browser.tab(width, dark=dark)
            tab.open((tmp_path / "plain.html").as_uri())
            assert tab.value("document.querySelectorAll('#view-0 .arrow.on').length") == 6
            tab.value("document.querySelector(\"#view-0 .node[data-node='9']\").focus()")
            tab.press("Enter")
            assert tab.value("document.querySelectorAll('#chosen ol li').length") == 4
            assert tab.value("document.querySelectorAll('#view-0 .arrow.on').length") == 4
            tab.value("document.getElementById('view').value = '1'; document.getElementById('view').onchange()")
            assert tab.value("[...document.querySelectorAll('.view')].filter((one) => one.offsetParent).length") == 1
            tab.value("document.getElementById('colour').value = '0'; document.getElementById('colour').onchange()")
            assert tab.value("document.querySelectorAll('#view-1 .node.true, #view-1 .node.false').length") > 0
            assert not tab.scrolls_sideways() and tab.errors == []
        tab.open((tmp_path / "hostile.html").as_uri())
        tab.click(".node")
        assert tab.value("document.querySelectorAll('main img, main script, main a').length") == 0
        assert tab.errors == []
