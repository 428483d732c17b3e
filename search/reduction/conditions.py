"""Conditions of a clash: for two cases that clash in some states and commute in most, what tells these apart.

Words: a *condition* of two cases is a set of literals, small conditions on single states. Wherever both cases are
enabled and no literal is true, neither disables the other, and both orders lead to the same state. A controller that
resigns drops the requests that wait behind the first one: that clashes with the handling of the first only if there
are others. Literals are that a case really changes what the other looks at, and what its effect depends on. They are
gathered until Z3 finds no clash without one; each time it does, one is added that is true there, of these the one that
is false in most states in which walks have met both cases without a clash.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from attrs import define

from model.language.lift import Term, in_order, reads
from model.language.lift.evaluation import evaluate_terms, values_of
from search.reduction.assuming import conjuncts
from search.reduction.cases import Case
from search.reduction.relations import Relating, is_simple
from search.reduction.solver import Possible

LOOKED_AT = 40
"""States that are looked at for one pair, of those with a clash and of those without."""
EFFORT, FIRST_EFFORT = 3_000_000, 12_000_000
"""How much Z3 may think about one question, in its own unit, and about the first one of a pair, at most.

Most pairs that need so much for the first do not clash at all.
"""
EFFORT_PER_MEETING, LEAST_EFFORT = 1_000_000, 300_000
"""So much of it for each state in which the two were met without a clash: it is spent where a condition may help."""
TRIED = 16
"""Questions about one pair, at most."""
MOST = 5
"""Literals of one condition, at most."""
LEAST_HELP = 0.2
"""A condition must be false in this part of the states in which the two cases were met without a clash."""
WIDEST = 8
"""Leaves that a literal reads, at most."""


@define(eq=False)
class _Search:
    """The literals that may be taken for one pair, and where each is true: columns are states."""

    literals: list[Term]
    without: np.ndarray
    """In states without a clash."""
    clashing: np.ndarray
    """In states with one; all must have a literal that is true."""

    def cover(self) -> list[int] | None:
        """Literals of which one is true in each state with a clash, and rarely in others; None if there are none.

        Few are better than many: what is true for one state's sake only says little of others.
        """
        taken: list[int] = []
        helpful = (~self.without).mean(axis=1) >= LEAST_HELP
        while not (done := self.clashing[taken].any(axis=0)).all():
            free = ~self.without[taken].any(axis=0)
            covers = self.clashing[:, ~done].sum(axis=1) * helpful
            helps = (~self.without[:, free]).mean(axis=1) if free.any() else np.zeros(len(covers))
            best = int((covers * helps).argmax()) if len(covers) else 0
            if len(taken) == MOST or not len(covers) or covers[best] * helps[best] == 0:
                return None
            taken.append(best)
        return taken if not taken or (~self.without[taken].any(axis=0)).mean() >= LEAST_HELP else None


class ConditionFinder:
    """Finds conditions for the pairs of cases of one model, given the sampled states (as vectors) and who met there."""

    def __init__(self, relating: Relating, sample: np.ndarray, met: np.ndarray) -> None:
        self.relating, self.terms, self.sample = relating, relating.terms, sample
        self._met: dict[tuple[int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for state, one, other, clash in met.tolist():
            self._met[one, other][clash].append(state)
        self._literals: dict[int, list[Term]] = {}
        self._small: dict[int, bool] = {}

    def pairs(self, clashes: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The clashing pairs that were met without a clash; the first of a pair has the higher number."""
        for (one, other), (without, _) in sorted(self._met.items()):
            if clashes[one] >> other & 1 and without:
                yield one, other

    def condition(self, one: int, other: int) -> list[Term] | None:
        """The literals of a condition (none if the two never clash after all), or None if none is found."""
        first, second = self.relating.cases[one], self.relating.cases[other]
        search = self._search(first, second, *self._met[one, other])
        subject = self.relating.questions.about(self.relating.trouble(first, second))
        worth = max(LEAST_EFFORT, EFFORT_PER_MEETING * len(self._met[one, other][0]))
        for most in (FIRST_EFFORT, *[EFFORT] * (TRIED - 1)):
            taken = search.cover()
            if taken is None:
                return None
            without = (self.terms.negation(search.literals[n]) for n in taken)
            answer, found = subject.example(without, min(most, worth))
            if answer is Possible.NO:
                return [search.literals[n] for n in taken]
            if answer is Possible.UNKNOWN:
                return None
            search.clashing = np.column_stack([search.clashing, self._true_in(search.literals, found)])
        return None

    def _true_in(self, literals: Sequence[Term], numbers: dict[int, int]) -> np.ndarray:
        """Which literals are true where leaves have these numbers; False if they read others."""
        vector = [numbers.get(leaf, 0) for leaf in range(len(self.relating.leaves))]
        known = [reads([literal]) <= numbers.keys() for literal in literals]
        return np.array(evaluate_terms(literals, vector), bool) & np.array(known, bool)

    def _search(self, one: Case, other: Case, without: list[int], clashing: list[int]) -> _Search:
        found = dict.fromkeys([*self._changes(one, other), *self._changes(other, one)])
        literals = list(found | dict.fromkeys([*self._of(one), *self._of(other)]))
        literals.sort(key=lambda literal: len(reads([literal])))
        return _Search(literals, self._table(literals, without), self._table(literals, clashing))

    def _table(self, literals: Sequence[Term], states: list[int]) -> np.ndarray:
        some = states[:: len(states) // LOOKED_AT + 1]
        order, columns = list(in_order(literals)), []
        for state in some:
            values = values_of(order, self.sample[state].tolist())
            columns.append([values[literal.id] for literal in literals])
        return np.array(columns, bool).reshape(len(some), len(literals)).T

    def _changes(self, case: Case, other: Case) -> Iterator[Term]:
        """That a case changes a leaf that the other reads or writes."""
        for leaf in sorted(case.writes & (other.reads | other.writes)):
            changed = self.terms.negation(self.terms.equal(case.updates[leaf], self.relating.leaves[leaf]))
            if self._is_small(changed):
                yield changed

    def _is_small(self, term: Term) -> bool:
        if term.id not in self._small:
            self._small[term.id] = term.op != "bool" and len(reads([term])) <= WIDEST and is_simple(term)
        return self._small[term.id]

    def _of(self, case: Case) -> list[Term]:
        """The small conditions within the effects of a case, and their negations."""
        if case.index not in self._literals:
            found: dict[Term, None] = {}
            for update in case.updates.values():
                for term in _choices(update):
                    for part in (term, *conjuncts(term)):
                        if self._is_small(part):
                            found.update({part: None, self.terms.negation(part): None})
            self._literals[case.index] = list(found)
        return self._literals[case.index]


def _choices(term: Term) -> Iterator[Term]:
    """The conditions on which a value depends, at its top."""
    while term.op == "ite":
        yield term.args[0]
        if term.args[1].op == "ite":
            yield from _choices(term.args[1])
        term = term.args[2]
