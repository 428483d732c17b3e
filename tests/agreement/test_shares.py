"""A large model is compiled by several processes; code and digests are those of one process."""

import os

import pytest
from attrs import evolve

from kwalk.model.language import LiftError, Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile import compilation, shares
from kwalk.search.kernel.compile.compiler import compile_model, kernel_of
from kwalk.search.kernel.differential import disagreements
from tests.agreement.test_parameters import COUNCIL, _change
from tests.agreement.zoo import ZOO
from tests.states import random_states, reachable_states


@pytest.fixture
def is_large(monkeypatch):
    """Every model counts as large, on a machine with three cores."""
    monkeypatch.setattr(shares, "LARGE", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)


@pytest.mark.parametrize("unoptimized", [True, False])
@pytest.mark.parametrize("scenario", [ZOO, find_scenario("zombie-controller")], ids=lambda one: one.name)
def test_processes_compile_what_one_compiles(scenario, unoptimized, monkeypatch, is_large):
    model = Model(scenario)
    shared = compile_model(model, unoptimized=unoptimized)
    monkeypatch.setattr(compilation, "is_shared", lambda model: False)
    whole = compile_model(model, unoptimized=unoptimized)
    assert (shared.terms, shared.touched) == (whole.terms, whole.touched)
    assert (shared.bounds, shared.errors) == (whole.bounds, whole.errors)
    assert len(shared.objects) >= 4  # of three processes, and of the rest
    states = [*reachable_states(model, 30, seed=5), *random_states(model, 30, seed=6)]
    assert next(disagreements(model, states, kernel=kernel_of(model, shared)), None) is None


@pytest.mark.parametrize("lost", ["lift_action", "Writer"])
def test_one_process_compiles_a_model_if_others_are_lost(lost, monkeypatch, is_large):
    """They end as they lift, or as they are to compile what they have lifted."""
    here, honest = os.getpid(), getattr(shares, lost)
    monkeypatch.setattr(shares, lost, lambda *a, **k: honest(*a, **k) if os.getpid() == here else os._exit(1))
    assert compile_model(Model(ZOO), unoptimized=True).objects


def test_a_process_that_is_lost_before_its_order_comes_is_noticed(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with pytest.raises(shares.ShareLost), shares.lifted_in_shares(Model(ZOO)) as work:
        for worker, _ in work._workers:
            worker.process.kill()
            worker.end()
        work.objects(unoptimized=True, target="")


def test_what_a_process_cannot_lift_is_refused(is_large):
    with pytest.raises(LiftError, match=r"a write to an argument, which never changes"):
        compile_model(Model(evolve(COUNCIL, actions=(_change,))))  # type: ignore[arg-type]


@pytest.mark.parametrize(("cores", "is_daemon", "shared"), [(2, False, True), (1, False, False), (2, True, False)])
def test_a_process_that_may_start_no_other_compiles_alone(cores, is_daemon, shared, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(shares.multiprocessing.current_process(), "_config", {"daemon": is_daemon})
    assert shares.is_shared(Model(find_scenario("old-client-expansion"))) is shared
    assert not shares.is_shared(Model(ZOO))
