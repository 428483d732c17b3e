"""Proof graphs: lemmas guessed from examples, what they exclude, and what they must never exclude."""

import numpy as np
import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.examples.scenarios import SCENARIOS as EXAMPLES
from kwalk.model.language import Model
from kwalk.model.language.lift import lift
from kwalk.search.proof.lemma_guesses import Examples
from kwalk.search.proof.proof_graph import GoalReached, ProofGoal, ProofGraph, StepQueries, domain_goals, property_goal
from kwalk.search.proof.sampling import PackedStepper, sample_states
from kwalk.search.results.trace import run
from tests.prove import still_clock
from tests.states import reachable_states

BY_NAME = {scenario.name: scenario for scenario in (*EXAMPLES, *SCENARIOS)}
PROVED = [
    ("two-phase-commit", "managers_agree()"),
    ("ticket-lock", "queue_moves_forward(0)"),
    ("alternating-bit", "old_packets_are_duplicates()"),
]


def graph_of(model, states=2_000):
    stepper = PackedStepper(model)
    return ProofGraph(StepQueries(lift(model)), stepper, sample_states(stepper, states))


def property_of(lifted, key):
    return next(prop for prop in lifted.properties if prop.prop.key == key)


@pytest.mark.parametrize(("name", "key"), PROVED)
def test_facts_of_a_proof_graph_are_confirmed_and_hold_in_reachable_states_of_plain_python(name, key):
    model = Model(BY_NAME[name])
    graph = graph_of(model)
    goal = property_goal(graph.queries.lifted, property_of(graph.queries.lifted, key))
    facts = graph.prove(goal)
    assert facts
    assert graph.is_certificate(goal, facts)
    for state in reachable_states(model, 300, seed=8):
        assert not any(cube.contains_state(state) for cube in facts)


@pytest.mark.parametrize(("name", "key"), PROVED[:2])
def test_no_fact_of_a_proof_graph_can_be_left_out_unnoticed(name, key):
    """A certificate with a gap is refused, unless what is left is inductive without that fact, too."""
    graph = graph_of(Model(BY_NAME[name]))
    goal = property_goal(graph.queries.lifted, property_of(graph.queries.lifted, key))
    facts = graph.prove(goal)
    refused = [fact for fact in facts if not graph.is_certificate(goal, facts - {fact})]
    assert refused


def test_a_model_without_anything_that_changes_has_a_proof_graph():
    """Z3 concatenates two parts at least, and its state has none."""
    graph = graph_of(Model(still_clock.SCENARIO))
    goal = property_goal(graph.queries.lifted, property_of(graph.queries.lifted, "ticks_are_counted()"))
    assert graph.prove(goal) == frozenset()


def test_a_property_that_fails_gets_a_behaviour_that_plain_python_confirms():
    model = Model(BY_NAME["topic-id-core"])
    graph = graph_of(model)
    (prop,) = (prop for prop in graph.queries.lifted.properties if prop.prop.key == "disk_matches_znode()")
    outcome = graph.prove(property_goal(graph.queries.lifted, prop))
    assert isinstance(outcome, GoalReached)
    actions = tuple(model.instances[number].key for number in outcome.instances)
    assert model.violates(prop.prop, run(model, outcome.start, actions)[-1])


def test_lemmas_that_were_wrong_are_dropped_and_replaced_if_there_are_few_examples():
    """With three examples nearly all guesses are wrong; the facts at the end are true all the same."""
    model = Model(BY_NAME["two-phase-commit"])
    graph = graph_of(model, 3)
    goal = property_goal(graph.queries.lifted, property_of(graph.queries.lifted, "managers_agree()"))
    facts = graph.prove(goal)
    assert graph.wrong > 0
    assert graph.is_certificate(goal, facts)
    assert not any(cube.contains_state(state) for cube in facts for state in reachable_states(model, 300, seed=8))


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
            assert guess.contains_state(state)
            assert not any(guess.contains_state(row) for row in rows)


def test_domains_that_are_not_closed_by_themselves_are_closed_with_facts_in_a_kafka_scenario():
    """In-domain states that cannot be reached, such as parallel queues of different length, stand in the way."""
    model = Model(BY_NAME["old-client-expansion"], bounds={"brokers": 1, "restarts": 0, "topic_ids": 2})
    graph = graph_of(model)
    assert graph.sample.is_complete
    goals = {goal.action: goal for goal in domain_goals(graph.queries.lifted)}
    facts = graph.prove(goals["handle_leader_and_isr(0)"])
    assert facts
    assert not any(cube.contains_state(state) for cube in facts for state in graph.sample.vectors.tolist())


def test_a_goal_has_the_name_of_its_property_and_bad_steps_of_its_instances():
    graph = graph_of(Model(BY_NAME["two-phase-commit"]))
    goal = property_goal(graph.queries.lifted, property_of(graph.queries.lifted, "managers_agree()"))
    assert isinstance(goal, ProofGoal)
    assert goal.name == "managers_agree()"
    assert set(goal.bad) <= {instance.index for instance in graph.model.instances}
