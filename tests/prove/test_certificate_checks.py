"""The check of certificates without Z3: the clause solver, gates as clauses, and gaps that plain Python confirms."""

import random
import sys

import pytest
import z3

from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Kind, Model
from kwalk.model.language.lift import lift
from kwalk.search.proof.certificate import NO_STEP, property_gap
from kwalk.search.proof.clause_solver import ClauseSolver, SolverMissing
from kwalk.search.proof.context import ProofContext
from kwalk.search.proof.cubes import Cube
from kwalk.search.proof.gate_queries import StateGates
from kwalk.search.proof.slicing import whole_model
from kwalk.search.results.verdict import Answer
from kwalk.search.solver.terms import can_be_taken
from tests.queries import prove

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
SUPPORTED = [("two-phase-commit", "decisions_last(1)"), ("chang-roberts", "winner_is_lowest_initiator(2)")]


def random_clauses(chance, variables, count):
    return [
        [2 * v + chance.randint(0, 1) for v in chance.sample(range(variables), min(3, variables))] for _ in range(count)
    ]


def solver_of(variables, clauses):
    solver = ClauseSolver()
    for _ in range(variables):
        solver.variable()
    for clause in clauses:
        solver.add(clause)
    return solver


def expression(literal):
    name = z3.Bool(f"v{literal >> 1}")
    return z3.Not(name) if literal & 1 else name


@pytest.mark.parametrize("seed", range(8))
def test_the_clause_solver_agrees_with_z3_on_random_clauses_near_the_threshold(seed):
    """With assumptions, and with clauses added between two queries, which all see what earlier ones have learned."""
    chance = random.Random(seed)
    for _ in range(12):
        variables = chance.randint(3, 60)
        clauses = random_clauses(chance, variables, int(4.2 * variables))
        solver, other = solver_of(variables, clauses), z3.Solver()
        other.add([z3.Or(list(map(expression, clause))) for clause in clauses])
        for _ in range(5):
            assumed = [2 * v + chance.randint(0, 1) for v in chance.sample(range(variables), chance.randint(0, 3))]
            possible = solver.possible(assumed)
            assert possible == (other.check(*map(expression, assumed)) == z3.sat)
            if possible:
                assert all(map(solver.is_true, assumed))
                assert all(any(map(solver.is_true, clause)) for clause in clauses)
            clauses += random_clauses(chance, variables, 1)
            solver.add(clauses[-1])
            other.add(z3.Or(list(map(expression, clauses[-1]))))


def test_more_pigeons_than_holes_are_impossible_and_the_effort_is_limited():
    holes = range(5)
    literal = {(pigeon, hole): 2 * (5 * pigeon + hole) for pigeon in range(6) for hole in holes}
    clauses = [[literal[pigeon, hole] for hole in holes] for pigeon in range(6)]
    clauses += [
        [literal[one, hole] + 1, literal[other, hole] + 1] for hole in holes for one in range(6) for other in range(one)
    ]
    assert not solver_of(30, clauses).possible()
    with pytest.raises(TimeoutError, match="3 conflicts did not settle it"):
        solver_of(30, clauses).possible(most_conflicts=3)


def test_an_impossible_clause_set_stays_impossible():
    solver = solver_of(2, [[0], [1]])
    solver.add([2])
    assert not solver.possible() and not solver.possible([2])


@pytest.mark.parametrize("name", ["two-phase-commit", "chang-roberts", "alternating-bit", "die-hard"])
def test_a_state_that_gates_find_is_one_in_which_plain_python_takes_the_step(name):
    model = Model(BY_NAME[name])
    lifted = lift(model)
    states = StateGates(whole_model(lifted), [])
    for action in lifted.actions:
        found = states.query(can_be_taken(lifted.terms, action)).state_with(lifted.terms.true)
        if found is not None and model.canonical(found) == found:
            assert model.attempt(action.instance, found).after is not None


@pytest.mark.parametrize(("name", "key"), SUPPORTED)
def test_a_damaged_certificate_has_a_gap_that_plain_python_confirms(name, key):
    """Each invariant is left out in turn; the proof needs most of them."""
    model = Model(BY_NAME[name])
    lifted = lift(model)
    prop = next(prop for prop in lifted.properties if prop.prop.key == key)
    facts = list(ProofContext(model, lifted).support(prop).facts)
    part = whole_model(lifted)
    assert property_gap(part, prop, facts) is None
    without = [[fact for fact in facts if fact != left_out] for left_out in facts]
    gaps = [(gap, kept) for kept in without if (gap := property_gap(part, prop, kept)) is not None]
    assert len(gaps) > len(facts) / 2
    for gap, kept in gaps:
        assert gap.instance != NO_STEP
        assert not any(fact.contains_state(gap.state) for fact in kept)
        after = model.attempt(model.instances[gap.instance], gap.state).after
        fails = gap.fact.contains_state(after) if gap.fact is not None else fails_after(model, prop, gap.state, after)
        assert fails


def fails_after(model, prop, before, after):
    return model.violates(prop.prop, after, before if prop.prop.kind is Kind.STEP else None)


def test_an_invariant_that_fails_initially_is_a_gap():
    model = Model(BY_NAME["two-phase-commit"])
    lifted = lift(model)
    start = model.initial[0]
    gap = property_gap(whole_model(lifted), lifted.properties[0], [Cube({0: (start[0], start[0])})])
    assert (gap.state, gap.instance) == (start, NO_STEP)


def test_without_the_solver_a_proof_that_rests_on_invariants_is_not_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    with pytest.raises(SolverMissing, match=r"pip install 'kwalk\[certificates\]'"):
        ClauseSolver()
    model = Model(BY_NAME[SUPPORTED[0][0]])
    verdict = prove(model, properties=(next(prop for prop in model.properties if prop.key == SUPPORTED[0][1]),))
    assert verdict.answer is Answer.UNDECIDED
    assert "could not be checked again" in str((verdict.notes, verdict.proofs))
