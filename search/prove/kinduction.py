"""k-induction: what has held for k steps on end holds after the next one.

With k = 1 this is plain induction. The k + 1 states of a counterexample are asked to differ from each other (a *simple
path*, Sheeran, Singh and Stålmarck, FMCAD 2000): a shortest violation never comes twice to the same state, and without
that k-induction could not prove some claims for any k.
"""
from __future__ import annotations

from collections.abc import Sequence

import z3

from model.language import Kind
from model.language.lift import LiftedClaim
from model.language.lift.solver import Solver
from search.prove.certificate import cube_term
from search.prove.cubes import Cube
from search.prove.slicing import Slice
from search.prove.step import Effort
from search.prove.unroll import Unrolling


def least_k(part: Slice, claim: LiftedClaim, most: int, effort: Effort, facts: Sequence[Cube] = ()) -> int | None:
    """The least k from 2 to `most` for which the claim is k-inductive, given inductive facts; None if there is none.

    The caller has checked the first k depths. OutOfEffort if Z3 cannot tell.
    """
    return _Path(part, claim, effort, facts).least_k(most)


class _Path:
    """A path from anywhere along which the claim holds, and after which it fails."""

    def __init__(self, part: Slice, claim: LiftedClaim, effort: Effort, facts: Sequence[Cube]) -> None:
        self.part, self.claim, self.effort, self.facts = part, claim, effort, facts
        self.unrolling = Unrolling(part.model, part.lifted, anywhere=True, idle=part.idle)

    def least_k(self, most: int) -> int | None:
        for k in range(1, most + 1):
            self.unrolling.extend()
            if k > 1 and self._is_inductive(k):
                return k
        return None

    def _is_inductive(self, k: int) -> bool:
        unrolling, t = self.unrolling, self.unrolling.terms
        terms = [*unrolling.constraints, unrolling.bad(self.claim, k)]
        terms += [t.negation(unrolling.bad(self.claim, step)) for step in range(k)]
        before = unrolling.states[:-1]
        terms += [t.negation(cube_term(self.part, cube, state)) for cube in self.facts for state in before]
        last = k - (self.claim.claim.kind is Kind.STEP)
        terms += [unrolling.differ(a, b, self.part.varying) for b in range(last + 1) for a in range(b)]
        condition = t.conjunction(terms)
        if condition.op == "bool":
            return not condition.payload
        solver = Solver(Solver.width_for([condition]))
        expression = solver.expression(condition)
        check = z3.SolverFor("QF_FD")
        check.add(expression, *solver.domain())
        return not self.effort.answer(check, check.check)
