"""Plain induction, without any support."""

from __future__ import annotations

import time

from kwalk.model.language import Kind
from kwalk.model.language.lift import Lifted, LiftedProperty
from kwalk.search.proof.effort import OutOfEffort, SolverEffort
from kwalk.search.proof.proof_graph import StepQueries, property_goal

CPU_SECONDS = 5.0


def is_inductive(lifted: Lifted, prop: LiftedProperty) -> bool:
    """Whether a property holds initially and has no counterexample to induction; False if Z3 has no answer."""
    model, kind = lifted.model, prop.prop.kind
    if kind is Kind.ALWAYS and any(model.violates(prop.prop, start) for start in model.initial):
        return False
    effort = SolverEffort(cpu_deadline=time.process_time() + CPU_SECONDS)
    try:
        return kind in (Kind.ALWAYS, Kind.STEP) and StepQueries(lifted).cti(property_goal(lifted, prop), effort) is None
    except OutOfEffort:
        return False
