"""The transition relation of a slice in Z3: one step from an arbitrary state, and incremental queries about it.

Words: a *literal* is a Z3 constant that is true iff a limit of a leaf is met *now* or *after* the step. Queries have
literals as assumptions, so that every constraint is asserted once, and the answer "impossible" comes with an unsat
*core*, the assumptions that it needed. Clauses are asserted under a *switch*, a constant that activates them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count

import z3
from attrs import define, frozen

from kwalk.model.language import Kind, Vector
from kwalk.model.language.lift import Term
from kwalk.model.language.lift.solver import Solver, number_in
from kwalk.search.proof.cubes import Cube, Limit, cube_of_limits
from kwalk.search.proof.slicing import Slice
from kwalk.search.proof.unroll import Unrolling


@frozen
class ConcreteStep:
    """A step that Z3 found. Leaves outside of the slice are as in the first initial state."""

    before: Vector
    instance: int
    """The number of the action instance."""
    after: Vector


class OutOfEffort(Exception):
    """A query has no answer; the text is the reason: time, the number of queries, or memory."""


SPENT = "the time budget is spent"


@define
class SolverEffort:
    """What an answer may cost.

    Args:
        questions: Queries to Z3.
        deadline: A time of `time.monotonic`.
        cpu_deadline: A time of `time.process_time`. Results do not depend on the load of the machine.
        queries: The queries so far.
        on_query: Called with the number of queries before each.
    """

    questions: int | None = None
    deadline: float | None = None
    cpu_deadline: float | None = None
    queries: int = 0
    on_query: Callable[[int], None] | None = None

    def spend(self) -> int | None:
        """Count one query, and return the milliseconds that are left for it.

        Raises:
            OutOfEffort: Nothing is left.
        """
        if self.questions is not None and self.queries >= self.questions:
            raise OutOfEffort(f"{self.questions:,} questions to Z3 did not settle it")
        self.queries += 1
        if self.on_query is not None:
            self.on_query(self.queries)
        ends = ((self.deadline, time.monotonic()), (self.cpu_deadline, time.process_time()))
        left = [end - now for end, now in ends if end is not None]
        if not left:
            return None
        if min(left) <= 0:
            raise OutOfEffort(SPENT)
        return max(1, int(1000 * min(left)))

    def answer(self, solver: z3.Solver, check: Callable[[], z3.CheckSatResult]) -> bool:
        """Return whether a check is satisfiable. A timeout is retried while CPU time is left.

        Raises:
            OutOfEffort: Z3 has no answer.
        """
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


def _reason(unknown: str) -> str:
    """Return why Z3 gave no answer."""
    if unknown in ("timeout", "canceled"):
        return SPENT
    return "Z3 ran out of memory" if "memory" in unknown else f"Z3 answers {unknown!r}"


class TransitionRelation:
    """One step of a slice, and the violations of its properties before and after it, as Z3 expressions.

    `bad_now` and `bad_after` have one constant per property, by the property's number; a `step` property is in
    `bad_after` only. `taken` is the condition that some instance is taken.
    """

    def __init__(self, part: Slice, effort: SolverEffort | None = None) -> None:
        self.part, self.model, self.effort = part, part.model, effort or SolverEffort()
        unrolling = Unrolling(self.model, part.lifted, anywhere=True, stuttering=part.stuttering)
        bad_now = {p.prop.index: unrolling.bad(p) for p in part.lifted.properties if p.prop.kind is not Kind.STEP}
        unrolling.extend()
        self.now, self.after = unrolling.states
        self.choice = unrolling.choices[0]
        bad_after = {prop.prop.index: unrolling.bad(prop) for prop in part.lifted.properties}
        leaves = [state[n] for state in (self.now, self.after) for n in part.varying]
        roots = [*unrolling.constraints, *bad_now.values(), *bad_after.values(), *leaves, *self.choice.bits]
        self.solver = Solver(Solver.width_for(roots))
        self.definitions: list[z3.BoolRef] = []
        """What every session asserts: the definitions of the constants so far."""
        self._literals: dict[Limit, z3.BoolRef] = {}
        self._limits: dict[str, Limit] = {}
        self._names = count()
        self._chosen: dict[int, z3.BoolRef] = {}
        for root in roots:
            self.solver.expression(root)
        self.taken = self.named(self.solver.expression(unrolling.constraints[0]))
        self.bad_now = {index: self.named(self.solver.expression(term)) for index, term in bad_now.items()}
        self.bad_after = {index: self.named(self.solver.expression(term)) for index, term in bad_after.items()}

    # Literals.

    def named(self, expression: z3.BoolRef) -> z3.BoolRef:
        """Return a new constant that is equivalent to the expression."""
        name = self.switch()
        self.definitions.append(name == expression)
        return name

    def switch(self) -> z3.BoolRef:
        """Return a new constant without any constraint."""
        return z3.Bool(f"p{next(self._names)}")

    def literal(self, limit: Limit) -> z3.BoolRef:
        """Return the constant for a limit before the step."""
        known = self._literals.get(limit)
        if known is None:
            n, is_least, number = limit
            term = self.now[n]
            leaf = self.solver.expression(term)
            if term.is_bool:
                truth = leaf if is_least else z3.Not(leaf)
            else:
                truth = leaf >= number if is_least else leaf <= number
            known = self._literals[limit] = self.named(truth)
            self._limits[known.decl().name()] = limit
        return known

    def chosen(self, instance: int) -> z3.BoolRef:
        """Return the constant that is true iff an instance is taken."""
        if instance not in self._chosen:
            term = self.choice.is_number(self.part.lifted.terms, instance)
            self._chosen[instance] = self.named(self.solver.expression(term))
        return self._chosen[instance]

    def literals(self, cube: Cube) -> list[z3.BoolRef]:
        """Return the constants that are all true iff the state before the step is in a cube."""
        return [self.literal(limit) for limit in cube.limits(self.model)]

    def clause(self, cube: Cube) -> z3.BoolRef:
        """Return the condition that it is not."""
        return z3.Or(list(map(z3.Not, self.literals(cube))))

    # Queries.

    def session(self) -> SolverSession:
        """Return a new solver that has the transition relation."""
        return SolverSession(self)

    def limits_in(self, core: Iterable[z3.BoolRef]) -> list[Limit]:
        """Return the limits among the assumptions of a core."""
        names = (literal.decl().name() for literal in core)
        return [self._limits[name] for name in names if name in self._limits]


class SolverSession:
    """A solver with a transition relation and what has been asserted since."""

    def __init__(self, relation: TransitionRelation) -> None:
        self.relation, self._defined = relation, 0
        self.solver = z3.SolverFor("QF_FD")
        self.solver.add(*relation.solver.domain())

    def add(self, *constraints: z3.BoolRef) -> None:
        """Assert constraints for the life of the session."""
        self.solver.add(*constraints)

    def possible(self, assumptions: Sequence[z3.BoolRef]) -> bool:
        """Return whether all assumptions can be true at once.

        Raises:
            OutOfEffort: That is not known.
        """
        definitions = self.relation.definitions
        if self._defined < len(definitions):
            self.solver.add(*definitions[self._defined :])
            self._defined = len(definitions)
        return self.relation.effort.answer(self.solver, lambda: self.solver.check(*assumptions))

    def cube(self, full: Cube) -> Cube:
        """Return the part of a cube that the last query's core needed."""
        model, limits = self.relation.model, set(self.relation.limits_in(self.solver.unsat_core()))
        return cube_of_limits(model, [limit for limit in full.limits(model) if limit in limits])

    def step(self) -> ConcreteStep:
        """Return the step that answers the last query."""
        relation, answer = self.relation, self.solver.model()
        before = list(relation.model.initial[0])
        for n in relation.part.varying:
            before[n] = self._number(answer, relation.now[n])
        after = list(before)
        for n in relation.part.varying:
            after[n] = self._number(answer, relation.after[n])
        instance = relation.choice.number([self._number(answer, bit) for bit in relation.choice.bits])
        return ConcreteStep(tuple(before), instance, tuple(after))

    def _number(self, answer: z3.ModelRef, term: Term) -> int:
        return number_in(answer, self.relation.solver.expression(term))
