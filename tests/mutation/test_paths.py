"""The paths that are noted while a model is lifted are those of plain Python: no other step comes to a line."""
from __future__ import annotations

import pytest

from model.language import Actor, DomainError, Scenario, Trial, action, number, require, state
from model.language.lift.statements import STATEMENTS
from search.mutation import Budget, Fate, grounds_of, mutants_on
from search.mutation.examining import examined
from search.mutation.paths import noted_paths
from tests.mutation.bakery import SCENARIO

SUN = Actor("sun")


@state
class Pond:
    """Water that rises to 2."""

    level: int = number(0, 5)


@action(by=SUN, says="melts snow")
def melt(pond: Pond) -> None:
    """There is not much of it."""
    require(pond.level < 2)
    pond.level += 1


@action(by=SUN, says="shines")
def shine(pond: Pond) -> None:
    """What would happen at 4 is never seen."""
    if pond.level > 3:
        pond.level = 0


POND = Scenario(name="pond", story="Water rises.", state=Pond, actions=(melt, shine), invariants=())


@pytest.fixture(scope="module")
def ground():
    (found,) = grounds_of([Trial(SCENARIO)])
    return found


@pytest.fixture(scope="module")
def by_line(ground):
    return {mutant.edit.statement: mutant for mutant in mutants_on([ground])}


def fails(model, instance, vector) -> bool:
    try:
        model.attempt(instance, vector)
    except DomainError:
        return True
    return False


def test_the_visitors_of_a_line_are_the_steps_of_plain_python_that_come_there(ground, by_line):
    model, vectors = ground.model, [tuple(row) for row in ground.kernel.unpack(ground.states).tolist()]
    compared = 0
    for mutant in by_line.values():
        with mutant.watched():
            came = {i.index for i in model.instances if any(fails(model, i, vector) for vector in vectors)}
        visitors = {action.instance.index for action in ground.visitors(mutant)}
        assert came == visitors, f"{mutant.before} of {mutant.id}"
        compared += len(visitors)
    assert (len(by_line), compared) == (21, 26)


def test_a_line_that_no_reachable_state_leads_to_has_no_visitors():
    (ground,) = grounds_of([Trial(POND)])
    (mutant,) = [m for m in mutants_on([ground]) if m.before == "pond.level = 0" and m.after == "pass"]
    assert len(ground.states) == 3
    assert [action.instance.key for action in ground.affected(mutant)] == ["shine()"]
    assert ground.visitors(mutant) == ()
    assert examined(mutant, [ground], Budget()).fate is Fate.NOT_EXERCISED


def test_statements_are_lifted_as_before_once_paths_are_not_noted_any_more():
    rules = dict(STATEMENTS)
    with pytest.raises(ZeroDivisionError), noted_paths() as paths:
        assert STATEMENTS.keys() == rules.keys() and rules != STATEMENTS
        raise ZeroDivisionError
    assert rules == STATEMENTS and not paths
