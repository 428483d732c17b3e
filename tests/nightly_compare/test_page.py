"""The page of a nightly run shows what is new first, then everything else; it is whole, escaped and self-contained."""

from __future__ import annotations

import re

import pytest
from attrs import evolve

from kwalk.reports.nightly_compare import phrases, stories
from kwalk.reports.nightly_compare.charts import curve, heatmap_rows
from kwalk.reports.nightly_compare.page import nightly_page, write_page
from kwalk.search.night.results import GrowthCurve, TaskResult, read_run
from kwalk.search.night.tables import ActionRow
from tests.nightly.small_run import manifest, write_small_run
from tests.nightly_compare.nightly_runs import walked, write_run
from tests.reports.test_page import read


@pytest.fixture(scope="module")
def works():
    return [walked("lost-update"), walked("blocking-queue")]


@pytest.fixture(scope="module")
def run(tmp_path_factory, works):
    """A run with four groups in two tasks."""
    path = tmp_path_factory.mktemp("run") / "after"
    write_run(path, works)
    return path


def test_every_tag_is_closed_in_order_and_nothing_comes_from_elsewhere(run):
    page = nightly_page(read_run(run))
    read(page)
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert links and not [link for link in links if not link.startswith(("#", "traces/"))]
    assert "<script" not in page


def test_every_link_leads_somewhere(run, tmp_path, works):
    write_run(tmp_path / "before", works[:1])
    page = write_page(run, tmp_path / "before").read_text(encoding="utf-8")
    links, places = set(re.findall(r'href="([^"]*)"', page)), re.findall(r' id="([^"]*)"', page)
    assert len(places) == len(set(places))
    assert {link[1:] for link in links if link.startswith("#")} <= set(places)
    assert all((run / link).exists() for link in links if not link.startswith("#"))


def test_each_group_is_shown_with_its_steps_and_how_it_came_to_its_end(run):
    page = read(nightly_page(read_run(run)))
    text = " ".join(page.text.split())
    for said in ("nothing_is_lost", "DEADLOCK", "4 steps, the shortest", "kwalk replay", "How it came to this"):
        assert said in text


def test_what_is_new_comes_first_and_open(tmp_path, works):
    write_run(tmp_path / "before", works[:1])
    write_run(tmp_path / "after", works)
    page = nightly_page(read_run(tmp_path / "after"), read_run(tmp_path / "before"))
    assert page.index("2 new groups; 2 known groups") < page.index('id="tasks"')
    assert page.count('<details class="group bad" id="t1-') == 2
    assert re.search(r'<details class="group bad" id="t1-\w+" open>', page)
    assert not re.search(r'<details class="group bad" id="t0-\w+" open>', page)


def test_the_page_says_what_to_do_before_it_says_what_differs(tmp_path, works):
    write_run(tmp_path / "before", works[:1], commit="a" * 40)
    write_run(tmp_path / "after", works, commit="b" * 40)
    page = nightly_page(read_run(tmp_path / "after"), read_run(tmp_path / "before"))
    places = [page.index(said) for said in ("What to do", "kwalk explore", "<h3>Differences", 'id="tasks"')]
    assert places == sorted(places)
    assert f"git log {'a' * 12}..{'b' * 12}" in page


def test_trends_show_the_nights_in_order_and_when_a_group_was_first_seen(tmp_path, works, kwalk):
    runs = tmp_path / "runs"
    for day, (name, found) in enumerate((("mon", works[1:]), ("tue", works[1:]), ("wed", works)), start=1):
        write_run(runs / name, found, started=f"2026-11-0{day}T01:00:00+00:00", commit=str(day) * 40)
    write_run(runs / "late", works, started="2026-12-01T01:00:00+00:00")
    (runs / "broken").mkdir()
    (runs / "broken" / "manifest.json").write_text("{")
    assert kwalk("nightly", runs / "wed", "--history", runs).code == 0
    text = " ".join(read((runs / "wed" / "index.html").read_text("utf-8")).text.split())
    assert "Trends over 3 nights" in text and "mon to wed, from left to right" in text and "broken" in text
    assert "seen in mon already" in text
    assert kwalk("nightly", runs / "wed", "--history", runs / "nowhere").code == 2


def test_a_task_that_has_not_ended_is_shown_from_its_tables(tmp_path, works):
    unfinished = evolve(works[0], state="running")
    write_run(tmp_path, [unfinished], state="running")
    assert not (tmp_path / "traces").exists()
    text = " ".join(read(nightly_page(read_run(tmp_path))).text.split())
    assert "The run is running, or was killed" in text
    assert "nothing_is_lost() BAD STABLE STATE · 4 steps" in text


