"""What cases have to do with each other: which clash, which make an atom true, and which make a guard false.

Words: two cases *clash* unless it is proved that, wherever both are enabled, neither disables the other and both orders
lead to the same state. A case *causes* an atom if it can make it true, and *stops* an instance if it can make its guard
false where it is true. First it is looked at which leaves are read and written, then at what random walks have met; the
rest is asked of Z3. What Z3 does not refute in time counts as possible.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from attrs import define

from model.language.lift import Term, Terms, in_order, reads
from search.prove.terms import rebuilt
from search.reduction.cases import Case
from search.reduction.solver import Possible, Questions

SMALL = 8
"""Atoms that read more leaves are not worth a question: whatever writes one of these leaves may change them."""


LARGE = 50
"""Two cases that each write more leaves are not worth a question: they count as dependent."""


@define
class PairCounts:
    """How many pairs of cases were found to be what, and by which means."""

    by_sets: int = 0
    """Independent: neither writes what the other reads or writes, or they are never enabled together."""
    by_z3: int = 0
    """Independent, as Z3 has proved."""
    dependent: int = 0
    unknown: int = 0
    """Z3 did not answer in time; they count as dependent."""

    @property
    def all(self) -> int:
        """How many pairs there are."""
        return self.by_sets + self.by_z3 + self.dependent + self.unknown


@define(eq=False)
class Seen:
    """What walks have met; as bit masks per case: cases that clash with it, atoms that it makes true."""

    clashes: list[int]
    raises: list[int]
    states: np.ndarray
    """Some of the states, packed, and all initial ones."""
    met: np.ndarray
    """int32[n, 4]: a state's number, two cases that are enabled in it, and 1 if they clash there."""


