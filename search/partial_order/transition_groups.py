"""Transition groups: action instances that are split along conditions of their effects, so that each does one thing.

Words: a *transition group* is an instance with conditions that hold where it is taken: where an instance is enabled,
exactly one of its groups is. An *atom* is one of the conditions that are all true where a group is enabled: a conjunct
of the guard, a condition of the split, or that no bound and no error is met. For example, a controller that handles an
event only if it is active has two groups, of which one takes the event off its queue and writes nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from attrs import frozen

from kwalk.model.language.lift import Lifted, LiftedAction, Term, Terms, in_order, reads, rebuild
from kwalk.search.solver.terms import state_variables

MAX_GROUPS = 4
"""Groups of one instance."""
MAX_CONDITIONS = 10
"""Conditions that are tried for each split."""
LEAST_GAIN = 2
"""A split must remove more than this many updates on its two sides."""
MAX_DEPTH = 4
"""How deep in an update conditions are looked for."""


@frozen(eq=False)
class TransitionGroup:
    """An instance (by its number) where its atoms hold. `updates` are its effect there, without unchanged leaves."""

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


def transition_groups(lifted: Lifted) -> list[TransitionGroup]:
    """Return all groups of all instances that can ever be enabled."""
    splitter, groups = GroupSplitter(lifted), list[TransitionGroup]()
    for number, action in enumerate(lifted.actions):
        for part in splitter.parts(action):
            groups.append(TransitionGroup(len(groups), number, part.atoms, part.updates))
    return groups


@frozen(eq=False)
class _Part:
    """A group that may be split further; `clear`: no bound and no error is met."""

    conditions: tuple[Term, ...]
    clear: Term
    updates: dict[int, Term]

    @property
    def atoms(self) -> tuple[Term, ...]:
        """Its conditions, and that it is clear."""
        return tuple(dict.fromkeys((*self.conditions, *([self.clear] if self.clear.op != "bool" else []))))


class GroupSplitter:
    """Splits the instances of one model."""

    def __init__(self, lifted: Lifted) -> None:
        self.terms, self.leaves = lifted.terms, state_variables(lifted)

    def parts(self, action: LiftedAction) -> list[_Part]:
        """Return the parts of an instance; none if it is never enabled."""
        t = self.terms
        clear = t.negation(t.disjunction(o.condition for o in action.side_conditions))
        whole = self._part(conjuncts(action.guard), clear, action.updates)
        pending = [] if whole is None else [whole]
        done: list[_Part] = []
        while pending:
            part = pending.pop(0)
            sides = self._split(part) if len(done) + len(pending) + 2 <= MAX_GROUPS else None
            if sides is None:
                done.append(part)
            else:
                pending.extend(sides)
        return done

    def _part(self, conditions: Sequence[Term], clear: Term, updates: dict[int, Term]) -> _Part | None:
        """Return a part with simplified terms; None if its conditions contradict each other."""
        t = self.terms
        (clear,) = assuming(t, conditions, [clear], self.leaves)
        facts = (*conditions, clear)
        if t.conjunction(facts) is t.false:
            return None
        before = [self.leaves[leaf] for leaf in updates]
        new = assuming(t, facts, [*updates.values(), *before], self.leaves)
        after, now = new[: len(updates)], new[len(updates) :]
        changed = zip(updates, after, now, strict=True)
        left = {leaf: term for leaf, term, same in changed if term is not same and term is not self.leaves[leaf]}
        return _Part(tuple(conditions), clear, left)

    def _split(self, part: _Part) -> list[_Part] | None:
        """Return the two sides of the best split; None if none is worth it."""
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
        """Return the conditions that most updates depend on, and their parts."""
        counts: Counter[Term] = Counter()
        for term in part.updates.values():
            counts.update(dict.fromkeys(_top_conditions(term, MAX_DEPTH), 1))
        return [condition for condition, _ in counts.most_common(MAX_CONDITIONS)]


def _top_conditions(term: Term, depth: int) -> Iterator[Term]:
    """Return the conditions at the top of a term, and their parts."""
    if depth == 0:
        return
    if term.op == "ite":
        yield from _literals(term.args[0])
        for arm in term.args[1:]:
            yield from _top_conditions(arm, depth - 1)
    elif term.op in ("and", "or"):
        for arg in term.args:
            yield from _literals(arg)
    elif term.op == "not":
        yield from _top_conditions(term.args[0], depth - 1)


def _literals(condition: Term) -> Iterator[Term]:
    while condition.op == "not":
        condition = condition.args[0]
    yield condition
    if condition.op in ("and", "or"):
        for arg in condition.args:
            yield arg.args[0] if arg.op == "not" else arg


# Terms under assumptions.


def conjuncts(term: Term) -> tuple[Term, ...]:
    """Return the conditions whose conjunction is the term; none if it is constantly true."""
    if term.op == "and":
        return term.args
    return () if term.op == "bool" and term.payload else (term,)


def assuming(terms: Terms, facts: Iterable[Term], roots: Sequence[Term], leaves: Sequence[Term]) -> list[Term]:
    """Return simpler terms that equal the roots wherever the facts hold; `leaves` are the variables."""
    new: dict[int, Term] = {}
    for fact in facts:
        for part in conjuncts(fact):
            new[part.id] = terms.true
            new[terms.negation(part).id] = terms.false
            if part.op == "eq" and part.args[1].op == "int":
                new[part.args[0].id] = part.args[1]
    for term in in_order(roots):
        if term.id not in new:
            simpler = rebuild(terms, term, [new[a.id] for a in term.args], leaves)
            new[term.id] = new.get(simpler.id, simpler)
    return [new[root.id] for root in roots]
