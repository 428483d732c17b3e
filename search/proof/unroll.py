"""Unrolling: the states of a model after 0, 1, 2, … steps, as terms over one choice variable per step.

Words: the *choice* of a step is a variable whose value is the action instance that is taken. From concrete initial
states, everything that no enabled action has changed yet stays a constant, and constants fold, so early steps are
small; what a property does not depend on never gets to the solver. An unrolling from *anywhere* begins in an arbitrary
state of the domains, as induction needs it.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from kwalk.model.language import Kind, Model
from kwalk.model.language.lift import Lifted, LiftedProperty, Term, Terms, substitute
from kwalk.search.solver.terms import (
    bad_state,
    leaves_domain,
    one_of_states,
    state_variables,
    step_violation,
)

MAX_NUMBERED_STARTS = 100
"""Up to this many initial states are encoded by a choice variable; more are encoded by a constraint on the leaves."""


@frozen
class ChoiceBits:
    """A number that is left open: its bits, lowest first, as truth values."""

    bits: tuple[Term, ...]

    def is_number(self, terms: Terms, number: int) -> Term:
        """Return the condition that it is this number."""
        pairs = enumerate(self.bits)
        return terms.conjunction(bit if number >> place & 1 else terms.negation(bit) for place, bit in pairs)

    def number(self, values: Sequence[int]) -> int:
        """Return the number that these bits make."""
        return sum(value << place for place, value in enumerate(values))


class Unrolling:
    """The steps unrolled so far: `states[k]` has one term per leaf, `choices[k]` is the choice of step k + 1.

    Args:
        model: The model.
        lifted: The model, or a slice of it, as terms.
        anywhere: Begin in an arbitrary state of the domains, not in an initial state.
        stuttering: Instances that change nothing are steps too.
    """

    def __init__(self, model: Model, lifted: Lifted, *, anywhere: bool = False, stuttering: bool = True) -> None:
        self.model, self.lifted, self.terms, self.stuttering = model, lifted, lifted.terms, stuttering
        self._variables = 2 * len(model.leaves)
        self.constraints: list[Term] = []
        self.choices: list[ChoiceBits] = []
        self.start = self._choice(len(model.initial))
        self._own = state_variables(lifted)
        self.is_free = anywhere or len(model.initial) > MAX_NUMBERED_STARTS
        self.states: list[list[Term]] = [self._own if self.is_free else self._initial()]
        if not anywhere and not self.is_free:
            numbers = range(len(model.initial))
            self.constraints.append(self.terms.disjunction(self.start.is_number(self.terms, n) for n in numbers))
        elif not anywhere:
            self.constraints.append(one_of_states(lifted, model.initial, range(len(model.leaves))))
        self._guards: list[list[Term]] = []

    def _choice(self, options: int) -> ChoiceBits:
        first, size = self._variables, (options - 1).bit_length()
        self._variables += size
        return ChoiceBits(tuple(self.terms.bool_variable(first + place) for place in range(size)))

    def _initial(self) -> list[Term]:
        t = self.terms
        state = [self._constant(leaf, number) for leaf, number in enumerate(self.model.initial[0])]
        for index, vector in enumerate(self.model.initial[1:], start=1):
            chosen = self.start.is_number(t, index)
            pairs = enumerate(zip(vector, state, strict=True))
            state = [t.choose(chosen, self._constant(leaf, number), old) for leaf, (number, old) in pairs]
        return state

    def _constant(self, leaf: int, number: int) -> Term:
        is_bool = self.model.leaves[leaf].is_truth_value
        return self.terms.boolean(number) if is_bool else self.terms.integer(number)

    @property
    def depth(self) -> int:
        """How many steps are unrolled."""
        return len(self.choices)

    def at(self, roots: Sequence[Term], step: int) -> list[Term]:
        """Return terms over a state as terms over the state after `step` steps."""
        state = self.states[step]
        return list(roots) if state is self._own else substitute(self.terms, roots, state)

    def extend(self) -> int:
        """Unroll one more step, and return how many action instances may be enabled in it."""
        t, state = self.terms, self.states[-1]
        choice, after, options = self._choice(len(self.model.instances)), list(state), []
        for action, guard in zip(self.lifted.actions, self.guards(self.depth), strict=True):
            if guard is t.false or not (action.updates or self.stuttering):
                continue
            owed = self.at([o.condition for o in action.side_conditions], self.depth)
            can = t.conjunction((guard, t.negation(t.disjunction(owed))))
            if can is t.false:
                continue
            chosen = choice.is_number(t, action.instance.index)
            options.append(t.conjunction((chosen, can)))
            updates = self.at(list(action.updates.values()), self.depth)
            for leaf, term in zip(action.updates, updates, strict=True):
                after[leaf] = t.choose(chosen, term, after[leaf])
        self.constraints.append(t.disjunction(options))
        self.choices.append(choice)
        self.states.append(after)
        return len(options)

    def guards(self, step: int) -> list[Term]:
        """Return the guards of all actions in the state after `step` steps."""
        while len(self._guards) <= step:
            self._guards.append(self.at([a.guard for a in self.lifted.actions], len(self._guards)))
        return self._guards[step]

    def leaves_domain(self) -> Term:
        """Return the condition that in the last state an enabled action meets an error, and no bound before it."""
        met = []
        for action, guard in zip(self.lifted.actions, self.guards(self.depth), strict=True):
            if guard is not self.terms.false:
                conditions = self.at([one.condition for one in action.side_conditions], self.depth)
                met.append(leaves_domain(self.terms, action, guard, conditions))
        return self.terms.disjunction(met)

    def bad(self, prop: LiftedProperty, depth: int | None = None) -> Term:
        """Return the condition that the state (or step) at a depth violates the property, or is a witness of it.

        Args:
            prop: The property.
            depth: The last depth if None.
        """
        depth = self.depth if depth is None else depth
        if prop.prop.kind is not Kind.STEP:
            return self.at([bad_state(self.lifted, prop)], depth)[0]
        if not depth:
            return self.terms.false
        return step_violation(self.lifted, prop, self.states[depth - 1], self.states[depth])

    def differ(self, one: int, other: int, leaves: Sequence[int]) -> Term:
        """Return the condition that the states after `one` and `other` steps differ in one of the leaves."""
        t, a, b = self.terms, self.states[one], self.states[other]
        return t.disjunction(t.negation(t.equal(a[n], b[n])) for n in leaves)
