"""Unrolling a model: its states after 0, 1, 2 … steps as terms over one choice per step.

Words: the *choice* of a step is a variable that says which action instance is taken. Starting from concrete initial
states, whatever no enabled action has changed yet stays a constant, and constants fold, so that early steps are small;
what a claim does not depend on is never handed to the solver.
"""
from __future__ import annotations

from collections.abc import Sequence

from model.language import Kind, Model
from model.language.lift import Lifted, LiftedClaim, Owed, Term, Terms, in_order


def substitute(terms: Terms, roots: Sequence[Term], numbers: Sequence[Term]) -> list[Term]:
    """The terms with variable n replaced by `numbers[n]`, simplified on the way."""
    new: dict[int, Term] = {}
    for term in in_order(roots):
        new[term.id] = _rebuilt(terms, term, [new[a.id] for a in term.args], numbers)
    return [new[root.id] for root in roots]


def _rebuilt(terms: Terms, term: Term, args: list[Term], numbers: Sequence[Term]) -> Term:
    if term.op in ("bool", "int"):
        return term
    if term.op in ("boolvar", "intvar"):
        return numbers[term.payload]
    return {
        "not": lambda: terms.negation(args[0]),
        "and": lambda: terms.conjunction(args),
        "or": lambda: terms.disjunction(args),
        "ite": lambda: terms.choose(*args),
        "eq": lambda: terms.equal(*args),
        "lt": lambda: terms.less(*args),
        "add": lambda: terms.add(*args),
        "sub": lambda: terms.subtract(*args),
        "mul": lambda: terms.times(args[0], args[1].payload),
        "div": lambda: terms.quotient(args[0], args[1].payload),
        "mod": lambda: terms.remainder(args[0], args[1].payload),
        "within": lambda: terms.within(args[0], term.low, term.high),
    }[term.op]()


class Unrolling:
    """The steps unrolled so far: `states[k]` has a term per leaf, `choices[k]` is the choice of step k + 1."""

    def __init__(self, model: Model, lifted: Lifted) -> None:
        self.model, self.lifted, self.terms = model, lifted, lifted.terms
        self._variables = 2 * len(model.leaves)
        self.constraints: list[Term] = []
        self.choices: list[Term] = []
        self.start = self._choice(len(model.initial))
        self.states: list[list[Term]] = [self._initial()]
        self._guards: list[list[Term]] = []

    def _choice(self, options: int) -> Term:
        self._variables += 1
        return self.terms.int_variable(self._variables - 1, 0, options - 1)

    def _initial(self) -> list[Term]:
        t = self.terms
        state = [self._constant(leaf, number) for leaf, number in enumerate(self.model.initial[0])]
        for index, vector in enumerate(self.model.initial[1:], start=1):
            chosen = t.equal(self.start, t.integer(index))
            pairs = enumerate(zip(vector, state, strict=True))
            state = [t.choose(chosen, self._constant(leaf, number), old) for leaf, (number, old) in pairs]
        return state

    def _constant(self, leaf: int, number: int) -> Term:
        return self.terms.boolean(number) if self._is_bool(leaf) else self.terms.integer(number)

    def _is_bool(self, leaf: int) -> bool:
        return self.model.leaves[leaf].is_truth_value

    @property
    def depth(self) -> int:
        """How many steps are unrolled."""
        return len(self.choices)

    def extend(self) -> int:
        """Unroll one more step; the number of action instances that may be enabled in it."""
        t, state = self.terms, self.states[-1]
        choice, after, ways = self._choice(len(self.lifted.actions)), list(state), []
        for action, guard in zip(self.lifted.actions, self.guards(self.depth), strict=True):
            if guard is t.false:
                continue
            owed = substitute(t, [o.condition for o in action.obligations], state)
            can = t.conjunction((guard, t.negation(t.disjunction(owed))))
            if can is t.false:
                continue
            taken = t.equal(choice, t.integer(action.instance.index))
            ways.append(t.conjunction((taken, can)))
            fresh = substitute(t, list(action.updates.values()), state)
            for leaf, term in zip(action.updates, fresh, strict=True):
                after[leaf] = t.choose(taken, term, after[leaf])
        self.constraints.append(t.disjunction(ways))
        self.choices.append(choice)
        self.states.append(after)
        return len(ways)

    def guards(self, step: int) -> list[Term]:
        """The guards of all actions in the state after `step` steps."""
        while len(self._guards) <= step:
            state = self.states[len(self._guards)]
            self._guards.append(substitute(self.terms, [a.guard for a in self.lifted.actions], state))
        return self._guards[step]

    def leaves_domain(self) -> Term:
        """That an enabled action meets an error, and no bound before it, in the last unrolled state."""
        t, met = self.terms, []
        for action, guard in zip(self.lifted.actions, self.guards(self.depth), strict=True):
            clear = guard
            for obligation in action.obligations if guard is not t.false else ():
                (condition,) = substitute(t, [obligation.condition], self.states[-1])
                if obligation.owed is Owed.ERROR:
                    met.append(t.conjunction((clear, condition)))
                clear = t.conjunction((clear, t.negation(condition)))
        return t.disjunction(met)

    def bad(self, claim: LiftedClaim) -> Term:
        """That the last unrolled state (or step) violates the claim, or witnesses a `reachable` one."""
        t, state = self.terms, self.states[-1]
        if claim.claim.kind is Kind.STEP:
            if not self.depth:
                return t.false
            state = [*self.states[-2], *state]
        premise, truth, *errors = substitute(t, claim.roots, state)
        wrong = truth if claim.claim.kind is Kind.REACHABLE else t.negation(truth)
        bad = t.conjunction((premise, t.disjunction((wrong, *errors))))
        return t.conjunction((bad, self._quiet())) if claim.claim.kind is Kind.WHEN_QUIET else bad

    def _quiet(self) -> Term:
        guards = zip(self.lifted.actions, self.guards(self.depth), strict=True)
        return self.terms.conjunction(self.terms.negation(g) for a, g in guards if a.instance.action.by.system)
