"""A Z3 solver that is asked again after a check without an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3


class RestartedSolver:
    """A Z3 solver that begins anew after a check without an answer.

    One that was interrupted goes on wrongly: in Z3 5.4.0 solvers of QF_FD and QF_BV that have met a time limit take
    contradictions for satisfiable, and give models in which an assumption is false.

    Args:
        logic: The name of the logic.
    """

    def __init__(self, logic: str) -> None:
        self._logic, self._asserted = logic, list[z3.BoolRef]()
        self._parameters: dict[str, int] = {}
        self._solver, self._has_answered = z3.SolverFor(logic), True

    def add(self, *conditions: z3.BoolRef) -> None:
        """Assert conditions by the C interface: Z3's own `add` takes five times as long."""
        self._asserted += conditions
        self._assert(conditions)

    def set(self, name: str, number: int) -> None:
        """Set a parameter, such as `timeout` in milliseconds or `rlimit`."""
        self._parameters[name] = number
        self._solver.set(name, number)

    def check(self, literals: Sequence[z3.BoolRef] = ()) -> z3.CheckSatResult:
        """Return whether all literals can be true at once.

        It calls the C interface: Z3's own `check` spends more time in Python on hundreds of literals than on the
        answer.
        """
        if not self._has_answered:
            self._solver = z3.SolverFor(self._logic)
            self._assert(self._asserted)
            for name, number in self._parameters.items():
                self._solver.set(name, number)
        solver, assumed = self._solver, (z3.Ast * len(literals))(*(literal.as_ast() for literal in literals))
        result = z3.CheckSatResult(
            z3.Z3_solver_check_assumptions(solver.ctx.ref(), solver.solver, len(literals), assumed)
        )
        self._has_answered = result != z3.unknown
        return result

    def _assert(self, conditions: Iterable[z3.BoolRef]) -> None:
        solver = self._solver
        for condition in conditions:
            z3.Z3_solver_assert(solver.ctx.ref(), solver.solver, condition.as_ast())

    def model(self) -> z3.ModelRef:
        """Return the model of the last check, if that was satisfiable."""
        return self._solver.model()

    def unsat_core(self) -> z3.AstVector:
        """Return the literals that the last check needed, if that was not satisfiable."""
        return self._solver.unsat_core()

    def reason_unknown(self) -> str:
        """Return why the last check has no answer."""
        return str(self._solver.reason_unknown())
