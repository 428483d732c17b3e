"""Elevators in a house: people call one for a direction, and a dispatcher sends the closest one that suits.

An elevator that stands still goes to the floor of a call at once; one that moves stops at calls on its way. No record
says which elevator serves which call.

Words: a *call* is a floor and a direction. An elevator *serves* a call if it is on that floor and has that direction. A
person is on a floor or inside an elevator; the other of the two fields is None.

Source: A. Helwer's Elevator.tla in tlaplus/Examples (MultiCarElevator), with the constants of
ElevatorLivenessMedium.cfg. Counts: 4,122 distinct states, 14,296 generated and a depth of 36 (manifest.json). TLC and
kwalk find that all properties hold.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    always,
    array,
    choice,
    eventually,
    flag,
    member,
    optional,
    premise,
    require,
    state,
    strongly_fair,
    subset,
    value,
    weakly_fair,
)

PEOPLE = Domain("people", "people", label=lambda n: f"p{n + 1}")
ELEVATORS = Domain("elevators", "elevators", label=lambda n: f"e{n + 1}")
FLOORS = Domain("floors", "floors of the house")

PersonId = Annotated[int, PEOPLE]
ElevatorId = Annotated[int, ELEVATORS]
Floor = Annotated[int, FLOORS]
Floors = Annotated[Array[int], array(PEOPLE, FLOORS)]

PERSON = Actor("person", of=PEOPLE)
ELEVATOR = Actor("elevator", of=ELEVATORS)
DISPATCHER = Actor("dispatcher")


class Direction(Enum):
    """Where an elevator moves, or a person wants to go."""

    UP = "up"
    DOWN = "down"


@value
class Call:
    """Somebody waits on a floor to go up or down."""

    floor: int = member(FLOORS)
    direction: Direction = choice(Direction)


@state
class Person:
    """Where a person is and where the person wants to go."""

    floor: int | None = optional(FLOORS)
    inside: int | None = optional(ELEVATORS)
    destination: int = member(FLOORS)
    waits: bool = flag()


@state
class Elevator:
    """One elevator, which stands still if it has no direction, and the buttons that are pressed in it."""

    floor: int = member(FLOORS)
    direction: Direction | None = optional(Direction)
    is_open: bool = flag()
    buttons: frozenset[int] = subset(FLOORS)

    @property
    def next_floor(self) -> int:
        """The floor after this one, which the house may not have."""
        return self.floor + 1 if self.direction is Direction.UP else self.floor - 1

    def serves(self, call: Call) -> bool:
        """Whether it can take the people of a call now."""
        return call.floor == self.floor and call.direction is self.direction

    def suits(self, call: Call) -> bool:
        """Whether it stands still, or moves towards a call in the direction of that call."""
        approaches = call.floor == self.floor or towards(self.floor, call.floor) is call.direction
        return self.direction is None or (self.direction is call.direction and approaches)


@state
class House:
    """People, open calls and elevators."""

    people: Array[Person] = array(PEOPLE, Person)
    calls: set[Call] = subset(Call)
    elevators: Array[Elevator] = array(ELEVATORS, Elevator)


def towards(here: int, there: int) -> Direction:
    """The direction from one floor to another."""
    return Direction.UP if there > here else Direction.DOWN


def waits_for(house: House, person: int, elevator: int) -> bool:
    """Whether a person waits on the floor of an elevator for its direction."""
    one, car = house.people[person], house.elevators[elevator]
    if one.floor is None or not one.waits or one.floor != car.floor:
        return False
    return towards(one.floor, one.destination) is car.direction


def gets_out(house: House, person: int, elevator: int) -> bool:
    """Whether a person in an elevator is where the person wants to go."""
    one = house.people[person]
    return one.inside == elevator and one.destination == house.elevators[elevator].floor


def lets_in(house: House, elevator: int) -> bool:
    """Whether somebody can enter: `ENABLED EnterElevator`."""
    return house.elevators[elevator].is_open and any(waits_for(house, one, elevator) for one in PEOPLE)


def lets_out(house: House, elevator: int) -> bool:
    """Whether somebody can exit: `ENABLED ExitElevator`."""
    return house.elevators[elevator].is_open and any(gets_out(house, one, elevator) for one in PEOPLE)


def can_open(house: House, elevator: int) -> bool:
    """Whether the doors can open: `ENABLED OpenElevatorDoors`."""
    car = house.elevators[elevator]
    return not car.is_open and (any(car.serves(call) for call in house.calls) or car.floor in car.buttons)


def begin(
    house: House, start: Floors, destinations: Floors, floors: Annotated[Array[int], array(ELEVATORS, FLOORS)]
) -> None:
    """People and elevators are on any floors."""
    for one, floor, destination in zip(house.people, start, destinations, strict=True):
        one.floor, one.destination = floor, destination
    for car, floor in zip(house.elevators, floors, strict=True):
        car.floor = floor


@action(by=PERSON, description="{person} wants to go to floor {floor}", source="PickNewDestination")
def pick_destination(house: House, person: PersonId, floor: Floor) -> None:
    """A person decides to go to another floor."""
    one = house.people[person]
    require(not one.waits and one.floor is not None and one.floor != floor)
    one.destination = floor


@action(by=PERSON, description="{person} calls an elevator", source="CallElevator")
def call_elevator(house: House, person: PersonId) -> None:
    """A person calls an elevator, unless one with open doors serves the call."""
    one = house.people[person]
    require(not one.waits and one.floor is not None and one.floor != one.destination)
    assert one.floor is not None
    call = Call(one.floor, towards(one.floor, one.destination))
    if not any(car.is_open and car.serves(call) for car in house.elevators):
        house.calls.add(call)
    one.waits = True


@action(by=ELEVATOR, description="{elevator} opens its doors", source="OpenElevatorDoors")
def open_doors(house: House, elevator: ElevatorId) -> None:
    """The doors open where somebody waits or wants to exit; the call is served."""
    require(can_open(house, elevator))
    car = house.elevators[elevator]
    car.is_open = True
    car.buttons = car.buttons - {car.floor}
    if car.direction is not None:
        house.calls.discard(Call(car.floor, car.direction))


@action(by=ELEVATOR, description="people enter {elevator}", source="EnterElevator")
def enter(house: House, elevator: ElevatorId) -> None:
    """All enter who wait here for this direction, and each presses a button."""
    require(lets_in(house, elevator))
    car = house.elevators[elevator]
    for person in PEOPLE:
        if waits_for(house, person, elevator):
            one = house.people[person]
            one.floor, one.inside = None, elevator
            car.buttons = car.buttons | {one.destination}


@action(by=ELEVATOR, description="people leave {elevator}", source="ExitElevator")
def leave(house: House, elevator: ElevatorId) -> None:
    """All leave who want to go to this floor."""
    require(lets_out(house, elevator))
    for person in PEOPLE:
        if gets_out(house, person, elevator):
            one = house.people[person]
            one.floor, one.inside, one.waits = house.elevators[elevator].floor, None, False


@action(by=ELEVATOR, description="{elevator} closes its doors", source="CloseElevatorDoors")
def close_doors(house: House, elevator: ElevatorId) -> None:
    """The doors close when nobody can enter or leave."""
    require(house.elevators[elevator].is_open and not lets_in(house, elevator) and not lets_out(house, elevator))
    house.elevators[elevator].is_open = False


@action(by=ELEVATOR, description="{elevator} moves", source="MoveElevator")
def move(house: House, elevator: ElevatorId) -> None:
    """It moves by one floor, if there is one and nobody needs it here."""
    car = house.elevators[elevator]
    require(car.direction is not None and not car.is_open and car.floor not in car.buttons)
    others = [house.elevators[other] for other in ELEVATORS if other != elevator]
    require(all(any(other.serves(call) for other in others) for call in house.calls if car.serves(call)))
    require(car.next_floor in FLOORS)
    car.floor = car.next_floor


@action(by=ELEVATOR, description="{elevator} stops", source="StopElevator")
def stop(house: House, elevator: ElevatorId) -> None:
    """It stands still at the top or the bottom."""
    car = house.elevators[elevator]
    require(not can_open(house, elevator) and not car.is_open and car.next_floor not in FLOORS)
    car.direction = None


@action(by=DISPATCHER, description="{call} goes to the closest elevator", source="DispatchElevator")
def dispatch(house: House, call: Call) -> None:
    """The closest elevator that suits is chosen; only if it stands still, that changes something."""
    require(call in house.calls and any(car.suits(call) for car in house.elevators))
    suitable = [car for car in house.elevators if car.suits(call)]
    closest = min(suitable, key=lambda car: abs(car.floor - call.floor))
    if closest.direction is None:
        closest.floor, closest.direction = call.floor, call.direction


@always()
def buttons_are_of_people_inside(house: House, elevator: ElevatorId) -> bool:
    """A button is pressed only if somebody inside wants to go there."""
    inside = {one.destination for one in house.people if one.inside == elevator}
    return house.elevators[elevator].buttons <= inside


@always()
def people_are_taken_towards_their_floor(house: House, person: PersonId) -> bool:
    """An elevator moves in the direction of those inside."""
    one = house.people[person]
    premise(one.inside is not None)
    assert one.inside is not None
    car = house.elevators[one.inside]
    return car.floor == one.destination or car.direction is towards(car.floor, one.destination)


@always()
def calls_are_of_people_who_wait(house: House, call: Call) -> bool:
    """An open call has somebody who waits."""
    premise(call in house.calls)
    return any(
        one.floor == call.floor and one.waits and towards(call.floor, one.destination) is call.direction
        for one in house.people
    )


@eventually()
def calls_are_served(house: House, call: Call) -> bool:
    """An elevator comes for each call."""
    premise(call in house.calls)
    return any(car.serves(call) for car in house.elevators)


@eventually()
def who_waits_arrives(house: House, person: PersonId) -> bool:
    """Who waits gets to the destination."""
    premise(house.people[person].waits)
    return house.people[person].floor == house.people[person].destination


ELEVATOR_CALLS = Scenario(
    name="elevator",
    story="People call elevators, enter and leave; a dispatcher sends the closest elevator to a call.",
    state=House,
    initial=begin,
    actions=(pick_destination, call_elevator, open_doors, enter, leave, close_doors, move, stop, dispatch),
    properties=(
        buttons_are_of_people_inside,
        people_are_taken_towards_their_floor,
        calls_are_of_people_who_wait,
        calls_are_served,
        who_waits_arrives,
    ),
    fairness=(
        weakly_fair(call_elevator, each="person"),
        weakly_fair(open_doors, each="elevator"),
        weakly_fair(enter, each="elevator"),
        weakly_fair(leave, each="elevator"),
        strongly_fair(close_doors, each="elevator"),
        strongly_fair(move, each="elevator"),
        weakly_fair(stop, each="elevator"),
        strongly_fair(dispatch, each="call"),
    ),
    bounds={"people": 2, "elevators": 2, "floors": 2},
)
