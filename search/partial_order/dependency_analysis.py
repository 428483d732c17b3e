"""Dependency analysis: which groups do not accord, which enable an atom, and which disable an instance.

Words: two groups *accord* if it is proved that, wherever both are enabled, neither disables the other and both orders
lead to the same state. The *enabling set* of an atom consists of the groups that can make it true; the *disabling set*
of an instance consists of those that can make its guard false where it is true. The leaves that are read and written
decide most of that, then what random walks have observed; Z3 decides the rest. What Z3 does not refute in time counts
as possible.

Two groups that accord in most states may do so under a *condition*, a set of literals: wherever both groups are enabled
and no literal is true, they accord. For example, a controller that resigns drops the requests that wait behind the
first one, which does not accord with handling the first one only if there are others. Literals are that a group really
changes what the other reads, and what its effect depends on. They are collected until Z3 finds no counterexample: each
time it does, a literal is added that is true there, preferably one that is false in most of the states in which walks
have observed the groups to accord.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from attrs import define

from kwalk.model.language.lift import Term, Terms, in_order, reads, rebuild
from kwalk.model.language.lift.terms import evaluate_terms, values_of
from kwalk.search.partial_order.state_queries import Possible, StateQueries
from kwalk.search.partial_order.transition_groups import TransitionGroup, conjuncts

MAX_ATOM_LEAVES = 8
"""If an atom reads more leaves, every group that writes one of them is in its enabling set, without a query."""
MAX_GROUP_WRITES = 50
"""Two groups that each write more leaves do not accord, without a query."""

MAX_PAIR_STATES = 40
"""States per pair for its condition, of those in which it accords and of those in which it does not."""
EFFORT, FIRST_EFFORT = 3_000_000, 12_000_000
"""Effort for a query about a condition, and for the first of a pair; most pairs that need so much for it accord."""
EFFORT_PER_STATE, LEAST_EFFORT = 1_000_000, 300_000
"""Effort for each state in which walks have observed the pair to accord, as a condition helps more there."""
MAX_QUERIES = 16
"""Queries about the condition of one pair."""
MAX_LITERALS = 5
"""Literals of one condition."""
LEAST_HELP = 0.2
"""A condition must be false in this share of the states in which the pair accords."""
MAX_LITERAL_LEAVES = 8
"""Leaves that a literal reads."""

ReportProgress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@define
class PairCounts:
    """How many pairs of groups there are of each kind."""

    by_sets: int = 0
    """They accord: neither writes what the other reads or writes, or they are never enabled together."""
    by_z3: int = 0
    """They accord, as Z3 has proved."""
    dependent: int = 0
    unknown: int = 0
    """Z3 has no answer in time; they count as dependent."""

    @property
    def all(self) -> int:
        """All pairs."""
        return self.by_sets + self.by_z3 + self.dependent + self.unknown


@define(eq=False)
class ObservedRelations:
    """What walks have observed."""

    do_not_accord: list[int]
    """Per group, a bit mask of groups that do not accord with it."""
    raised_atoms: list[int]
    """Per group, a bit mask of atoms that it makes true."""
    states: np.ndarray
    """Some of the states, packed, and all initial ones: uint64[n, words]."""
    co_enabled: np.ndarray
    """int32[n, 4]: a state's number, two groups that are enabled in it, and 1 if they do not accord there."""


