"""Scenarios that state only what differs from another one or from defaults, and actions that join a group."""

from __future__ import annotations

from types import ModuleType

import pytest

from kwalk.model.examples import die_hard, readers_writers
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.language import Actor, Bound, Domain, UsageError, action, actions_of, default_bounds
from tests.search import leases


def test_a_variation_keeps_the_bounds_and_flags_that_it_does_not_state():
    base = leases.SCENARIO
    name, size = next(iter(base.bounds.items()))
    other = base.varied(name="other", bounds={name: size + 1}, flags={"new": True})
    assert other.bounds == {**base.bounds, name: size + 1} and other.flags == {**base.flags, "new": True}
    assert (other.actions, other.state, other.story) == (base.actions, base.state, base.story)
    assert base.bounds[name] == size and "new" not in base.flags


@pytest.mark.parametrize("change", [{"bound": {}}, {"bounds": 3}, {"flags": None}, {"actions": ()}])
def test_a_variation_that_is_no_scenario_is_refused(change):
    with pytest.raises(UsageError, match="Scenario"):
        DIE_HARD.varied(**change)


def test_default_bounds_are_those_of_a_module():
    module = ModuleType("limits")
    vars(module).update(
        A=Bound("a", default=0),
        B=Bound("b"),
        C=Domain("c", default=2),
        D=Domain("d", size=Bound("e", minimum=1, default=3) + 1),
        F=Bound("a", default=0) + 1,
    )
    assert default_bounds(module) == {"a": 0, "c": 2}


@pytest.mark.parametrize(("minimum", "default"), [(1, 0), (0, -1), (0, True), (0, "1")])
def test_a_default_that_the_bound_cannot_have_is_refused(minimum, default):
    with pytest.raises(UsageError, match=f"`default` must be an int of {minimum} or more"):
        Bound("limit", minimum=minimum, default=default)


def test_actions_of_modules_are_in_the_order_of_modules_and_of_declarations():
    both = actions_of(readers_writers, die_hard)
    assert both == (*actions_of(readers_writers), *actions_of(die_hard))
    lines = [one.function.__code__.co_firstlineno for one in actions_of(die_hard)]
    assert lines == sorted(lines) and set(actions_of(die_hard)) == set(DIE_HARD.actions)


def test_an_action_joins_the_group_that_it_names_and_no_other():
    module = ModuleType(__name__)

    @action(by=Actor("clerk"), group="office")
    def works(house: leases.SCENARIO.state) -> None: ...

    vars(module).update(works=works, again=leases.SCENARIO.actions[0])
    assert actions_of(module) == actions_of(module, group="office") == (works,)
    with pytest.raises(UsageError, match=r"No action of .* joins the group 'home'\. Allowed: office\."):
        actions_of(module, group="home")
    with pytest.raises(UsageError, match=r"No action of no module\. Declare one with @action"):
        actions_of()
