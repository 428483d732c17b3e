"""Under weak and strong fairness of disjunctions, the search agrees with the oracle on many small random graphs."""

from __future__ import annotations

import pytest

from tests.liveness.fair_graphs import FAIRNESS, SIZE, counts, expected, searched


@pytest.mark.parametrize("name", FAIRNESS)
def test_the_search_finds_what_the_oracle_finds(name):
    verdict = searched(FAIRNESS[name])
    assert counts(verdict) == expected(FAIRNESS[name], SIZE)
    assert verdict.fairness


def test_two_threads_find_the_same():
    fairness = FAIRNESS["SF of a disjunction and WF"]
    assert searched(fairness, workers=2).findings == searched(fairness).findings


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(2, 150, 8), (3, 150, 5)])
@pytest.mark.parametrize("name", FAIRNESS)
def test_so_it_does_in_larger_graphs(name, size):
    assert counts(searched(FAIRNESS[name], size)) == expected(FAIRNESS[name], size)


def test_the_declarations_differ_in_what_they_decide():
    sets = {name: frozenset(expected(fairness, SIZE)) for name, fairness in FAIRNESS.items()}
    assert len(set(sets.values())) >= len(sets) - 1
    assert all(len(found) < len(sets["nothing"]) for name, found in sets.items() if name != "nothing")
