"""A search by Hypothesis ends in one verdict, like any engine's, and within its time."""

from __future__ import annotations

import time

import hypothesis
import pytest
from hypothesis.control import current_build_context

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model, UsageError
from kwalk.search.analyses.hypothesis import search as engine
from kwalk.search.analyses.hypothesis.search import PROFILES, derived, register_profiles
from kwalk.search.base.options import StopReason
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Answer, Strength
from tests.minimize.mail import MAIL
from tests.queries import hypothesis_search


@pytest.fixture
def short(monkeypatch):
    """The profiles with fewer and shorter examples, for tests that need none to be many."""
    wanted = {"max_examples": 25, "stateful_step_count": 20}
    shorter = {name: hypothesis.settings(settings, **wanted) for name, settings in PROFILES.items()}
    monkeypatch.setattr(engine, "PROFILES", shorter)


def test_what_falls_comes_back_as_one_verdict_with_a_minimal_trace():
    model = Model(REFERENCE)
    verdict = hypothesis_search(model, properties=model.properties_of("leaders_when_settled"), profile="ci")
    assert (verdict.answer, verdict.strength, verdict.engine) == (Answer.VIOLATED, Strength.SAMPLED, "hypothesis")
    trace = verdict.counterexample
    assert (trace.length, trace.prop) == (9, "leaders_when_settled()")
    assert trace.states == run(model, model.initial[0], trace.actions)
    assert verdict.exit_code == 12


def test_a_stable_bad_state_and_a_deadlock_have_answers_of_their_own(short):
    model = Model(LOST_UPDATE)
    verdict = hypothesis_search(model, properties=model.properties_of("nothing_is_lost"), profile="ci")
    assert verdict.answer is Answer.BAD_STABLE_STATE
    assert verdict.quiescent_states > 0
    assert hypothesis_search(Model(BLOCKING_QUEUE), properties=(), profile="ci").answer is Answer.DEADLOCK


def test_nothing_found_is_never_more_than_sampled(short):
    verdict = hypothesis_search(Model(LOST_UPDATE, "lock"), profile="ci")
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.SAMPLED)
    assert verdict.walks >= 10
    assert verdict.action_counts["read(0)"].taken > 0
    assert verdict.action_counts["read(0)"].changed == verdict.action_counts["read(0)"].taken
    assert verdict.premises["counts_every_increment()"] > 0


def test_keep_going_finds_every_invariant_that_falls_each_by_its_own_trace():
    model = Model(MAIL)
    verdict = hypothesis_search(model, profile="ci", keep_going=True, seconds=4)
    fallen = {model.properties_of(finding.prop)[0].declaration.name for finding in verdict.findings}
    assert fallen == {"nothing_is_lost", "dogs_eat_nothing"}
    assert all(finding.trace.prop == finding.prop for finding in verdict.findings)


def test_the_time_budget_ends_the_search_and_the_verdict_says_so():
    started = time.monotonic()
    verdict = hypothesis_search(Model(TWO_PHASE_COMMIT), profile="ci", seconds=1.5)
    assert 1.4 < time.monotonic() - started < 4
    assert any("Stopped (time budget)" in note for note in verdict.notes)
    assert verdict.steps > 100


def test_without_time_for_one_step_nothing_is_said_to_hold():
    verdict = hypothesis_search(Model(TWO_PHASE_COMMIT), profile="ci", seconds=1e-9)
    assert verdict.answer is Answer.UNDECIDED
    assert verdict.stopped is StopReason.TIME


def test_time_that_ends_while_hypothesis_replays_a_falsifying_example_leaves_it_found(monkeypatch):
    is_replay = property(lambda clock: current_build_context().is_final)
    monkeypatch.setattr(engine.Clock, "is_up", is_replay)
    verdict = hypothesis_search(Model(LOST_UPDATE), profile="ci", seconds=20)
    assert verdict.answer is not Answer.HOLDS
    assert verdict.counterexample.length == 4


def test_ctrl_c_leaves_a_partial_verdict():
    def interrupt(progress):
        raise KeyboardInterrupt

    verdict = hypothesis_search(Model(TWO_PHASE_COMMIT), profile="ci", seconds=20, report=interrupt)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.INTERRUPT)
    assert verdict.steps > 0


def test_the_same_seed_finds_the_same_and_another_looks_elsewhere(short):
    model = Model(TWO_PHASE_COMMIT)
    steps = [hypothesis_search(model, profile="ci", seed=seed).action_counts for seed in (1, 1, 2)]
    assert steps[0] == steps[1]
    assert steps[0] != steps[2]


def test_the_seeds_of_batches_are_the_same_everywhere():
    assert derived(0, 0) == 0x2BC42E553A894A51
    assert len({derived(seed, batch) for seed in range(10) for batch in range(10)}) == 100


def test_what_should_be_possible_and_was_not_met_is_reported(short):
    model = Model(MAIL, bounds={"stamps": 1})
    verdict = hypothesis_search(model, properties=model.properties_of("all_houses_wait"), profile="ci")
    assert any("all_houses_wait()" in note for note in verdict.notes)


def test_an_unknown_profile_is_refused_with_the_ones_there_are():
    with pytest.raises(UsageError, match="Did you mean 'nightly'"):
        hypothesis_search(Model(LOST_UPDATE), profile="nigthly")


def test_the_profiles_are_known_to_hypothesis_and_ci_is_the_same_on_every_run():
    register_profiles()
    for name, settings in PROFILES.items():
        assert hypothesis.settings.get_profile(name).max_examples == settings.max_examples
    ci = hypothesis.settings.get_profile("ci")
    assert (ci.derandomize, ci.deadline, ci.database) == (True, None, None)
    assert PROFILES["nightly"].max_examples > 10 * PROFILES["dev"].max_examples
