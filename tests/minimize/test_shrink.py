"""What shrinking keeps, what it removes, and what it refuses."""

from __future__ import annotations

from itertools import islice

import pytest
from attrs import evolve

from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.language import Model, UsageError
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize import beam, replay
from kwalk.search.minimize.beam import BeamSearch, search_along
from kwalk.search.minimize.ddmin import Shrinker
from kwalk.search.minimize.groups import with_groups
from kwalk.search.minimize.replay import replay as run_replay
from kwalk.search.minimize.shrink import Minimizer, minimize_findings, shrink
from kwalk.search.results.trace import is_violated_at_end, run
from kwalk.search.results.verdict import Finding
from tests.minimize.mail import MAIL
from tests.minimize.walks import trace_of, violating_walks

shrinking = Shrinker.shrink
DOG_IN, DOG_OUT = 0, 1
"""The two initial states: the dog of house 0 is in, or out."""


@pytest.fixture
def model():
    return Model(MAIL)


def taken(model, *actions, prop, start=DOG_IN):
    """Return the trace of some steps, given by their keys."""
    states = run(model, model.initial[start], actions)
    return trace_of(model, list(states), list(actions), prop)


def test_a_shrunk_trace_replays_in_plain_python_and_violates_the_same_property(model):
    prop = model.properties_of("nothing_is_lost(2)")[0]
    for trace in islice(violating_walks(model, prop, seed=1), 10):
        small = shrink(model, trace)
        assert small.actions == ("post(2)", "move_dog(2)", "deliver(2)") or sorted(small.actions) == [
            "deliver(2)",
            "move_dog(2)",
            "post(2)",
        ]
        assert small.states == run(model, small.states[0], small.actions)
        assert small.prop == prop.key
        assert is_violated_at_end(model, prop, small.states)


def test_steps_that_the_violation_does_not_need_are_removed(model):
    trace = taken(model, "post(1)", "deliver(1)", "move_dog(2)", "post(2)", "deliver(2)", prop="nothing_is_lost(2)")
    assert shrink(model, trace).actions == ("move_dog(2)", "post(2)", "deliver(2)")


def test_two_steps_that_need_each_other_are_removed_together(model):
    """Without one turn of the key the office would be shut when the letter is to be delivered."""
    trace = taken(model, "turn_key()", "move_dog(2)", "turn_key()", "post(2)", "deliver(2)", prop="nothing_is_lost(2)")
    assert shrink(model, trace).actions == ("move_dog(2)", "post(2)", "deliver(2)")


def test_a_bad_state_becomes_quiescent_again_by_steps_of_the_system(model):
    """Without the first delivery a letter to house 1 would wait: the state is stable only once it is delivered."""
    trace = taken(
        model,
        "post(1)",
        "deliver(1)",
        "move_dog(2)",
        "post(1)",
        "post(2)",
        "deliver(2)",
        "deliver(1)",
        prop="nothing_is_lost(2)",
    )
    small = shrink(model, trace)
    assert small.actions == ("move_dog(2)", "post(2)", "deliver(2)")
    assert model.is_quiescent(small.states[-1])


def test_another_initial_state_that_needs_fewer_steps_is_used(model):
    trace = taken(model, "move_dog(0)", "post(0)", "deliver(0)", prop="nothing_is_lost(0)")
    small = shrink(model, trace)
    assert small.actions == ("post(0)", "deliver(0)")
    assert small.states[0] == model.initial[DOG_OUT]


def test_any_instance_of_the_property_is_accepted_with_same_property(model):
    steps = ("post(0)", "post(1)", "move_dog(1)", "deliver(1)", "deliver(0)")
    trace = taken(model, *steps, prop="nothing_is_lost(1)", start=DOG_OUT)
    assert shrink(model, trace).length == 3
    any_house = shrink(model, trace, same="property")
    assert (any_house.actions, any_house.prop) == (("post(0)", "deliver(0)"), "nothing_is_lost(0)")


def test_a_step_property_keeps_the_step_that_violates_it(model):
    trace = taken(
        model,
        "turn_key()",
        "post(1)",
        "post(2)",
        "turn_key()",
        "move_dog(2)",
        "deliver(1)",
        "deliver(2)",
        prop="dogs_eat_nothing(2)",
    )
    assert shrink(model, trace).actions == ("post(2)", "move_dog(2)", "deliver(2)")


def test_the_witness_of_a_reachable_property_shrinks_too(model):
    trace = taken(
        model, "post(1)", "move_dog(1)", "deliver(1)", "post(0)", "post(2)", "post(1)", prop="all_houses_wait()"
    )
    assert sorted(shrink(model, trace).actions) == ["post(0)", "post(1)", "post(2)"]


def test_steps_after_the_first_violation_are_removed(model):
    trace = taken(model, "post(0)", "deliver(0)", "turn_key()", "turn_key()", prop="nothing_is_lost(0)", start=DOG_OUT)
    assert shrink(model, trace).actions == ("post(0)", "deliver(0)")


def test_a_trace_that_shows_nothing_is_refused(model):
    trace = taken(model, "post(2)", "deliver(2)", prop="nothing_is_lost(2)")
    with pytest.raises(UsageError, match="does not show nothing_is_lost"):
        shrink(model, trace)


def test_a_trace_without_a_property_is_refused_unless_it_ends_in_a_deadlock(model):
    with pytest.raises(UsageError, match="a deadlock"):
        shrink(model, taken(model, "post(2)", prop=None))


def test_an_unknown_value_of_same_is_refused(model):
    with pytest.raises(UsageError, match="'instance', 'property' or 'action'"):
        shrink(model, taken(model, "post(0)", "deliver(0)", prop="nothing_is_lost(0)", start=DOG_OUT), same="actor")


