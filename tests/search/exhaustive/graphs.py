"""A walk through a graph in which places and steps violate properties, and others have errors of the model."""

from __future__ import annotations

from typing import Annotated

from kwalk import (
    Actor,
    Array,
    Domain,
    Flag,
    Scenario,
    action,
    always,
    array,
    flag,
    member,
    number,
    require,
    state,
    step,
)

PLACES = Domain("places", "places of a graph")
FEW = Domain("few", "the first of them")
GRAPHS = {
    "in the same state": {(0, 1), (1, 9)},
    "later in the level": {(0, 1), (0, 2), (1, 8), (2, 7)},
    "earlier in the level": {(0, 1), (0, 2), (1, 7), (2, 8)},
    "by a step from the level": {(0, 1), (0, 3), (1, 8), (3, 4), (4, 2)},
    "after the level, of a state before": {(0, 1), (0, 2), (1, 3), (2, 8), (3, 7)},
    "after the level, of a state behind": {(0, 1), (0, 8), (1, 7)},
    "behind a property's error": {(0, 6), (0, 7)},
    "longer than a property's error": {(0, 6), (0, 1), (1, 7)},
    "longer than the error": {(0, 8), (0, 1), (1, 2), (2, 7)},
    "without an error": {(0, 3), (0, 7), (3, 2)},
}
"""By where the violation is: the steps that there are."""
GRAPH = Flag("graph", settings=tuple(GRAPHS))
ALL_STEPS = tuple((name, frozenset(steps)) for name, steps in GRAPHS.items())
ANYONE = Actor("anyone")


@state
class Place:
    """Where the walk is."""

    at: int = member(PLACES)
    count: int = number(0, 1)
    few: Array[bool] = array(FEW, flag())


@action(by=ANYONE)
def fail(place: Place) -> None:
    """Leave the domain, at the places 8 and 9."""
    require(place.at >= 8)
    place.count = 2


@action(by=ANYONE)
def go(place: Place, to: Annotated[int, PLACES]) -> None:
    """Take a step of the graph."""
    require(any((place.at, to) in steps for name, steps in ALL_STEPS if name == GRAPH))
    place.at = to


@always()
def is_defined(place: Place) -> bool:
    """Raise an error at place 6."""
    return place.at != 6 or not place.few[place.at]


@always()
def is_allowed(place: Place) -> bool:
    """False at the places 7 and 9."""
    return place.at != 7 and place.at != 9


@step()
def goes_up(before: Place, after: Place) -> bool:
    """False for a step to a lower place."""
    return after.at >= before.at


WALK = Scenario(
    name="walk-through-a-graph",
    story="A walk goes through a graph.",
    state=Place,
    actions=(fail, go),
    properties=(is_defined, is_allowed, goes_up),
    bounds={"places": 10, "few": 6},
    variants={name: {"graph": name} for name in GRAPHS},
)
