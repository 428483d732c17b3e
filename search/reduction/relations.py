"""What cases have to do with each other: which clash, and which can make an atom true or false.

Words: two cases *clash* unless it is proved that, wherever both are enabled, neither disables the other and both orders
lead to the same state. A case *raises* an atom if it can make it true, *lowers* it if it can make it false. First it is
looked at which leaves are read and written, then at what random walks have met; what is left is asked of Z3. What Z3
does not refute in time counts as possible.
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
    """What walks have met; as bit masks per case: cases that clash with it, atoms that it raises and lowers."""

    clashes: list[int]
    raises: list[int]
    lowers: list[int]
    states: np.ndarray
    """Some of the states, packed, and all initial ones."""
    met: np.ndarray
    """int32[n, 4]: a state's number, two cases that are enabled in it, and 1 if they clash there."""


@define(eq=False)
class Changes:
    """Bit masks: per atom, the cases that raise and that lower it."""

    raised_by: list[int]
    lowered_by: list[int]


class Relating:
    """Works out the relations of the cases and atoms of one model."""

    def __init__(
        self, terms: Terms, cases: Sequence[Case], leaves: Sequence[Term], questions: Questions
    ) -> None:
        self.terms, self.cases, self.leaves, self.questions = terms, cases, leaves, questions
        self.atoms: Sequence[Term] = ()
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

    def changes(
        self, atoms: Sequence[Term], seen: Seen, lowered: Iterable[int], tell: Callable[[int, int], None]
    ) -> Changes:
        """Which cases raise the atoms, and which lower those that are `lowered`; `tell` as above."""
        self.atoms, result = atoms, Changes([0] * len(atoms), [0] * len(atoms))
        self.atom_reads, self.simple = [reads([atom]) for atom in atoms], [is_simple(atom) for atom in atoms]
        for case in self.cases:
            tell(case.index, len(self.cases))
            self._changes(case, seen.raises[case.index], range(len(self.atoms)), result.raised_by, raised=True)
            self._changes(case, seen.lowers[case.index], lowered, result.lowered_by, raised=False)
        return result

    def _changes(self, case: Case, seen: int, atoms: Iterable[int], into: list[int], *, raised: bool) -> None:
        """Note which of the atoms a case can change so."""
        touched = [n for n in atoms if not case.writes.isdisjoint(self.atom_reads[n])]
        changing = {n for n in touched if seen >> n & 1 or not self.simple[n]}
        asked = [n for n in touched if n not in changing]
        after = self.after(case, [self.atoms[n] for n in asked])
        changes = {n: self._change(self.atoms[n], then, raised=raised) for n, then in zip(asked, after, strict=True)}
        subject = self.questions.about(case.atoms)
        for number, change in changes.items():
            if number not in changing:
                answer, state = subject.example((change,))
                if answer is not Possible.NO:
                    changing |= {number, *self.questions.true_in(state, changes)}
        for number in changing:
            into[number] |= 1 << case.index

    def _change(self, now: Term, then: Term, *, raised: bool) -> Term:
        """That an atom, which is `then` after a step, becomes true, or false."""
        t = self.terms
        return t.conjunction((t.negation(now), then) if raised else (now, t.negation(then)))

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
