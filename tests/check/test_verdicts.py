"""What a verdict answers, and what it leaves open."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import Actor, Model, Scenario, action, always, eventually, number, reachable, require, state
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import EXIT_CODES, Answer, ProofOutcome, Strength
from tests.liveness.classics import LOSSY, Line, value_arrives
from tests.queries import prove

USER = Actor("user")


@state
class Counter:
    """A counter that a user advances."""

    value: int = number(0, 9)


@action(by=USER, description="the user counts")
def advance(counter: Counter) -> None:
    """Stop at 3."""
    require(counter.value < 3)
    counter.value += 1


@always()
def stays_small(counter: Counter) -> bool:
    """Holds."""
    return counter.value < 4


@always()
def stays_below_three(counter: Counter) -> bool:
    """Violated after 3 steps."""
    return counter.value < 3


@reachable()
def gets_to_two(counter: Counter) -> bool:
    """Satisfied after 2 steps."""
    return counter.value == 2


@reachable()
def gets_to_nine(counter: Counter) -> bool:
    """Satisfied by no reachable state."""
    return counter.value == 9


COUNTER = Scenario(
    name="counter",
    story="A user counts to three.",
    state=Counter,
    actions=(advance,),
    properties=(stays_small, gets_to_two, gets_to_nine),
)


@pytest.mark.parametrize("engine", [exhaust, prove])
def test_a_reachable_property_that_no_state_satisfies_is_no_violation(engine):
    verdict = engine(Model(COUNTER))
    assert verdict.answer is Answer.NOT_REACHABLE and verdict.exit_code == 14
    assert verdict.strength in (Strength.EXHAUSTIVE, Strength.PROVED)
    assert [(finding.prop, finding.trace) for finding in verdict.findings] == [("gets_to_nine()", None)]


def test_a_violation_is_the_answer_even_where_a_reachable_property_is_not_satisfied():
    verdict = exhaust(Model(evolve(COUNTER, properties=(gets_to_nine, stays_below_three))), keep_going=True)
    assert verdict.answer is Answer.VIOLATED and verdict.counterexample.length == 3
    assert [finding.prop for finding in verdict.findings] == ["stays_below_three()", "gets_to_nine()"]


def test_every_answer_has_an_exit_code_of_its_own():
    assert set(EXIT_CODES) == set(Answer) and len(set(EXIT_CODES.values())) == len(Answer)


def test_the_outcomes_of_a_proof_are_named():
    outcomes = {proof.prop: proof.outcome for proof in prove(Model(COUNTER)).proofs}
    assert outcomes == {
        "stays_small()": ProofOutcome.PROVED,
        "gets_to_two()": ProofOutcome.WITNESSED,
        "gets_to_nine()": ProofOutcome.VIOLATED,
    }


@eventually()
def everything_is_acknowledged(line: Line) -> bool:
    """Again and again nothing is on its way; it has no premise."""
    return line.sender.acknowledged == line.sender.bit


def test_an_eventually_property_that_was_not_checked_is_not_called_untested():
    model = Model(evolve(LOSSY, properties=(value_arrives, everything_is_acknowledged)))
    verdict = exhaust(model)
    assert [finding.prop for finding in verdict.findings] == ["value_arrives()"]
    assert "everything_is_acknowledged()" not in verdict.premises
    assert not any("never tested" in note for note in vacuity_notes(verdict, model))
    assert any(note.startswith("everything_is_acknowledged() is not settled") for note in verdict.notes)
    assert exhaust(model, keep_going=True).premises["everything_is_acknowledged()"] > 0