class DependencyAnalysis:
    """The relations of the groups and atoms of one model."""

    def __init__(
        self, terms: Terms, groups: Sequence[TransitionGroup], leaves: Sequence[Term], queries: StateQueries
    ) -> None:
        self.terms, self.groups, self.leaves, self.queries = terms, groups, leaves, queries
        self._after: dict[int, dict[int, Term]] = {group.index: {} for group in groups}
        self._leaves_after: dict[int, list[Term]] = {}

    def after(self, group: TransitionGroup, roots: Iterable[Term]) -> list[Term]:
        """Return terms over the state after a group as terms over the state before it."""
        known, wanted = self._after[group.index], list(roots)
        new = [root for root in wanted if root.id not in known]
        if new:
            known.update({root.id: root for root in new})
            touched = [root for root in new if not group.writes.isdisjoint(self.queries.survey(root)[1])]
            if group.index not in self._leaves_after:
                after = [group.updates.get(leaf, term) for leaf, term in enumerate(self.leaves)]
                self._leaves_after[group.index] = after
            replaced = _substitute_unchecked(self.terms, touched, self._leaves_after[group.index])
            known.update({root.id: after for root, after in zip(touched, replaced, strict=True)})
        return [known[root.id] for root in wanted]

    def do_not_accord(self, observed: ObservedRelations, report: ReportProgress) -> tuple[list[int], PairCounts]:
        """Return per group a bit mask of the groups that do not accord with it, and how the pairs were decided."""
        result, pairs, count = [0] * len(self.groups), PairCounts(), len(self.groups)
        for one in self.groups:
            report(one.index * (one.index - 1) // 2, count * (count - 1) // 2)
            for other in self.groups[: one.index]:
                is_observed = bool(observed.do_not_accord[one.index] >> other.index & 1)
                if not self._accord(one, other, is_observed, pairs):
                    result[one.index] |= 1 << other.index
                    result[other.index] |= 1 << one.index
        return result, pairs

    def _accord(self, one: TransitionGroup, other: TransitionGroup, is_observed: bool, pairs: PairCounts) -> bool:
        """Return whether two groups accord; `is_observed`: a walk has shown that they do not."""
        if self._are_disjoint(one, other):
            pairs.by_sets += 1
            return True
        if is_observed or min(len(one.writes), len(other.writes)) > MAX_GROUP_WRITES:
            pairs.dependent += 1
            return False
        answer = self.queries.possible(self.conflict(one, other))
        if answer is Possible.NO:
            pairs.by_z3 += 1
        elif answer is Possible.YES:
            pairs.dependent += 1
        else:
            pairs.unknown += 1
        return answer is Possible.NO

    def _are_disjoint(self, one: TransitionGroup, other: TransitionGroup) -> bool:
        if one.writes.isdisjoint(other.reads | other.writes) and other.writes.isdisjoint(one.reads):
            return True
        return self.terms.conjunction((*one.atoms, *other.atoms)) is self.terms.false

    def conflict(self, one: TransitionGroup, other: TransitionGroup) -> tuple[Term, ...]:
        """Return the conditions that both groups are enabled, and one disables the other or their order matters."""
        t = self.terms
        differences = [t.negation(atom) for atom in self.after(one, other.atoms)]
        differences += [t.negation(atom) for atom in self.after(other, one.atoms)]
        self.after(one, other.updates.values())
        self.after(other, one.updates.values())
        for leaf in sorted(one.writes | other.writes):
            first, second = self._after_both(one, other, leaf), self._after_both(other, one, leaf)
            if first is not second:
                differences.append(t.negation(t.equal(first, second)))
        return (*one.atoms, *other.atoms, t.disjunction(differences))

    def _after_both(self, one: TransitionGroup, other: TransitionGroup, leaf: int) -> Term:
        """Return a leaf after one group and then the other."""
        if leaf in other.updates:
            return self.after(one, [other.updates[leaf]])[0]
        return one.updates.get(leaf, self.leaves[leaf])

    def enabling_sets(self, atoms: Sequence[Term], observed: ObservedRelations, report: ReportProgress) -> list[int]:
        """Return per atom a bit mask of the groups that can make it true."""
        masks, t = [0] * len(atoms), self.terms
        for group in self.groups:
            report(group.index, len(self.groups))
            raised = observed.raised_atoms[group.index]
            touched = self._touched(group, atoms)
            certain = {n for n in touched if raised >> n & 1 or not is_simple(atoms[n])}
            open_ones = [n for n in touched if n not in certain]
            after = self.after(group, [atoms[n] for n in open_ones])
            pairs = zip(open_ones, after, strict=True)
            raises = {n: t.conjunction((t.negation(atoms[n]), new)) for n, new in pairs}
            for number in certain | self._possible(group, raises):
                masks[number] |= 1 << group.index
        return masks

    def disabling_sets(self, guards: Sequence[Term], report: ReportProgress) -> list[int]:
        """Return per guard a bit mask of the groups that can make it false where it is true."""
        masks, t = [0] * len(guards), self.terms
        for group in self.groups:
            report(group.index, len(self.groups))
            touched = self._touched(group, guards)
            certain = {n for n in touched if not is_plain(guards[n])}
            open_ones = [n for n in touched if n not in certain]
            after = self.after(group, [guards[n] for n in open_ones])
            pairs = zip(open_ones, after, strict=True)
            lowers = {n: t.conjunction((guards[n], t.negation(new))) for n, new in pairs}
            for number in certain | self._possible(group, lowers):
                masks[number] |= 1 << group.index
        return masks

    def _touched(self, group: TransitionGroup, conditions: Sequence[Term]) -> list[int]:
        """Return the numbers of the conditions that read a leaf which a group writes."""
        return [n for n, c in enumerate(conditions) if not group.writes.isdisjoint(self.queries.survey(c)[1])]

    def _possible(self, group: TransitionGroup, changes: dict[int, Term]) -> set[int]:
        """Return the keys of the changes that may happen where a group is enabled."""
        found, subject = set[int](), self.queries.about(group.atoms)
        for number, change in changes.items():
            if number not in found:
                answer, state = subject.example((change,))
                if answer is not Possible.NO:
                    found |= {number, *self.queries.true_in(state, changes)}
        return found


def is_simple(atom: Term) -> bool:
    """Whether a query about what changes an atom is worth its time."""
    return is_plain(atom) and len(reads([atom])) <= MAX_ATOM_LEAVES


def is_plain(term: Term) -> bool:
    """Whether Z3 may decide what becomes of a term: it has no quotient.

    Machine code may compute another quotient than Z3 where the operand means nothing.
    """
    return not any(part.op in ("div", "mod") for part in in_order([term]))


def _substitute_unchecked(terms: Terms, roots: Sequence[Term], numbers: Sequence[Term]) -> list[Term]:
    """Return the terms with variable n replaced by `numbers[n]`, as machine code evaluates them in any state.

    A "within" term becomes its argument: other atoms of a guard, which may be false, ensure that it holds.
    """
    new: dict[int, Term] = {}
    for term in in_order(roots):
        args = [new[arg.id] for arg in term.args]
        new[term.id] = args[0] if term.op == "within" else rebuild(terms, term, args, numbers)
    return [new[root.id] for root in roots]


# Conditions.


@define(eq=False)
class _LiteralSearch:
    """The literals for one pair, and where each is true: bool[literals, states]."""

    literals: list[Term]
    according: np.ndarray
    """In states in which the pair accords."""
    conflicting: np.ndarray
    """In states in which it does not; one of the literals must be true in each."""

    def cover(self) -> list[int] | None:
        """Return few literals of which one is true in each conflicting state, and that are rarely true in others.

        None if there are none. A literal for the sake of one state would not generalize to others.
        """
        taken: list[int] = []
        helpful = (~self.according).mean(axis=1) >= LEAST_HELP
        while not (done := self.conflicting[taken].any(axis=0)).all():
            free = ~self.according[taken].any(axis=0)
            covers = self.conflicting[:, ~done].sum(axis=1) * helpful
            helps = (~self.according[:, free]).mean(axis=1) if free.any() else np.zeros(len(covers))
            best = int((covers * helps).argmax()) if len(covers) else 0
            if len(taken) == MAX_LITERALS or not len(covers) or covers[best] * helps[best] == 0:
                return None
            taken.append(best)
        return taken if not taken or (~self.according[taken].any(axis=0)).mean() >= LEAST_HELP else None


class ConditionFinder:
    """Finds the conditions of the pairs of one model.

    Args:
        analysis: The groups, and the queries about their states.
        sample: The vectors of the observed states: int64[n, leaves].
        co_enabled: See `ObservedRelations`.
    """

    def __init__(self, analysis: DependencyAnalysis, sample: np.ndarray, co_enabled: np.ndarray) -> None:
        self.analysis, self.terms, self.sample = analysis, analysis.terms, sample
        self._states = _states_by_pair(co_enabled)
        self._literals: dict[int, list[Term]] = {}
        self._small: dict[int, bool] = {}

    def pairs(self, do_not_accord: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Return the pairs that do not accord, and were observed to accord; the first number is the higher one."""
        for (one, other), (according, _) in sorted(self._states.items()):
            if do_not_accord[one] >> other & 1 and len(according):
                yield one, other

    def condition(self, one: int, other: int) -> list[Term] | None:
        """Return the literals of a condition (none if the two always accord after all), or None if none is found."""
        first, second = self.analysis.groups[one], self.analysis.groups[other]
        search = self._search(first, second, *self._states[one, other])
        subject = self.analysis.queries.about(self.analysis.conflict(first, second))
        worth = max(LEAST_EFFORT, EFFORT_PER_STATE * len(self._states[one, other][0]))
        for effort in (FIRST_EFFORT, *[EFFORT] * (MAX_QUERIES - 1)):
            taken = search.cover()
            if taken is None:
                return None
            none_true = (self.terms.negation(search.literals[n]) for n in taken)
            answer, found = subject.example(none_true, min(effort, worth))
            if answer is Possible.NO:
                return [search.literals[n] for n in taken]
            if answer is Possible.UNKNOWN:
                return None
            search.conflicting = np.column_stack([search.conflicting, self._true_in(search.literals, found)])
        return None

    def _true_in(self, literals: Sequence[Term], numbers: dict[int, int]) -> np.ndarray:
        """Return which literals are true where leaves have these numbers; False if they read others."""
        vector = [numbers.get(leaf, 0) for leaf in range(len(self.analysis.leaves))]
        known = [reads([literal]) <= numbers.keys() for literal in literals]
        hold: np.ndarray = np.array(evaluate_terms(literals, vector), bool) & np.array(known, bool)
        return hold

    def _search(
        self, one: TransitionGroup, other: TransitionGroup, according: np.ndarray, conflicting: np.ndarray
    ) -> _LiteralSearch:
        found = dict.fromkeys([*self._changes(one, other), *self._changes(other, one)])
        literals = list(found | dict.fromkeys([*self._effect_literals(one), *self._effect_literals(other)]))
        literals.sort(key=lambda literal: len(reads([literal])))
        return _LiteralSearch(literals, self._table(literals, according), self._table(literals, conflicting))

    def _table(self, literals: Sequence[Term], states: np.ndarray) -> np.ndarray:
        some = states[:: len(states) // MAX_PAIR_STATES + 1]
        order, columns = list(in_order(literals)), []
        for state in some:
            values = values_of(order, self.sample[state].tolist())
            columns.append([values[literal.id] for literal in literals])
        return np.array(columns, bool).reshape(len(some), len(literals)).T

    def _changes(self, group: TransitionGroup, other: TransitionGroup) -> Iterator[Term]:
        """Return the literals that a group changes a leaf which the other reads or writes."""
        for leaf in sorted(group.writes & (other.reads | other.writes)):
            changed = self.terms.negation(self.terms.equal(group.updates[leaf], self.analysis.leaves[leaf]))
            if self._is_small(changed):
                yield changed

    def _is_small(self, term: Term) -> bool:
        if term.id not in self._small:
            self._small[term.id] = term.op != "bool" and len(reads([term])) <= MAX_LITERAL_LEAVES and is_simple(term)
        return self._small[term.id]

    def _effect_literals(self, group: TransitionGroup) -> list[Term]:
        """Return the small conditions within the effects of a group, and their negations."""
        if group.index not in self._literals:
            found: dict[Term, None] = {}
            for update in group.updates.values():
                for term in _choices(update):
                    for part in (term, *conjuncts(term)):
                        if self._is_small(part):
                            found.update({part: None, self.terms.negation(part): None})
            self._literals[group.index] = list(found)
        return self._literals[group.index]


def _states_by_pair(co_enabled: np.ndarray) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
    """Return for each pair the states where it was observed to accord, and where not, both in their order."""
    found: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    order = np.lexsort((co_enabled[:, 2], co_enabled[:, 1]))
    pairs = co_enabled[order, 1:3]
    begins = [0, *(np.flatnonzero((pairs[1:] != pairs[:-1]).any(axis=1)) + 1).tolist(), len(order)]
    for begin, end in pairwise(begins if len(order) else ()):
        states, is_conflict = co_enabled[order[begin:end], 0], co_enabled[order[begin:end], 3] != 0
        found[int(pairs[begin, 0]), int(pairs[begin, 1])] = states[~is_conflict], states[is_conflict]
    return found


def _choices(term: Term) -> Iterator[Term]:
    """Return the conditions on which a value depends, at its top."""
    while term.op == "ite":
        yield term.args[0]
        if term.args[1].op == "ite":
            yield from _choices(term.args[1])
        term = term.args[2]
