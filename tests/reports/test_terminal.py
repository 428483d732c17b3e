"""Colours appear on a terminal only, and not where NO_COLOR or a dumb terminal forbids them."""

from __future__ import annotations

import io

import pytest

from kwalk.reports.document.text import print_blocks, story_text
from kwalk.reports.terminal import console
from kwalk.reports.traces.story import story_of
from tests.reports.traces import model, trace


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO) -> str:
    print_blocks(story_text(story_of(model(), trace())), console(stream))
    return stream.getvalue()


@pytest.fixture(autouse=True)
def a_capable_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_a_terminal_gets_colours():
    assert "\x1b[" in shown(Terminal())


def test_a_file_gets_none_and_no_trailing_blanks():
    text = shown(io.StringIO())
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_that_wants_none_gets_none(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert "\x1b" not in shown(Terminal())
