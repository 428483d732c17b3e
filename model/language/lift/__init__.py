"""Lifting: the second meaning of a model. `lift(model)` gives its terms; see `terms` for what those are."""
from model.language.lift.lifting import Lifted, LiftedAction, LiftedClaim, lift, lift_action, reads
from model.language.lift.machine import Obligation, Owed
from model.language.lift.terms import Term, Terms, in_order

__all__ = [
    "Lifted", "LiftedAction", "LiftedClaim", "Obligation", "Owed", "Term", "Terms", "in_order", "lift", "lift_action",
    "reads",
]  # fmt: skip
