"""Kafka's stories: full and reduced searches agree on what goes wrong, how soon, and on all quiet states."""
from __future__ import annotations

from invariants.scenarios import OLD_CLIENT_EXPANSION
from model.language import Kind, Model
from search.compile import kernel_for
from search.reduction import relations
from tests.reduction.full_and_reduced import compare


def test_the_old_clients_story_with_one_failover(monkeypatch, tmp_path):
    """With relations from what is read and written alone: the solver's would take a minute, and save more."""
    model = Model(OLD_CLIENT_EXPANSION, "2.8.2", {"brokers": 2, "restarts": 0})
    kernel = kernel_for(model)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # for the relations, which are no others' to take
    monkeypatch.setattr(relations, "SMALL", 0)
    monkeypatch.setattr(relations, "LARGE", 0)
    claims = tuple(claim for claim in model.claims if claim.kind is not Kind.EVENTUALLY)
    assert compare(model, kernel, claims) == (4_062, 2_313)
