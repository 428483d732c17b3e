"""Bounded checking: is there a violation after exactly k steps, for k = 0, 1, 2 …? The first one found is shortest."""
from __future__ import annotations

import time
from collections.abc import Sequence

import z3
from attrs import define, field, frozen

from model.language import Model
from model.language.lift import Lifted, LiftedClaim, Term
from model.language.lift.solver import Solver, number_in
from search.prove.unroll import Choice, Unrolling


@frozen
class Path:
    """A violation: the number of the initial state, the instances taken, and the claim that fails at the end."""

    start: int
    instances: tuple[int, ...]
    claim: LiftedClaim


@define
class Progress:
    """How far a check has come: depths below `refuted` have no violation; `stopped` says why it ended without one."""

    refuted: int = 0
    stopped: str = ""
    found: Path | None = None
    escape: tuple[int, tuple[int, ...]] | None = None
    """The number of the initial state and the instances taken, where an action leaves its domain after them."""
    ended: bool = field(default=False)
    """Every behaviour ends before the next depth, so that nothing is left to check."""


def _bits(low: int, high: int) -> int:
    """The bits that hold these numbers, with a sign."""
    return max(-low, high + 1).bit_length() + 1


class BoundedCheck:
    """A check that goes one depth further with each call of `advance`.

    With `domains` it also looks for an action that leaves its domain; with `idle`, steps without effect count as steps.
    """

    def __init__(
        self,
        model: Model,
        lifted: Lifted,
        claims: Sequence[LiftedClaim],
        *,
        domains: bool = False,
        idle: bool = True,
    ) -> None:
        self.unrolling, self.domains = Unrolling(model, lifted, idle=idle), domains
        self.claims, self.progress = claims, Progress()
        self._solver, self._check = Solver(self._width(model, lifted)), z3.SolverFor("QF_FD")
        self._told = 0

    @staticmethod
    def _width(model: Model, lifted: Lifted) -> int:
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for claim in lifted.claims for root in claim.roots]
        return max(Solver.width_for(roots), max(_bits(leaf.low, leaf.high) for leaf in model.leaves))

    def advance(self, deadline: float | None) -> None:
        """Check the present depth for all claims, then unroll one step more."""
        self._tell()
        bad = [self.unrolling.bad(claim) for claim in self.claims]
        bad += [self.unrolling.leaves_domain()] if self.domains else []
        wanted = self.unrolling.terms.disjunction(bad)
        if wanted is not self.unrolling.terms.false:
            self._solve(wanted, bad, deadline)
        if self.progress.found is None and self.progress.escape is None and not self.progress.stopped:
            self.progress.refuted += 1
            self.progress.ended = self.unrolling.extend() == 0

    def _tell(self) -> None:
        """Hand the constraints of new steps to the solver."""
        for constraint in self.unrolling.constraints[self._told :]:
            self._check.add(self._solver.expression(constraint))
        self._told = len(self.unrolling.constraints)

    def _solve(self, wanted: Term, bad: list[Term], deadline: float | None) -> None:
        if deadline is not None:
            self._check.set("timeout", max(1, int(1000 * (deadline - time.monotonic()))))
        self._check.push()
        self._check.add(self._solver.expression(wanted), *self._solver.domain())
        result = self._check.check()
        if result == z3.sat:
            self._note(self._check.model(), bad)
        elif result == z3.unknown:
            self.progress.stopped = self._check.reason_unknown()
        self._check.pop()

    def _note(self, model: z3.ModelRef, bad: list[Term]) -> None:
        def value(term: Term) -> int:
            return number_in(model, self._solver.expression(term))

        def number(choice: Choice) -> int:
            return choice.number([value(bit) for bit in choice.bits])

        instances = tuple(map(number, self.unrolling.choices))
        start = number(self.unrolling.start)
        if self.unrolling.is_free:
            start = self.unrolling.model.initial.index(tuple(map(value, self.unrolling.states[0])))
        claim = next((claim for claim, term in zip(self.claims, bad, strict=False) if value(term)), None)
        if claim is None:
            self.progress.escape = start, instances
        else:
            self.progress.found = Path(start, instances, claim)
