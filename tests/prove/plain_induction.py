"""Plain induction, without any support."""

from __future__ import annotations

import time

from kwalk.model.language import Kind
from kwalk.model.language.lift import Lifted, LiftedProperty
from kwalk.search.proof.induction import find_cti
from kwalk.search.proof.slicing import slice_of
from kwalk.search.proof.transition_relation import OutOfEffort, SolverEffort, TransitionRelation

CPU_SECONDS = 5.0


def is_inductive(lifted: Lifted, prop: LiftedProperty) -> bool:
    """Whether a property holds initially and has no counterexample to induction; False if Z3 has no answer."""
    model, kind = lifted.model, prop.prop.kind
    if kind is Kind.ALWAYS and any(model.violates(prop.prop, start) for start in model.initial):
        return False
    effort = SolverEffort(cpu_deadline=time.process_time() + CPU_SECONDS)
    try:
        relation = TransitionRelation(slice_of(lifted, [prop]), effort)
        return kind in (Kind.ALWAYS, Kind.STEP) and find_cti(relation, prop.prop.index) is None
    except OutOfEffort:
        return False
