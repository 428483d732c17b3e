"""Proof graphs are checked anew: with another of Z3's solvers, and none of the graph's bookkeeping."""
from __future__ import annotations

from collections.abc import Collection

from model.language.lift import Lifted, LiftedAction, Term
from search.prove.certificate import MILLISECONDS, cube_term
from search.prove.cubes import Cube
from search.prove.lemmas.graph import Goal
from search.prove.slicing import whole
from search.prove.terms import satisfying, state_variables, taken


class Confirmation:
    """Facts, and what they are shown to exclude. `stands` asks; TimeoutError if Z3 cannot tell."""

    def __init__(self, lifted: Lifted, facts: Collection[Cube]) -> None:
        self.lifted, self.facts, self._part = lifted, facts, whole(lifted)
        self._now = state_variables(lifted)
        self._held = [lifted.terms.negation(cube_term(self._part, cube, self._now)) for cube in facts]

    def stands(self, goal: Goal) -> bool:
        """Whether the facts hold initially, no step breaks any, and they exclude what the goal says."""
        if any(cube.has_state(start) for cube in self.facts for start in self.lifted.model.initial):
            return False
        actions = {action.instance.index: action for action in self.lifted.actions}
        return all(self._is_excluded(self._broken(action), action) for action in self.lifted.actions) and all(
            self._is_excluded(bad, actions.get(instance)) for instance, bad in goal.bad.items()
        )

    def _broken(self, action: LiftedAction) -> Term:
        """That one of the facts fails after a step."""
        after = [action.updates.get(n, term) for n, term in enumerate(self._now)]
        touched = [cube for cube in self.facts if action.writes & cube.keys()]
        return self.lifted.terms.disjunction(cube_term(self._part, cube, after) for cube in touched)

    def _is_excluded(self, bad: Term, action: LiftedAction | None) -> bool:
        terms = self.lifted.terms
        can = terms.true if action is None else taken(terms, action)
        condition = terms.conjunction((can, bad, *self._held))
        return condition is terms.false or satisfying(self.lifted.model, condition, MILLISECONDS) is None
