"""A kitchen that snapshots are taken of: guests order, the cook cooks, and a cat turns the stove off."""

from __future__ import annotations

from collections.abc import Callable

from kwalk.model.language import Actor, Scenario, UsageError, action, flag, number, require, state
from kwalk.model.language.series import Fact, Series, Waypoint, where

MOST = 6


@state
class Kitchen:
    """How much was ever ordered, is still wanted, and was cooked; whether the stove is on, which no snapshot shows."""

    ordered: int = number(0, MOST)
    wanted: int = number(0, MOST)
    cooked: int = number(0, MOST)
    stove_is_off: bool = flag()


GUEST, COOK, CAT = Actor("guest", system=False), Actor("cook"), Actor("cat", system=False)


@action(by=GUEST, description="orders a soup")
def order(kitchen: Kitchen) -> None:
    """One more."""
    require(kitchen.ordered < MOST)
    kitchen.ordered += 1
    kitchen.wanted += 1


@action(by=GUEST, description="goes away hungry")
def leave(kitchen: Kitchen) -> None:
    """Only a guest who waits does."""
    require(kitchen.wanted > 0)
    kitchen.wanted -= 1


@action(by=COOK, description="cooks a soup")
def cook(kitchen: Kitchen) -> None:
    """On a stove that is on."""
    require(kitchen.wanted > 0 and not kitchen.stove_is_off)
    kitchen.wanted -= 1
    kitchen.cooked += 1


@action(by=CAT, description="turns the stove off")
def turn_off(kitchen: Kitchen) -> None:
    """Nobody notices."""
    require(not kitchen.stove_is_off)
    kitchen.stove_is_off = True


def seen(name: str, *, without: tuple[str, ...] = (), **shown: int) -> Waypoint:
    """A snapshot that shows these fields."""
    facts = tuple(Fact(field, str(n), (where(field, n),), _looker(field)) for field, n in shown.items())
    return Waypoint(name, facts, without=frozenset(without))


def _looker(field: str) -> Callable[[Kitchen], str]:
    return lambda kitchen: str(int(getattr(kitchen, field)))


def series(*waypoints: Waypoint) -> Series:
    """Snapshots of a kitchen that begins clean."""
    return Series(bounds={}, labels={}, initial=opened, waypoints=waypoints, facts=("A kitchen.",))


def opened(kitchen: Kitchen) -> None:
    """Nobody has ordered yet."""


def read_series(paths: list[str]) -> Series:
    """One snapshot for each file: lines such as `cooked 3`."""
    waypoints = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            pairs = [line.split() for line in file]
        if any(len(pair) != 2 or pair[0] not in ("ordered", "cooked") for pair in pairs):
            raise UsageError(f"{path} is no snapshot of a kitchen.")
        waypoints.append(seen(path, **{field: int(n) for field, n in pairs}))
    return series(*waypoints)


KITCHEN = Scenario(
    name="kitchen",
    story="Guests order soup.",
    state=Kitchen,
    initial=opened,
    actions=(order, leave, cook, turn_off),
    read_series=read_series,
)
