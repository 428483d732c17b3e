"""Evaluating terms: the value of a term where the leaves of the state have given numbers."""
from __future__ import annotations

from collections.abc import Sequence

from model.language.lift.terms import Term, in_order


def evaluate_terms(roots: Sequence[Term], numbers: Sequence[int]) -> list[int]:
    """The values of some terms (truth values as 0 and 1) for a vector."""
    known = values_of(list(in_order(roots)), numbers)
    return [known[root.id] for root in roots]


def values_of(order: Sequence[Term], numbers: Sequence[int]) -> dict[int, int]:
    """The values of all terms of a list in which arguments come before their users, by the terms' ids."""
    value: dict[int, int] = {}
    for term in order:
        value[term.id] = _value(term, [value[a.id] for a in term.args], numbers)
    return value


def _value(term: Term, args: list[int], numbers: Sequence[int]) -> int:
    if term.op in ("bool", "int"):
        return term.payload
    if term.op in ("boolvar", "intvar"):
        return numbers[term.payload]
    return OPERATIONS[term.op](args)


OPERATIONS = {
    "not": lambda a: 1 - a[0],
    "and": lambda a: int(all(a)),
    "or": lambda a: int(any(a)),
    "ite": lambda a: a[1] if a[0] else a[2],
    "eq": lambda a: int(a[0] == a[1]),
    "lt": lambda a: int(a[0] < a[1]),
    "add": lambda a: a[0] + a[1],
    "sub": lambda a: a[0] - a[1],
    "mul": lambda a: a[0] * a[1],
    "div": lambda a: a[0] // a[1],
    "mod": lambda a: a[0] % a[1],
    "within": lambda a: a[0],
}
