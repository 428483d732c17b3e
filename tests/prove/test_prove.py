"""Proofs: induction, shortest violations, and closed domains."""
import pytest

from model.examples.reference import REFERENCE
from model.examples.scenarios import SCENARIOS
from model.language import Kind, Model
from model.language.lift import lift
from search.exhaust import exhaust
from search.prove import escapes, is_inductive, prove
from search.verdict import Answer

PAIRS = [(s, v) for s in SCENARIOS for v in (s.variants or {s.default_variant: {}})]


@pytest.mark.parametrize(("name", "length"), [("disk_matches_znode", 3), ("leaders_when_settled", 9)])
def test_bounded_checking_finds_the_known_shortest_traces_of_the_reference_model(name, length):
    model = Model(REFERENCE)
    verdict = prove(model, claims=model.claims_of(name), induction=0, support=False)
    assert verdict.answer is Answer.VIOLATED
    assert verdict.counterexample.length == length
    assert verdict.counterexample.shortest == "prove"


def test_what_is_not_violated_within_the_depth_is_undecided_and_says_how_deep():
    model = Model(REFERENCE)
    verdict = prove(model, claims=model.claims_of("leaders_when_settled"), depth=4, induction=0, support=False)
    assert verdict.answer is Answer.UNDECIDED
    assert "4 steps" in verdict.how


@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=[f"{s.name}-{v}" for s, v in PAIRS])
def test_the_domains_of_every_example_are_closed_or_the_escape_is_an_unreachable_state(scenario, variant):
    model = Model(scenario, variant)
    for escape in escapes(lift(model)):
        with pytest.raises(Exception, match=r"leaves its domain|is outside|must be|has the indices|empty"):
            model.attempt(model.instance(escape.action), model.canonical(escape.state))


@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=[f"{s.name}-{v}" for s, v in PAIRS])
def test_what_is_proved_inductive_is_never_violated_by_exhaustive_search(scenario, variant):
    model = Model(scenario, variant)
    lifted = lift(model)
    provable = [c for c in lifted.claims if c.claim.kind in (Kind.ALWAYS, Kind.STEP)]
    proved = tuple(c.claim for c in provable if is_inductive(model, lifted, c))
    if proved:
        verdict = exhaust(model, claims=proved, seconds=20)
        assert verdict.answer in (Answer.HOLDS, Answer.UNDECIDED)


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("ewd840", "dijkstras_invariant"),
        ("readers-writers", "one_writer"),
        ("tic-tac-toe", "one_winner"),
        ("voting", "votes_are_safe"),
    ],
)
def test_published_inductive_invariants_are_proved(name, claim):
    model = Model(next(s for s in SCENARIOS if s.name == name))
    verdict = prove(model, claims=model.claims_of(claim))
    assert (verdict.answer, verdict.how) == (Answer.HOLDS, "proved")


def test_a_claim_that_an_action_breaks_is_not_inductive():
    model = Model(REFERENCE)
    lifted = lift(model)
    assert not any(is_inductive(model, lifted, claim) for claim in lifted.claims)
