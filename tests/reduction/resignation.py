"""A model in which the order of two deliveries makes no difference, and yet one of them must not always go first.

An office has a letter for each of two houses. The second house answers, and the answer makes the office close, which
throws away what is not delivered. Deliveries commute wherever both are possible; a search that always delivers to the
first house first never sees it go without its letter.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    always,
    array,
    flag,
    reachable,
    require,
    state,
    step,
    when_quiescent,
)

HOUSES = Domain("houses")
House = Annotated[int, HOUSES]
CARRIER = Actor("carrier", of=HOUSES)
OFFICE = Actor("office")


@state
class Town:
    """Letters wait or have arrived; the last house's answer is on its way; the office has closed."""

    waits: Array[bool] = array(HOUSES, flag(default=True))
    arrived: Array[bool] = array(HOUSES, flag())
    answer: bool = flag()
    closed: bool = flag()


@action(by=CARRIER, description="brings house {house} its letter")
def deliver(town: Town, house: House) -> None:
    """Each delivery touches its own house only; the last one sends an answer."""
    require(town.waits[house])
    town.waits[house], town.arrived[house] = False, True
    if house == len(HOUSES) - 1:
        town.answer = True


@action(by=OFFICE, description="gets the answer and closes")
def close(town: Town) -> None:
    """What waits is thrown away."""
    require(town.answer)
    town.answer, town.closed = False, True
    for house in HOUSES:
        town.waits[house] = False


@when_quiescent()
def everybody_has_a_letter(town: Town) -> bool:
    """Violated where the office closed before the first house was served."""
    return all(town.arrived)


@always()
def nothing_is_thrown_away(town: Town) -> bool:
    """The same, seen at once."""
    return not town.closed or all(town.arrived)


@step()
def closing_costs_nothing(before: Town, after: Town) -> bool:
    """The same, seen in the step."""
    return not any(before.waits[house] and not after.waits[house] and not after.arrived[house] for house in HOUSES)


@reachable()
def closed_too_early(town: Town) -> bool:
    """The same, as something that is possible."""
    return town.closed and not town.arrived[0]


TOWN = Scenario(
    name="town",
    story="Two letters, and an office that closes.",
    state=Town,
    actions=(deliver, close),
    properties=(everybody_has_a_letter, nothing_is_thrown_away, closing_costs_nothing, closed_too_early),
    bounds={"houses": 2},
)