def test_a_trace_of_another_model_is_not_shown_and_the_page_says_so(tmp_path, works):
    write_run(tmp_path, works[:1])
    for path in (tmp_path / "traces").iterdir():
        path.write_text(path.read_text().replace("write(1)", "write(7)"))
    text = read(nightly_page(read_run(tmp_path))).text
    assert "The model has changed since the run: step" in text


def test_a_trace_that_is_none_is_not_shown_and_the_page_says_so(tmp_path):
    write_small_run(tmp_path)  # its trace is an empty object
    assert "This trace cannot be shown: " in read(nightly_page(read_run(tmp_path))).text


def test_of_many_groups_the_first_are_shown_and_the_rest_listed(tmp_path, works, monkeypatch):
    monkeypatch.setattr(stories, "MOST_STORIES", 1)
    write_run(tmp_path, works[:1])
    text = " ".join(read(nightly_page(read_run(tmp_path))).text.split())
    assert "1 more group " in text
    assert text.count(" steps, the shortest; 50 minimized findings") == 2
    assert text.count(" · 4 steps, the shortest") == 1


def test_names_that_mean_harm_are_harmless(tmp_path):
    bad = "<img src=x onerror=alert(1)>\x1b[31m\u202e"
    tasks = [{**task, "name": bad} for task in manifest()["tasks"]]
    write_small_run(tmp_path, tasks=tasks, master=bad, commit=bad)
    page = nightly_page(read_run(tmp_path))
    read(page)
    assert "<img" not in page and "\x1b" not in page and "\u202e" not in page
    assert "&lt;img src=x" in page and "\\x1b[31m\\u202e" in page


def test_a_run_that_found_nothing_and_counted_nothing_has_a_page(tmp_path):
    folder = write_small_run(tmp_path, state="interrupted")
    for task in (0, 1):
        folder.journal(task).cut(0)
    text = " ".join(read(nightly_page(read_run(tmp_path))).text.split())
    for said in (
        "nothing found in 2 tasks",
        "No task has findings.",
        "No task counted distinct states.",
        "No task counted its actions.",
        "0 of 0 property instances were tested",
    ):
        assert said in text


def task(**other) -> TaskResult:
    return TaskResult(0, "one", "one", "v", {}, {}, "walk", "complete", **other)


def test_a_curve_ends_in_its_corner_and_says_how_much_came_late():
    drawn = curve(task(growth=GrowthCurve((10, 20, 30, 40), (50.0, 80.0, 90.0, 100.0))), None)
    assert drawn.line == "M0.0 110.0 L75.0 55.0 L150.0 22.0 L225.0 11.0 L300.0 0.0"
    assert drawn.late == pytest.approx(0.1)


def test_an_earlier_curve_is_drawn_to_the_same_scale():
    drawn = curve(task(growth=GrowthCurve((10,), (50.0,))), task(growth=GrowthCurve((20,), (100.0,))))
    assert (drawn.line, drawn.earlier) == ("M0.0 110.0 L150.0 55.0", "M0.0 110.0 L300.0 0.0")


def test_idle_actions_are_named_and_of_others_the_instances_that_are_idle_are_counted():
    actions = [
        ActionRow("a(0)", "a", "x", 1, 1, 1),
        ActionRow("a(1)", "a", "x", 1, 0, 0),
        ActionRow("b()", "b", "x", 0, 0, 0),
    ]
    assert phrases.never_taken(task(actions=tuple(actions))) == ["b", "a (1 of its 2 instances)"]


def test_nothing_counted_is_no_curve():
    assert curve(task(), None) is None


def test_the_shade_of_a_cell_follows_the_logarithm_and_what_never_happened_is_marked():
    actions = [
        ActionRow("a(0)", "a", "broker 0", 10, 600_000, 1),
        ActionRow("a(1)", "a", "broker 1", 10, 400_000, 1),
        ActionRow("b()", "b", "client", 10, 1000, 1),
        ActionRow("c()", "c", "broker 1", 9, 0, 0),
        ActionRow("d()", "d", "broker 1", 0, 0, 0),
        ActionRow("e()", "e", "client", 5, 5, 0),
    ]
    rows = heatmap_rows([task(actions=tuple(actions)), task()])
    assert [(row.actor, row.action, row.cells[0].mark, row.cells[0].kind) for row in rows] == [
        ("broker", "a", "1.0M", "level6"),
        ("broker", "c", "–", "skipped"),
        ("broker", "d", "∅", "never"),
        ("client", "b", "1.0k", "level1"),
        ("client", "e", "=", "unchanging"),
    ]
    assert [row.cells[1] for row in rows] == [None] * 5
