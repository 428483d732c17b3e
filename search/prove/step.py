"""One step from an arbitrary state of a slice, as constraints that Z3 keeps between questions.

Words: a *literal* is a Z3 constant that is true where a limit of a leaf is met, *now* or *after* the step. Questions
are asked with literals as assumptions, so that nothing is told twice and an answer "impossible" comes with those that
it needed, its *core*. Clauses are asserted under a *switch*, a constant that must be assumed for them to count.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count

import z3
from attrs import define, frozen

from model.language import Kind, Vector
from model.language.lift import Term
from model.language.lift.solver import Solver, number_in
from search.prove.cubes import Cube, Limit, cube_of_limits
from search.prove.slicing import Slice
from search.prove.unroll import Unrolling


@frozen
class Move:
    """A step that Z3 found, from state to state. Leaves outside of the slice are as in the first initial state."""

    before: Vector
    instance: int
    after: Vector


class OutOfEffort(Exception):
    """A question stays open; the text says why: time, the number of questions, or memory."""


@define
class Effort:
    """What may be spent on an answer: questions to Z3, time until a deadline (of time.monotonic), and CPU time.

    `cpu_deadline` is one of time.process_time, so that what is found does not depend on what else the machine does.
    """

    questions: int | None = None
    deadline: float | None = None
    cpu_deadline: float | None = None
    asked: int = 0
    told: Callable[[int], None] | None = None
    """Is called with the number of questions before each."""

    def spend(self) -> int | None:
        """Count one question; the milliseconds that are left for it. OutOfEffort if nothing is left."""
        if self.questions is not None and self.asked >= self.questions:
            raise OutOfEffort(f"{self.questions:,} questions to Z3 did not settle it")
        self.asked += 1
        if self.told is not None:
            self.told(self.asked)
        ends = ((self.deadline, time.monotonic()), (self.cpu_deadline, time.process_time()))
        left = [end - now for end, now in ends if end is not None]
        if not left:
            return None
        if min(left) <= 0:
            raise OutOfEffort(SPENT)
        return max(1, int(1000 * min(left)))

    def answer(self, solver: z3.Solver, check: Callable[[], z3.CheckSatResult]) -> bool:
        """Whether a check says sat. OutOfEffort if it cannot tell; it is asked again while there is CPU time left."""
        while True:
            left = self.spend()
            if left is not None:
                solver.set("timeout", left)
            result = check()
            if result != z3.unknown:
                return bool(result == z3.sat)
            reason = _reason(solver.reason_unknown())
            if self.cpu_deadline is None or reason != SPENT:
                raise OutOfEffort(reason)


SPENT = "the time budget is spent"


def _reason(said: str) -> str:
    """Why Z3 gave no answer, in our words where it is known."""
    if said in ("timeout", "canceled"):
        return SPENT
    return "Z3 ran out of memory" if "memory" in said else f"Z3 says {said!r}"


class Step:
    """The step, the claims of its slice, and a solver that knows both."""

    def __init__(self, part: Slice, effort: Effort | None = None) -> None:
        self.part, self.model, self.effort = part, part.model, effort or Effort()
        unrolling = Unrolling(self.model, part.lifted, anywhere=True, idle=part.idle)
        bad_now = {c.claim.index: unrolling.bad(c) for c in part.lifted.claims if c.claim.kind is not Kind.STEP}
        unrolling.extend()
        self.now, self.after = unrolling.states
        self.choice = unrolling.choices[0]
        bad_after = {claim.claim.index: unrolling.bad(claim) for claim in part.lifted.claims}
        leaves = [state[n] for state in (self.now, self.after) for n in part.varying]
        roots = [*unrolling.constraints, *bad_now.values(), *bad_after.values(), *leaves, *self.choice.bits]
        self.solver = Solver(Solver.width_for(roots))
        self._literals: dict[tuple[Limit, bool], z3.BoolRef] = {}
        self._limits: dict[str, Limit] = {}
        self._defined: list[z3.BoolRef] = []
        self._names = count()
        self._chosen: dict[int, z3.BoolRef] = {}
        for root in roots:
            self.solver.expression(root)
        self.taken = self.named(self.solver.expression(unrolling.constraints[0]))
        self.bad_now = {index: self.named(self.solver.expression(term)) for index, term in bad_now.items()}
        self.bad_after = {index: self.named(self.solver.expression(term)) for index, term in bad_after.items()}

    # Literals.

    def named(self, expression: z3.BoolRef) -> z3.BoolRef:
        """A constant that is true exactly where the expression is."""
        name = z3.Bool(f"p{next(self._names)}")
        self._defined.append(name == expression)
        return name

    def switch(self) -> z3.BoolRef:
        """A constant that nothing speaks of yet."""
        return z3.Bool(f"p{next(self._names)}")

    def literal(self, limit: Limit, *, after: bool) -> z3.BoolRef:
        """The constant for a limit, now or after the step."""
        known = self._literals.get((limit, after))
        if known is None:
            n, is_least, number = limit
            term = (self.after if after else self.now)[n]
            leaf = self.solver.expression(term)
            if term.is_bool:
                truth = leaf if is_least else z3.Not(leaf)
            else:
                truth = leaf >= number if is_least else leaf <= number
            known = self._literals[limit, after] = self.named(truth)
            self._limits[known.decl().name()] = limit
        return known

    def chosen(self, instance: int) -> z3.BoolRef:
        """The constant that says which instance is taken."""
        if instance not in self._chosen:
            term = self.choice.is_number(self.part.lifted.terms, instance)
            self._chosen[instance] = self.named(self.solver.expression(term))
        return self._chosen[instance]

    def literals(self, cube: Cube, *, after: bool) -> list[z3.BoolRef]:
        """The constants that together say that the state is in a cube."""
        return [self.literal(limit, after=after) for limit in cube.limits(self.model)]

    def clause(self, cube: Cube, *, after: bool = False) -> z3.BoolRef:
        """That the state is not in a cube."""
        return z3.Or([z3.Not(literal) for literal in self.literals(cube, after=after)])

    # Questions.

    def session(self) -> Session:
        """A new solver that knows the step."""
        return Session(self)

    def limits_in(self, core: Iterable[z3.BoolRef]) -> list[Limit]:
        """The limits among the assumptions of a core."""
        names = (literal.decl().name() for literal in core)
        return [self._limits[name] for name in names if name in self._limits]


class Session:
    """A solver with the step's constraints and what has been asserted to it since."""

    def __init__(self, step: Step) -> None:
        self.step, self._told = step, 0
        self.check = z3.SolverFor("QF_FD")
        self.check.add(*step.solver.domain())

    def add(self, *constraints: z3.BoolRef) -> None:
        """Assert for good."""
        self.check.add(*constraints)

    def possible(self, assumptions: Sequence[z3.BoolRef]) -> bool:
        """Whether all assumptions can be true at once. OutOfEffort if that is not known."""
        defined = self.step._defined
        if self._told < len(defined):
            self.check.add(*defined[self._told :])
            self._told = len(defined)
        return self.step.effort.answer(self.check, lambda: self.check.check(*assumptions))

    def core(self) -> list[z3.BoolRef]:
        """The assumptions that made the last question impossible."""
        return list(self.check.unsat_core())

    def cube(self, full: Cube) -> Cube:
        """The part of a cube that the last question's core needed."""
        limits = set(self.step.limits_in(self.core()))
        return cube_of_limits(self.step.model, [limit for limit in full.limits(self.step.model) if limit in limits])

    def move(self, *, with_step: bool = True) -> Move:
        """The step that answers the last question; without a step, `after` is the state itself."""
        step, answer = self.step, self.check.model()
        before = list(step.model.initial[0])
        for n in step.part.varying:
            before[n] = self._number(answer, step.now[n])
        if not with_step:
            return Move(tuple(before), -1, tuple(before))
        after = list(before)
        for n in step.part.varying:
            after[n] = self._number(answer, step.after[n])
        return Move(tuple(before), self._instance(answer), tuple(after))

    def _instance(self, answer: z3.ModelRef) -> int:
        choice = self.step.choice
        return choice.number([self._number(answer, bit) for bit in choice.bits])

    def _number(self, answer: z3.ModelRef, term: Term) -> int:
        return number_in(answer, self.step.solver.expression(term))