class Relating:
    """Works out the relations of the cases and atoms of one model."""

    def __init__(
        self, terms: Terms, cases: Sequence[Case], leaves: Sequence[Term], questions: Questions
    ) -> None:
        self.terms, self.cases, self.leaves, self.questions = terms, cases, leaves, questions
        self._after: dict[int, dict[int, Term]] = {case.index: {} for case in cases}
        self._leaves_after: dict[int, list[Term]] = {}

    def after(self, case: Case, roots: Iterable[Term]) -> list[Term]:
        """The terms as they are after a case, in terms of the state before it."""
        known, wanted = self._after[case.index], list(roots)
        fresh = [root for root in wanted if root.id not in known]
        if fresh:
            known.update({root.id: root for root in fresh})
            moved = [root for root in fresh if not case.writes.isdisjoint(self.questions.survey(root)[1])]
            new = replaced(self.terms, moved, self._numbers(case))
            known.update({root.id: after for root, after in zip(moved, new, strict=True)})
        return [known[root.id] for root in wanted]

    def _numbers(self, case: Case) -> list[Term]:
        """The leaves after a case."""
        if case.index not in self._leaves_after:
            after = [case.updates.get(leaf, term) for leaf, term in enumerate(self.leaves)]
            self._leaves_after[case.index] = after
        return self._leaves_after[case.index]

    def clashes(self, seen: Seen, tell: Callable[[int, int], None]) -> tuple[list[int], PairCounts]:
        """Per case, the cases that clash with it; `tell` gets to know how many pairs are done, and of how many."""
        result, pairs, count = [0] * len(self.cases), PairCounts(), len(self.cases)
        for one in self.cases:
            tell(one.index * (one.index - 1) // 2, count * (count - 1) // 2)
            for other in self.cases[: one.index]:
                if self._clash(one, other, bool(seen.clashes[one.index] >> other.index & 1), pairs):
                    result[one.index] |= 1 << other.index
                    result[other.index] |= 1 << one.index
        return result, pairs

    def causes(self, atoms: Sequence[Term], seen: Seen, tell: Callable[[int, int], None]) -> list[int]:
        """Per atom, the cases that can make it true; `tell` as above."""
        result, t = [0] * len(atoms), self.terms
        for case in self.cases:
            tell(case.index, len(self.cases))
            raises = seen.raises[case.index]
            touched = self._touched(case, atoms)
            sure = {n for n in touched if raises >> n & 1 or not is_simple(atoms[n])}
            asked = [n for n in touched if n not in sure]
            after = self.after(case, [atoms[n] for n in asked])
            raised = {n: t.conjunction((t.negation(atoms[n]), new)) for n, new in zip(asked, after, strict=True)}
            for number in sure | self._possible(case, raised):
                result[number] |= 1 << case.index
        return result

    def stoppers(self, guards: Sequence[Term], tell: Callable[[int, int], None]) -> list[int]:
        """Per guard, the cases that can make it false where it is true; `tell` as above."""
        result, t = [0] * len(guards), self.terms
        for case in self.cases:
            tell(case.index, len(self.cases))
            touched = self._touched(case, guards)
            sure = {n for n in touched if not is_plain(guards[n])}
            asked = [n for n in touched if n not in sure]
            after = self.after(case, [guards[n] for n in asked])
            lowered = {n: t.conjunction((guards[n], t.negation(new))) for n, new in zip(asked, after, strict=True)}
            for number in sure | self._possible(case, lowered):
                result[number] |= 1 << case.index
        return result

    def _touched(self, case: Case, conditions: Sequence[Term]) -> list[int]:
        """The numbers of those conditions that look at something that a case writes."""
        return [n for n, c in enumerate(conditions) if not case.writes.isdisjoint(self.questions.survey(c)[1])]

    def _possible(self, case: Case, changes: dict[int, Term]) -> set[int]:
        """The keys of those changes that may happen where a case is enabled."""
        found, subject = set[int](), self.questions.about(case.atoms)
        for number, change in changes.items():
            if number not in found:
                answer, state = subject.example((change,))
                if answer is not Possible.NO:
                    found |= {number, *self.questions.true_in(state, changes)}
        return found

    def _clash(self, one: Case, other: Case, seen: bool, pairs: PairCounts) -> bool:
        """Whether two cases must be taken to clash."""
        if self._apart(one, other):
            pairs.by_sets += 1
            return False
        if seen or min(len(one.writes), len(other.writes)) > LARGE:
            pairs.dependent += 1
            return True
        answer = self.questions.possible(self.trouble(one, other))
        if answer is Possible.NO:
            pairs.by_z3 += 1
        elif answer is Possible.YES:
            pairs.dependent += 1
        else:
            pairs.unknown += 1
        return answer is not Possible.NO

    def _apart(self, one: Case, other: Case) -> bool:
        if one.writes.isdisjoint(other.reads | other.writes) and other.writes.isdisjoint(one.reads):
            return True
        return self.terms.conjunction((*one.atoms, *other.atoms)) is self.terms.false

    def trouble(self, one: Case, other: Case) -> tuple[Term, ...]:
        """That both cases are enabled, and one disables the other, or their order makes a difference."""
        t = self.terms
        spoiled = [t.negation(atom) for atom in self.after(one, other.atoms)]
        spoiled += [t.negation(atom) for atom in self.after(other, one.atoms)]
        self.after(one, other.updates.values())
        self.after(other, one.updates.values())
        for leaf in sorted(one.writes | other.writes):
            first, second = self._both(one, other, leaf), self._both(other, one, leaf)
            if first is not second:
                spoiled.append(t.negation(t.equal(first, second)))
        return (*one.atoms, *other.atoms, t.disjunction(spoiled))

    def _both(self, one: Case, other: Case, leaf: int) -> Term:
        """A leaf after one case and then the other."""
        if leaf in other.updates:
            return self.after(one, [other.updates[leaf]])[0]
        return one.updates.get(leaf, self.leaves[leaf])


def is_simple(atom: Term) -> bool:
    """Whether it is worth a question what changes an atom."""
    return is_plain(atom) and len(reads([atom])) <= SMALL


def is_plain(term: Term) -> bool:
    """Whether Z3 may be asked what becomes of a term.

    Never so for a quotient, whose machine code may differ from what Z3 says where its operand means nothing.
    """
    return not any(part.op in ("div", "mod") for part in in_order([term]))


def replaced(terms: Terms, roots: Sequence[Term], numbers: Sequence[Term]) -> list[Term]:
    """The terms with variable n replaced by `numbers[n]`, as machine code evaluates them in any state whatever.

    A term that is said to lie within limits is taken as it is: other atoms of a guard, which may be false, see to that.
    """
    new: dict[int, Term] = {}
    for term in in_order(roots):
        args = [new[arg.id] for arg in term.args]
        new[term.id] = args[0] if term.op == "within" else rebuilt(terms, term, args, numbers)
    return [new[root.id] for root in roots]
