"""A search that tests share answers only for what it searched: the model as it is now, with the options of the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kwalk import Fails, assert_holds
from kwalk.model.language import Actor, Flag, Scenario, action, always, constraint, evolve, number, require, state
from kwalk.reports.assertion_options import AssertionOptions
from kwalk.reports.assertion_searches import SharedSearches

LONG = Flag("long", "whether the walk is long")
END = 3


@state
class Walker:
    """A walker and the distance from home."""

    n: int = number(0, 5)


@action(by=Actor("walker"))
def walk(walker: Walker) -> None:
    require(walker.n < (5 if LONG else END))
    walker.n += 1


@action(by=Actor("walker"))
def fly(walker: Walker) -> None:
    walker.n = 5


@always()
def is_near(walker: Walker) -> bool:
    return walker.n < 4


@constraint(optional=True)
def stays(walker: Walker) -> bool:
    return walker.n < 3


WALK = Scenario(
    name="walk",
    story="Someone walks.",
    state=Walker,
    actions=(walk,),
    properties=(is_near,),
    flags={"long": False},
    constraints=(stays,),
)
ENDS = evolve(WALK, deadlock_is_error=True)
Assert = Callable[..., None]


@pytest.fixture
def holds(tmp_path) -> Assert:
    """An assertion with searches that all calls in a test share, in plain Python."""
    searches = SharedSearches()

    def check(scenario: Scenario, prop: str | None = "is_near", **options) -> None:
        with AssertionOptions(out=tmp_path).active():
            assert_holds(scenario, prop, shared=searches, **({"interpreter": True} | options))

    return check


def test_other_flags_are_another_search(holds: Assert) -> None:
    holds(WALK)
    with pytest.raises(Fails):
        holds(WALK, flags={"long": True})
    with pytest.raises(Fails):
        holds(WALK, engine="walk", flags={"long": True}, walks=100, interpreter=None)


def test_a_search_within_a_constraint_does_not_answer_for_one_without_it(holds: Assert) -> None:
    holds(WALK, flags={"long": True}, constraints=("stays",))
    with pytest.raises(Fails):
        holds(WALK, flags={"long": True})


def test_a_scenario_of_the_same_name_with_another_action_is_another_search(holds: Assert) -> None:
    holds(evolve(WALK, story="Someone walks home."))  # neither has a place in a module
    with pytest.raises(Fails):
        holds(evolve(WALK, actions=(walk, fly)))


def test_a_model_that_a_test_changes_is_another_search(holds: Assert, monkeypatch) -> None:
    holds(WALK)
    monkeypatch.setattr("tests.plugin.test_shared_searches.END", 5)
    with pytest.raises(Fails):
        holds(WALK)


def test_more_walks_are_another_search(holds: Assert) -> None:
    rare = evolve(WALK, flags={"long": True})
    holds(rare, engine="walk", walks=1, depth=2, interpreter=None)
    with pytest.raises(Fails):
        holds(rare, engine="walk", walks=100, interpreter=None)


@pytest.mark.parametrize("prop", ["deadlock", None])
def test_a_deadlock_is_found_also_after_an_assertion_of_a_property(prop: str | None, holds: Assert) -> None:
    holds(ENDS)
    with pytest.raises(Fails):
        holds(ENDS, prop)
    holds(ENDS)


@pytest.mark.parametrize("engine", ["exhaust", "walk", "hypothesis", "prove"])
def test_a_deadlock_that_a_test_names_is_an_error_in_each_scenario(engine: str, tmp_path) -> None:
    with AssertionOptions(out=tmp_path).active(), pytest.raises(Fails):
        assert_holds(WALK, "deadlock", engine=engine)


@pytest.mark.parametrize("prop", ["deadlock", None])
def test_a_proof_does_not_answer_for_deadlocks(prop: str | None, holds: Assert) -> None:
    with pytest.raises(Fails, match="UNDECIDED  deadlocks were not checked"):
        holds(ENDS, prop, engine="prove", interpreter=None)
    holds(ENDS, engine="prove", interpreter=None)
