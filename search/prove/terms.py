"""Terms that proofs are made of: arbitrary states, what violates a claim, and states where a condition is true."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from model.language import Kind, Model, Vector
from model.language.lift import Lifted, LiftedAction, LiftedClaim, Term, Terms, in_order
from model.language.lift.solver import Solver, number_in


def substitute(terms: Terms, roots: Sequence[Term], numbers: Sequence[Term]) -> list[Term]:
    """The terms with variable n replaced by `numbers[n]`, simplified on the way."""
    new: dict[int, Term] = {}
    for term in in_order(roots):
        new[term.id] = rebuilt(terms, term, [new[a.id] for a in term.args], numbers)
    return [new[root.id] for root in roots]


def rebuilt(terms: Terms, term: Term, args: list[Term], numbers: Sequence[Term]) -> Term:
    """The term with other arguments, simplified; a variable is replaced by the one of `numbers` that it names."""
    if term.op in ("bool", "int"):
        return term
    if term.op in ("boolvar", "intvar"):
        return numbers[term.payload]
    return _REBUILD[term.op](terms, term, args)


_REBUILD: dict[str, Callable[[Terms, Term, list[Term]], Term]] = {
    "not": lambda terms, _, args: terms.negation(args[0]),
    "and": lambda terms, _, args: terms.conjunction(args),
    "or": lambda terms, _, args: terms.disjunction(args),
    "ite": lambda terms, _, args: terms.choose(*args),
    "eq": lambda terms, _, args: terms.equal(*args),
    "lt": lambda terms, _, args: terms.less(*args),
    "add": lambda terms, _, args: terms.add(*args),
    "sub": lambda terms, _, args: terms.subtract(*args),
    "mul": lambda terms, _, args: terms.times(args[0], args[1].payload),
    "div": lambda terms, _, args: terms.quotient(args[0], args[1].payload),
    "mod": lambda terms, _, args: terms.remainder(args[0], args[1].payload),
    "within": lambda terms, term, args: terms.within(args[0], term.low, term.high),
}


def state_variables(lifted: Lifted, first: int = 0) -> list[Term]:
    """The leaves of an arbitrary state; leaf n is variable `first` + n."""
    t = lifted.terms
    return [
        t.bool_variable(first + n) if leaf.is_truth_value else t.int_variable(first + n, leaf.low, leaf.high)
        for n, leaf in enumerate(lifted.model.leaves)
    ]


def among(lifted: Lifted, states: Sequence[Vector], which: Sequence[int]) -> Term:
    """That some leaves are as in one of the vectors of these; what several have in common at the start is said once."""
    known: dict[tuple[int, frozenset[Vector]], Term] = {}
    variables, t = state_variables(lifted), lifted.terms
    leaves = [variables[n] for n in which]

    def those(rest: frozenset[Vector], first: int) -> Term:
        if first == len(leaves):
            return t.true
        if (first, rest) not in known:
            tails: dict[int, set[Vector]] = {}
            for state in rest:
                tails.setdefault(state[0], set()).add(state[1:])
            options = [(is_number(t, leaves[first], n), frozenset(tail)) for n, tail in tails.items()]
            known[first, rest] = t.disjunction(t.conjunction((here, those(tail, first + 1))) for here, tail in options)
        return known[first, rest]

    return those(frozenset(states), 0)


def is_number(terms: Terms, leaf: Term, number: int) -> Term:
    """That a leaf has a number."""
    if leaf.is_bool:
        return leaf if number else terms.negation(leaf)
    return terms.equal(leaf, terms.integer(number))


def taken(terms: Terms, action: LiftedAction) -> Term:
    """That an instance can be taken: its guard holds, no bound is reached and no value leaves its domain."""
    return terms.conjunction((action.guard, *(terms.negation(o.condition) for o in action.obligations)))


def wrong(terms: Terms, roots: Sequence[Term]) -> Term:
    """That a claim with these roots is violated: its premise holds, and it is false or meets an error."""
    premise, truth, *errors = roots
    return terms.conjunction((premise, terms.disjunction((terms.negation(truth), *errors))))


def over_a_step(lifted: Lifted, claim: LiftedClaim, before: Sequence[Term], after: Sequence[Term]) -> list[Term]:
    """The roots of a claim about a step between two states given as terms."""
    return substitute(lifted.terms, claim.roots, [*before, *after])


def sought(lifted: Lifted, claim: LiftedClaim) -> Term:
    """What a proof shows to be impossible in a state: a violation, or for `reachable` a witness. Not for `step`."""
    terms = lifted.terms
    if claim.claim.kind is Kind.REACHABLE:
        premise, truth, *errors = claim.roots
        return terms.conjunction((premise, terms.disjunction((truth, *errors))))
    if claim.claim.kind is Kind.WHEN_QUIET:
        return terms.conjunction((wrong(terms, claim.roots), quiet(lifted)))
    return wrong(terms, claim.roots)


def quiet(lifted: Lifted) -> Term:
    """That no system action is enabled."""
    return lifted.terms.conjunction(
        lifted.terms.negation(action.guard) for action in lifted.actions if action.instance.action.by.system
    )


def satisfying(model: Model, condition: Term, milliseconds: int) -> Vector | None:
    """An in-domain state where the condition is true; None if there is none. TimeoutError if Z3 cannot tell."""
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
    defaults = model.vector(_default_state(model))
    return tuple(found.get(n, defaults[n]) for n in range(len(model.leaves)))


def _default_state(model: Model) -> object:
    with model.active():
        return model.scenario.state()
