"""What becomes of mutants of a small model: every fate occurs, for its reason, and ways are those of plain Python."""
from __future__ import annotations

from collections import Counter

import pytest

from model.language import DomainError, LiftError, Result, Trial
from search import exploration
from search.agreement import reachable_states
from search.compile.layout import layout_of
from search.mutation import Budget, Evidence, Fate, grounds_of, mutants_on, mutate
from search.mutation import workers as working
from search.mutation.differences import Difference, is_same
from search.mutation.examining import examined
from search.mutation.grounds import MutatedModel
from search.trace import run, shows
from tests.mutation.bakery import SCENARIO

FATES = {
    Fate.KILLED: 22, Fate.CRASHED: 1, Fate.NOTICED: 10, Fate.EQUIVALENT: 12, Fate.NOT_EXERCISED: 2,
    Fate.RESTRICTED: 3, Fate.SURVIVED: 13, Fate.REFUSED: 5,
}  # fmt: skip
EXAMPLES = [
    ("bakery.baked > bakery.sold", "return bakery.baked >= bakery.sold", Fate.KILLED, Evidence.EXHAUSTIVE),
    ("bakery.baked += 1", "pass", Fate.KILLED, Evidence.EXHAUSTIVE),
    ("require(bakery.last is not None)", "pass", Fate.CRASHED, Evidence.EXHAUSTIVE),
    ("bakery.dusty = True", "bakery.clean = True", Fate.SURVIVED, Evidence.EXHAUSTIVE),
    ("require(bakery.sold < bakery.baked)", "require(bakery.sold < bakery.sold)", Fate.NOTICED, Evidence.EXHAUSTIVE),
    ("if bakery.sold > LOAVES:", "if bakery.baked > LOAVES:", Fate.EQUIVALENT, Evidence.TERMS),
    ("if bakery.sold <= bakery.baked:", "if bakery.sold < bakery.baked:", Fate.EQUIVALENT, Evidence.PROOF),
    ("bakery.clean = False", "pass", Fate.EQUIVALENT, Evidence.REACHABLE),
    (
        "require(not bakery.dusty or not bakery.clean)",
        "require(not bakery.dusty and (not bakery.clean))",
        Fate.RESTRICTED,
        Evidence.EXHAUSTIVE,
    ),
    ("bakery.sold += 1", "bakery.returned += 1", Fate.REFUSED, Evidence.LIFTING),
]


@pytest.fixture(scope="module")
def ground():
    (found,) = grounds_of([Trial(SCENARIO)])
    return found


@pytest.fixture(scope="module")
def outcomes(ground):
    return {mutant: examined(mutant, [ground], Budget()) for mutant in mutants_on([ground])}


def test_every_fate_is_counted(outcomes):
    assert Counter(outcome.fate for outcome in outcomes.values()) == FATES


@pytest.mark.parametrize(("before", "after", "fate", "evidence"), EXAMPLES)
def test_a_mutant_ends_as_it_must(outcomes, before, after, fate, evidence):
    (outcome,) = [o for m, o in outcomes.items() if before in m.before and m.after == after]
    assert (outcome.fate, outcome.evidence) == (fate, evidence)


def test_the_way_to_what_kills_a_mutant_is_that_of_plain_python_and_is_none_of_the_models(ground, outcomes):
    killed = {m: o for m, o in outcomes.items() if o.fate is Fate.KILLED and o.actions is not None}
    assert len(killed) == 11
    for mutant, outcome in killed.items():
        (claim,) = ground.model.claims_of(outcome.claim)
        model = MutatedModel(ground.model, mutant)
        states = run(model, model.initial[outcome.start], outcome.actions)
        assert shows(model, claim, states)
        assert not any(shows(model, claim, states[:length]) for length in range(2, len(states)))


