"""Lifting: the second meaning of a model. `lift(model)` returns its terms; see `terms` for what those are."""

from kwalk.model.language.lift.lifting import (
    Lifted,
    LiftedAction,
    LiftedProperty,
    lift,
    lift_action,
    lift_properties,
    reads,
    step_code,
)
from kwalk.model.language.lift.machine import ConditionKind, SideCondition
from kwalk.model.language.lift.terms import Term, Terms, in_order, rebuild, substitute

__all__ = [
    "ConditionKind",
    "Lifted",
    "LiftedAction",
    "LiftedProperty",
    "SideCondition",
    "Term",
    "Terms",
    "in_order",
    "lift",
    "lift_action",
    "lift_properties",
    "reads",
    "rebuild",
    "step_code",
    "substitute",
]
