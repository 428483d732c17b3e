"""A model with two bugs: a worker can take a tool while holding one, and can give one back to a cupboard that is shut.

Both break the cupboard; the two have nothing else in common, and four workers can do either.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Actor, Array, Domain, Scenario, action, always, array, flag, require, state

WORKERS = Domain("workers")
Worker = Annotated[int, WORKERS]
WORKER = Actor("worker", system=False, of=WORKERS)


@state
class Workshop:
    """Who holds a tool, who sings, and whether the cupboard is shut or broken."""

    holds: Array[bool] = array(WORKERS, flag())
    sings: Array[bool] = array(WORKERS, flag())
    shut: bool = flag()
    broken: bool = flag()


@action(by=WORKER, description="takes a tool")
def take(workshop: Workshop, worker: Worker) -> None:
    """The first bug: it is not checked whether the worker holds one."""
    require(not workshop.shut)
    workshop.broken = workshop.holds[worker]
    workshop.holds[worker] = True


@action(by=WORKER, description="gives the tool back")
def give(workshop: Workshop, worker: Worker) -> None:
    """The second bug: it is not checked whether the cupboard is shut."""
    require(workshop.holds[worker])
    workshop.broken = workshop.shut
    workshop.holds[worker] = False


@action(by=WORKER, description="shuts the cupboard, or opens it")
def turn(workshop: Workshop, worker: Worker) -> None:
    """Anybody can."""
    workshop.shut = not workshop.shut


@action(by=WORKER, description="begins or ends a song")
def sing(workshop: Workshop, worker: Worker) -> None:
    """What does not matter, and fills walks."""
    workshop.sings[worker] = not workshop.sings[worker]


@always(symptom="the door hangs askew")
def cupboard_is_whole(workshop: Workshop) -> bool:
    """It does not break."""
    return not workshop.broken


WORKSHOP = Scenario(
    name="workshop",
    story="Tools, a cupboard, and two ways to break it.",
    state=Workshop,
    actions=(take, give, turn, sing),
    properties=(cupboard_is_whole,),
    bounds={"workers": 4},
)
