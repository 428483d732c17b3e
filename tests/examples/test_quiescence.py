"""A system action that is always enabled keeps a model from being quiescent; a verdict says so and names the action."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import Actor, Model, Scenario, action, flag, number, require, state, when_quiescent
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.vacuity import vacuity_notes

TANK = Actor("tank")
CLOCK = Actor("clock", system=False)


@state
class Water:
    """The level of a tank, and whether its valve is open."""

    level: int = number(0, 3)
    is_open: bool = flag()


@action(by=TANK)
def drain(water: Water) -> None:
    """One step at a time."""
    require(water.level > 0)
    water.level -= 1


@action(by=TANK)
def close_valve(water: Water) -> None:
    """Also where it is closed: the guard is missing."""
    water.is_open = False


@action(by=CLOCK)
def rain(water: Water) -> None:
    """Fill the tank."""
    water.level = 3


@when_quiescent()
def is_empty(water: Water) -> bool:
    """After all has drained."""
    return water.level == 0


@when_quiescent()
def is_full(water: Water) -> bool:
    """Wrong, and not detected while no state is quiescent."""
    return water.level == 3


SCENARIO = Scenario(
    name="tank",
    story="Rain fills a tank.",
    state=Water,
    actions=(drain, close_valve, rain),
    properties=(is_empty, is_full),
)


def notes_of(scenario: Scenario) -> list[str]:
    model = Model(scenario)
    return [note for note in vacuity_notes(exhaust(model, keep_going=True), model) if "quiescent" in note]


def test_an_idle_system_action_is_named_where_no_state_is_quiescent() -> None:
    untested, note = notes_of(SCENARIO)
    assert untested == "never tested (no state was quiescent): is_empty, is_full"
    assert note.startswith("no quiescent state: system actions are enabled without changing the state: close_valve()")


@pytest.mark.parametrize("fewer", [{"actions": (drain, rain)}, {"properties": ()}])
def test_a_model_with_quiescent_states_or_without_such_a_property_gets_no_note(fewer: dict[str, object]) -> None:
    assert notes_of(evolve(SCENARIO, **fewer)) == []  # type: ignore[arg-type]
