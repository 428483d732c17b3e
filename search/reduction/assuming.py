"""Terms under assumptions: what an effect means where some conditions are known to hold."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from model.language.lift import Term, Terms, in_order
from search.prove.terms import rebuilt


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The conditions that are all true where the term is; none if it is constantly true."""
    if term.op == "and":
        return term.args
    return () if term.op == "bool" and term.payload else (term,)


def assuming(terms: Terms, facts: Iterable[Term], roots: Sequence[Term], leaves: Sequence[Term]) -> list[Term]:
    """The roots as simpler terms that have the same value wherever the facts hold; `leaves` are the variables."""
    new = known_from(terms, facts)
    for term in in_order(roots):
        if term.id not in new:
            made = rebuilt(terms, term, [new[a.id] for a in term.args], leaves)
            new[term.id] = new.get(made.id, made)
    return [new[root.id] for root in roots]


def known_from(terms: Terms, facts: Iterable[Term]) -> dict[int, Term]:
    """What facts say of terms, by the terms' ids: truth values, and the numbers that something is equal to."""
    known: dict[int, Term] = {}
    for fact in facts:
        for part in conjuncts(fact):
            known[part.id] = terms.true
            known[terms.negation(part).id] = terms.false
            if part.op == "eq" and part.args[1].op == "int":
                known[part.args[0].id] = part.args[1]
    return known
