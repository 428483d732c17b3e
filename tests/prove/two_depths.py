"""Two properties that are violated beyond the first depths, the first one later, and a state that is reached before."""

from __future__ import annotations

from kwalk import Actor, Scenario, action, always, number, reachable, require, state

ANYONE = Actor("anyone")


@state
class Count:
    """How many steps were taken."""

    steps: int = number(0, 60)


@action(by=ANYONE)
def count(at: Count) -> None:
    """Take a step."""
    require(at.steps < 60)
    at.steps += 1


@always()
def is_below_14(at: Count) -> bool:
    """Violated after 14 steps."""
    return at.steps < 14


@always()
def is_below_9(at: Count) -> bool:
    """Violated after 9 steps."""
    return at.steps < 9


@reachable()
def is_8(at: Count) -> bool:
    """Reached after 8 steps."""
    return at.steps == 8


SCENARIO = Scenario(
    name="two-depths",
    story="Steps are counted.",
    state=Count,
    actions=(count,),
    properties=(is_below_14, is_below_9, is_8),
)
