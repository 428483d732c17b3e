"""Plain Python confirms the relations of transition groups, in states of random walks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from kwalk.model.language import ActionInstance, DomainError, Model, Scenario, Vector
from kwalk.model.language.lift.terms import evaluate_terms
from kwalk.model.language.registry import announced
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.partial_order.plan import Planner, ReductionPlan
from tests.agreement.zoo import ZOO
from tests.reduction.resignation import TOWN
from tests.search.post_office import POST_OFFICE
from tests.states import reachable_states

MODELS = [TOWN, POST_OFFICE, announced()["chang-roberts"], announced()["topic-id-core"]]
CONDITIONAL = ("zoo", "topic-id-core")
"""Models with pairs of groups that do not accord in some states only, and were observed in others."""


class Relations:
    """A plan, with its groups and atoms."""

    def __init__(self, scenario: Scenario) -> None:
        self.model = Model(scenario)
        planner = Planner(self.model, kernel_for(self.model))
        self.plan: ReductionPlan = planner.plan()
        self.groups, self.atoms = planner.groups, planner.atoms.terms
        self.conditions = [int.from_bytes(row.tobytes(), "little") for row in self.plan.condition_atoms]

    def truths(self, state: Vector) -> list[int]:
        """Which atoms are true."""
        return evaluate_terms(self.atoms, state)

    def enabled(self, state: Vector) -> Iterator[int]:
        """The groups that are enabled."""
        for group in self.groups:
            if all(evaluate_terms(group.atoms, state)):
                yield group.index

    def step(self, group: int, state: Vector) -> Vector:
        """The state after a group."""
        after = self.model.attempt(self.model.instances[self.groups[group].instance], state).after
        assert after is not None
        return after

    def holds(self, rows: str, row: int, number: int) -> bool:
        """Whether a bit of one of the plan's rows is set."""
        words = getattr(self.plan, rows)[row]
        return bool(int(words[number // 64]) >> (number % 64) & 1)

    def condition(self, one: int, other: int) -> int:
        """The number of the condition of two groups, -1 if they have none."""
        return int(self.plan.condition_numbers[one, other])

    def met(self, truths: list[int]) -> set[int]:
        """The conditions of which an atom is true."""
        true = sum(1 << number for number, truth in enumerate(truths) if truth)
        return {number for number, atoms in enumerate(self.conditions) if atoms & true}


PARAMETERS = [pytest.param(ZOO, marks=pytest.mark.thorough), *MODELS]


@pytest.fixture(scope="module", params=PARAMETERS, ids=["zoo", *(s.name for s in MODELS)])
def related(request):
    return Relations(request.param)


def outcome(model: Model, instance: ActionInstance, state: Vector) -> str:
    """The name of an attempt's result, or ERROR if the instance leaves its domain."""
    try:
        return model.attempt(instance, state).result.name
    except DomainError:
        return "ERROR"


def states(model: Model) -> list[Vector]:
    count = 120 if len(model.instances) < 30 else 60
    return list(dict.fromkeys(reachable_states(model, count, seed=5)))


def test_exactly_one_group_is_enabled_where_an_instance_can_be_taken_and_none_elsewhere(related):
    for state in states(related.model):
        taken = [i.index for i in related.model.instances if outcome(related.model, i, state) == "DONE"]
        assert sorted(related.groups[group].instance for group in related.enabled(state)) == taken


def test_groups_that_accord_commute_and_do_not_disable_each_other(related):
    looked_at = 0
    for state in states(related.model):
        after = {group: related.step(group, state) for group in related.enabled(state)}
        for one, other in combinations(after, 2):
            assert related.holds("do_not_accord", one, other) == related.holds("do_not_accord", other, one)
            if not related.holds("do_not_accord", one, other):
                assert other in related.enabled(after[one]) and one in related.enabled(after[other])
                assert related.step(other, after[one]) == related.step(one, after[other])
                looked_at += 1
    assert looked_at > 0


def test_groups_that_do_not_accord_under_a_condition_commute_where_it_is_false(related):
    looked_at = 0
    for state in states(related.model):
        met = related.met(related.truths(state))
        after = {group: related.step(group, state) for group in related.enabled(state)}
        for one, other in combinations(after, 2):
            number = related.condition(one, other)
            assert number == related.condition(other, one) and (number >= 0) == related.holds("conditional", one, other)
            if number >= 0 and number not in met:
                assert other in related.enabled(after[one]) and one in related.enabled(after[other])
                assert related.step(other, after[one]) == related.step(one, after[other])
                looked_at += 1
    assert (looked_at > 0) == (related.model.scenario.name in CONDITIONAL)


def test_what_makes_a_condition_true_is_in_its_enabling_set(related):
    for state in states(related.model):
        before = related.met(related.truths(state))
        for group in related.enabled(state):
            for number in related.met(related.truths(related.step(group, state))) - before:
                assert related.holds("condition_enabling_sets", number, group)


def test_what_makes_an_atom_true_or_a_guard_false_is_in_its_enabling_or_disabling_set(related):
    raised = lowered = 0
    for state in states(related.model):
        before = related.truths(state)
        guards = [outcome(related.model, i, state) != "DISABLED" for i in related.model.instances]
        for group in related.enabled(state):
            after = related.step(group, state)
            for number, (was, now) in enumerate(zip(before, related.truths(after), strict=True)):
                if now and not was:
                    assert related.holds("enabling_sets", number, group)
                    raised += 1
            for instance, could in zip(related.model.instances, guards, strict=True):
                if could and instance.action.by.system:
                    can = outcome(related.model, instance, after) != "DISABLED"
                    assert can or related.holds("disabling_sets", instance.index, group)
                    lowered += not can
    assert raised > 0 and lowered > 0
