"""What becomes of mutants of a small model: every fate occurs, for its reason, and ways are those of plain Python."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter

import pytest

from kwalk.model.language import DomainError, LiftError, StepResult, Trial
from kwalk.search.analyses.mutation import mutate as working
from kwalk.search.analyses.mutation.baseline import MutatedModel
from kwalk.search.analyses.mutation.differences import LiftedDifference, is_same
from kwalk.search.analyses.mutation.evaluation import evaluate
from kwalk.search.analyses.mutation.mutate import Evidence, MutantStatus, baselines_of, mutants_on, mutate
from kwalk.search.exhaustive import explorer as exploration
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.results.trace import is_violated_at_end, run
from tests.mutation.bakery import SCENARIO
from tests.states import reachable_states

FATES = {
    MutantStatus.KILLED: 22,
    MutantStatus.CRASHED: 2,
    MutantStatus.NOTICED: 10,
    MutantStatus.EQUIVALENT: 12,
    MutantStatus.NOT_EXERCISED: 2,
    MutantStatus.RESTRICTED: 3,
    MutantStatus.SURVIVED: 13,
    MutantStatus.REFUSED: 4,
}
EXAMPLES = [
    ("bakery.baked > bakery.sold", "return bakery.baked >= bakery.sold", MutantStatus.KILLED, Evidence.EXHAUSTIVE),
    ("bakery.baked += 1", "pass", MutantStatus.KILLED, Evidence.EXHAUSTIVE),
    ("require(bakery.last is not None)", "pass", MutantStatus.CRASHED, Evidence.EXHAUSTIVE),
    (
        "require(bakery.last is not None)",
        "require(bakery.last is None)",
        MutantStatus.CRASHED,
        Evidence.EXHAUSTIVE,
    ),
    ("bakery.dusty = True", "bakery.clean = True", MutantStatus.SURVIVED, Evidence.EXHAUSTIVE),
    (
        "require(bakery.sold < bakery.baked)",
        "require(bakery.sold < bakery.sold)",
        MutantStatus.NOTICED,
        Evidence.EXHAUSTIVE,
    ),
    ("if bakery.sold > LOAVES:", "if bakery.baked > LOAVES:", MutantStatus.EQUIVALENT, Evidence.TERMS),
    ("if bakery.sold <= bakery.baked:", "if bakery.sold < bakery.baked:", MutantStatus.EQUIVALENT, Evidence.PROOF),
    ("bakery.clean = False", "pass", MutantStatus.EQUIVALENT, Evidence.REACHABLE),
    (
        "require(not bakery.dusty or not bakery.clean)",
        "require(not bakery.dusty and (not bakery.clean))",
        MutantStatus.RESTRICTED,
        Evidence.EXHAUSTIVE,
    ),
    ("bakery.sold += 1", "bakery.returned += 1", MutantStatus.REFUSED, Evidence.LIFTING),
]


@pytest.fixture(scope="module")
def baseline():
    (found,) = baselines_of([Trial(SCENARIO)])
    return found


@pytest.fixture(scope="module")
def outcomes(baseline):
    return {mutant: evaluate(mutant, [baseline]) for mutant in mutants_on([baseline])}


def test_every_fate_is_counted(outcomes):
    assert Counter(outcome.status for outcome in outcomes.values()) == FATES


@pytest.mark.parametrize(("before", "after", "status", "evidence"), EXAMPLES)
def test_a_mutant_ends_as_it_must(outcomes, before, after, status, evidence):
    (outcome,) = [o for m, o in outcomes.items() if before in m.before and m.after == after]
    assert (outcome.status, outcome.evidence) == (status, evidence)


def test_the_way_to_what_kills_a_mutant_is_that_of_plain_python_and_is_none_of_the_models(baseline, outcomes):
    killed = {m: o for m, o in outcomes.items() if o.status is MutantStatus.KILLED and o.actions is not None}
    assert len(killed) == 11
    for mutant, outcome in killed.items():
        (prop,) = baseline.model.properties_of(outcome.prop)
        model = MutatedModel(baseline.model, mutant)
        states = run(model, model.initial[outcome.start], outcome.actions)
        assert is_violated_at_end(model, prop, states)
        assert not any(is_violated_at_end(model, prop, states[:length]) for length in range(2, len(states)))


def test_a_crash_happens_at_the_end_of_its_way(baseline, outcomes):
    crashed = {m: o for m, o in outcomes.items() if o.status is MutantStatus.CRASHED}
    for mutant, outcome in crashed.items():
        model = MutatedModel(baseline.model, mutant)
        state = run(model, model.initial[outcome.start], outcome.actions)[-1]
        with pytest.raises(DomainError):
            model.attempt(model.instance("look()"), state)


def test_a_property_that_fails_without_any_mistake_kills_nothing(baseline, outcomes):
    assert [finding.prop for finding in baseline.verdict.findings] == ["never_dusty()"]
    assert "never_dusty()" not in {outcome.prop for outcome in outcomes.values()}


def test_a_property_means_the_same_in_a_mutant_although_it_calls_the_function_with_the_mistake(baseline):
    mutant = next(m for m in mutants_on([baseline]) if m.after == "return not bakery.baked > bakery.sold")
    model, start = MutatedModel(baseline.model, mutant), baseline.model.initial[0]
    buy, (sold_out,) = model.instance("buy()"), model.properties_of("sold_out")
    assert baseline.model.attempt(buy, start).result is StepResult.DISABLED
    assert model.attempt(buy, start).result is StepResult.DONE
    full = next(
        state for state in reachable_states(baseline.model, 500, seed=1) if baseline.model.truth(sold_out, state)
    )
    assert model.truth(sold_out, full)


def test_differences_are_those_of_plain_python_in_every_reachable_state(baseline):
    layout, compared = layout_of(baseline.model.leaves), 0
    vectors = [tuple(row) for row in baseline.kernel.unpack(baseline.states).tolist()]
    for mutant in mutants_on([baseline])[::3]:
        with mutant.active():
            try:
                relifted = baseline.relift(baseline.affected_instances(mutant))
            except LiftError:
                continue
        model = MutatedModel(baseline.model, mutant)
        for number, action in relifted.items():
            one = baseline.lifted.actions[number]
            difference = LiftedDifference(baseline.model, baseline.lifted.terms, one, action)
            said = [results(baseline.model, number, v) != results(model, number, v) for v in vectors]
            first = next((place for place, differs in enumerate(said) if differs), None)
            assert difference.first_in(baseline.states, layout) == first
            assert first is None or not is_same(one, action)
            compared += first is not None
    assert compared >= 15


def results(model, number, vector):
    """What becomes of a step: the state after it, the bound that is reached, or that it fails."""
    try:
        outcome = model.attempt(model.instances[number], vector)
    except DomainError:
        return "failed"
    return outcome.after or outcome.bound or "disabled"


@pytest.fixture
def journal(tmp_path):
    return working.mutation_journal(tmp_path)


def test_workers_find_the_same_and_what_was_kept_is_not_looked_at_again(baseline, outcomes, journal, monkeypatch):
    mutants = list(outcomes)[:24]
    results = mutate(mutants, [baseline], workers=2, journal=journal)
    assert [one.outcome for one in results] == [outcomes[mutant] for mutant in mutants]
    assert len([*journal.read()]) == len(mutants)

    def no_more(*_, **__):
        raise AssertionError("looked at again")

    monkeypatch.setattr(working, "run_in_processes", no_more)
    again = mutate(mutants, [baseline], journal=journal)
    assert [one.outcome for one in again] == [outcomes[mutant] for mutant in mutants]


def test_a_change_of_a_model_keeps_the_outcomes_of_mutants_that_it_does_not_reach(
    baseline, outcomes, journal, monkeypatch
):
    mutants = list(outcomes)[:8]
    beside, changed = (baselines_of([Trial("tower-of-hanoi", bounds={"disks": disks})]) for disks in (2, 3))
    mutate(mutants, [baseline, *beside], journal=journal)
    saved = {*journal.read()}
    with monkeypatch.context() as patched:
        patched.setattr(working, "run_in_processes", lambda *_, **__: pytest.fail("evaluated again"))
        again = mutate(mutants, [baseline, *changed], journal=journal)
    assert [one.outcome for one in again] == [outcomes[mutant] for mutant in mutants]
    smaller = baselines_of([Trial(SCENARIO, bounds={"loaves": 2})])
    assert not {one.outcome for one in mutate(mutants, [*smaller], journal=journal)} <= saved


def test_the_baseline_that_killed_a_mutant_of_an_earlier_model_is_tried_first(baseline, journal):
    (smaller,) = baselines_of([Trial(SCENARIO, bounds={"loaves": 2})])
    mutant = next(m for m in mutants_on([baseline]) if m.before == "bakery.baked += 1" and m.after == "pass")
    mutate([mutant], [smaller], journal=journal)
    found = [mutate([mutant], [baseline, smaller], journal=earlier)[0].outcome for earlier in (None, journal)]
    assert [(one.status, one.baseline) for one in found] == [
        (MutantStatus.KILLED, baseline.name),
        (MutantStatus.KILLED, smaller.name),
    ]


def test_a_mutant_whose_search_does_not_finish_and_walks_find_nothing_is_undecided(baseline):
    mutant = next(m for m in mutants_on([baseline]) if m.after == "bakery.clean = True")
    outcome = evaluate(mutant, [baseline], seconds=1e-9)
    assert (outcome.status, outcome.seconds) == (MutantStatus.UNDECIDED, 1e-9)


def test_what_walks_meet_where_a_search_does_not_finish_kills_as_well(baseline, monkeypatch):
    monkeypatch.setattr(exploration, "MIN_PACE", 1)
    mutant = next(
        m for m in mutants_on([baseline]) if m.before == "require(anything_left(bakery))" and m.after == "pass"
    )
    outcome = evaluate(mutant, [baseline], seconds=1e-9)
    assert (outcome.status, outcome.evidence) == (MutantStatus.KILLED, Evidence.WALK)


def test_ctrl_c_ends_the_evaluation_at_once_and_leaves_no_process(baseline, monkeypatch):
    monkeypatch.setattr(working, "evaluate", lambda *_: time.sleep(60))
    began = time.monotonic()
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    results = mutate(mutants_on([baseline])[:4], [baseline], workers=2, seconds=60.0)
    assert time.monotonic() - began < 5  # a second until Ctrl-C, and a busy machine
    assert [one.outcome for one in results] == [None] * 4
    assert multiprocessing.active_children() == []
