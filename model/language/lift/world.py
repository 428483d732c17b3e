"""Worlds: one path through an action while it is lifted, and how paths join again.

Words: the *store* maps cells (fields of the state, local lists) to values; `local` maps names to values. The *path* is
the list of branch conditions taken since the action began. *Facts* are terms known true or false on this path, from
its branches and from guards; they decide later conditions before anything is built.
"""
from __future__ import annotations

from typing import Any

from model.language.lift.terms import Term, Terms
from model.language.lift.valuation import Values


class World:
    """What is known at a point of the run. Forked at a branch, joined after it."""

    __slots__ = ("constants", "facts", "local", "path", "store", "touched")

    def __init__(self) -> None:
        self.store: dict[int, Any] = {}
        self.local: dict[str, Any] = {}
        self.path: tuple[Term, ...] = ()
        self.facts: dict[int, bool] = {}
        self.constants: dict[int, int] = {}
        self.touched = False

    def fork(self) -> World:
        """An independent copy."""
        twin = World()
        twin.store, twin.local = self.store.copy(), self.local.copy()
        twin.facts, twin.constants = self.facts.copy(), self.constants.copy()
        twin.path, twin.touched = self.path, self.touched
        return twin

    def take(self, terms: Terms, condition: Term) -> None:
        """Go down a branch."""
        self.path = (*self.path, condition)
        self.assume(terms, condition)

    def assume(self, terms: Terms, condition: Term) -> None:
        """Learn that a condition is true here."""
        truth = True
        while condition.op == "not":
            condition, truth = condition.args[0], not truth
        self.facts[condition.id] = truth
        if condition.op == ("and" if truth else "or"):
            for part in condition.args:
                self.assume(terms, part if truth else terms.negation(part))
        if truth and condition.op == "eq" and condition.args[1].op == "int":
            self.constants[condition.args[0].id] = condition.args[1].payload

    def decide(self, condition: Term) -> bool | None:
        """Whether the facts make the condition true or false; None if they do not tell."""
        if condition.op == "bool":
            return bool(condition.payload)
        if condition.op == "not":
            inner = self.decide(condition.args[0])
            return None if inner is None else not inner
        known = self.facts.get(condition.id)
        if known is not None:
            return known
        if condition.op in ("and", "or"):
            return self._decide_junction(condition)
        if condition.op == "eq" and condition.args[1].op == "int":
            constant = self.constants.get(condition.args[0].id)
            return None if constant is None else constant == condition.args[1].payload
        return None

    def _decide_junction(self, condition: Term) -> bool | None:
        dominant = condition.op == "or"
        decided = [self.decide(part) for part in condition.args]
        if dominant in decided:
            return dominant
        return None if None in decided else not dominant

    def simplify(self, terms: Terms, condition: Term) -> Term:
        """The condition without the parts that the facts decide."""
        if condition.op not in ("and", "or") or condition.id in self.facts:
            decided = self.decide(condition)
            return condition if decided is None else terms.boolean(decided)
        parts = tuple(self.simplify(terms, part) for part in condition.args)
        if parts == condition.args:
            return condition
        return terms.conjunction(parts) if condition.op == "and" else terms.disjunction(parts)


def join(values: Values, base: World, ends: list[tuple[World, Any]]) -> tuple[World, Any]:
    """One world (and result) that behaves as whichever of the ends is reached; they exclude each other.

    `base` is the world that all of them were forked from; at least one end is given.
    """
    if len(ends) == 1:
        return ends[0]
    terms, depth = values.terms, len(base.path)
    conditions = [terms.conjunction(world.path[depth:]) for world, _ in ends]
    joined, result = ends[-1][0].fork(), ends[-1][1]
    unlike = _conditions_in_order(terms, base, conditions)
    for (world, value), condition in zip(reversed(ends[:-1]), reversed(unlike), strict=True):
        _choose_into(values, condition, world, joined)
        result = values.choose(condition, value, result)
        joined.facts = _in_common(world.facts, joined.facts)
        joined.constants = _in_common(world.constants, joined.constants)
        joined.touched |= world.touched
    any_of_them = terms.disjunction(conditions)
    joined.path = base.path if any_of_them is terms.true else (*base.path, any_of_them)
    return joined, result


def _conditions_in_order(terms: Terms, base: World, conditions: list[Term]) -> list[Term]:
    """Each end's condition, given that those before it are false."""
    scratch = World()
    scratch.facts, scratch.constants = base.facts.copy(), base.constants.copy()
    simplified: list[Term] = []
    for condition in conditions[:-1]:
        simplified.append(scratch.simplify(terms, condition))
        scratch.assume(terms, terms.negation(simplified[-1]))
    return simplified


def _choose_into(values: Values, condition: Term, world: World, joined: World) -> None:
    """Where the condition holds, make the joined world's cells and names those of another world."""
    pairs: list[tuple[dict[Any, Any], dict[Any, Any]]] = [(joined.store, world.store), (joined.local, world.local)]
    for mine, theirs in pairs:
        for key, value in theirs.items():
            if key not in mine:
                mine[key] = value
            elif mine[key] is not value:
                mine[key] = values.choose(condition, value, mine[key])


def _in_common(a: dict[int, Any], b: dict[int, Any]) -> dict[int, Any]:
    return {key: value for key, value in a.items() if key in b and b[key] == value}
