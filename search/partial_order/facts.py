"""Facts: simple conditions that hold in every reachable state, so that fewer pairs of groups look dependent.

Words: *canonical* facts hold by the way vectors are made: hidden parts of a state have their default numbers. The other
facts are found. A *candidate* holds in all sampled states: a leaf is constant, two leaves are equal, one number is
never above another, two numbers are never equal unless both are the least, an `always` property holds. Candidates that
hold initially, and that every group preserves wherever all candidates hold, are facts (Houdini: C. Flanagan and
K. R. M. Leino, FME 2001). They exclude, for example, a queue with a request and no entry in a column beside it, and two
leaders that were elected in one term.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

import numpy as np
from attrs import frozen

from kwalk.model.language import Kind, Model
from kwalk.model.language.containers import ArrayShape, FifoShape
from kwalk.model.language.lift import Lifted, Term, Terms
from kwalk.model.language.lift.terms import evaluate_terms
from kwalk.model.language.record_sets import BoundedSetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import NumberShape, Shape
from kwalk.search.partial_order.dependency_analysis import DependencyAnalysis, is_plain
from kwalk.search.partial_order.state_queries import Possible
from kwalk.search.partial_order.transition_groups import TransitionGroup
from kwalk.search.solver.terms import bad_state, has_number

MAX_CHECKED_STATES = 200
"""Sampled states in which properties are checked before Z3."""
MAX_ROUNDS = 20
"""Rounds after which there are no facts."""
EFFORT = 3_000_000
"""Effort for one candidate and one group, if Z3 has no answer for all candidates together."""
LEAST_SHARE = 0.01
"""Two numbers are compared if each is above its least in this share of the sampled states."""


# Canonical facts.


@frozen(eq=False)
class _Hidden:
    """Leaves from `first` on that hold these numbers unless `visible` is true."""

    visible: Term
    first: int
    numbers: tuple[int, ...]


def canonical_facts(model: Model, terms: Terms, leaves: Sequence[Term]) -> list[Term]:
    """Return conditions on single leaves that hold in every vector of a state, one per leaf that can be hidden."""
    with model.active():
        hidden = list(_hidden(terms, leaves, model.shape, 0))
    return [
        terms.disjunction((part.visible, has_number(terms, leaves[part.first + place], number)))
        for part in hidden
        for place, number in enumerate(part.numbers)
    ]


def _hidden(terms: Terms, leaves: Sequence[Term], shape: Shape, first: int) -> Iterator[_Hidden]:
    """Return all that can be hidden in a value of this shape whose leaves begin at `first`."""
    if isinstance(shape, ArrayShape):
        for place in range(len(shape.domain)):
            yield from _hidden(terms, leaves, shape.element, first + place * shape.element.size())
    elif isinstance(shape, FifoShape | BoundedSetShape):
        yield from _hidden_slots(terms, leaves, shape, first)
    elif isinstance(shape, (RecordShape, ValueShape)):
        yield from _hidden_fields(terms, leaves, shape, first)


def _hidden_slots(
    terms: Terms, leaves: Sequence[Term], shape: FifoShape | BoundedSetShape, first: int
) -> Iterator[_Hidden]:
    length, size = leaves[first], shape.element.size()
    for slot in range(int(shape.capacity)):
        is_used = terms.less(terms.integer(slot), length)
        at = first + 1 + slot * size
        yield _Hidden(is_used, at, tuple(shape.element.default_numbers()))
        yield from _hidden(terms, leaves, shape.element, at)


def _hidden_fields(
    terms: Terms, leaves: Sequence[Term], shape: RecordShape | ValueShape, first: int
) -> Iterator[_Hidden]:
    at = first
    if isinstance(shape, ValueShape) and shape.optional:
        yield _Hidden(leaves[first], first + 1, tuple(shape.default_numbers()[1:]))
        at += 1
    for _, inner in shapes_of(shape.cls):
        yield from _hidden(terms, leaves, inner, at)
        at += inner.size()


# Candidates.


def candidate_facts(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> list[Term]:
    """Return the candidates.

    Args:
        lifted: The model as terms.
        leaves: The variables of the state.
        sample: int64[n, leaves]; the initial states are among them.
    """
    found = [*_constants(lifted, leaves, sample), *_equalities(lifted, leaves, sample)]
    found += [*_orders(lifted, leaves, sample), *_properties(lifted, sample)]
    return [term for term in dict.fromkeys(found) if term.op != "bool"]


def _properties(lifted: Lifted, sample: np.ndarray) -> Iterator[Term]:
    """Return the `always` properties that no sampled state violates."""
    some = sample[:: len(sample) // MAX_CHECKED_STATES + 1].tolist()
    for prop in lifted.properties:
        if prop.prop.kind is Kind.ALWAYS:
            holds = lifted.terms.negation(bad_state(lifted, prop))
            if is_plain(holds) and all(evaluate_terms([holds], row)[0] for row in some):
                yield holds


def _constants(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> Iterator[Term]:
    for number in np.flatnonzero(sample.min(axis=0) == sample.max(axis=0)).tolist():
        yield has_number(lifted.terms, leaves[number], int(sample[0, number]))


def _equalities(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> Iterator[Term]:
    first: dict[tuple[bytes, bool], int] = {}
    for number in np.flatnonzero(sample.min(axis=0) < sample.max(axis=0)).tolist():
        key = sample[:, number].tobytes(), leaves[number].is_bool
        if first.setdefault(key, number) != number:
            yield lifted.terms.equal(leaves[first[key]], leaves[number])


def _orders(lifted: Lifted, leaves: Sequence[Term], sample: np.ndarray) -> Iterator[Term]:
    """Return that a number is never above another of the same range, or never equal to it unless both are the least."""
    t, share_above = lifted.terms, (sample > sample.min(axis=0)).mean(axis=0)
    ranges: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, leaf in enumerate(lifted.model.leaves):
        if isinstance(leaf.shape, NumberShape) and leaf.high > leaf.low + 1 and share_above[number] >= LEAST_SHARE:
            ranges[leaf.low, leaf.high].append(number)
    for same in ranges.values():
        for one, other in permutations(same, 2):
            a, b = sample[:, one], sample[:, other]
            if (a <= b).all() and (a < b).any():
                yield t.negation(t.less(leaves[other], leaves[one]))
            elif one < other and _are_apart(a, b):
                differ = t.negation(t.equal(leaves[one], leaves[other]))
                yield t.disjunction((differ, t.equal(leaves[one], t.integer(leaves[one].low))))


def _are_apart(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two columns are never equal above their least, and often both above it."""
    above = (a > a.min()) & (b > b.min())
    return bool(above.mean() >= LEAST_SHARE and (a[above] != b[above]).all())


