"""Cases: action instances cut along conditions of their effects, so that each does one thing.

Words: a *case* is an instance with conditions that hold where it is taken: where an instance is enabled, exactly one
of its cases is. An *atom* is one of the conditions that are all true where a case is enabled: a conjunct of the guard,
a condition of the case, or that no bound and no error is met. A controller that handles an event only if it is active
has two cases: one takes the event off its queue and touches nothing else.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import frozen

from model.language.lift import Lifted, LiftedAction, Term, Terms, reads
from search.prove.terms import state_variables
from search.reduction.assuming import assuming, conjuncts

MOST_CASES = 4
"""Cases that an instance is cut into, at most."""
TRIED = 10
"""Conditions that are tried for each cut, at most."""
LEAST_GAIN = 2
"""So many more updates must vanish on the two sides of a cut than did before it."""


@frozen(eq=False)
class Case:
    """An instance (by its number) where its atoms hold. `updates` are its effect there, without what stays as it is."""

    index: int
    instance: int
    atoms: tuple[Term, ...]
    updates: dict[int, Term]

    @cached_property
    def writes(self) -> frozenset[int]:
        """The leaves that it can change."""
        return frozenset(self.updates)

    @cached_property
    def reads(self) -> frozenset[int]:
        """The leaves that decide whether it is enabled, and what it does."""
        return reads([*self.atoms, *self.updates.values()])

    @cached_property
    def guard_reads(self) -> frozenset[int]:
        """The leaves that decide whether it is enabled."""
        return reads(self.atoms)


@frozen(eq=False)
class _Part:
    """A case in the making; `clear`: that no bound and no error is met."""

    conditions: tuple[Term, ...]
    clear: Term
    updates: dict[int, Term]

    @property
    def atoms(self) -> tuple[Term, ...]:
        """Its conditions, and that it is clear."""
        return tuple(dict.fromkeys((*self.conditions, *([self.clear] if self.clear.op != "bool" else []))))


def cases_of(lifted: Lifted) -> list[Case]:
    """All cases of all instances that can ever be enabled."""
    cutter, cases = Cutter(lifted), list[Case]()
    for number, action in enumerate(lifted.actions):
        for part in cutter.parts(action):
            cases.append(Case(len(cases), number, part.atoms, part.updates))
    return cases


class Cutter:
    """Cuts the instances of one model."""

    def __init__(self, lifted: Lifted) -> None:
        self.terms, self.leaves = lifted.terms, state_variables(lifted)

    def parts(self, action: LiftedAction) -> Iterator[_Part]:
        """The parts of an action; none if it is never enabled."""
        t = self.terms
        whole = self._part(conjuncts(action.guard), clear_of(t, action), action.updates)
        waiting = [] if whole is None else [whole]
        done: list[_Part] = []
        while waiting:
            part = waiting.pop(0)
            halves = self._cut(part) if len(done) + len(waiting) + 2 <= MOST_CASES else None
            if halves is None:
                done.append(part)
            else:
                waiting.extend(halves)
        yield from done

    def _part(self, conditions: Sequence[Term], clear: Term, updates: dict[int, Term]) -> _Part | None:
        """A part with simplified terms; None if its conditions contradict each other."""
        t = self.terms
        (clear,) = assuming(t, conditions, [clear], self.leaves)
        facts = (*conditions, clear)
        if t.conjunction(facts) is t.false:
            return None
        before = [self.leaves[leaf] for leaf in updates]
        new = assuming(t, facts, [*updates.values(), *before], self.leaves)
        after, now = new[: len(updates)], new[len(updates) :]
        changed = zip(updates, after, now, strict=True)
        kept = {leaf: term for leaf, term, same in changed if term is not same and term is not self.leaves[leaf]}
        return _Part(tuple(conditions), clear, kept)

    def _cut(self, part: _Part) -> list[_Part] | None:
        """The two sides of the best cut; None if none is worth it."""
        best, gain = None, max(LEAST_GAIN, len(part.updates) // 3)
        for condition in self._candidates(part):
            sides = self._sides(part, condition)
            gained = sum(len(part.updates) - len(side.updates) for side in sides)
            if len(sides) == 2 and gained > gain:
                best, gain = sides, gained
        return best

    def _sides(self, part: _Part, condition: Term) -> list[_Part]:
        sides = [
            self._part((*part.conditions, *conjuncts(side)), part.clear, part.updates)
            for side in (condition, self.terms.negation(condition))
        ]
        return [side for side in sides if side is not None]

    def _candidates(self, part: _Part) -> list[Term]:
        """The conditions that most updates ask for first, and what these are made of."""
        asked: Counter[Term] = Counter()
        for term in part.updates.values():
            asked.update(dict.fromkeys(_asked(term, depth=4), 1))
        return [condition for condition, _ in asked.most_common(TRIED)]


def _asked(term: Term, depth: int) -> Iterator[Term]:
    """The conditions at the top of a term, and their parts."""
    if depth == 0:
        return
    if term.op == "ite":
        yield from _literals(term.args[0])
        for arm in term.args[1:]:
            yield from _asked(arm, depth - 1)
    elif term.op in ("and", "or"):
        for arg in term.args:
            yield from _literals(arg)
    elif term.op == "not":
        yield from _asked(term.args[0], depth - 1)


def _literals(condition: Term) -> Iterator[Term]:
    while condition.op == "not":
        condition = condition.args[0]
    yield condition
    if condition.op in ("and", "or"):
        for arg in condition.args:
            yield arg.args[0] if arg.op == "not" else arg


def clear_of(terms: Terms, action: LiftedAction) -> Term:
    """That an action meets no bound and no error."""
    return terms.negation(terms.disjunction(o.condition for o in action.obligations))
