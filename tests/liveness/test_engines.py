"""Engines that cannot tell what comes eventually say so, and budgets leave such claims undecided."""
from __future__ import annotations

import pytest
from attrs import evolve

from model.examples.alternating_bit import ALTERNATING_BIT, Line
from model.language import DomainError, LiftError, Model, UsageError, eventually
from search.exhaust import exhaust
from search.fairness import closed, never_ends
from search.graph import explore
from search.hypothesis import hypothesis_search
from search.prove import prove
from search.shrink import shrink
from search.verdict import Answer, Verdict
from search.walks import walk
from tests.liveness.classics import LOSSY, SLEEPERS, value_arrives

BOTH = evolve(ALTERNATING_BIT, invariants=(*ALTERNATING_BIT.invariants, value_arrives))


def reduced(model: Model) -> Verdict:
    """What a search says that leaves loops out."""
    return exhaust(model, reduce=True)


@pytest.mark.parametrize(
    "engine", [walk, prove, hypothesis_search, reduced], ids=["walk", "prove", "hypothesis", "reduced"]
)
def test_an_engine_that_cannot_tell_says_so_and_answers_nothing(engine):
    verdict = engine(Model(LOSSY), seconds=5.0) if engine is prove else engine(Model(LOSSY))
    assert verdict.answer is Answer.UNDECIDED
    assert verdict.how == "what comes eventually was not looked at"
    assert "value_arrives" not in verdict.invariants
    assert any("value_arrives" in note and "`kwalk exhaust` can" in note for note in verdict.notes)


def test_walks_answer_for_the_other_claims_only():
    verdict = walk(Model(BOTH), walks=50)
    assert (verdict.answer, verdict.how) == (Answer.HOLDS, "sampled")
    assert verdict.invariants == tuple(invariant.name for invariant in ALTERNATING_BIT.invariants)


def test_a_proof_of_the_other_claims_is_no_proof_of_all():
    one = next(i for i in ALTERNATING_BIT.invariants if i.name == "arrivals_alternate")
    model = Model(evolve(ALTERNATING_BIT, invariants=(one, value_arrives)))
    assert prove(model, claims=model.claims_of("arrivals_alternate")).answer is Answer.HOLDS
    assert prove(model).answer is Answer.UNDECIDED


def test_a_graph_does_not_call_a_waiting_state_violated():
    assert not any(node.violated for node in explore(Model(LOSSY)).nodes)


def test_a_lasso_is_not_shrunk():
    trace = exhaust(Model(LOSSY)).counterexample
    with pytest.raises(UsageError, match="never ends is not shrunk"):
        shrink(Model(LOSSY), trace)


def test_a_violated_safety_claim_ends_the_search_before_waits_are_looked_at():
    verdict = exhaust(Model(SLEEPERS, "one-wait-set"))
    assert verdict.answer is Answer.DEADLOCK
    assert "sleeper_wakes(0) is not settled: its waits were not looked through (violation)." in verdict.notes


@pytest.mark.parametrize("budget", [{"seconds": 0.0}, {"memory_bytes": 1 << 20}])
def test_a_spent_budget_leaves_it_undecided(budget):
    verdict = exhaust(Model(BOTH, bounds={"data": 6, "slots": 8}), **budget)
    assert verdict.answer is Answer.UNDECIDED
    assert any("value_arrives() is not settled" in note for note in verdict.notes)


def test_a_budget_that_is_spent_among_the_waits_leaves_them_undecided(monkeypatch):
    monkeypatch.setattr("search.liveness.region.STATE_BYTES", 1 << 40)
    verdict = exhaust(Model(BOTH))
    assert (verdict.answer, verdict.distinct_states) == (Answer.UNDECIDED, 240)
    assert verdict.how.startswith("memory budget")
    assert "value_arrives() is not settled: its waits were not looked through (memory budget)." in verdict.notes


def test_ctrl_c_among_the_waits_is_an_ending(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("search.liveness.find_components", interrupted)
    verdict = exhaust(Model(BOTH))
    assert (verdict.answer, verdict.how) == (Answer.UNDECIDED, "interrupted")


def test_a_loop_that_was_not_written_down_is_found_again():
    model = Model(LOSSY)
    trace, (claim,) = exhaust(model).counterexample, model.claims
    assert closed(model, claim, evolve(trace, loop=None)) == trace
    assert not never_ends(model, claim, evolve(trace, loop=None))


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_an_unfair_loop_is_no_counterexample(cut):
    model = Model(LOSSY)
    trace = exhaust(model).counterexample
    short = evolve(trace, actions=trace.actions[:cut], states=trace.states[: cut + 1], loop=cut)
    assert not never_ends(model, model.claims[0], short)


def test_what_is_awaited_must_make_sense_everywhere():
    @eventually()
    def head_is_taken(line: Line) -> bool:
        return line.packets.head.bit

    with pytest.raises((DomainError, LiftError), match="head_is_taken"):
        exhaust(Model(evolve(LOSSY, invariants=(head_is_taken,))))
