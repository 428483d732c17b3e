"""The paths that are noted while a model is lifted are those of plain Python: no other step comes to a line."""

from __future__ import annotations

import pytest

from kwalk.model.language import Actor, DomainError, Scenario, Trial, action, always, flag, number, require, state
from kwalk.model.language.lift.statements import STATEMENTS
from kwalk.search.analyses.mutation.baseline import recorded_paths
from kwalk.search.analyses.mutation.evaluation import evaluate
from kwalk.search.analyses.mutation.mutate import MutantStatus, baselines_of, mutants_on
from tests.mutation.bakery import SCENARIO

SUN = Actor("sun")


@state
class Pond:
    """Water that rises to 2."""

    level: int = number(0, 5)
    spilt: bool = flag()


def rise(pond: Pond) -> None:
    """The line that two actions share."""
    pond.level = min(pond.level + 1, 2)


@action(by=SUN, description="melts snow")
def melt(pond: Pond) -> None:
    """There is always more of it."""
    rise(pond)


@action(by=SUN, description="shines on a full pond")
def shine(pond: Pond) -> None:
    """What would happen at 3 is never seen."""
    require(pond.level == 3)
    rise(pond)
    pond.spilt = True


@always(symptom="a pond that spills is not full")
def full_where_it_spilt(pond: Pond) -> bool:
    """Only a full pond spills."""
    return not pond.spilt or pond.level == 3


POND = Scenario(name="pond", story="Water rises.", state=Pond, actions=(melt, shine), properties=(full_where_it_spilt,))


@pytest.fixture(scope="module")
def baseline():
    (found,) = baselines_of([Trial(SCENARIO)])
    return found


@pytest.fixture(scope="module")
def by_line(baseline):
    return {mutant.edit.statement: mutant for mutant in mutants_on([baseline])}


def fails(model, instance, vector) -> bool:
    try:
        model.attempt(instance, vector)
    except DomainError:
        return True
    return False


def test_the_visitors_of_a_line_are_the_steps_of_plain_python_that_come_there(baseline, by_line):
    model, vectors = baseline.model, [tuple(row) for row in baseline.kernel.unpack(baseline.states).tolist()]
    compared = 0
    for mutant in by_line.values():
        with mutant.failing_at_line():
            came = {i.index for i in model.instances if any(fails(model, i, vector) for vector in vectors)}
        reached_instances = {action.instance.index for action in baseline.reached_instances(mutant)}
        assert came == reached_instances, f"{mutant.before} of {mutant.id}"
        compared += len(reached_instances)
    assert (len(by_line), compared) == (21, 26)


@pytest.fixture(scope="module")
def pond():
    (found,) = baselines_of([Trial(POND)])
    return found


def mutant_that_says(baseline, after: str, *, of: str = ""):
    (mutant,) = [mutant for mutant in mutants_on([baseline]) if mutant.after == after and of in mutant.before]
    return mutant


def keys(actions) -> list[str]:
    return [action.instance.key for action in actions]


def test_a_line_that_no_reachable_state_leads_to_has_no_visitors(pond):
    mutant = mutant_that_says(pond, "pass", of="pond.spilt = True")
    assert len(pond.states) == 3
    assert keys(pond.affected_instances(mutant)) == keys(pond.unreached_instances(mutant)) == ["shine()"]
    assert pond.reached_instances(mutant) == ()
    assert evaluate(mutant, [pond]).status is MutantStatus.NOT_EXERCISED


def test_a_mutant_has_its_mistake_also_in_steps_that_only_its_own_states_enable(pond):
    mutant = mutant_that_says(pond, "pond.level = min(pond.level + 1, 3)")
    assert keys(pond.reached_instances(mutant)) == ["melt()"] and keys(pond.unreached_instances(mutant)) == ["shine()"]
    assert evaluate(mutant, [pond]).status is MutantStatus.SURVIVED


def test_statements_are_lifted_as_before_once_paths_are_not_noted_any_more():
    before = dict(STATEMENTS)
    with pytest.raises(ZeroDivisionError), recorded_paths() as runs:
        assert STATEMENTS.keys() == before.keys() and before != STATEMENTS
        raise ZeroDivisionError
    assert before == STATEMENTS and not runs
