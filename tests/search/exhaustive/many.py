"""More action instances, and more property instances, than 16 bits can number."""

from __future__ import annotations

from typing import Annotated

from kwalk import Actor, Domain, Scenario, action, always, eventually, member, number, require, state, step

OTHERS = Domain("others", "instances before those that are taken")
CASES = Domain("cases", "instances of properties")
SYSTEM = Actor("system")


@state
class Counter:
    """A count, and a member."""

    count: int = number(0, 3)
    case: int = member(CASES)


@action(by=SYSTEM)
def wait(counter: Counter, other: Annotated[int, OTHERS]) -> None:
    """Never enabled."""
    require(counter.count > 2)
    counter.count = 0


@action(by=SYSTEM)
def begin(counter: Counter) -> None:
    """The first step."""
    require(counter.count == 0)
    counter.count = 1


@action(by=SYSTEM)
def end(counter: Counter) -> None:
    """The second step; the case becomes the last one."""
    require(counter.count == 1)
    counter.count = 2
    counter.case = len(CASES) - 1


@always()
def is_below_two(counter: Counter) -> bool:
    """False after two steps."""
    return counter.count < 2


@always()
def is_another_case(counter: Counter, case: Annotated[int, CASES]) -> bool:
    """False for the last case after two steps."""
    return counter.case != case or counter.count < 2


@step()
def goes_to_one(before: Counter, after: Counter) -> bool:
    """False for the second step."""
    return after.count == 1


@eventually()
def comes_back(counter: Counter) -> bool:
    """False from the beginning on."""
    return counter.count == 3


MANY = Scenario(
    name="many",
    story="Only the last instances are enabled.",
    state=Counter,
    actions=(wait, begin, end),
    properties=(is_below_two,),
    bounds={"others": 1, "cases": 1},
)
