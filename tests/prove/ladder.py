"""A ladder that ends below a hatch: properties that are proved, refuted or traced back in known ways."""

from __future__ import annotations

from kwalk.model.language import Actor, Bound, Flag, Scenario, action, always, flag, number, require, state

RUNGS = Bound("rungs", "rungs of the ladder")
STEEP = Flag("steep", "whether only every second rung is there")
CLIMBER = Actor("climber")


@state
class Ladder:
    """Where the climber is, whether they fell, and a clock that no property reads."""

    rung: int = number(0, 9)
    fell: bool = flag()
    clock: int = number(0, 3)


@action(by=CLIMBER, description="climbs")
def climb(ladder: Ladder) -> None:
    """One rung, or two where the ladder is steep."""
    require(ladder.rung < RUNGS - 1 or (not STEEP and ladder.rung < RUNGS))
    ladder.rung += 2 if STEEP else 1


@action(by=CLIMBER, description="slips")
def slip(ladder: Ladder) -> None:
    """From an odd rung of a steep ladder, which the climber cannot reach."""
    require(STEEP and ladder.rung % 2 == 1)
    ladder.fell = True


@action(by=CLIMBER, description="waits")
def wait(ladder: Ladder) -> None:
    """The clock moves on."""
    ladder.clock = (ladder.clock + 1) % 4


@always(symptom="the climber is at the hatch")
def below_the_hatch(ladder: Ladder) -> bool:
    """Fails after as many steps as there are rungs, if the ladder is not steep."""
    return ladder.rung != RUNGS


@always(symptom="the climber lies on the ground")
def never_falls(ladder: Ladder) -> bool:
    """Holds on a steep ladder, as no rung that is reached is odd."""
    return not ladder.fell


def begin(ladder: Ladder) -> None:
    """On the ground."""


@always()
def the_ladder_is_long(ladder: Ladder) -> bool:
    """Cannot fail: it is true of every state."""
    return ladder.rung < 10


LADDER = Scenario(
    name="ladder",
    story="A climber on a ladder.",
    state=Ladder,
    initial=begin,
    actions=(climb, slip, wait),
    properties=(below_the_hatch, never_falls, the_ladder_is_long),
    bounds={"rungs": 9},
    variants={"even": {"steep": False}, "steep": {"steep": True}},
)