# Proof.


def proved_facts(
    analysis: DependencyAnalysis,
    initial: Sequence[Sequence[int]],
    candidates: Sequence[Term],
    report: Callable[[int, int], None],
) -> list[Term]:
    """Return the candidates that induction proves; none if that takes too many rounds. They are assumed from then on.

    Args:
        analysis: The groups, and the queries that get the facts.
        initial: The initial states.
        candidates: What to prove.
        report: Called with the groups that are done in a round, and their number.
    """
    queries = analysis.queries
    alive = [term for term in candidates if all(evaluate_terms([term], vector)[0] for vector in initial)]
    for _ in range(MAX_ROUNDS):
        queries.assume(alive)
        left = {term.id: term for term in alive}
        for group in analysis.groups:
            report(group.index, len(analysis.groups))
            for broken in _broken(analysis, group, left):
                del left[broken]
        if len(left) == len(alive):
            return alive
        alive = list(left.values())
    queries.assume([])
    return []


def _broken(analysis: DependencyAnalysis, group: TransitionGroup, facts: dict[int, Term]) -> Iterator[int]:
    """Return the keys of the facts that a group may break where all candidates hold."""
    terms, queries = analysis.terms, analysis.queries
    touched = [key for key, fact in facts.items() if not group.writes.isdisjoint(queries.survey(fact)[1])]
    after = analysis.after(group, [facts[key] for key in touched])
    broken = {key: terms.negation(then) for key, then in zip(touched, after, strict=True)}
    subject = queries.about(group.atoms)
    while broken:
        answer, state = subject.example((terms.disjunction(broken.values()),))
        if answer is Possible.NO:
            return
        found = queries.true_in(state, broken) if answer is Possible.YES else list(broken)
        for key in found:
            if answer is Possible.YES or subject.example((broken[key],), EFFORT)[0] is not Possible.NO:
                yield key
            del broken[key]
