"""Searches find what `outcomes.json` has: some here, all of them in the thorough tests."""

from __future__ import annotations

import shlex

import pytest

from tests.kafka.outcomes import pinned_searches
from tests.kafka.pins import searched

QUICK = ("consumer-group-reassigned-partition", "ensemble-two-servers-stopped", "log-lookup", "two-admins")
"""Scenarios that are compiled and searched in a second or two."""


@pytest.mark.parametrize(
    "command",
    [pytest.param(c, marks=[] if shlex.split(c)[2] in QUICK else pytest.mark.thorough) for c in pinned_searches()],
)
def test_a_search_finds_what_the_file_has(command):
    assert searched(command) == pinned_searches()[command]
