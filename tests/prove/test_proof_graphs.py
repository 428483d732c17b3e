"""Proof graphs: lemmas guessed from examples, what they exclude, and what they must never exclude."""
import numpy as np
import pytest

from invariants.scenarios import SCENARIOS
from model.examples.scenarios import SCENARIOS as EXAMPLES
from model.language import Model
from model.language.lift import lift
from search.agreement import reachable_states
from search.prove.lemmas import Confirmation, Goal, Met, ProofGraph, of_claim, of_domains
from search.prove.lemmas.examples import Examples
from search.prove.sampling import Stepping, sample
from search.trace import run

BY_NAME = {scenario.name: scenario for scenario in (*EXAMPLES, *SCENARIOS)}
PROVED = [
    ("two-phase-commit", "managers_agree()"),
    ("ticket-lock", "queue_moves_forward(0)"),
    ("alternating-bit", "old_packets_are_duplicates()"),
]


def graph_of(model, states=2_000):
    stepping = Stepping(model)
    return ProofGraph(lift(model), stepping, sample(stepping, states))


def claim_of(lifted, key):
    return next(claim for claim in lifted.claims if claim.claim.key == key)


@pytest.mark.parametrize(("name", "key"), PROVED)
def test_facts_of_a_proof_graph_are_confirmed_and_hold_in_reachable_states_of_plain_python(name, key):
    model = Model(BY_NAME[name])
    graph = graph_of(model)
    goal = of_claim(graph.lifted, claim_of(graph.lifted, key))
    facts = graph.prove(goal)
    assert facts
    assert Confirmation(graph.lifted, facts).stands(goal)
    for state in reachable_states(model, 300, seed=8):
        assert not any(cube.has_state(state) for cube in facts)


@pytest.mark.parametrize(("name", "key"), PROVED[:2])
def test_no_fact_of_a_proof_graph_can_be_left_out_unnoticed(name, key):
    """A certificate with a gap is refused, unless what is left is inductive without that fact, too."""
    graph = graph_of(Model(BY_NAME[name]))
    goal = of_claim(graph.lifted, claim_of(graph.lifted, key))
    facts = graph.prove(goal)
    refused = [fact for fact in facts if not Confirmation(graph.lifted, facts - {fact}).stands(goal)]
    assert refused


def test_a_claim_that_fails_is_met_by_a_behaviour_that_plain_python_confirms():
    model = Model(BY_NAME["topic-id-core"])
    graph = graph_of(model)
    (claim,) = (claim for claim in graph.lifted.claims if claim.claim.key == "disk_matches_znode()")
    outcome = graph.prove(of_claim(graph.lifted, claim))
    assert isinstance(outcome, Met)
    actions = tuple(model.instances[number].key for number in outcome.instances)
    assert model.violates(claim.claim, run(model, outcome.start, actions)[-1])


def test_lemmas_that_were_wrong_are_dropped_and_proved_anew_from_few_examples():
    """With next to no examples nearly all guesses are wrong; what is left in the end is right all the same."""
    model = Model(BY_NAME["two-phase-commit"])
    graph = graph_of(model, 3)
    goal = of_claim(graph.lifted, claim_of(graph.lifted, "managers_agree()"))
    facts = graph.prove(goal)
    assert graph.wrong > 0
    assert Confirmation(graph.lifted, facts).stands(goal)
    assert not any(cube.has_state(state) for cube in facts for state in reachable_states(model, 300, seed=8))


def test_a_guess_excludes_the_state_and_no_example():
    model = Model(BY_NAME["two-phase-commit"])
    rows = np.array(reachable_states(model, 200, seed=1))
    examples = Examples(model, rows)
    varying = [n for n, leaf in enumerate(model.leaves) if leaf.low < leaf.high]
    chance = np.random.default_rng(0)
    for _ in range(200):
        one, other = rows[chance.integers(len(rows), size=2)]
        state = np.where(chance.random(len(one)) < 0.5, one, other).tolist()
        if examples.agreeing(state, varying) is None:
            guess = examples.guess(state, varying)
            assert guess.has_state(state)
            assert not any(guess.has_state(row) for row in rows)


def test_domains_that_are_not_closed_by_themselves_are_closed_with_facts_in_a_kafka_scenario():
    """In-domain states that cannot be reached, such as parallel queues of different length, stand in the way."""
    model = Model(BY_NAME["old-client-expansion"], bounds={"brokers": 1, "restarts": 0, "topic_ids": 2})
    graph = graph_of(model)
    assert graph.sample.is_complete
    goals = {goal.action: goal for goal in of_domains(graph.lifted)}
    facts = graph.prove(goals["handle_leader_and_isr(0)"])
    assert facts
    assert not any(cube.has_state(state) for cube in facts for state in graph.sample.vectors.tolist())


def test_a_goal_says_what_it_is_about():
    graph = graph_of(Model(BY_NAME["two-phase-commit"]))
    goal = of_claim(graph.lifted, claim_of(graph.lifted, "managers_agree()"))
    assert isinstance(goal, Goal)
    assert goal.name == "managers_agree()"
    assert set(goal.bad) <= {instance.index for instance in graph.model.instances}
