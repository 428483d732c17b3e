"""Certificates: the supporting facts that a proof really needs, and the check that they are enough.

Words: facts *support* a claim if they hold initially and no step leads from a state where they and the claim hold to
one where one of them fails. A certificate is checked anew with another of Z3's solvers, instance by instance, so that
neither the search for the facts nor the one that found the proof has to be trusted.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from model.language import Kind
from model.language.lift import LiftedClaim, Term
from search.prove.cubes import Cube
from search.prove.slicing import Slice
from search.prove.step import OutOfEffort, Step
from search.prove.terms import over_a_step, satisfying, sought, state_variables, substitute, taken, wrong

MILLISECONDS = 20_000
"""Time for each question of the last check."""


class Certificate:
    """The facts that a claim needs, out of facts that are enough together with it."""

    def __init__(self, step: Step, claim: int, facts: Sequence[Cube]) -> None:
        self.step, self.claim = step, claim
        self._session = step.session()
        self._holds = {cube: step.named(step.clause(cube)) for cube in facts}
        self._name = {literal.decl().name(): cube for cube, literal in self._holds.items()}
        self._broken = {cube: z3.And(step.literals(cube, after=True)) for cube in facts}
        good = step.bad_now.get(claim)
        self._good = [] if good is None else [step.named(z3.Not(good))]

    def needed(self) -> list[Cube]:
        """A small set of the facts that still supports the claim: what cores name, then what cannot be left out."""
        kept: dict[Cube, None] = {}
        waiting: list[Cube | None] = [None]
        while waiting:
            used = self._core(waiting.pop(), self._holds)
            waiting += [cube for cube in used if cube not in kept]
            kept.update(dict.fromkeys(used))
        return self._without_excess(list(kept))

    def _core(self, broken: Cube | None, facts: Iterable[Cube]) -> list[Cube]:
        """The facts that keep a step from violating the claim (None) or from breaking a fact."""
        if not self._is_kept(broken, facts):
            raise AssertionError("Facts that were found to support a claim do not; Z3's answers contradict.")
        names = (literal.decl().name() for literal in self._session.core())
        return [self._name[name] for name in names if name in self._name]

    def _is_kept(self, broken: Cube | None, facts: Iterable[Cube]) -> bool:
        switch = self.step.switch()
        bad = self.step.bad_after[self.claim] if broken is None else self._broken[broken]
        self._session.add(z3.Or(z3.Not(switch), bad))
        held = [self._holds[cube] for cube in facts]
        return not self._session.possible([switch, self.step.taken, *self._good, *held])

    def _without_excess(self, facts: list[Cube]) -> list[Cube]:
        """What is left when facts are dropped one by one, largest first, as long as the rest supports the claim."""
        for cube in sorted(facts, key=len, reverse=True):
            if cube in facts:
                try:
                    smaller = self._fixpoint([other for other in facts if other != cube])
                except OutOfEffort:
                    return facts
                facts = facts if smaller is None else smaller
        return facts

    def _fixpoint(self, facts: list[Cube]) -> list[Cube] | None:
        """The facts that go on supporting each other, if they still support the claim."""
        while self._is_kept(None, facts):
            broken = self._one_step_breaks(facts)
            if not broken:
                return facts
            facts = [cube for cube in facts if cube not in broken]
        return None

    def _one_step_breaks(self, facts: Sequence[Cube]) -> set[Cube]:
        """The facts that fail after a step from a state where all hold; none if no step breaks any."""
        switch = self.step.switch()
        self._session.add(z3.Or([z3.Not(switch), *(self._broken[cube] for cube in facts)]))
        held = [self._holds[cube] for cube in facts]
        if not self._session.possible([switch, self.step.taken, *self._good, *held]):
            return set()
        after = self._session.move().after
        return {cube for cube in facts if cube.has_state(after)}


def needed_facts(step: Step, claim: int, facts: Sequence[Cube]) -> list[Cube]:
    """The facts that a claim needs; all of them if the effort does not suffice to find out."""
    try:
        return Certificate(step, claim, facts).needed()
    except OutOfEffort:
        return list(facts)


def supports(part: Slice, claim: LiftedClaim, facts: Sequence[Cube]) -> bool:
    """Whether facts support a claim, by fresh questions for each instance. TimeoutError if Z3 cannot tell."""
    model, t = part.model, part.lifted.terms
    if any(cube.has_state(start) for cube in facts for start in model.initial):
        return False
    now = state_variables(part.lifted)
    held = [t.negation(cube_term(part, cube, now)) for cube in facts]
    in_step = claim.claim.kind is Kind.STEP
    held += [] if in_step else [t.negation(sought(part.lifted, claim))]
    for action in part.lifted.actions if part.idle else part.steps:
        after = [action.updates.get(n, term) for n, term in enumerate(now)]
        broken = [cube_term(part, cube, after) for cube in facts if action.writes & set(cube)]
        bad = over_a_step(part.lifted, claim, now, after) if in_step else []
        broken += [wrong(t, bad)] if in_step else substitute(t, [sought(part.lifted, claim)], after)
        condition = t.conjunction((taken(t, action), *held, t.disjunction(broken)))
        if satisfying(model, condition, MILLISECONDS) is not None:
            return False
    return True


def cube_term(part: Slice, cube: Cube, state: Sequence[Term]) -> Term:
    """That a state given as terms is in a cube."""
    t, limits = part.lifted.terms, []
    for n, is_least, number in cube.limits(part.model):
        leaf = state[n]
        if leaf.is_bool:
            limits.append(leaf if is_least else t.negation(leaf))
        else:
            least = t.less(leaf, t.integer(number))
            limits.append(t.negation(least) if is_least else t.negation(t.less(t.integer(number), leaf)))
    return t.conjunction(limits)
