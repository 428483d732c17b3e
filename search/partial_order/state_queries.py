"""Queries to Z3 about single states: can these conditions all be true at once?

Words: a *subject* is the conditions that several queries have in common. Z3 gets them once, and its learnt clauses
serve all of these queries. The *effort* of a query is in Z3's own unit (`rlimit`), so no answer depends on the load.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum

import z3

from kwalk.model.language.lift import Term, Terms, in_order, reads
from kwalk.model.language.lift.solver import Solver
from kwalk.model.language.lift.terms import values_of
from kwalk.search.solver.restarted import RestartedSolver


class Possible(Enum):
    """Z3's answer."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class StateQueries:
    """Queries about the states of one model's domains.

    Args:
        terms: The terms of the model.
        facts: Conditions that hold in every state of interest.
        width: The bits of numbers in Z3.
        effort: The effort of a query.
    """

    def __init__(self, terms: Terms, facts: Sequence[Term], width: int, effort: int) -> None:
        self.terms, self.effort = terms, effort
        self.count = 0
        """The number of queries."""
        self._solver, self._always = Solver(width), tuple(facts)
        self._surveyed: dict[int, tuple[bool, frozenset[int]]] = {}
        self._facts: dict[int, list[Term]] = {}
        self._limits: dict[int, list[z3.BoolRef]] = {}
        self.assume([])

    def assume(self, facts: Iterable[Term]) -> None:
        """Restrict later queries to states in which these facts hold too; they replace earlier facts."""
        self._facts = defaultdict(list)
        for condition in (*self._always, *facts):
            for leaf in self.survey(condition)[1]:
                self._facts[leaf].append(condition)

    def about(self, conditions: Iterable[Term]) -> Subject:
        """Return a subject: states in which these are true. Facts that are assumed later do not reach it."""
        return Subject(self, conditions)

    def possible(self, conditions: Iterable[Term]) -> Possible:
        """Return whether all conditions can be true in one state."""
        wanted = self.terms.conjunction(conditions)
        if wanted.op == "bool":
            return Possible.YES if wanted.payload else Possible.NO
        return self.about([wanted]).possible(())

    def survey(self, term: Term) -> tuple[bool, frozenset[int]]:
        """Return whether the numbers of a term fit into Z3's words, and which leaves it reads."""
        if term.id not in self._surveyed:
            fits = Solver.width_for([term]) <= self._solver.width
            self._surveyed[term.id] = fits, reads([term])
        return self._surveyed[term.id]

    def facts_about(self, leaf: int) -> list[Term]:
        """Return what is known of a leaf besides its domain."""
        return self._facts.get(leaf, [])

    def expression(self, term: Term) -> z3.BoolRef:
        """Return a condition as a Z3 expression."""
        return self._solver.expression(term)

    def true_in(self, state: dict[int, int], conditions: dict[int, Term]) -> list[int]:
        """Return the keys of the conditions that are true where leaves have these numbers, and read no other leaves."""
        known = {key: term for key, term in conditions.items() if self.survey(term)[1] <= state.keys()}
        vector = [state.get(leaf, 0) for leaf in range(max(state, default=-1) + 1)]
        values = values_of(list(in_order(known.values())), vector)
        return [key for key, term in known.items() if values[term.id]]

    def limits(self, leaf: int) -> list[z3.BoolRef]:
        """Return the condition that a leaf of an earlier expression lies in its domain."""
        if leaf not in self._limits:
            term, name = self._solver.variables[leaf]
            self._limits[leaf] = [] if term.is_bool else [name >= term.low, name <= term.high]
        return self._limits[leaf]

    def variable(self, leaf: int) -> z3.ExprRef:
        """Return the Z3 variable of a leaf of an earlier expression."""
        return self._solver.variables[leaf][1]


class Subject:
    """Conditions that several queries have in common."""

    def __init__(self, queries: StateQueries, conditions: Iterable[Term]) -> None:
        self._queries, self._check = queries, RestartedSolver("QF_BV")
        self._known: set[int] = set()
        self._limited: set[int] = set()
        self._facts: set[int] = set()
        self._names = 0
        self._fits = True
        for condition in conditions:
            fits = self._prepare(condition)
            self._fits = self._fits and fits
            if fits:
                self._check.add(queries.expression(condition))

    def possible(self, conditions: Iterable[Term]) -> Possible:
        """Return whether all of these can be true in one state of the subject."""
        return self._ask(conditions, self._queries.effort)

    def example(self, conditions: Iterable[Term], effort: int = 0) -> tuple[Possible, dict[int, int]]:
        """Return the same, and if YES the numbers of leaves that make them true; 0: the usual effort."""
        answer = self._ask(conditions, effort or self._queries.effort)
        return answer, self._numbers() if answer is Possible.YES else {}

    def _ask(self, conditions: Iterable[Term], effort: int) -> Possible:
        queries = self._queries
        wanted = queries.terms.conjunction(conditions)
        if wanted is queries.terms.false:
            return Possible.NO
        if not self._fits or not self._prepare(wanted):
            return Possible.UNKNOWN
        self._check.set("rlimit", effort)
        names = [] if wanted is queries.terms.true else [self._named(wanted)]
        queries.count += 1
        result = self._check.check(names)
        return Possible.YES if result == z3.sat else Possible.NO if result == z3.unsat else Possible.UNKNOWN

    def _named(self, condition: Term) -> z3.BoolRef:
        """Return a new constant that implies a condition, so that the condition is part of one query only."""
        self._names += 1
        name = z3.Bool(f"asked{self._names}")
        self._check.add(z3.Implies(name, self._queries.expression(condition)))
        return name

    def _prepare(self, condition: Term) -> bool:
        """Assert what is known of the leaves of a condition; return whether its numbers fit."""
        fits, leaves = self._queries.survey(condition)
        if fits:
            self._queries.expression(condition)
            for leaf in sorted(leaves - self._known):
                self._assert_known(leaf)
            self._known |= leaves
        return fits

    def _assert_known(self, leaf: int) -> None:
        self._limit(leaf)
        for fact in self._queries.facts_about(leaf):
            if fact.id in self._facts:
                continue
            self._facts.add(fact.id)
            self._check.add(self._queries.expression(fact))
            for other in self._queries.survey(fact)[1]:
                self._limit(other)

    def _limit(self, leaf: int) -> None:
        if leaf not in self._limited:
            self._limited.add(leaf)
            for limit in self._queries.limits(leaf):
                self._check.add(limit)

    def _numbers(self) -> dict[int, int]:
        """Return the numbers of all leaves of the queries so far, in the state that Z3 has found."""
        found, numbers = self._check.model(), dict.fromkeys(sorted(self._known), 0)
        for leaf in numbers:
            value = found.get_interp(self._queries.variable(leaf).decl())
            if value is not None:
                numbers[leaf] = int(z3.is_true(value)) if z3.is_bool(value) else value.as_signed_long()
        return numbers
