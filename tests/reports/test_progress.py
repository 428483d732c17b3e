"""Progress has a rate and an end, goes to standard error, and is silent off a terminal."""

from __future__ import annotations

import io
import time

import pytest

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.reports import progress
from kwalk.reports.progress import duration, line, shown_on_stderr
from kwalk.reports.watch import POINTS, WatchPage
from kwalk.search.base.progress import Progress, announce, announcements_to, loop_compilation, unannounced
from kwalk.search.kernel.compile.compiler import compile_model, compiled_model

COMPILED = "kwalk: 2 loops were compiled for this CPU in 0.6 s; later searches find them."


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.42, "0.4 s"), (12.3, "12 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")]
)
def test_durations_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said


def test_a_line_has_the_count_the_rate_and_what_is_left():
    report = Progress("walk", 1_000, "steps", 4.0, total=5_000, left=16.0, note="walk\x1b 7")
    assert line(report) == "walk: 1,000 of 5,000 steps in 4.0 s, 250 steps/s, 16 s left (walk\\x1b 7)"


@pytest.mark.parametrize("done", [7, 123_456, 98_765_432_109])
@pytest.mark.parametrize("note", ["", "a checkpoint is saved", "x" * 500, "\x1b[31m"])
def test_a_line_fits_80_columns_and_keeps_what_matters_most(done, note):
    report = Progress(
        "exhaust",
        done,
        "states",
        7_200.0,
        left=86_000.0,
        note=note,
        depth=117,
        frontier=done // 3,
        memory=5 << 30,
        memory_budget=17 << 30,
    )
    text = line(report)
    assert len(text) <= 80 and "\x1b" not in text
    assert text.startswith("exhaust: ") and "depth 117" in text and "5 of 17 GiB" in text
    assert "23 h 53 min left" in text


def test_lifting_and_compiling_are_announced(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    heard: list[str] = []
    with announcements_to(heard.append):
        compile_model(Model(find_scenario("lost-update")), unoptimized=True)
        compiled_model(Model(find_scenario("die-hard")))
    lifting = [
        ["lifting the model", *(f"lifting the model, {n} of {all_} actions" for n in range(1, all_ + 1))]
        for all_ in (4, 6)
    ]
    assert heard == [*lifting[0], "compiling the model", *lifting[1], "compiling the model, optimized"]
    heard.clear()
    with announcements_to(heard.append), unannounced():
        announce("lifting the model")
    assert not heard


def test_a_page_shows_a_search_in_progress_and_its_end(tmp_path, kwalk):
    page = WatchPage(tmp_path / "watch.html", "kwalk exhaust <x>")
    for second in range(1, 700):
        page(
            Progress(
                "exhaust",
                1000 * second**2,
                "states",
                float(second),
                depth=second // 10,
                frontier=second,
                memory=second << 20,
                memory_budget=1 << 30,
                count_steps=lambda: {"fill <x>": 1_234, "never": 0},
            )
        )
    page.write("exhaust: 1,000 states", refresh=True)
    running = page.path.read_text("utf-8")
    assert 'http-equiv="refresh"' in running and running.count("<svg") == 4 and "&lt;x&gt;" in running
    assert "1 of 2 actions were taken" in running and "fill &lt;x&gt;" in running and "1,234" in running
    assert len(page.samples["exhaust"]) <= POINTS
    page(Progress("shrink", 1, "findings", 0.1))
    page(Progress("shrink", 2, "findings", 0.2))
    page.end("holds")
    ended = page.path.read_text("utf-8")
    assert ended.count("<svg") == 4 and "Findings over" not in ended
    assert 'http-equiv="refresh"' not in ended and "The search has ended" in ended
    ran = kwalk("exhaust", "two-phase-commit", "--watch")
    assert "watch.html" in ran.err
    assert "two-phase-commit: holds (exhaustive)" in (tmp_path / "kwalk-out/watch.html").read_text("utf-8")
    assert [path.name for path in (tmp_path / "kwalk-out").iterdir()] == ["watch.html"]


def test_off_a_terminal_a_line_comes_only_now_and_then(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with shown_on_stderr() as report:
        for now[0] in range(35):
            report(Progress("exhaust", 1, "states", now[0]))
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 3


@pytest.mark.parametrize(
    ("each", "lines"),
    [(0.1, []), (0.3, [COMPILED])],
)
def test_a_search_says_once_that_it_has_compiled_loops_if_that_took_a_while(each, lines, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for _ in range(2):
        with shown_on_stderr():
            for name in ("explore", "advance") if not now[0] else ():
                with loop_compilation(name):
                    now[0] += each
    assert capsys.readouterr().err.splitlines() == lines


def test_on_a_terminal_a_bar_is_drawn_and_taken_away(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with shown_on_stderr() as report:
        report(Progress("exhaust", 10, "states", 1.0, left=9.0))
        report(Progress("exhaust", 20, "states", 2.0, total=40))
        report(Progress("exhaust", 30, "states", 3.0))
    assert "exhaust: 30 states" in screen.getvalue()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")
