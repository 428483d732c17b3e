"""Certificates: the supporting facts that a proof needs, and an independent check that they are enough.

Words: facts *support* a property if they hold initially and no step leads from a state in which they and the property
hold to one in which any of them fails. The check uses another solver of Z3 and new queries, one action instance at a
time, so neither the search for the facts nor the solver that found the proof has to be trusted.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import z3

from kwalk.model.language import Kind
from kwalk.model.language.lift import LiftedAction, LiftedProperty, Term, substitute
from kwalk.search.proof.cubes import Cube
from kwalk.search.proof.slicing import Slice
from kwalk.search.proof.terms import (
    bad_state,
    can_be_taken,
    satisfying_state,
    state_after,
    state_variables,
    step_violation,
)
from kwalk.search.proof.transition_relation import OutOfEffort, TransitionRelation

CHECK_MILLISECONDS = 20_000
"""Time for each query of the check."""
NO_STEP = -1
"""In place of an instance's number: the state itself, without a step."""


def needed_facts(relation: TransitionRelation, prop: int, facts: Sequence[Cube]) -> list[Cube]:
    """Return the facts that a property needs; all of them if the effort does not suffice to find out."""
    try:
        return _FactMinimizer(relation, prop, facts).needed()
    except OutOfEffort:
        return list(facts)


class _FactMinimizer:
    """Reduces facts that support a property to those that it needs."""

    def __init__(self, relation: TransitionRelation, prop: int, facts: Sequence[Cube]) -> None:
        self.relation, self.prop = relation, prop
        self._session = relation.session()
        self._holds = {cube: relation.named(relation.clause(cube)) for cube in facts}
        self._name = {literal.decl().name(): cube for cube, literal in self._holds.items()}
        self._broken = {cube: z3.And(relation.literals(cube, after=True)) for cube in facts}
        bad = relation.bad_now.get(prop)
        self._good = [] if bad is None else [relation.named(z3.Not(bad))]

    def needed(self) -> list[Cube]:
        """Return a small set of the facts that still supports the property.

        First the facts that unsat cores name, from the property on; then facts are dropped one by one.
        """
        found: dict[Cube, None] = {}
        queue: list[Cube | None] = [None]
        while queue:
            used = self._core(queue.pop(), self._holds)
            queue += [cube for cube in used if cube not in found]
            found.update(dict.fromkeys(used))
        return self._without_excess(list(found))

    def _core(self, broken: Cube | None, facts: Iterable[Cube]) -> list[Cube]:
        """Return the facts that keep a step from violating the property (None) or from breaking a fact."""
        if not self._is_preserved(broken, facts):
            raise AssertionError("Z3 contradicts itself: facts that it found to support a property do not.")
        names = (literal.decl().name() for literal in self._session.core())
        return [self._name[name] for name in names if name in self._name]

    def _is_preserved(self, broken: Cube | None, facts: Iterable[Cube]) -> bool:
        bad = self.relation.bad_after[self.prop] if broken is None else self._broken[broken]
        return not self._possible([bad], facts)

    def _possible(self, bad: Iterable[z3.BoolRef], facts: Iterable[Cube]) -> bool:
        """Whether a step from a state with the facts and the property satisfies one of `bad`."""
        switch = self.relation.switch()
        self._session.add(z3.Or([z3.Not(switch), *bad]))
        held = [self._holds[cube] for cube in facts]
        return self._session.possible([switch, self.relation.taken, *self._good, *held])

    def _without_excess(self, facts: list[Cube]) -> list[Cube]:
        """Drop facts one by one, largest cubes first, while the rest supports the property."""
        for cube in sorted(facts, key=len, reverse=True):
            if cube in facts:
                try:
                    smaller = self._fixpoint([other for other in facts if other != cube])
                except OutOfEffort:
                    return facts
                facts = facts if smaller is None else smaller
        return facts

    def _fixpoint(self, facts: list[Cube]) -> list[Cube] | None:
        """Return the facts that are inductive together, or None if they do not support the property."""
        while self._is_preserved(None, facts):
            if not self._possible((self._broken[cube] for cube in facts), facts):
                return facts
            after = self._session.step().after
            facts = [cube for cube in facts if not cube.contains_state(after)]
        return None


def supports(part: Slice, prop: LiftedProperty, facts: Sequence[Cube]) -> bool:
    """Return whether facts support a property.

    Raises:
        TimeoutError: Z3 has no answer to one of the queries.
    """
    lifted, t, now = part.lifted, part.lifted.terms, state_variables(part.lifted)
    assumed, bad = [], dict[int, Term]()
    if prop.prop.kind is not Kind.STEP:
        assumed = [t.negation(bad_state(lifted, prop))]
    for action in lifted.actions if part.stuttering else part.writers:
        after = state_after(action, now)
        if prop.prop.kind is Kind.STEP:
            bad[action.instance.index] = step_violation(lifted, prop, now, after)
        else:
            (bad[action.instance.index],) = substitute(t, [bad_state(lifted, prop)], after)
    return is_certificate(part, facts, bad, assumed)


def is_certificate(
    part: Slice, facts: Collection[Cube], bad: Mapping[int, Term], assumed: Sequence[Term] = ()
) -> bool:
    """Return whether facts hold initially, no step breaks any, and they exclude what is bad.

    Args:
        part: The slice, or the whole model.
        facts: Cubes that no reachable state is in.
        bad: By the number of an instance, what must not be true before it is taken; for `NO_STEP`, in any state.
        assumed: What holds besides the facts before each step.

    Raises:
        TimeoutError: Z3 has no answer to one of the queries.
    """
    if any(cube.contains_state(start) for cube in facts for start in part.model.initial):
        return False
    t, now = part.lifted.terms, state_variables(part.lifted)
    held = [*(t.negation(cube_term(part, cube, now)) for cube in facts), *assumed]

    def is_excluded(conditions: Sequence[Term]) -> bool:
        condition = t.conjunction((*conditions, *held))
        return condition is t.false or satisfying_state(part.model, condition, CHECK_MILLISECONDS) is None

    def is_safe(action: LiftedAction) -> bool:
        after, index = state_after(action, now), action.instance.index
        broken = [cube_term(part, cube, after) for cube in facts if action.writes & cube.keys()]
        broken += [bad[index]] if index in bad else []
        return is_excluded((can_be_taken(t, action), t.disjunction(broken)))

    return is_excluded((bad.get(NO_STEP, t.false),)) and all(is_safe(action) for action in part.lifted.actions)


def cube_term(part: Slice, cube: Cube, state: Sequence[Term]) -> Term:
    """Return the condition that a state, given as one term per leaf, is in a cube."""
    t, limits = part.lifted.terms, []
    for n, is_least, number in cube.limits(part.model):
        leaf = state[n]
        if leaf.is_bool:
            limits.append(leaf if is_least else t.negation(leaf))
        else:
            least = t.less(leaf, t.integer(number))
            limits.append(t.negation(least) if is_least else t.negation(t.less(t.integer(number), leaf)))
    return t.conjunction(limits)
