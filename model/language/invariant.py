"""Invariants: what must hold, as predicates over a state and parameters over domains.

Kinds: *always* holds in every reachable state; *when quiet* in every reachable state in which no system action is
enabled, so that a violation is a stable bad state (nothing will mend it by itself); *reachable* must be true somewhere,
which guards against a model that passes because nothing happens; *step* relates the states before and after a step;
*eventually* is about whole behaviours: wherever its premise holds, what it awaits is there then or later.

Words: a *wait* of an `eventually` claim begins in a state where its premise holds and what it awaits is not there. It
ends where that is there. The claim is violated by a wait that never ends although every system action that stays
enabled is taken (weak fairness).
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from model.language.action import Parametric, premises_noted
from model.language.errors import PremiseFailed


class Kind(Enum):
    """When an invariant is evaluated, and what its truth means."""

    ALWAYS = "always"
    WHEN_QUIET = "when quiet"
    REACHABLE = "reachable"
    STEP = "step"
    EVENTUALLY = "eventually"


class Invariant(Parametric):
    """A predicate with a name, a kind, and the symptom that a user would see where it is false."""

    def __init__(self, function: Callable[..., bool], kind: Kind, symptom: str, log: str) -> None:
        super().__init__(function, states=2 if kind is Kind.STEP else 1)
        self.kind, self.symptom, self.log = kind, symptom, log

    def truth(self, *arguments: Any) -> bool | None:
        """Whether it is true of a state (a step: of two) and of arguments; None where its premise is false."""
        if self.kind is Kind.EVENTUALLY:
            asked, there = self.awaited(*arguments)
            return there if asked else None
        try:
            return bool(self.function(*arguments))
        except PremiseFailed:
            return None

    def awaited(self, *arguments: Any) -> tuple[bool, bool]:
        """Of an `eventually` claim: whether its premise holds, and whether what it awaits is there; each for itself."""
        with premises_noted() as failed:
            there = bool(self.function(*arguments))
        return not failed, there

    def __repr__(self) -> str:
        return f"<invariant {self.name}>"


def _declare(kind: Kind, symptom: str, log: str) -> Callable[[Callable[..., bool]], Invariant]:
    return lambda function: Invariant(function, kind, symptom, log)


def always(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Invariant]:
    """Declare what holds in every reachable state. `log` is the line an operator would find."""
    return _declare(Kind.ALWAYS, symptom, log)


def when_quiet(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Invariant]:
    """Declare what holds in every reachable state in which no system action is enabled."""
    return _declare(Kind.WHEN_QUIET, symptom, log)


def reachable(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Invariant]:
    """Declare what must be possible: true in at least one reachable state."""
    return _declare(Kind.REACHABLE, symptom, log)


def step(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Invariant]:
    """Declare what holds over every step; the function takes the state before and the state after."""
    return _declare(Kind.STEP, symptom, log)


def eventually(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Invariant]:
    """Declare what comes: from every reachable state where the premise holds, the rest is true then or later.

    Under weak fairness of system actions. What follows `premise` is evaluated in every state, so it must make sense
    where the premise is false as well.
    """
    return _declare(Kind.EVENTUALLY, symptom, log)
