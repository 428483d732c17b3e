"""Invariants: what must hold, as predicates over a state and parameters over domains.

Kinds: *always* holds in every reachable state; *when quiet* in every reachable state in which no system action is
enabled, so that a violation is a stable bad state (nothing will mend it by itself); *reachable* must be true somewhere,
which guards against a model that passes because nothing happens; *step* relates the states before and after a step.
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from model.language.action import Parametric


class Kind(Enum):
    """When an invariant is evaluated, and what its truth means."""

    ALWAYS = "always"
    WHEN_QUIET = "when quiet"
    REACHABLE = "reachable"
    STEP = "step"


class Invariant(Parametric):
    """A predicate with a name, a kind, and the symptom that a user would see where it is false."""

    def __init__(self, function: Callable[..., bool], kind: Kind, symptom: str, log: str) -> None:
        super().__init__(function, states=2 if kind is Kind.STEP else 1)
        self.kind, self.symptom, self.log = kind, symptom, log

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
