"""Facts: simple things that hold in every reachable state, found in samples and proved by induction all together.

Words: a *candidate* holds in all sampled states: a leaf has always one number, two leaves are always equal, one number
is never above another, two numbers are never equal but where both are the least, an `always` claim is not violated.
Candidates that hold initially, and that every case keeps where all candidates hold, are facts; those that are not kept
are dropped, and the rest is asked again (Houdini: Flanagan and Leino, 2001). With facts, less looks possible that is
not: that a queue has a request and no entry in a column beside it, or that two leaders were elected in one term.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

import numpy as np

from model.language import Kind
from model.language.lift import Lifted, Term, Terms
from model.language.lift.evaluation import evaluate_terms
from model.language.shapes import NumberShape
from search.prove.terms import is_number, sought
from search.reduction.cases import Case
from search.reduction.relations import Relating, is_plain
from search.reduction.solver import Possible, Questions

MOST_CHECKED = 200
"""Sampled states in which claims are looked at; the solver sees to the rest."""
MOST_ROUNDS = 20
"""Rounds after which it is given up, without any fact."""
EFFORT = 3_000_000
"""How much Z3 may think about one candidate and one case, if it could not tell of all together: a fact saves much."""
SEEN = 0.01
"""Two numbers are compared if each is above its least in this part of the sampled states."""


def candidates(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> list[Term]:
    """What holds in all sampled vectors (int64[n, leaves], the initial ones among them)."""
    found = [*_numbers(lifted, leaves, sample), *_equalities(lifted, leaves, sample)]
    found += [*_orders(lifted, leaves, sample), *_claims(lifted, sample)]
    return [term for term in dict.fromkeys(found) if term.op != "bool"]


def _claims(lifted: Lifted, sample: np.ndarray) -> Iterator[Term]:
    """The `always` claims that no sampled state violates."""
    some = sample[:: len(sample) // MOST_CHECKED + 1].tolist()
    for claim in lifted.claims:
        if claim.claim.kind is Kind.ALWAYS:
            holds = lifted.terms.negation(sought(lifted, claim))
            if is_plain(holds) and all(evaluate_terms([holds], row)[0] for row in some):
                yield holds


def _numbers(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> Iterator[Term]:
    for number in np.flatnonzero(sample.min(axis=0) == sample.max(axis=0)).tolist():
        yield is_number(lifted.terms, leaves[number], int(sample[0, number]))


def _equalities(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> Iterator[Term]:
    first: dict[tuple[bytes, bool], int] = {}
    for number in np.flatnonzero(sample.min(axis=0) < sample.max(axis=0)).tolist():
        key = sample[:, number].tobytes(), leaves[number].is_bool
        if first.setdefault(key, number) != number:
            yield lifted.terms.equal(leaves[first[key]], leaves[number])


def _orders(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> Iterator[Term]:
    """That a number is never above another of the same range, or never equal to it unless both are the least."""
    t, seen_above = lifted.terms, (sample > sample.min(axis=0)).mean(axis=0)
    ranges: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, leaf in enumerate(lifted.model.leaves):
        if isinstance(leaf.shape, NumberShape) and leaf.high > leaf.low + 1 and seen_above[number] >= SEEN:
            ranges[leaf.low, leaf.high].append(number)
    for same in ranges.values():
        for one, other in permutations(same, 2):
            a, b = sample[:, one], sample[:, other]
            if (a <= b).all() and (a < b).any():
                yield t.negation(t.less(leaves[other], leaves[one]))
            elif one < other and _are_apart(a, b):
                yield t.disjunction((t.negation(t.equal(leaves[one], leaves[other])), _is_least(t, leaves[one])))


def _is_least(terms: Terms, leaf: Term) -> Term:
    return terms.equal(leaf, terms.integer(leaf.low))


def _are_apart(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two columns are never equal but at their least, and often both above that."""
    above = (a > a.min()) & (b > b.min())
    return bool(above.mean() >= SEEN and (a[above] != b[above]).all())


def proved(
    relating: Relating, questions: Questions, initial: Sequence[Sequence[int]], wanted: Sequence[Term],
    tell: Callable[[int, int], None],
) -> list[Term]:  # fmt: skip
    """Those of the candidates that hold in every reachable state, as induction shows; none if that takes too long.

    `tell` gets to know of how many cases a round has asked, and of how many it will.
    """
    alive = [term for term in wanted if all(evaluate_terms([term], vector)[0] for vector in initial)]
    for _ in range(MOST_ROUNDS):
        questions.assume(alive)
        kept = {term.id: term for term in alive}
        for case in relating.cases:
            tell(case.index, len(relating.cases))
            for broken in _broken(relating, questions, case, kept):
                del kept[broken]
        if len(kept) == len(alive):
            return alive
        alive = list(kept.values())
    questions.assume([])
    return []


def _broken(relating: Relating, questions: Questions, case: Case, kept: dict[int, Term]) -> Iterator[int]:
    """The keys of those that a case may break where all candidates hold."""
    terms = relating.terms
    touched = [key for key, fact in kept.items() if not case.writes.isdisjoint(questions.survey(fact)[1])]
    after = relating.after(case, [kept[key] for key in touched])
    broken = {key: terms.negation(then) for key, then in zip(touched, after, strict=True)}
    subject = questions.about(case.atoms)
    while broken:
        answer, state = subject.example((terms.disjunction(broken.values()),))
        if answer is Possible.NO:
            return
        found = questions.true_in(state, broken) if answer is Possible.YES else list(broken)
        for key in found:
            if answer is Possible.YES or subject.example((broken[key],), EFFORT)[0] is not Possible.NO:
                yield key
            del broken[key]