def test_a_crash_happens_at_the_end_of_its_way(ground, outcomes):
    ((mutant, outcome),) = [(m, o) for m, o in outcomes.items() if o.fate is Fate.CRASHED]
    model = MutatedModel(ground.model, mutant)
    state = run(model, model.initial[outcome.start], outcome.actions)[-1]
    with pytest.raises(DomainError):
        model.attempt(model.instance("look()"), state)


def test_a_claim_that_fails_without_any_mistake_kills_nothing(ground, outcomes):
    assert [finding.claim for finding in ground.verdict.findings] == ["never_dusty()"]
    assert "never_dusty()" not in {outcome.claim for outcome in outcomes.values()}


def test_a_claim_means_the_same_in_a_mutant_although_it_calls_the_function_with_the_mistake(ground):
    mutant = next(m for m in mutants_on([ground]) if m.after == "return not bakery.baked > bakery.sold")
    model, start = MutatedModel(ground.model, mutant), ground.model.initial[0]
    buy, (sold_out,) = model.instance("buy()"), model.claims_of("sold_out")
    assert ground.model.attempt(buy, start).result is Result.DISABLED
    assert model.attempt(buy, start).result is Result.DONE
    full = next(state for state in reachable_states(ground.model, 500, seed=1) if ground.model.truth(sold_out, state))
    assert model.truth(sold_out, full)


def test_differences_are_those_of_plain_python_in_every_reachable_state(ground):
    layout, compared = layout_of(ground.model.leaves), 0
    vectors = [tuple(row) for row in ground.kernel.unpack(ground.states).tolist()]
    for mutant in mutants_on([ground])[::3]:
        with mutant.planted():
            try:
                anew = ground.lifted_anew(ground.affected(mutant))
            except LiftError:
                continue
        model = MutatedModel(ground.model, mutant)
        for number, action in anew.items():
            one = ground.lifted.actions[number]
            difference = Difference(ground.model, ground.lifted.terms, one, action)
            said = [tried(ground.model, number, v) != tried(model, number, v) for v in vectors]
            first = next((place for place, differs in enumerate(said) if differs), None)
            assert difference.first_in(ground.states, layout) == first
            assert first is None or not is_same(one, action)
            compared += first is not None
    assert compared >= 15


def tried(model, number, vector):
    """What becomes of a step: the state after it, the bound that is reached, or that it fails."""
    try:
        outcome = model.attempt(model.instances[number], vector)
    except DomainError:
        return "failed"
    return outcome.after or outcome.bound or "disabled"


def test_workers_find_the_same_and_what_was_kept_is_not_looked_at_again(ground, outcomes, monkeypatch):
    kept, mutants = {}, list(outcomes)[:24]
    tried_ = mutate(mutants, [ground], Budget(), workers=2, keep=kept.update)
    assert [one.outcome for one in tried_] == [outcomes[mutant] for mutant in mutants]
    assert len(kept) == len(mutants)

    def no_more(*_):
        raise AssertionError("looked at again")

    monkeypatch.setattr(working, "_started", no_more)
    again = mutate(mutants, [ground], Budget(), kept=kept)
    assert [one.outcome for one in again] == [outcomes[mutant] for mutant in mutants]


def test_a_mutant_whose_search_does_not_finish_and_walks_find_nothing_is_undecided(ground):
    mutant = next(m for m in mutants_on([ground]) if m.after == "bakery.clean = True")
    outcome = examined(mutant, [ground], Budget(seconds=1e-9))
    assert (outcome.fate, outcome.seconds) == (Fate.UNDECIDED, 1e-9)


def test_what_walks_meet_where_a_search_does_not_finish_kills_as_well(ground, monkeypatch):
    monkeypatch.setattr(exploration, "LEAST_PACE", 1)
    mutant = next(m for m in mutants_on([ground]) if m.before == "require(anything_left(bakery))" and m.after == "pass")
    outcome = examined(mutant, [ground], Budget(seconds=1e-9))
    assert (outcome.fate, outcome.evidence) == (Fate.KILLED, Evidence.WALK)
