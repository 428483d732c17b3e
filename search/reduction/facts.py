"""Facts: simple things that hold in every reachable state, found in samples and proved by induction all together.

Words: a *candidate* holds in all sampled states: a leaf has always one number, two leaves are always equal, an
`always` claim is not violated. Candidates that hold initially, and that every case keeps where all candidates hold,
are facts; of those that are not kept some are dropped and the rest is asked again (Houdini: Flanagan and Leino, 2001).
With facts, less looks possible that is not: that a queue has a request and no entry in a column beside it, for one.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from model.language import Kind
from model.language.lift import Lifted, Term, reads
from model.language.lift.evaluation import evaluate_terms
from search.prove.terms import is_number, sought
from search.reduction.relations import Relating, is_plain
from search.reduction.solver import Possible, Questions

MOST_CHECKED = 200
"""Sampled states in which claims are looked at; the solver sees to the rest."""
MOST_ROUNDS = 6
"""Rounds after which it is given up, without any fact."""


def candidates(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> list[Term]:
    """What holds in all sampled vectors (int64[n, leaves], the initial ones among them)."""
    found = [*_numbers(lifted, leaves, sample), *_equalities(lifted, leaves, sample), *_claims(lifted, sample)]
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


def proved(
    relating: Relating, questions: Questions, initial: Sequence[Sequence[int]], wanted: Sequence[Term],
    tell: Callable[[], None],
) -> list[Term]:  # fmt: skip
    """Those of the candidates that hold in every reachable state, as induction shows; none if that takes too long."""
    alive = [term for term in wanted if all(evaluate_terms([term], vector)[0] for vector in initial)]
    for _ in range(MOST_ROUNDS):
        questions.assume(alive)
        tell()
        kept = [term for term in alive if _is_kept(relating, questions, term)]
        if len(kept) == len(alive):
            return alive
        alive = kept
    questions.assume([])
    return []


def _is_kept(relating: Relating, questions: Questions, fact: Term) -> bool:
    """Whether no case leads from a state with all candidates to one without this."""
    about = reads([fact])
    for case in relating.cases:
        if not case.writes.isdisjoint(about):
            (after,) = relating.after(case, [fact])
            if questions.possible((*case.atoms, relating.terms.negation(after))) is not Possible.NO:
                return False
    return True
