"""What shrinking keeps, what it leaves out, and what it refuses."""
from __future__ import annotations

from itertools import islice

import pytest
from attrs import evolve

from model.examples.die_hard import DIE_HARD
from model.language import Model, UsageError
from search.shrink import shrink
from search.trace import run, shows
from tests.shrink.mail import MAIL
from tests.shrink.walks import trace_of, violating_walks

DOG_IN, DOG_OUT = 0, 1
"""The two initial states: the dog of house 0 is in, or out."""


@pytest.fixture
def model():
    return Model(MAIL)


def told(model, *actions, claim, start=DOG_IN):
    """The trace of some steps by name."""
    states = run(model, model.initial[start], actions)
    return trace_of(model, list(states), list(actions), claim)


def test_what_remains_replays_in_plain_python_and_violates_the_same_claim(model):
    claim = model.claims_of("nothing_is_lost(2)")[0]
    for trace in islice(violating_walks(model, claim, seed=1), 10):
        small = shrink(model, trace)
        assert small.actions == ("post(2)", "move_dog(2)", "deliver(2)") or sorted(small.actions) == [
            "deliver(2)", "move_dog(2)", "post(2)"]  # fmt: skip
        assert small.states == run(model, small.states[0], small.actions)
        assert small.claim == claim.key
        assert shows(model, claim, small.states)


def test_steps_without_which_the_claim_still_falls_are_left_out(model):
    trace = told(model, "post(1)", "deliver(1)", "move_dog(2)", "post(2)", "deliver(2)", claim="nothing_is_lost(2)")
    assert shrink(model, trace).actions == ("move_dog(2)", "post(2)", "deliver(2)")


def test_two_steps_that_need_each_other_are_left_out_together(model):
    """Without one turn of the key the office would be shut when the letter is to be delivered."""
    trace = told(model, "turn_key()", "move_dog(2)", "turn_key()", "post(2)", "deliver(2)", claim="nothing_is_lost(2)")
    assert shrink(model, trace).actions == ("move_dog(2)", "post(2)", "deliver(2)")


def test_a_bad_state_becomes_quiet_again_by_steps_of_the_system(model):
    """Without the first delivery a letter to house 1 would wait: the state is stable only once it is delivered."""
    trace = told(
        model, "post(1)", "deliver(1)", "move_dog(2)", "post(1)", "post(2)", "deliver(2)", "deliver(1)",
        claim="nothing_is_lost(2)",
    )  # fmt: skip
    small = shrink(model, trace)
    assert small.actions == ("move_dog(2)", "post(2)", "deliver(2)")
    assert model.is_quiet(small.states[-1])


def test_another_initial_state_that_needs_fewer_steps_is_taken(model):
    trace = told(model, "move_dog(0)", "post(0)", "deliver(0)", claim="nothing_is_lost(0)")
    small = shrink(model, trace)
    assert small.actions == ("post(0)", "deliver(0)")
    assert small.states[0] == model.initial[DOG_OUT]


def test_any_instance_of_the_invariant_will_do_when_asked(model):
    steps = ("post(0)", "post(1)", "move_dog(1)", "deliver(1)", "deliver(0)")
    trace = told(model, *steps, claim="nothing_is_lost(1)", start=DOG_OUT)
    assert shrink(model, trace).length == 3
    any_house = shrink(model, trace, same="invariant")
    assert (any_house.actions, any_house.claim) == (("post(0)", "deliver(0)"), "nothing_is_lost(0)")


def test_a_claim_about_a_step_keeps_the_step_that_breaks_it(model):
    trace = told(
        model, "turn_key()", "post(1)", "post(2)", "turn_key()", "move_dog(2)", "deliver(1)", "deliver(2)",
        claim="dogs_eat_nothing(2)",
    )  # fmt: skip
    assert shrink(model, trace).actions == ("post(2)", "move_dog(2)", "deliver(2)")


def test_the_witness_of_what_is_reachable_shrinks_too(model):
    trace = told(
        model, "post(1)", "move_dog(1)", "deliver(1)", "post(0)", "post(2)", "post(1)", claim="all_houses_wait()"
    )
    assert sorted(shrink(model, trace).actions) == ["post(0)", "post(1)", "post(2)"]


def test_the_steps_after_the_first_violation_are_left_out(model):
    trace = told(model, "post(0)", "deliver(0)", "turn_key()", "turn_key()", claim="nothing_is_lost(0)", start=DOG_OUT)
    assert shrink(model, trace).actions == ("post(0)", "deliver(0)")


def test_a_trace_that_shows_nothing_is_refused(model):
    trace = told(model, "post(2)", "deliver(2)", claim="nothing_is_lost(2)")
    with pytest.raises(UsageError, match="does not show nothing_is_lost"):
        shrink(model, trace)


def test_a_sample_without_a_claim_is_refused_unless_it_ends_in_a_deadlock(model):
    with pytest.raises(UsageError, match="a deadlock"):
        shrink(model, told(model, "post(2)", claim=None))


def test_only_claims_and_invariants_can_be_kept_the_same(model):
    with pytest.raises(UsageError, match="'claim' or 'invariant'"):
        shrink(model, told(model, "post(0)", "deliver(0)", claim="nothing_is_lost(0)", start=DOG_OUT), same="actor")


def test_the_result_says_that_it_is_locally_minimal_and_what_it_cost(model):
    trace = told(model, "turn_key()", "turn_key()", "post(0)", "deliver(0)", claim="nothing_is_lost(0)", start=DOG_OUT)
    assert shrink(model, trace).found_by.startswith("walk in 4 steps; locally minimal, ")


def test_when_time_is_up_the_result_does_not_claim_to_be_minimal(model):
    trace = told(model, "turn_key()", "turn_key()", "post(0)", "deliver(0)", claim="nothing_is_lost(0)", start=DOG_OUT)
    hasty = shrink(model, trace, seconds=0)
    assert "not yet minimal" in hasty.found_by
    assert shows(model, model.claims_of(hasty.claim)[0], hasty.states)


def test_what_was_proved_shortest_stays_so_only_at_the_same_length(model):
    steps = ("move_dog(2)", "post(2)", "deliver(2)")
    proved = evolve(told(model, *steps, claim="nothing_is_lost(2)"), shortest="exhaustive")
    assert shrink(model, proved).shortest == "exhaustive"
    longer = evolve(told(model, "post(1)", *steps, "deliver(1)", claim="nothing_is_lost(2)"), shortest="exhaustive")
    assert shrink(model, longer).shortest is None


def test_the_same_trace_shrinks_to_the_same_result():
    model = Model(DIE_HARD)
    trace = next(violating_walks(model, model.claims[0], seed=3))
    assert shrink(model, trace) == shrink(model, trace)
