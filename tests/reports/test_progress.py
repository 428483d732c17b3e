"""Progress has a rate and an end, goes to standard error, and is silent off a terminal."""
from __future__ import annotations

import io

import pytest

from kwalk.reports import progress
from kwalk.reports.progress import duration, line, shown_on_stderr
from kwalk.search.base.progress import Progress


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


def test_off_a_terminal_a_line_comes_only_now_and_then(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with shown_on_stderr() as report:
        for now[0] in range(35):
            report(Progress("exhaust", 1, "states", now[0]))
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 3


def test_on_a_terminal_a_bar_is_drawn_and_taken_away(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with shown_on_stderr() as report:
        report(Progress("exhaust", 10, "states", 1.0, left=9.0))
        report(Progress("exhaust", 20, "states", 2.0, total=40))
        report(Progress("exhaust", 30, "states", 3.0))
    assert "exhaust: 30 states" in screen.getvalue()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")
