"""Bounded model checking: is there a violation after exactly k steps, for k = 0, 1, 2, …? The first is a shortest one.

Source: A. Biere, A. Cimatti, E. Clarke and Y. Zhu, "Symbolic Model Checking without BDDs" (TACAS 1999).
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import z3
from attrs import define, frozen

from kwalk.model.language import Model
from kwalk.model.language.lift import Lifted, LiftedProperty, Term
from kwalk.model.language.lift.solver import Solver, number_in
from kwalk.search.proof.unroll import ChoiceBits, Unrolling


@frozen
class BoundedCounterexample:
    """A violation: the number of the initial state, the instances taken, and the property that fails at the end."""

    start: int
    instances: tuple[int, ...]
    prop: LiftedProperty


@define
class BoundedProgress:
    """What a check knows so far."""

    refuted: int = 0
    """Depths 0 to `refuted` - 1 have no violation."""
    stopped: str = ""
    """Why the check ended without an answer."""
    counterexample: BoundedCounterexample | None = None
    domain_error: tuple[int, tuple[int, ...]] | None = None
    """An initial state's number and the instances after which an action leaves its domain."""
    ended: bool = False
    """Every behaviour ends before the next depth, so nothing is left to check."""


class BoundedCheck:
    """A check that goes one depth deeper with each call of `advance`.

    Args:
        model: The model.
        lifted: The model, or a slice of it, as terms.
        properties: What to check; may be replaced between two calls.
        domains: Also look for an action that leaves its domain.
        stuttering: Steps that change nothing count as steps.
    """

    def __init__(
        self,
        model: Model,
        lifted: Lifted,
        properties: Sequence[LiftedProperty],
        *,
        domains: bool = False,
        stuttering: bool = True,
    ) -> None:
        self.unrolling, self.domains = Unrolling(model, lifted, stuttering=stuttering), domains
        self.properties, self.progress = properties, BoundedProgress()
        self._terms, self._solver = Solver(_width(model, lifted)), z3.SolverFor("QF_FD")
        self._asserted = 0

    def advance(self, deadline: float | None) -> None:
        """Check all properties at the current depth, then unroll one more step.

        Args:
            deadline: A time of `time.monotonic` at which Z3 stops.
        """
        self._assert_new_steps()
        bad = [self.unrolling.bad(prop) for prop in self.properties]
        bad += [self.unrolling.leaves_domain()] if self.domains else []
        wanted = self.unrolling.terms.disjunction(bad)
        if wanted is not self.unrolling.terms.false:
            self._solve(wanted, bad, deadline)
        if self.progress.counterexample is None and self.progress.domain_error is None and not self.progress.stopped:
            self.progress.refuted += 1
            self.progress.ended = self.unrolling.extend() == 0

    def _assert_new_steps(self) -> None:
        for constraint in self.unrolling.constraints[self._asserted :]:
            self._solver.add(self._terms.expression(constraint))
        self._asserted = len(self.unrolling.constraints)

    def _solve(self, goal: Term, bad: list[Term], deadline: float | None) -> None:
        if deadline is not None:
            self._solver.set("timeout", max(1, int(1000 * (deadline - time.monotonic()))))
        self._solver.push()
        self._solver.add(self._terms.expression(goal), *self._terms.domain())
        result = self._solver.check()
        if result == z3.sat:
            self._record(self._solver.model(), bad)
        elif result == z3.unknown:
            self.progress.stopped = self._solver.reason_unknown()
        self._solver.pop()

    def _record(self, model: z3.ModelRef, bad: list[Term]) -> None:
        def value(term: Term) -> int:
            return number_in(model, self._terms.expression(term))

        def number(choice: ChoiceBits) -> int:
            return choice.number([value(bit) for bit in choice.bits])

        instances = tuple(map(number, self.unrolling.choices))
        start = number(self.unrolling.start)
        if self.unrolling.is_free:
            start = self.unrolling.model.initial.index(tuple(map(value, self.unrolling.states[0])))
        prop = next((prop for prop, term in zip(self.properties, bad, strict=False) if value(term)), None)
        if prop is None:
            self.progress.domain_error = start, instances
        else:
            self.progress.counterexample = BoundedCounterexample(start, instances, prop)


def _width(model: Model, lifted: Lifted) -> int:
    """Return the bits that hold every number of the model, with a sign."""
    roots = [root for action in lifted.actions for root in action.roots]
    roots += [root for prop in lifted.properties for root in prop.roots]
    bits = (max(-leaf.low, leaf.high + 1).bit_length() + 1 for leaf in model.leaves)
    return max(Solver.width_for(roots), max(bits))
