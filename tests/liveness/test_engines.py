"""Engines that cannot decide what comes eventually answer so, and budgets leave such properties undecided."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.examples.alternating_bit import ALTERNATING_BIT, Line
from kwalk.model.language import DomainError, LiftError, Model, UsageError, eventually
from kwalk.search.analyses.state_graph import explore
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.minimize.shrink import shrink
from kwalk.search.results.fairness import is_fair_counterexample, with_loop
from kwalk.search.results.verdict import Answer, Strength, Verdict
from kwalk.search.simulation.walk import walk
from tests.liveness.classics import LOSSY, SLEEPERS, value_arrives
from tests.queries import hypothesis_search, prove

BOTH = evolve(ALTERNATING_BIT, properties=(*ALTERNATING_BIT.properties, value_arrives))


def reduced(model: Model) -> Verdict:
    """What a search says that leaves loops out."""
    return exhaust(model, reduce=True)


@pytest.mark.parametrize(
    "engine", [walk, prove, hypothesis_search, reduced], ids=["walk", "prove", "hypothesis", "reduced"]
)
def test_an_engine_that_cannot_decide_says_so_and_answers_nothing(engine):
    verdict = engine(Model(LOSSY), seconds=5.0) if engine is prove else engine(Model(LOSSY))
    assert verdict.answer is Answer.UNDECIDED
    assert verdict.stopped is StopReason.LIVENESS
    assert "value_arrives" not in verdict.properties
    assert any("value_arrives" in note and "`kwalk exhaust` does" in note for note in verdict.notes)


def test_walks_answer_for_the_other_properties_only():
    verdict = walk(Model(BOTH), walks=50)
    assert (verdict.answer, verdict.strength) == (Answer.HOLDS, Strength.SAMPLED)
    assert verdict.properties == tuple(invariant.name for invariant in ALTERNATING_BIT.properties)


def test_a_proof_of_the_other_properties_is_no_proof_of_all():
    one = next(i for i in ALTERNATING_BIT.properties if i.name == "arrivals_alternate")
    model = Model(evolve(ALTERNATING_BIT, properties=(one, value_arrives)))
    assert prove(model, properties=model.properties_of("arrivals_alternate")).answer is Answer.HOLDS
    assert prove(model).answer is Answer.UNDECIDED


def test_a_graph_does_not_call_a_waiting_state_violated():
    assert not any(node.violated for node in explore(Model(LOSSY)).nodes)


def test_a_lasso_is_not_shrunk():
    trace = exhaust(Model(LOSSY)).counterexample
    with pytest.raises(UsageError, match="A lasso is not shrunk"):
        shrink(Model(LOSSY), trace)


def test_a_violated_safety_property_ends_the_search_before_waits_are_looked_at():
    verdict = exhaust(Model(SLEEPERS, "one-wait-set"))
    assert verdict.answer is Answer.DEADLOCK
    assert "sleeper_wakes(0) is not settled: its waits were not searched (violation)." in verdict.notes


@pytest.mark.parametrize("budget", [{"seconds": 0.0}, {"memory_bytes": 1 << 20}])
def test_a_spent_budget_leaves_it_undecided(budget):
    verdict = exhaust(Model(BOTH, bounds={"data": 6, "slots": 8}), **budget)
    assert verdict.answer is Answer.UNDECIDED
    assert any("value_arrives() is not settled" in note for note in verdict.notes)


def test_a_budget_that_is_spent_among_the_waits_leaves_them_undecided(monkeypatch):
    monkeypatch.setattr("kwalk.search.liveness.waiting.STATE_BYTES", 1 << 40)
    verdict = exhaust(Model(BOTH))
    assert (verdict.answer, verdict.distinct_states) == (Answer.UNDECIDED, 240)
    assert verdict.qualifier.startswith("memory budget")
    assert "value_arrives() is not settled: its waits were not searched (memory budget)." in verdict.notes


def test_ctrl_c_among_the_waits_is_an_ending(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kwalk.search.liveness.search.find_components", interrupted)
    verdict = exhaust(Model(BOTH))
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.INTERRUPT)


def test_a_loop_that_was_not_written_down_is_found_again():
    model = Model(LOSSY)
    trace, (prop,) = exhaust(model).counterexample, model.properties
    assert with_loop(model, prop, evolve(trace, loop=None)) == trace
    assert not is_fair_counterexample(model, prop, evolve(trace, loop=None))


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_an_unfair_loop_is_no_counterexample(cut):
    model = Model(LOSSY)
    trace = exhaust(model).counterexample
    short = evolve(trace, actions=trace.actions[:cut], states=trace.states[: cut + 1], loop=cut)
    assert not is_fair_counterexample(model, model.properties[0], short)


def test_what_is_awaited_must_make_sense_everywhere():
    @eventually()
    def head_is_taken(line: Line) -> bool:
        return line.packets.head.bit

    with pytest.raises((DomainError, LiftError), match="head_is_taken"):
        exhaust(Model(evolve(LOSSY, properties=(head_is_taken,))))
