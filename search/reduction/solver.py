"""Questions to Z3 about single states: can these conditions all be true at once?"""
from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum

import z3

from model.language.lift import Term, Terms, reads
from model.language.lift.solver import Solver, number_in


class Possible(Enum):
    """Z3's answer."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Questions:
    """Asks about in-domain states of one model in which all of `given` holds.

    A question ends after so much `effort`, in Z3's own unit and not in seconds: no answer depends on the load.
    """

    def __init__(self, terms: Terms, given: Sequence[Term], width: int, effort: int) -> None:
        self.terms, self.effort = terms, effort
        self.asked, self.seconds = 0, 0.0
        self._solver, self._always = Solver(width), tuple(given)
        self._given: dict[int, list[Term]] = {}
        self.assume([])

    def assume(self, facts: Iterable[Term]) -> None:
        """From now on ask about states in which these hold too."""
        self._given = defaultdict(list)
        for condition in (*self._always, *facts):
            for leaf in reads([condition]):
                self._given[leaf].append(condition)

    def possible(self, conditions: Iterable[Term]) -> Possible:
        """Whether all conditions can be true in one state."""
        return self.example(conditions)[0]

    def example(self, conditions: Iterable[Term], effort: int = 0) -> tuple[Possible, dict[int, int]]:
        """Whether all conditions can be true in one state, and if so the numbers of leaves that make it so."""
        wanted = self.terms.conjunction(conditions)
        if wanted.op == "bool":
            return Possible.YES if wanted.payload else Possible.NO, {}
        began = time.monotonic()
        check = z3.SolverFor("QF_BV")
        check.set("rlimit", effort or self.effort)
        if Solver.width_for([wanted]) > self._solver.width:
            return Possible.UNKNOWN, {}
        expressions, variables = [self._solver.expression(wanted)], reads([wanted])
        given = {c.id: c for leaf in variables for c in self._given.get(leaf, ())}
        expressions += [self._solver.expression(condition) for condition in given.values()]
        variables |= reads(given.values())
        check.add(*expressions, *self._domain(variables))
        result = check.check()
        answer = Possible.YES if result == z3.sat else Possible.NO if result == z3.unsat else Possible.UNKNOWN
        self.asked += 1
        self.seconds += time.monotonic() - began
        return answer, self._numbers(check, variables) if answer is Possible.YES else {}

    def _numbers(self, check: z3.Solver, variables: Iterable[int]) -> dict[int, int]:
        model = check.model()
        return {n: number_in(model, self._solver.variables[n][1]) for n in sorted(variables)}

    def _domain(self, variables: Iterable[int]) -> list[z3.BoolRef]:
        """That these variables lie in their intervals."""
        limits = []
        for number in variables:
            term, name = self._solver.variables[number]
            if not term.is_bool:
                limits += [name >= term.low, name <= term.high]
        return limits
