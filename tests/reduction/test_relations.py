"""Plain Python confirms what is said of pairs of cases, on states that random walks meet."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from model.language import Model, Scenario, Vector
from model.language.lift.evaluation import evaluate_terms
from model.language.registry import announced
from search.agreement import reachable_states
from search.compile import kernel_for
from search.reduction.plan import Plan, Planner
from tests.agreement.zoo import ZOO
from tests.reduction.resignation import TOWN
from tests.search.post_office import POST_OFFICE

MODELS = [TOWN, ZOO, POST_OFFICE, announced()["chang-roberts"], announced()["topic-id-core"]]
CONDITIONAL = ("zoo", "topic-id-core")
"""Models with pairs of cases that clash in some states only, and are met in others."""


class Relations:
    """A plan, and the cases and atoms that it speaks of."""

    def __init__(self, scenario: Scenario) -> None:
        self.model = Model(scenario)
        planner = Planner(self.model, kernel_for(self.model))
        self.plan: Plan = planner.plan()
        self.cases, self.atoms = planner.cases, planner.atoms.terms
        self.conditions = [int.from_bytes(row.tobytes(), "little") for row in self.plan.pair_needs]

    def truths(self, state: Vector) -> list[int]:
        """Which atoms are true."""
        return evaluate_terms(self.atoms, state)

    def enabled(self, state: Vector) -> Iterator[int]:
        """The cases that are enabled."""
        for case in self.cases:
            if all(evaluate_terms(case.atoms, state)):
                yield case.index

    def step(self, case: int, state: Vector) -> Vector:
        """The state after a case."""
        after = self.model.attempt(self.model.instances[self.cases[case].instance], state).after
        assert after is not None
        return after

    def holds(self, rows: str, row: int, number: int) -> bool:
        """Whether a bit of one of the plan's rows is set."""
        words = getattr(self.plan, rows)[row]
        return bool(int(words[number // 64]) >> (number % 64) & 1)

    def condition(self, one: int, other: int) -> int:
        """The number of the condition of two cases, -1 if they have none."""
        return int(self.plan.pair_numbers[one, other])

    def met(self, truths: list[int]) -> set[int]:
        """The conditions of which an atom is true."""
        true = sum(1 << number for number, truth in enumerate(truths) if truth)
        return {number for number, atoms in enumerate(self.conditions) if atoms & true}


@pytest.fixture(scope="module", params=MODELS, ids=[s.name for s in MODELS])
def related(request):
    return Relations(request.param)


def states(model: Model) -> list[Vector]:
    count = 120 if len(model.instances) < 30 else 20
    return list(dict.fromkeys(reachable_states(model, count, seed=5)))


def test_exactly_one_case_is_enabled_where_an_instance_can_be_taken_and_none_elsewhere(related):
    for state in states(related.model):
        taken = [instance.index for instance, _ in related.model.successors(state)]
        assert sorted(related.cases[case].instance for case in related.enabled(state)) == taken


def test_cases_that_do_not_clash_commute_and_do_not_disable_each_other(related):
    looked_at = 0
    for state in states(related.model):
        after = {case: related.step(case, state) for case in related.enabled(state)}
        for one, other in combinations(after, 2):
            assert related.holds("clashes", one, other) == related.holds("clashes", other, one)
            if not related.holds("clashes", one, other):
                assert other in related.enabled(after[one]) and one in related.enabled(after[other])
                assert related.step(other, after[one]) == related.step(one, after[other])
                looked_at += 1
    assert looked_at > 0


def test_cases_that_clash_under_a_condition_commute_where_it_is_not_met(related):
    looked_at = 0
    for state in states(related.model):
        met = related.met(related.truths(state))
        after = {case: related.step(case, state) for case in related.enabled(state)}
        for one, other in combinations(after, 2):
            number = related.condition(one, other)
            assert number == related.condition(other, one) and (number >= 0) == related.holds("sometimes", one, other)
            if number >= 0 and number not in met:
                assert other in related.enabled(after[one]) and one in related.enabled(after[other])
                assert related.step(other, after[one]) == related.step(one, after[other])
                looked_at += 1
    assert (looked_at > 0) == (related.model.scenario.name in CONDITIONAL)


def test_what_makes_a_condition_met_is_said_to(related):
    for state in states(related.model):
        before = related.met(related.truths(state))
        for case in related.enabled(state):
            for number in related.met(related.truths(related.step(case, state))) - before:
                assert related.holds("pair_causes", number, case)


def test_what_makes_an_atom_true_or_a_guard_false_is_said_to(related):
    raised = lowered = 0
    for state in states(related.model):
        before = related.truths(state)
        guards = [related.model.attempt(i, state).result.name != "DISABLED" for i in related.model.instances]
        for case in related.enabled(state):
            after = related.step(case, state)
            for number, (was, now) in enumerate(zip(before, related.truths(after), strict=True)):
                if now and not was:
                    assert related.holds("causes", number, case)
                    raised += 1
            for instance, could in zip(related.model.instances, guards, strict=True):
                if could and instance.action.by.system:
                    can = related.model.attempt(instance, after).result.name != "DISABLED"
                    assert can or related.holds("stoppers", instance.index, case)
                    lowered += not can
    assert raised > 0 and lowered > 0
