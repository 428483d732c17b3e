"""Fixtures of the tests of comparing nightly runs."""

from __future__ import annotations

import pytest

from tests.reports.commands import runner


@pytest.fixture
def kwalk_here(capsys):
    """Run the command in the present folder."""
    return runner(capsys)
