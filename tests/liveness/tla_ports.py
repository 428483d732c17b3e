"""The specifications of the folder `tla` as models, each with the fairness of every specification formula."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from attrs import evolve

from kwalk.model.examples.ewd998 import EWD998, Ring, initiate_probe, pass_token, termination_is_detected
from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Fairness,
    Property,
    Scenario,
    action,
    always_eventually,
    array,
    eventually_always,
    flag,
    inevitable,
    leads_to,
    number,
    require,
    state,
    strongly_fair,
    weakly_fair,
)

ANYONE = Actor("anyone", system=False)


@state
class Light:
    """Toggle.tla."""

    light: bool = flag()
    done: bool = flag()


@action(by=ANYONE)
def toggle(s: Light) -> None:
    """Toggle."""
    require(not s.done)
    s.light = not s.light


@action(by=ANYONE)
def finish(s: Light) -> None:
    """Finish."""
    require(not s.done)
    s.done = True


@action(by=ANYONE)
def finish_lit(s: Light) -> None:
    """FinishLit."""
    require(s.light and not s.done)
    s.done = True


@inevitable()
def done(s: Light) -> bool:
    """Done."""
    return s.done


@always_eventually()
def done_again(s: Light) -> bool:
    """DoneAgain."""
    return s.done


@eventually_always()
def done_for_good(s: Light) -> bool:
    """DoneForGood."""
    return s.done


@inevitable()
def lit(s: Light) -> bool:
    """Lit."""
    return s.light


def is_dark(s: Light) -> bool:
    """The light is off."""
    return not s.light


def is_lit(s: Light) -> bool:
    """The light is on."""
    return s.light


DIM_ACTIONS = (toggle, finish_lit)


class Place(Enum):
    """Where a process is."""

    IDLE = "idle"
    WAITING = "waiting"
    CRITICAL = "critical"


PROCESSES = Domain("processes")
Process = Annotated[int, PROCESSES]


@state
class Shared:
    """Semaphore.tla."""

    pc: Array[Place] = array(PROCESSES, Place)
    free: bool = flag(default=True)


@action(by=ANYONE)
def ask(s: Shared, process: Process) -> None:
    """Ask."""
    require(s.pc[process] is Place.IDLE)
    s.pc[process] = Place.WAITING


@action(by=ANYONE)
def enter(s: Shared, process: Process) -> None:
    """Enter."""
    require(s.pc[process] is Place.WAITING and s.free)
    s.pc[process] = Place.CRITICAL
    s.free = False


@action(by=ANYONE)
def leave(s: Shared, process: Process) -> None:
    """Leave."""
    require(s.pc[process] is Place.CRITICAL)
    s.pc[process] = Place.IDLE
    s.free = True


def waits(s: Shared, process: Process) -> bool:
    """The process waits."""
    return s.pc[process] is Place.WAITING


def is_in(s: Shared, process: Process) -> bool:
    """The process is in the critical section."""
    return s.pc[process] is Place.CRITICAL


def first_waits(s: Shared) -> bool:
    """Process 0 waits."""
    return s.pc[0] is Place.WAITING


def first_is_in(s: Shared) -> bool:
    """Process 0 is in the critical section."""
    return s.pc[0] is Place.CRITICAL


def someone_waits(s: Shared) -> bool:
    """Some process waits."""
    return any(place is Place.WAITING for place in s.pc)


def someone_is_in(s: Shared) -> bool:
    """Some process is in the critical section."""
    return any(place is Place.CRITICAL for place in s.pc)


@always_eventually()
def free_again(s: Shared) -> bool:
    """FreeAgain."""
    return s.free


@always_eventually()
def busy(s: Shared) -> bool:
    """Busy."""
    return any(place is Place.CRITICAL for place in s.pc)


@eventually_always()
def taken(s: Shared) -> bool:
    """Taken."""
    return not s.free


@state
class Counter:
    """Idle.tla."""

    x: int = number(0, 2)


@action(by=ANYONE)
def forth(s: Counter) -> None:
    """Forth."""
    require(s.x == 0)
    s.x = 1


@action(by=ANYONE)
def back(s: Counter) -> None:
    """Back."""
    require(s.x == 1)
    s.x = 0


@action(by=ANYONE)
def poke(s: Counter) -> None:
    """Poke: it changes nothing where x is 0."""
    require(s.x < 2)
    if s.x == 1:
        s.x = 2


@inevitable()
def end(s: Counter) -> bool:
    """End."""
    return s.x == 2


@eventually_always()
def end_for_good(s: Counter) -> bool:
    """EndForGood."""
    return s.x == 2


@always_eventually()
def one(s: Counter) -> bool:
    """One."""
    return s.x == 1


def is_zero(s: Counter) -> bool:
    """The counter is 0."""
    return s.x == 0


def is_not_zero(s: Counter) -> bool:
    """The counter is not 0."""
    return s.x != 0


def _scenario(root: type, actions: tuple[object, ...], **more: object) -> Scenario:
    return Scenario(name=root.__name__.lower(), story="A port.", state=root, actions=actions, **more)  # type: ignore[arg-type]


@inevitable()
def first_detection(ring: Ring) -> bool:
    """Node 0 detects termination at all: not so, as a computation may last infinitely."""
    return ring.token.at == 0 and not ring.process[0].active


TOGGLE = _scenario(Light, (toggle, finish))
DIM = _scenario(Light, DIM_ACTIONS)
SEMAPHORE = _scenario(Shared, (ask, enter, leave), bounds={"processes": 2})
IDLE = _scenario(Counter, (forth, back, poke))
STEPS = (ask, enter, leave)
LEAVES = weakly_fair(leave, each="process")

Specification = tuple[Scenario, tuple[Fairness, ...]]
SPECIFICATIONS: dict[str, dict[str, Specification]] = {
    "Toggle": {
        "Nothing": (TOGGLE, ()),
        "Either": (TOGGLE, (weakly_fair(toggle, finish),)),
        "OnlyFinish": (TOGGLE, (weakly_fair(finish),)),
        "Weak": (DIM, (weakly_fair(toggle), weakly_fair(finish_lit))),
        "Strong": (DIM, (weakly_fair(toggle), strongly_fair(finish_lit))),
        "StrongAlone": (DIM, (strongly_fair(finish_lit),)),
    },
    "Semaphore": {
        "Nobody": (SEMAPHORE, (weakly_fair(*STEPS),)),
        "Each": (SEMAPHORE, (weakly_fair(*STEPS, each="process"),)),
        "WeakEntry": (SEMAPHORE, (weakly_fair(enter, each="process"), LEAVES)),
        "SomeEntry": (SEMAPHORE, (strongly_fair(enter), LEAVES)),
        "FirstEntry": (SEMAPHORE, (strongly_fair(enter.only(process=0)), LEAVES)),
        "StrongEntry": (SEMAPHORE, (strongly_fair(enter, each="process"), LEAVES)),
        "StrongStep": (SEMAPHORE, (strongly_fair(*STEPS, each="process"),)),
    },
    "Idle": {
        "Weak": (IDLE, (weakly_fair(forth), weakly_fair(back), weakly_fair(poke))),
        "Strong": (IDLE, (weakly_fair(forth), weakly_fair(back), strongly_fair(poke))),
        "Either": (IDLE, (weakly_fair(forth), weakly_fair(back, poke))),
        "Together": (IDLE, (weakly_fair(forth, poke),)),
    },
    "EWD998": {
        "Spec": (EWD998, (weakly_fair(initiate_probe, pass_token),)),
        "NoFairness": (EWD998, ()),
    },
}
PROPERTIES: dict[str, dict[str, Property]] = {
    "Toggle": {
        "Done": done,
        "DoneAgain": done_again,
        "DoneForGood": done_for_good,
        "Lit": lit,
        "DarkLeadsToLit": leads_to(is_dark, is_lit),
    },
    "Semaphore": {
        "Served": leads_to(waits, is_in),
        "FirstServed": leads_to(first_waits, first_is_in),
        "SomeoneServed": leads_to(someone_waits, someone_is_in),
        "FreeAgain": free_again,
        "Busy": busy,
        "Taken": taken,
    },
    "Idle": {"End": end, "EndForGood": end_for_good, "One": one, "Leaves": leads_to(is_zero, is_not_zero)},
    "EWD998": {"Liveness": termination_is_detected},
}
"""The temporal formulas by the names that they have there."""


def port(module: str, specification: str, formula: str) -> Scenario:
    """The scenario of a specification with one property."""
    scenario, fairness = SPECIFICATIONS[module][specification]
    return evolve(scenario, fairness=fairness, properties=(PROPERTIES[module][formula],), deadlock_is_error=False)
