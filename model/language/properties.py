"""Properties: what must hold, as predicates over a state and parameters over domains.

Kinds: an *always* property holds in every reachable state. A *when quiescent* property holds in every reachable state
in which no system action is enabled: a violation is a stable bad state. A *reachable* property is true in at least one
reachable state, which guards against a model in which nothing happens. A *step* property relates the states before and
after a step. An *eventually* property is about whole behaviours: from every state in which its premise is true, a state
in which the rest is true is reached, or it is true already.

Words: a *wait* of an eventually property begins in a state in which its premise is true and the rest is not. It ends in
a state in which the rest is true. The property is violated by a wait that never ends although every system action
instance that stays enabled is taken (weak fairness).
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from kwalk.model.language.action import Parametric, place_of, premises_noted
from kwalk.model.language.binding import plain_value
from kwalk.model.language.errors import PremiseFailed, UsageError


class Kind(Enum):
    """When a property is evaluated, and what its truth means."""

    ALWAYS = "always"
    WHEN_QUIESCENT = "when quiescent"
    REACHABLE = "reachable"
    STEP = "step"
    EVENTUALLY = "eventually"


class Property(Parametric):
    """A predicate with a name, a kind, and the symptom that a user sees where it is false."""

    def __init__(self, function: Callable[..., bool], kind: Kind, symptom: str, log: str) -> None:
        super().__init__(function, states=2 if kind is Kind.STEP else 1)
        self.kind, self.symptom, self.log = kind, symptom, log
        self.parts: tuple[Property, ...] = ()
        """Properties that belong to this one: a scenario that lists it has them too."""
        self.part_of = ""
        """The name of the property that it belongs to; "" if it is one of its own."""
        self.only_counts = False
        """Whether it is true of every state or step, so that a search only counts where its premise is true."""

    @property
    def title(self) -> str:
        """Return the name by which a user selects it."""
        return self.part_of or self.name

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the functions of models that it calls."""
        return (self.function,)

    @property
    def context(self) -> Any:
        """Return what its meaning in the active model depends on besides its functions and the model; None: nothing."""
        return None

    def truth(self, *arguments: Any) -> bool | None:
        """Return whether it is true of a state (of two for a step) and arguments; None where its premise is false."""
        if self.kind is Kind.EVENTUALLY:
            premise, rest = self.awaited(*arguments)
            return rest if premise else None
        try:
            return self._truth_value(self.function(*arguments))
        except PremiseFailed:
            return None

    def awaited(self, *arguments: Any) -> tuple[bool, bool]:
        """Return, for an eventually property, whether its premise is true, and whether the rest is true.

        Both are evaluated in every state, independently of each other.
        """
        with premises_noted() as failed:
            rest = self._truth_value(self.function(*arguments))
        return not failed, rest

    def _truth_value(self, result: Any) -> bool:
        result = plain_value(result)
        if isinstance(result, bool):
            return result
        raise UsageError(
            f"{place_of(self.function)}: the property returned {result!r}; return True or False, such as `bool(…)` or "
            "`… is not None`."
        )

    def __repr__(self) -> str:
        return f"<property {self.name}>"


def _declare(kind: Kind, symptom: str, log: str) -> Callable[[Callable[..., bool]], Property]:
    return lambda function: Property(function, kind, symptom, log)


def always(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Property]:
    """Declare a property that holds in every reachable state.

    Args:
        symptom: what a user sees where it is violated.
        log: the line that an operator finds in a log.

    Returns:
        A decorator for a predicate of the state and of parameters that are annotated with domains.
    """
    return _declare(Kind.ALWAYS, symptom, log)


def when_quiescent(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Property]:
    """Declare a property that holds in every reachable state in which no system action is enabled.

    `symptom` and `log` as for `always`.
    """
    return _declare(Kind.WHEN_QUIESCENT, symptom, log)


when_quiet = when_quiescent
"""An alias of `when_quiescent`."""


def reachable(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Property]:
    """Declare a property that is true in at least one reachable state. `symptom` and `log` as for `always`."""
    return _declare(Kind.REACHABLE, symptom, log)


def step(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Property]:
    """Declare a property of every step; the predicate takes the state before and the state after it.

    `symptom` and `log` as for `always`.
    """
    return _declare(Kind.STEP, symptom, log)


def eventually(*, symptom: str = "", log: str = "") -> Callable[[Callable[..., bool]], Property]:
    """Declare a property that becomes true from every reachable state in which its premise is true.

    System actions are weakly fair. The part after `premise` is evaluated in every state, so it must have a value also
    where the premise is false. `symptom` and `log` as for `always`.
    """
    return _declare(Kind.EVENTUALLY, symptom, log)
