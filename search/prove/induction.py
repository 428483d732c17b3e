"""Proofs by induction: what holds at the start, and is kept by every action, holds for ever.

Words: a claim is *inductive* if no action leads from an in-domain state that satisfies it to one that does not. The
state need not be reachable, so a claim that is not inductive may still hold. A domain is *closed* under an action if
none of its effects leaves it; bounds disable an action before that.
"""
from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from model.language import Kind, Model, Vector
from model.language.lift import Lifted, LiftedAction, LiftedClaim, Owed, reads
from model.language.lift.evaluation import evaluate_terms
from search.prove.terms import satisfying, state_variables, substitute, wrong


@frozen
class Escape:
    """An action that can leave its domain from an in-domain state, which need not be reachable."""

    action: str
    error: str
    state: Vector


def escapes(lifted: Lifted, milliseconds: int = 10_000) -> Iterator[Escape]:
    """The first error of each action that Z3 does not rule out; none at all means that the domains are closed."""
    for action in lifted.actions:
        errors = [o for o in action.obligations if o.owed is Owed.ERROR]
        any_error = lifted.terms.disjunction(o.condition for o in errors)
        state = satisfying(lifted.model, lifted.terms.conjunction((action.guard, any_error)), milliseconds)
        if state is not None:
            true = evaluate_terms([o.condition for o in errors], state)
            yield Escape(action.instance.key, errors[true.index(1)].name, state)


def is_inductive(model: Model, lifted: Lifted, claim: LiftedClaim, milliseconds: int = 2_000) -> bool:
    """Whether Z3 proves that the claim holds initially and that every action keeps it; False if it cannot tell."""
    if claim.claim.kind not in (Kind.ALWAYS, Kind.STEP):
        return False
    if claim.claim.kind is Kind.ALWAYS and any(model.violates(claim.claim, start) for start in model.initial):
        return False
    try:
        return all(_keeps(model, lifted, claim, action, milliseconds) for action in lifted.actions)
    except TimeoutError:
        return False


def _keeps(model: Model, lifted: Lifted, claim: LiftedClaim, action: LiftedAction, milliseconds: int) -> bool:
    t, leaves = lifted.terms, len(model.leaves)
    roots = claim.roots
    touched = reads(roots) & (action.writes | {leaves + leaf for leaf in action.writes})
    if action.guard is t.false or (claim.claim.kind is Kind.ALWAYS and not touched):
        return True
    now = state_variables(lifted)
    after = [action.updates.get(leaf, term) for leaf, term in enumerate(now)]
    step = [action.guard, *(t.negation(o.condition) for o in action.obligations)]
    if claim.claim.kind is Kind.STEP:
        broken = t.conjunction((*step, wrong(t, substitute(t, roots, [*now, *after]))))
    else:
        held = t.negation(wrong(t, roots))
        broken = t.conjunction((*step, held, wrong(t, substitute(t, roots, after))))
    return satisfying(model, broken, milliseconds) is None
