"""Running the command `kwalk` inside a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from kwalk.reports.command_line import main


@frozen
class Ran:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict:
        """Its one JSON object."""
        return json.loads(self.out)

    def file(self, label: str) -> Path:
        """A file that the text names, such as `Trace`."""
        return Path(next(line for line in self.out.splitlines() if line.startswith(f"  {label}: ")).split(": ", 1)[1])


def runner(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """A function that runs the command inside the test; an exception that it does not catch fails the test."""

    def run(*words: object) -> Ran:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def kwalk(capsys, tmp_path, monkeypatch) -> Callable[..., Ran]:
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return runner(capsys)
