"""Kafka's stories: full and reduced searches agree on what goes wrong, how soon, and on all quiet states."""
from __future__ import annotations

import pytest

from invariants.scenarios import OLD_CLIENT_EXPANSION
from model.kafka.controller_failover import failover_sets_topic_ids
from model.kafka.operator import delete_controller
from model.language import Claim, Kind, Model
from search.compile import kernel_for
from search.mutation.grounds import MutatedModel
from search.mutation.mutants import mutants_of
from search.reduction import relations
from tests.reduction.full_and_reduced import compare

MISTAKES = {
    "failover_sets_topic_ids:negated-condition": (failover_sets_topic_ids, (118_278, 44_523)),
    "delete_controller:dropped-guard": (delete_controller, (4_062, 2_750)),
}
"""The first mutant of a function by an operator: the function, and how many states a full and a reduced search see."""



@pytest.fixture(autouse=True)
def by_reads_and_writes(monkeypatch):
    """Relations from what is read and written alone: the solver's would take a minute, and save more."""
    monkeypatch.setattr(relations, "SMALL", 0)
    monkeypatch.setattr(relations, "LARGE", 0)


def the_old_clients_story() -> Model:
    return Model(OLD_CLIENT_EXPANSION, "2.8.2", {"brokers": 2, "restarts": 0})


def searched_claims(model: Model) -> tuple[Claim, ...]:
    return tuple(claim for claim in model.claims if claim.kind is not Kind.EVENTUALLY)


def test_the_old_clients_story_with_one_failover(monkeypatch, tmp_path):
    model = the_old_clients_story()
    kernel = kernel_for(model)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # for the relations, which are no others' to take
    assert compare(model, kernel, searched_claims(model)) == (4_062, 2_313)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_stories_with_a_mistake_in_the_model(mistake, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # for the kernel and the relations of a wrong model
    action, seen = MISTAKES[mistake]
    mutant = next(m for m in mutants_of([action.function], ()) if mistake in m.id)
    with mutant.planted():
        model = the_old_clients_story()
        kernel = kernel_for(model)
        assert compare(MutatedModel(model, mutant), kernel, searched_claims(model)) == seen
