"""Famous algorithms keep the promises that are known of them, and break those that need more than weak fairness."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.examples.ewd840 import COMPUTATION, EWD840
from kwalk.model.language import Action, Actor, Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.fairness import neglected_conditions
from kwalk.search.results.verdict import Answer
from kwalk.search.visited.tree_compression import LEAST_WORDS
from tests.examples.plain_search import space_of
from tests.liveness.classics import LOSSY, MUTEX, RELIABLE, SLEEPERS
from tests.search.plain_kernel import plain_kernel

ENDLESS = Answer.VIOLATED


def found(scenario, variant=None, **bounds):
    """The answer, and for each property with a wait that never ends in how many states one begins."""
    verdict = exhaust(Model(scenario, variant, bounds=bounds), keep_going=True)
    return verdict, {finding.prop: finding.count for finding in verdict.findings}


def test_the_end_of_a_computation_comes_to_be_known():
    verdict, endless = found(evolve(EWD840, deadlock_is_error=False))
    assert (verdict.answer, endless) == (Answer.HOLDS, {})
    assert verdict.premises["end_comes_to_be_known()"] == 39


def test_long_states_are_looked_through_as_well():
    model = Model(LOSSY)
    kernel = plain_kernel(model, word_bits=4)
    assert kernel.words >= LEAST_WORDS
    short, long = exhaust(model, keep_going=True), exhaust(model, keep_going=True, kernel=kernel)
    assert (long.findings, long.notes, long.premises) == (short.findings, short.notes, short.premises)


def test_and_not_if_no_process_has_to_pass_the_token_on():
    lazy = Actor("detection", system=False)
    others = [action for action in EWD840.actions if action.by is not COMPUTATION]
    idle = [Action(a.function, lazy, a.description, a.source) for a in others]
    active = [a for a in EWD840.actions if a.by is COMPUTATION]
    scenario = evolve(EWD840, actions=(*idle, *active))
    verdict, endless = found(scenario)
    (prop,), states = Model(scenario).properties_of("end_comes_to_be_known"), space_of(scenario, None).reached
    assert endless[prop.key] == [Model(scenario).awaited(prop, state) for state in states].count((True, False)) == 38
    assert verdict.findings[-1].trace.length == verdict.findings[-1].trace.loop == 0


def test_an_alternating_bit_arrives_where_channels_lose_nothing():
    verdict, endless = found(RELIABLE)
    assert (verdict.answer, endless, verdict.distinct_states) == (Answer.HOLDS, {}, 192)


def test_weak_fairness_is_not_enough_where_they_lose():
    verdict, endless = found(LOSSY)
    assert (verdict.answer, endless) == (ENDLESS, {"value_arrives()": 192})
    trace = verdict.counterexample
    assert {"lose_packet(0)", "send_again()"} <= set(trace.actions[trace.loop :])
    assert neglected_conditions(Model(LOSSY), trace) == ()


def test_lamports_requests_are_granted_up_to_where_the_clocks_end():
    verdict, endless = found(MUTEX, processes=2, last_clock=6)
    assert (verdict.answer, endless, verdict.distinct_states) == (Answer.HOLDS, {}, 1043)
    assert len([note for note in verdict.notes if "11 loops or ends" in note and "(last_clock)" in note]) == 2


def test_one_of_two_sleepers_may_sleep_for_ever():
    verdict, endless = found(SLEEPERS, "two-wait-sets")
    assert (verdict.answer, endless) == (ENDLESS, {"sleeper_wakes(1)": 4, "sleeper_wakes(2)": 4})
    assert verdict.counterexample.actions == ("wait(1)", "wait(2)", "move_and_wake(0, 2)", "move(2)")
    assert verdict.counterexample.loop == 1


def test_a_sleeper_alone_is_woken():
    verdict, endless = found(SLEEPERS, "two-wait-sets", threads=2)
    assert (verdict.answer, endless) == (Answer.HOLDS, {})


def test_where_all_sleep_it_stays_so():
    verdict, _ = found(evolve(SLEEPERS, deadlock_is_error=False), "one-wait-set")
    trace = next(f.trace for f in verdict.findings if f.prop == "sleeper_wakes(0)")
    assert (trace.length, trace.loop) == (7, 7)
