"""What a reduced search must not lose: the goals of the claims that are asked, as conditions on single states.

Words: a *goal* is a set of states, given by conditions that are all true there. An `always` claim has the states that
violate it, a `reachable` one its witnesses. A `step` claim has, for each case that can violate it, the states from
which the case does: there the goal *takes* that case. An error has the states where an instance meets it. What Z3
refutes is no goal. Claims that speak when all is quiet are not here: all quiet states are found (see
`search.loops.stubborn`).
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from model.language import Claim, Kind
from model.language.lift import Lifted, LiftedClaim, Owed, Term, Terms
from search.prove.terms import over_a_step, sought, wrong
from search.reduction.assuming import conjuncts
from search.reduction.cases import Case
from search.reduction.solver import Possible, Questions


@frozen(eq=False)
class Goal:
    """Conditions on a state; the claim that asks for it (None: an error), and the case to take there."""

    conditions: tuple[Term, ...]
    claim: Claim | None = None
    takes: int | None = None


class GoalFinder:
    """Finds the goals of claims and errors of one model."""

    def __init__(
        self, lifted: Lifted, cases: Sequence[Case], leaves: Sequence[Term], questions: Questions
    ) -> None:
        self.lifted, self.cases, self.leaves, self.questions = lifted, cases, leaves, questions
        self.terms: Terms = lifted.terms

    def goals(self, claims: Iterable[Claim]) -> Iterator[Goal]:
        """All goals that Z3 does not refute."""
        wanted = {claim.index for claim in claims}
        found = [*self._errors()]
        for claim in self.lifted.claims:
            if claim.claim.index in wanted:
                found += self._of(claim)
        for goal in found:
            if self.questions.possible(goal.conditions) is not Possible.NO:
                yield goal

    def _errors(self) -> Iterator[Goal]:
        for action in self.lifted.actions:
            met = self.terms.disjunction(o.condition for o in action.obligations if o.owed is Owed.ERROR)
            yield Goal((*conjuncts(action.guard), met))

    def _of(self, claim: LiftedClaim) -> Iterator[Goal]:
        if claim.claim.kind in (Kind.ALWAYS, Kind.REACHABLE):
            yield Goal(conjuncts(sought(self.lifted, claim)), claim.claim)
        elif claim.claim.kind is Kind.STEP:
            yield from self._steps(claim)

    def _steps(self, claim: LiftedClaim) -> Iterator[Goal]:
        for case in self.cases:
            after = [case.updates.get(leaf, term) for leaf, term in enumerate(self.leaves)]
            then = wrong(self.terms, over_a_step(self.lifted, claim, self.leaves, after))
            yield Goal((*case.atoms, *conjuncts(then)), claim.claim, case.index)
