"""A clock that never ticks: no step of the model changes anything."""

from kwalk import Actor, Bound, Scenario, action, always, number, require, state

CLOCK = Actor("clock")
MOST = Bound("most", "how often the clock ticks")


@state
class Clock:
    """How often it has ticked."""

    ticks: int = number(0, MOST)


@action(by=CLOCK, description="ticks")
def tick(clock: Clock) -> None:
    """One tick, as long as there are some left."""
    require(clock.ticks < MOST)
    clock.ticks += 1


@always()
def ticks_are_counted(clock: Clock) -> bool:
    """Never more than there are."""
    return clock.ticks <= MOST


SCENARIO = Scenario(
    name="still-clock",
    story="A clock that does not tick.",
    state=Clock,
    actions=(tick,),
    properties=(ticks_are_counted,),
    bounds={"most": 0},
)
