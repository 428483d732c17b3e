"""Constraints: predicates that restrict a search to some of the behaviours, as TLC's CONSTRAINT and ACTION_CONSTRAINT.

Words: a state that violates a *constraint* is reached and checked, and not expanded: a step from it is a hit of a bound
with the constraint's name. A step that violates an *action constraint* is not taken, which is such a hit too. So a
verdict counts what was cut, quiescence and fairness consider the step enabled, and a verdict is valid only within the
constraint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwalk.model.language.action import Parametric, place_of
from kwalk.model.language.binding import plain_value
from kwalk.model.language.declared import check_declared, decorator, truth_value
from kwalk.model.language.errors import GuardFailed, LiftError, PremiseFailed, UsageError
from kwalk.model.language.properties import Kind, Property

PREFIX = "constraint "
"""The beginning of the name of a bound that stands for a constraint."""


class Constraint(Parametric):
    """A predicate of a state, or of the states before and after a step.

    An *optional* one applies only where it is selected: it is a flag of the scenario, which is off by default.
    """

    def __init__(self, function: Callable[..., bool], *, states: int, optional: bool) -> None:
        super().__init__(function, states=states)
        self.optional = optional
        if function.__code__.co_argcount != states:
            what = "the state" if states == 1 else "the states before and after a step"
            raise LiftError(f"{place_of(function)}: the constraint {self.name} takes {what}, and nothing else.")

    @property
    def bound(self) -> str:
        """Return the name of the bound that it is in verdicts."""
        return PREFIX + self.name

    def holds(self, *states: Any) -> bool:
        """Return whether a state, or the step between two states, satisfies it.

        Raises:
            UsageError: it returns no truth value, or contains `require` or `premise`.
        """
        try:
            result = plain_value(self.function(*states))
        except (GuardFailed, PremiseFailed) as error:
            raise UsageError(
                f"{place_of(self.function)}: the constraint {self.name} contains `require` or `premise`; return the "
                "condition instead."
            ) from error
        if isinstance(result, bool):
            return result
        raise UsageError(
            f"{place_of(self.function)}: the constraint {self.name} returned {result!r}; return True or False."
        )

    def __repr__(self) -> str:
        return f"<constraint {self.name}>"


class CutStates(Property):
    """A property that is always true; its premise is true of states that violate a constraint, so they are counted."""

    def __init__(self, constraint: Constraint) -> None:
        super().__init__(constraint.function, Kind.ALWAYS, "", "")
        self.constraint, self.name, self.only_counts = constraint, f"cut_by_{constraint.name}", True

    def truth(self, *arguments: Any) -> bool | None:
        """Return True of a state that violates the constraint; None of any other."""
        return None if self.constraint.holds(*arguments) else True


def constraint(*, optional: bool = False) -> Callable[[Callable[..., bool]], Constraint]:
    """Declare a constraint: states in which the predicate is false are checked, and not expanded.

    Args:
        optional: whether it applies only where `--constraint NAME` or `--flag NAME=on` selects it.

    Returns:
        A decorator for a predicate of the state.
    """
    return _declare("constraint(…)", 1, optional)


def action_constraint(*, optional: bool = False) -> Callable[[Callable[..., bool]], Constraint]:
    """Declare an action constraint: steps for which the predicate is false are not taken.

    Args:
        optional: whether it applies only where `--constraint NAME` or `--flag NAME=on` selects it.

    Returns:
        A decorator for a predicate of the state before and the state after a step.
    """
    return _declare("action_constraint(…)", 2, optional)


def _declare(called: str, states: int, optional: bool) -> Callable[[Callable[..., bool]], Constraint]:
    check_declared(f"@{called}", truth_value("optional", optional))
    return decorator(called, lambda function: Constraint(function, states=states, optional=optional))
