"""Fields that exist only under a flag: they cost nothing without it, and writing them is then an error."""

from __future__ import annotations

from typing import Annotated

import pytest

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    DomainError,
    Flag,
    LiftError,
    Model,
    Scenario,
    StepResult,
    action,
    array,
    flag,
    member,
    number,
    optional,
    require,
    state,
    subset,
    value,
)
from kwalk.model.language.lift.lifting import lift
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.differential import disagreements
from tests.states import random_states

ROOMS = Domain("rooms")
LOUD = Flag("loud", "whether the bell may ring")
GUESTS = Bound("guests")
Room = Annotated[int, ROOMS]
HOST = Actor("host")


@value
class Call:
    """A call of one room."""

    room: int = member(ROOMS)
    urgent: bool = flag(when=LOUD)


@state
class House:
    """A house with a bell, or without."""

    open: bool = flag()
    rings: int = number(0, 3, when=LOUD)
    last: int | None = optional(ROOMS, when=LOUD)
    heard: frozenset[int] = subset(ROOMS, full=True, when=LOUD)
    bells: Array[bool] = array(ROOMS, flag(), when=LOUD)
    call: Call | None = optional(Call, when=GUESTS)


@action(by=HOST)
def open_door(house: House) -> None:
    """Reads a switched field, and writes it only where there is one."""
    require(not house.open and house.rings < 3)
    house.open = True
    if LOUD:
        house.rings += 1
    house.heard = house.heard | {0}


@action(by=HOST)
def ring(house: House, room: Room) -> None:
    """Writes switched fields with any setting of the flag."""
    house.bells[room] = not house.bells[room]


@action(by=HOST)
def call(house: House, room: Room) -> None:
    """A record with a switched field."""
    require(GUESTS > 0)
    house.call = Call(room=room, urgent=bool(LOUD))


HOUSE = Scenario(
    name="house",
    story="A house.",
    state=House,
    actions=(open_door, ring, call),
    bounds={"rooms": 2, "guests": 0},
    variants={"silent": {"loud": False}, "loud": {"loud": True}},
)


@pytest.mark.parametrize(
    ("variant", "guests", "bits"), [("silent", 0, 1), ("loud", 0, 9), ("silent", 1, 3), ("loud", 1, 12)]
)
def test_a_switched_field_takes_bits_only_under_its_flag(variant, guests, bits):
    model = Model(HOUSE, variant, {"guests": guests})
    assert sum(layout_of(model.leaves).widths) == bits


def test_what_depends_on_a_fixed_field_folds_away():
    lifted = lift(Model(HOUSE, "silent"))
    door = next(a for a in lifted.actions if a.instance.key == "open_door()")
    assert len(door.updates) == 1 and not door.side_conditions


def test_writing_anything_but_the_default_to_a_fixed_field_is_an_error_in_every_engine():
    model = Model(HOUSE, "silent")
    with pytest.raises(DomainError, match="always False under these flags"):
        model.attempt(model.instance("ring(1)"), model.initial[0])
    assert model.attempt(model.instance("open_door()"), model.initial[0]).result is StepResult.DONE


@pytest.mark.parametrize("variant", ["silent", "loud"])
@pytest.mark.parametrize("guests", [0, 1])
def test_the_engines_agree_on_switched_fields(variant, guests):
    model = Model(HOUSE, variant, {"guests": guests})
    states = random_states(model, 60, seed=1)
    found = disagreements(model, states, kernel=kernel_for(model), lifted=lift(model), with_z3=True)
    assert next(found, None) is None


def test_a_flag_with_settings_and_an_element_with_its_own_switch_are_refused():
    with pytest.raises(LiftError, match="on or off"):
        flag(when=Flag("mood", settings=("good", "bad")))
    with pytest.raises(LiftError, match="give it to the array"):
        array(ROOMS, flag(when=LOUD))
