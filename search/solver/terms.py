"""The term basis of proofs: variables of an arbitrary state, violations, and states that satisfy a term.

Words: a *leaf* is one number of the flat state vector. The *roots* of a lifted property are its premise, its truth and
its errors, as terms over the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from kwalk.model.language import Kind, Model, Vector
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedAction, LiftedProperty, Term, Terms, substitute
from kwalk.model.language.lift.solver import Solver, number_in


def state_variables(lifted: Lifted, first: int = 0) -> list[Term]:
    """Return one variable per leaf, which together are an arbitrary state; leaf n is variable `first` + n."""
    t = lifted.terms
    return [
        t.bool_variable(first + n) if leaf.is_truth_value else t.int_variable(first + n, leaf.low, leaf.high)
        for n, leaf in enumerate(lifted.model.leaves)
    ]


def state_after(action: LiftedAction, before: Sequence[Term]) -> list[Term]:
    """Return the leaves after an action instance, as terms over the state before it."""
    return [action.updates.get(n, term) for n, term in enumerate(before)]


def one_of_states(lifted: Lifted, states: Sequence[Vector], leaves: Sequence[int]) -> Term:
    """Return the condition that some leaves have the numbers of one of the states.

    Args:
        lifted: The model as terms.
        states: For each state, the numbers of `leaves`, in that order. Common prefixes are encoded once.
        leaves: The numbers of the leaves.
    """
    known: dict[tuple[int, frozenset[Vector]], Term] = {}
    variables, t = state_variables(lifted), lifted.terms
    chosen = [variables[n] for n in leaves]

    def suffixes(rest: frozenset[Vector], first: int) -> Term:
        if first == len(chosen):
            return t.true
        if (first, rest) not in known:
            tails: dict[int, set[Vector]] = {}
            for state in rest:
                tails.setdefault(state[0], set()).add(state[1:])
            options = [(has_number(t, chosen[first], n), frozenset(tail)) for n, tail in tails.items()]
            conjunctions = (t.conjunction((here, suffixes(tail, first + 1))) for here, tail in options)
            known[first, rest] = t.disjunction(conjunctions)
        return known[first, rest]

    return suffixes(frozenset(states), 0)


def has_number(terms: Terms, leaf: Term, number: int) -> Term:
    """Return the condition that a leaf has a number."""
    if leaf.is_bool:
        return leaf if number else terms.negation(leaf)
    return terms.equal(leaf, terms.integer(number))


def can_be_taken(terms: Terms, action: LiftedAction) -> Term:
    """Return the condition that an instance is enabled, meets no bound, and leaves no domain."""
    return terms.conjunction((action.guard, *(terms.negation(o.condition) for o in action.side_conditions)))


def leaves_domain(
    terms: Terms, action: LiftedAction, guard: Term | None = None, conditions: Sequence[Term] | None = None
) -> Term:
    """Return the condition that an enabled action instance meets an error, and no bound before it.

    A side condition has a meaning only where those before it are false, as it was simplified with that fact.

    Args:
        terms: The table of the terms.
        action: The action instance.
        guard: Its guard over another state; None for its own.
        conditions: Its side conditions over that state; None for its own.
    """
    clear, met = action.guard if guard is None else guard, []
    own = [one.condition for one in action.side_conditions]
    for one, condition in zip(action.side_conditions, own if conditions is None else conditions, strict=True):
        if one.kind is ConditionKind.ERROR:
            met.append(terms.conjunction((clear, condition)))
        clear = terms.conjunction((clear, terms.negation(condition)))
    return terms.disjunction(met)


def violation(terms: Terms, roots: Sequence[Term]) -> Term:
    """Return the condition that a property with these roots fails: its premise holds, and it is false or an error."""
    premise, truth, *errors = roots
    return terms.conjunction((premise, terms.disjunction((terms.negation(truth), *errors))))


def step_violation(lifted: Lifted, prop: LiftedProperty, before: Sequence[Term], after: Sequence[Term]) -> Term:
    """Return the condition that the step between two states, given as terms, violates a `step` property."""
    return violation(lifted.terms, substitute(lifted.terms, prop.roots, [*before, *after]))


def bad_state(lifted: Lifted, prop: LiftedProperty) -> Term:
    """Return what a proof shows to be impossible in a state: a violation, or a witness of a `reachable` property.

    Not for `step` properties; see `step_violation`.
    """
    terms = lifted.terms
    if prop.prop.kind is Kind.REACHABLE:
        premise, truth, *errors = prop.roots
        return terms.conjunction((premise, terms.disjunction((truth, *errors))))
    if prop.prop.kind is Kind.WHEN_QUIESCENT:
        return terms.conjunction((violation(terms, prop.roots), quiescent(lifted)))
    return violation(terms, prop.roots)


def quiescent(lifted: Lifted) -> Term:
    """Return the condition that no system action is enabled."""
    return lifted.terms.conjunction(
        lifted.terms.negation(action.guard) for action in lifted.actions if action.instance.action.by.system
    )


def satisfying_state(model: Model, condition: Term, milliseconds: int) -> Vector | None:
    """Return a state within the domains in which a condition is true, or None if there is none.

    Raises:
        TimeoutError: Z3 has no answer within the time.
    """
    found = satisfying_states(model, condition, milliseconds)
    return None if found is None else found[0]


def satisfying_states(model: Model, condition: Term, milliseconds: int) -> tuple[Vector, Vector] | None:
    """Return two states within the domains, before and after a step, for which a condition is true; None if none are.

    Raises:
        TimeoutError: Z3 has no answer within the time.
    """
    solver = Solver(Solver.width_for([condition]))
    expression = solver.expression(condition)
    check = z3.SolverFor("QF_BV")
    check.set("timeout", milliseconds)
    check.add(expression, *solver.domain())
    result = check.check()
    if result == z3.unsat:
        return None
    if result == z3.unknown:
        raise TimeoutError(check.reason_unknown())
    found = {number: number_in(check.model(), name) for number, (_, name) in solver.variables.items()}
    defaults, size = model.vector(_default_state(model)), len(model.leaves)
    before, after = (tuple(found.get(first + n, defaults[n]) for n in range(size)) for first in (0, size))
    return before, after


def _default_state(model: Model) -> object:
    with model.active():
        return model.scenario.state()
