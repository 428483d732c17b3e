"""What the queries of a proof may cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import z3
from attrs import define

from kwalk.search.solver.restarted import RestartedSolver


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

    def answer(self, solver: RestartedSolver, literals: Sequence[z3.BoolRef] = ()) -> bool:
        """Return whether literals can be true at once. A timeout is retried while CPU time is left.

        Raises:
            OutOfEffort: Z3 has no answer.
        """
        while True:
            left = self.spend()
            if left is not None:
                solver.set("timeout", left)
            result = solver.check(literals)
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
