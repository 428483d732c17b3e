"""Unrolling a model: its states after 0, 1, 2 … steps as terms over one choice per step.

Words: the *choice* of a step is a variable that says which action instance is taken. Starting from concrete initial
states, whatever no enabled action has changed yet stays a constant, and constants fold, so that early steps are small;
what a claim does not depend on is never handed to the solver. An unrolling from *anywhere* starts in an arbitrary
in-domain state instead, which is what induction speaks of.
"""
from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from model.language import Kind, Model
from model.language.lift import Lifted, LiftedClaim, Owed, Term, Terms
from search.prove.terms import among, over_a_step, sought, state_variables, substitute, wrong

LISTED = 100
"""So many initial states are chosen from by their number; where there are more, a constraint says what they are."""


@frozen
class Choice:
    """A number below some limit that is left open: its bits, lowest first, as truth values."""

    bits: tuple[Term, ...]

    def is_number(self, terms: Terms, number: int) -> Term:
        """That it is this number."""
        pairs = enumerate(self.bits)
        return terms.conjunction(bit if number >> place & 1 else terms.negation(bit) for place, bit in pairs)

    def number(self, values: Sequence[int]) -> int:
        """The number that these bits make."""
        return sum(value << place for place, value in enumerate(values))


class Unrolling:
    """The steps unrolled so far: `states[k]` has a term per leaf, `choices[k]` is the choice of step k + 1."""

    def __init__(self, model: Model, lifted: Lifted, *, anywhere: bool = False, idle: bool = True) -> None:
        """With `idle`, instances that change nothing are steps too."""
        self.model, self.lifted, self.terms, self.idle = model, lifted, lifted.terms, idle
        self._variables = 2 * len(model.leaves)
        self.constraints: list[Term] = []
        self.choices: list[Choice] = []
        self.start = self._choice(len(model.initial))
        self._own = state_variables(lifted)
        self.is_free = anywhere or len(model.initial) > LISTED
        self.states: list[list[Term]] = [self._own if self.is_free else self._initial()]
        if not anywhere and not self.is_free:
            numbers = range(len(model.initial))
            self.constraints.append(self.terms.disjunction(self.start.is_number(self.terms, n) for n in numbers))
        elif not anywhere:
            self.constraints.append(among(lifted, model.initial, range(len(model.leaves))))
        self._guards: list[list[Term]] = []

    def _choice(self, options: int) -> Choice:
        first, size = self._variables, (options - 1).bit_length()
        self._variables += size
        return Choice(tuple(self.terms.bool_variable(first + place) for place in range(size)))

    def _initial(self) -> list[Term]:
        t = self.terms
        state = [self._constant(leaf, number) for leaf, number in enumerate(self.model.initial[0])]
        for index, vector in enumerate(self.model.initial[1:], start=1):
            chosen = self.start.is_number(t, index)
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

    def at(self, roots: Sequence[Term], step: int) -> list[Term]:
        """Terms over a state, in the state after `step` steps."""
        state = self.states[step]
        return list(roots) if state is self._own else substitute(self.terms, roots, state)

    def extend(self) -> int:
        """Unroll one more step; the number of action instances that may be enabled in it."""
        t, state = self.terms, self.states[-1]
        choice, after, ways = self._choice(len(self.model.instances)), list(state), []
        for action, guard in zip(self.lifted.actions, self.guards(self.depth), strict=True):
            if guard is t.false or not (action.updates or self.idle):
                continue
            owed = self.at([o.condition for o in action.obligations], self.depth)
            can = t.conjunction((guard, t.negation(t.disjunction(owed))))
            if can is t.false:
                continue
            taken = choice.is_number(t, action.instance.index)
            ways.append(t.conjunction((taken, can)))
            fresh = self.at(list(action.updates.values()), self.depth)
            for leaf, term in zip(action.updates, fresh, strict=True):
                after[leaf] = t.choose(taken, term, after[leaf])
        self.constraints.append(t.disjunction(ways))
        self.choices.append(choice)
        self.states.append(after)
        return len(ways)

    def guards(self, step: int) -> list[Term]:
        """The guards of all actions in the state after `step` steps."""
        while len(self._guards) <= step:
            self._guards.append(self.at([a.guard for a in self.lifted.actions], len(self._guards)))
        return self._guards[step]

    def leaves_domain(self) -> Term:
        """That an enabled action meets an error, and no bound before it, in the last unrolled state."""
        t, met = self.terms, []
        for action, guard in zip(self.lifted.actions, self.guards(self.depth), strict=True):
            clear = guard
            for obligation in action.obligations if guard is not t.false else ():
                (condition,) = self.at([obligation.condition], self.depth)
                if obligation.owed is Owed.ERROR:
                    met.append(t.conjunction((clear, condition)))
                clear = t.conjunction((clear, t.negation(condition)))
        return t.disjunction(met)

    def bad(self, claim: LiftedClaim, depth: int | None = None) -> Term:
        """That the state (or step) at a depth, the last one unless told, violates the claim or is a witness of it."""
        depth = self.depth if depth is None else depth
        if claim.claim.kind is not Kind.STEP:
            return self.at([sought(self.lifted, claim)], depth)[0]
        if not depth:
            return self.terms.false
        return wrong(self.terms, over_a_step(self.lifted, claim, self.states[depth - 1], self.states[depth]))

    def differ(self, one: int, other: int, leaves: Sequence[int]) -> Term:
        """That the states after so many steps are not the same, as far as the leaves tell."""
        t, a, b = self.terms, self.states[one], self.states[other]
        return t.disjunction(t.negation(t.equal(a[n], b[n])) for n in leaves)
