"""The page about swarms is made of walks that were walked, and its truths are those of exhaustive searches."""

from __future__ import annotations

import re

import pytest

from bench.swarm import BUGS, CHOICES, SPACES, Space, page
from kwalk.search.exhaustive.search import exhaust


@pytest.mark.parametrize("space", [space for space in SPACES if space.states < 500_000], ids=str)
def test_a_space_has_as_many_states_as_the_page_says(space):
    assert exhaust(space.model(), properties=(), keep_going=True).distinct_states == space.states


@pytest.mark.thorough
def test_the_page_compares_all_manners_of_walks():
    small = Space("two-phase-commit", 288, {"rms": 3})
    lines = list(page([small], BUGS[:1], steps=20_000, seeds=1, visits=20_000))
    seen = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| two-phase")]
    assert [row[2] for row in seen[:-1]] == list(CHOICES)
    assert [row[3] for row in seen[:-1]] == ["10,364", *4 * ["10,717"]]  # one generation, in which nothing is learnt
    assert seen[0][5] == "72.0 %"
    assert seen[-1][1:6] == ["210", "207", "-1.3 %", "288", "232"]
    (bug,) = (line for line in lines if line.startswith(f"| {BUGS[0]}"))
    assert re.search(r"partition_servable \|( +[\d,]+ \|){5}$", bug)
