"""Questions to Z3 about single states: can these conditions all be true at once?

Words: a *subject* is what several questions have in common. Z3 gets to know it once, and keeps what it learns of it.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum

import z3

from model.language.lift import Term, Terms, in_order, reads
from model.language.lift.evaluation import values_of
from model.language.lift.solver import Solver


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
        self.asked = 0
        self._solver, self._always = Solver(width), tuple(given)
        self._surveyed: dict[int, tuple[bool, frozenset[int]]] = {}
        self._given: dict[int, list[Term]] = {}
        self._limits: dict[int, list[z3.BoolRef]] = {}
        self.assume([])

    def assume(self, facts: Iterable[Term]) -> None:
        """From now on ask about states in which these hold too."""
        self._given = defaultdict(list)
        for condition in (*self._always, *facts):
            for leaf in self.survey(condition)[1]:
                self._given[leaf].append(condition)

    def about(self, conditions: Iterable[Term]) -> Subject:
        """For questions about states in which these are true; facts that are assumed later are not for it."""
        return Subject(self, conditions)

    def possible(self, conditions: Iterable[Term]) -> Possible:
        """Whether all conditions can be true in one state."""
        wanted = self.terms.conjunction(conditions)
        if wanted.op == "bool":
            return Possible.YES if wanted.payload else Possible.NO
        return self.about([wanted]).possible(())

    def survey(self, term: Term) -> tuple[bool, frozenset[int]]:
        """Whether the numbers of a term fit into Z3's words, and which leaves it reads."""
        if term.id not in self._surveyed:
            fits = Solver.width_for([term]) <= self._solver.width
            self._surveyed[term.id] = fits, reads([term])
        return self._surveyed[term.id]

    def given(self, leaf: int) -> list[Term]:
        """What is known of a leaf, besides its domain."""
        return self._given.get(leaf, [])

    def expression(self, term: Term) -> z3.BoolRef:
        """A condition as Z3 has it."""
        return self._solver.expression(term)

    def true_in(self, state: dict[int, int], conditions: dict[int, Term]) -> list[int]:
        """The keys of those conditions that are true where leaves have these numbers, and that read no others."""
        known = {key: term for key, term in conditions.items() if self.survey(term)[1] <= state.keys()}
        vector = [state.get(leaf, 0) for leaf in range(max(state, default=-1) + 1)]
        values = values_of(list(in_order(known.values())), vector)
        return [key for key, term in known.items() if values[term.id]]

    def limits(self, leaf: int) -> list[z3.BoolRef]:
        """That a leaf, which was part of an expression, lies in its domain."""
        if leaf not in self._limits:
            term, name = self._solver.variables[leaf]
            self._limits[leaf] = [] if term.is_bool else [name >= term.low, name <= term.high]
        return self._limits[leaf]

    def variable(self, leaf: int) -> z3.ExprRef:
        """A leaf that was part of an expression."""
        return self._solver.variables[leaf][1]


class Subject:
    """Conditions about which several questions are asked."""

    def __init__(self, questions: Questions, conditions: Iterable[Term]) -> None:
        self._questions, self._check = questions, z3.SolverFor("QF_BV")
        self._known: set[int] = set()
        self._limited: set[int] = set()
        self._facts: set[int] = set()
        self._names = 0
        self._fits = True
        for condition in conditions:
            fits, _ = self._prepared(condition)
            self._fits = self._fits and fits
            if fits:
                self._assert(questions.expression(condition))

    def possible(self, conditions: Iterable[Term]) -> Possible:
        """Whether all of these can be true in one state of the subject."""
        return self._ask(conditions, self._questions.effort)

    def example(self, conditions: Iterable[Term], effort: int = 0) -> tuple[Possible, dict[int, int]]:
        """As above, and if so the numbers of leaves that make it so; with another `effort` than usual."""
        answer = self._ask(conditions, effort or self._questions.effort)
        return answer, self._numbers() if answer is Possible.YES else {}

    def _ask(self, conditions: Iterable[Term], effort: int) -> Possible:
        questions = self._questions
        wanted = questions.terms.conjunction(conditions)
        if wanted is questions.terms.false:
            return Possible.NO
        if not self._fits or not self._prepared(wanted)[0]:
            return Possible.UNKNOWN
        self._check.set("rlimit", effort)
        names = [] if wanted is questions.terms.true else [self._named(wanted)]
        questions.asked += 1
        result = self._check.check(*names)
        return Possible.YES if result == z3.sat else Possible.NO if result == z3.unsat else Possible.UNKNOWN

    def _named(self, condition: Term) -> z3.BoolRef:
        """A new name that implies a condition: what one question asks is nothing to the next one."""
        self._names += 1
        name = z3.Bool(f"asked{self._names}")
        self._assert(z3.Implies(name, self._questions.expression(condition)))
        return name

    def _prepared(self, condition: Term) -> tuple[bool, frozenset[int]]:
        """Let Z3 know what is known of the leaves of a condition; see `Questions.survey` for the answer."""
        fits, leaves = self._questions.survey(condition)
        if fits:
            self._questions.expression(condition)
            for leaf in sorted(leaves - self._known):
                self._know(leaf)
            self._known |= leaves
        return fits, leaves

    def _know(self, leaf: int) -> None:
        self._limit(leaf)
        for fact in self._questions.given(leaf):
            if fact.id in self._facts:
                continue
            self._facts.add(fact.id)
            self._assert(self._questions.expression(fact))
            for other in self._questions.survey(fact)[1]:
                self._limit(other)

    def _limit(self, leaf: int) -> None:
        if leaf not in self._limited:
            self._limited.add(leaf)
            for limit in self._questions.limits(leaf):
                self._assert(limit)

    def _assert(self, condition: z3.BoolRef) -> None:
        """As `self._check.add`, which takes five times as long."""
        z3.Z3_solver_assert(self._check.ctx.ref(), self._check.solver, condition.as_ast())

    def _numbers(self) -> dict[int, int]:
        """The numbers of all leaves that were asked about, in the state that Z3 has found."""
        found, numbers = self._check.model(), dict.fromkeys(sorted(self._known), 0)
        for leaf in numbers:
            value = found.get_interp(self._questions.variable(leaf).decl())
            if value is not None:
                numbers[leaf] = int(z3.is_true(value)) if z3.is_bool(value) else value.as_signed_long()
        return numbers
