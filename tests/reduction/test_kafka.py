"""Kafka's stories: full and reduced searches agree on violations, their depths, and all quiescent states."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.clients.operator import delete_controller
from kwalk.model.kafka.controller.kafka_controller import failover_sets_topic_ids
from kwalk.model.language import Kind, Model, PropertyInstance
from kwalk.search.analyses.mutation.baseline import MutatedModel
from kwalk.search.analyses.mutation.mutants import mutants_of
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.partial_order import dependency_analysis
from tests.reduction.full_and_reduced import compare

MISTAKES = {
    "failover_sets_topic_ids:negated-condition": (failover_sets_topic_ids, (118_278, 44_193)),
    "delete_controller:dropped-guard": (delete_controller, (4_062, 2_750)),
}
"""The first mutant of a function by an operator: the function, and the states of a full and of a reduced search."""


@pytest.fixture(autouse=True)
def by_reads_and_writes(monkeypatch):
    """Relations from what is read and written alone: the solver's would take a minute, and save more."""
    monkeypatch.setattr(dependency_analysis, "MAX_ATOM_LEAVES", 0)
    monkeypatch.setattr(dependency_analysis, "MAX_GROUP_WRITES", 0)


def the_old_clients_story() -> Model:
    return Model(OLD_CLIENT_EXPANSION, "2.8.2", {"brokers": 2, "restarts": 0})


def searched_properties(model: Model) -> tuple[PropertyInstance, ...]:
    return tuple(prop for prop in model.properties if prop.kind is not Kind.EVENTUALLY)


@pytest.mark.thorough
def test_the_old_clients_story_with_one_failover(monkeypatch, tmp_path):
    model = the_old_clients_story()
    kernel = kernel_for(model)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # keeps these relations out of the user's cache
    assert compare(model, kernel, searched_properties(model)) == (4_062, 2_316)


@pytest.mark.thorough
@pytest.mark.parametrize("mistake", MISTAKES)
def test_stories_with_a_mistake_in_the_model(mistake, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # keeps a wrong model out of the user's cache
    action, seen = MISTAKES[mistake]
    mutant = next(m for m in mutants_of([action.function], ()) if mistake in m.id)
    with mutant.active():
        model = the_old_clients_story()
        kernel = kernel_for(model)
        assert compare(MutatedModel(model, mutant), kernel, searched_properties(model)) == seen
