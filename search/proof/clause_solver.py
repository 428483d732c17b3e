"""Satisfiability of clauses by MiniSat, which shares no code with Z3: a check of what Z3 has claimed.

Words: literal 2v is variable v, literal 2v + 1 its complement. A *clause* is a list of literals of which one is true.

Source: N. Eén and N. Sörensson, An Extensible SAT-solver, SAT 2003; A. Ignatiev, A. Morgado and J. Marques-Silva,
PySAT, SAT 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kwalk.model.language import UsageError

Literal = int
SOLVER = "minisat22"


class SolverMissing(UsageError):
    """The package python-sat is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "A check of proofs without Z3 needs the package python-sat, which is not installed. "
            "Install it: pip install 'kwalk[certificates]'."
        )


class ClauseSolver:
    """A set of clauses, which grows, and the search for values that satisfy them.

    Raises:
        SolverMissing: The package python-sat is not installed.
    """

    def __init__(self) -> None:
        try:
            from pysat.solvers import Solver
        except ModuleNotFoundError as error:
            raise SolverMissing from error
        self._solver: Any = Solver(name=SOLVER)
        self._variables = 0
        self._values: list[int] = []
        """The values of the last answer: variable v is true if item v is positive."""

    def variable(self) -> Literal:
        """Return the literal of a new variable."""
        self._variables += 1
        return 2 * (self._variables - 1)

    def add(self, literals: Iterable[Literal]) -> None:
        """Add a clause."""
        self._solver.add_clause(list(map(_signed, literals)))

    def is_true(self, literal: Literal) -> bool:
        """Return whether a literal is true in the last answer; a variable that no clause has is false."""
        value = self._values[literal >> 1] if literal >> 1 < len(self._values) else -1
        return (value > 0) is not bool(literal & 1)

    def possible(self, assumed: Sequence[Literal] = (), most_conflicts: int | None = None) -> bool:
        """Return whether some values satisfy all clauses and make the assumed literals true.

        Raises:
            TimeoutError: It is not settled after so many conflicts.
        """
        if most_conflicts is not None:
            self._solver.conf_budget(most_conflicts)
        answer = self._solver.solve_limited(assumptions=list(map(_signed, assumed)))
        if answer is None:
            raise TimeoutError(f"{most_conflicts:,} conflicts did not settle it")
        if answer:
            self._values = self._solver.get_model()
        return bool(answer)


def _signed(literal: Literal) -> int:
    """Return a literal as DIMACS has it: variables from 1 on, complements negative."""
    number = (literal >> 1) + 1
    return -number if literal & 1 else number
