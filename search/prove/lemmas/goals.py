"""Goals of proof graphs: a claim, and that an action does not leave its domain."""
from __future__ import annotations

from collections.abc import Iterator

from model.language import Kind
from model.language.lift import Lifted, LiftedClaim, Owed, Term
from search.prove.lemmas.graph import STATE, Goal
from search.prove.terms import over_a_step, sought, state_variables, substitute, wrong


def of_claim(lifted: Lifted, claim: LiftedClaim) -> Goal:
    """That nothing violates a claim which holds initially.

    A claim about quiet states must follow from facts; one about all states is assumed before each step.
    """
    if claim.claim.kind is Kind.WHEN_QUIET:
        return Goal(claim.claim.key, {STATE: sought(lifted, claim)})
    bad: dict[int, Term] = {}
    now, terms = state_variables(lifted), lifted.terms
    for action in lifted.actions:
        after = [action.updates.get(n, term) for n, term in enumerate(now)]
        if claim.claim.kind is Kind.STEP:
            broken = wrong(terms, over_a_step(lifted, claim, now, after))
        else:
            held = sought(lifted, claim)
            broken = terms.conjunction((terms.negation(held), *substitute(terms, [held], after)))
        if broken is not terms.false and action.guard is not terms.false:
            bad[action.instance.index] = broken
    return Goal(claim.claim.key, bad)


def of_domains(lifted: Lifted) -> Iterator[Goal]:
    """That no instance leaves its domain where it can be taken; one goal for each that could."""
    for action in lifted.actions:
        errors = [o.condition for o in action.obligations if o.owed is Owed.ERROR]
        bad = lifted.terms.conjunction((action.guard, lifted.terms.disjunction(errors)))
        if bad is not lifted.terms.false:
            key = action.instance.key
            yield Goal(f"the domains are closed under {key}", {STATE: bad}, action=key)
