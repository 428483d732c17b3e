"""Fixtures of the tests of comparing nightly runs."""

from __future__ import annotations

import pytest

from kwalk.reports.command_line import main
from tests.reports.commands import Ran


@pytest.fixture
def kwalk_here(capsys):
    """Run the command in the present folder."""

    def run(*words: object) -> Ran:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