def test_the_result_is_reported_as_locally_minimal_with_the_number_of_replays(model):
    trace = taken(model, "turn_key()", "turn_key()", "post(0)", "deliver(0)", prop="nothing_is_lost(0)", start=DOG_OUT)
    small = shrink(model, trace)
    assert small.found_by.startswith("walk in 4 steps; locally minimal, ")
    assert shrink(model, small).found_by.count(" in 4 steps; locally minimal, ") == 1


def test_a_result_is_not_called_minimal_when_the_time_runs_out(model):
    trace = taken(model, "turn_key()", "turn_key()", "post(0)", "deliver(0)", prop="nothing_is_lost(0)", start=DOG_OUT)
    hasty = shrink(model, trace, seconds=0)
    assert "not yet minimal" in hasty.found_by
    assert is_violated_at_end(model, model.properties_of(hasty.prop)[0], hasty.states)


def test_a_trace_that_is_proved_to_be_the_shortest_is_not_called_out_of_time(model, monkeypatch):
    """The time runs out while the first beam search runs, and the search proves that nothing is shorter."""
    late, search = [], BeamSearch.search
    monkeypatch.setattr(Shrinker, "is_late", property(lambda shrinker: bool(late)))
    monkeypatch.setattr(BeamSearch, "search", lambda *given: late.append(1) or search(*given))
    trace = taken(model, "turn_key()", "turn_key()", "post(0)", "deliver(0)", prop="nothing_is_lost(0)", start=DOG_OUT)
    small = shrink(model, trace, kernel=kernel_for(model), seconds=60)
    assert late and small.shortest == "exhaustive to depth 1"
    assert "locally minimal" in small.found_by and "out of time" not in small.found_by


def test_the_loops_are_compiled_before_the_time_budget_begins(model, monkeypatch):
    """The deadline is computed when the loops have been compiled, with no step taken."""
    events = []
    monkeypatch.setattr(beam, "search_along", lambda view, cursor: events.append("beam") or search_along(view, cursor))
    monkeypatch.setattr(replay, "replay", lambda *given: events.append("replay") or run_replay(*given))
    monkeypatch.setattr(Shrinker, "shrink", lambda *given, **more: events.append("shrink") or shrinking(*given, **more))
    trace = taken(model, "turn_key()", "turn_key()", "post(0)", "deliver(0)", prop="nothing_is_lost(0)", start=DOG_OUT)
    assert shrink(model, trace, kernel=kernel_for(model), seconds=60).length == 2
    assert events[:3] == ["replay", "beam", "shrink"]


def test_a_trace_that_was_the_shortest_before_is_not_called_out_of_time(model):
    given = taken(model, "post(0)", "deliver(0)", prop="nothing_is_lost(0)", start=DOG_OUT)
    small = shrink(model, evolve(given, shortest="exhaust"), seconds=0)
    assert (small.shortest, small.found_by) == ("exhaust", "walk in 2 steps; already the shortest")


def test_an_interrupt_ends_the_minimization_of_all_findings(model, monkeypatch):
    """Ctrl-C during the second of three findings: the first is minimized, the others keep their traces."""
    steps = ("turn_key()", "turn_key()", "post(0)", "deliver(0)")
    finding = Finding("nothing_is_lost(0)", 1, taken(model, *steps, prop="nothing_is_lost(0)", start=DOG_OUT))
    minimize, calls = Minimizer.minimize, []

    def interrupted(*given, **wanted):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return minimize(*given, **wanted)

    monkeypatch.setattr(Minimizer, "minimize", interrupted)
    verdict = evolve(exhaust(model, seconds=1e-9), findings=(finding,) * 3)
    found = minimize_findings(model, verdict).findings
    assert [each.trace.length for each in found] == [2, 4, 4] and len(calls) == 2


def test_little_time_is_spent_on_minimizing_after_an_interrupt(model, monkeypatch):
    """Without any time left, what an interrupted run has found stays as it is; other runs are not affected."""
    monkeypatch.setattr("kwalk.search.minimize.shrink.SECONDS_AFTER_INTERRUPT", 0.0)
    monkeypatch.setattr("kwalk.search.minimize.groups.SECONDS_AFTER_INTERRUPT", -1.0)
    steps = ("turn_key()", "turn_key()", "post(0)", "deliver(0)")
    finding = Finding("nothing_is_lost(0)", 1, taken(model, *steps, prop="nothing_is_lost(0)", start=DOG_OUT))
    ended = evolve(exhaust(model, seconds=1e-9), findings=(finding,))
    interrupted = evolve(ended, stopped=StopReason.INTERRUPT)
    lengths = [minimize_findings(model, each).findings[0].trace.length for each in (ended, interrupted)]
    assert lengths == [2, 4]
    counts = [len(with_groups(model, kernel_for(model), each).groups) for each in (ended, interrupted)]
    assert counts == [1, 0]


def test_a_proof_of_the_shortest_length_is_kept_only_at_that_length(model):
    steps = ("move_dog(2)", "post(2)", "deliver(2)")
    proved = evolve(taken(model, *steps, prop="nothing_is_lost(2)"), shortest="exhaustive")
    assert shrink(model, proved).shortest == "exhaustive"
    longer = evolve(taken(model, "post(1)", *steps, "deliver(1)", prop="nothing_is_lost(2)"), shortest="exhaustive")
    assert shrink(model, longer).shortest is None


def test_the_same_trace_shrinks_to_the_same_result():
    model = Model(DIE_HARD)
    trace = next(violating_walks(model, model.properties[0], seed=3))
    assert shrink(model, trace) == shrink(model, trace)
