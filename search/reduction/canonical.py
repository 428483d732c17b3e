"""What is true of every vector that a state can have: parts that nobody can see hold their defaults.

No action can break it, as a vector is always made from a state; so relations between actions need not look at others.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from model.language import Model
from model.language.containers import ArrayShape, FifoShape
from model.language.lift import Term, Terms
from model.language.records import RecordShape, ValueShape, shapes_of
from model.language.shapes import Shape


@frozen(eq=False)
class Hidden:
    """Leaves (first to last, without the end) that hold these numbers unless something is visible."""

    visible: Term
    first: int
    numbers: tuple[int, ...]


def canonical(model: Model, terms: Terms, leaves: Sequence[Term]) -> list[Term]:
    """Conditions on single leaves that hold in every vector of a state, one per leaf that can be hidden."""
    with model.active():
        hidden = list(_hidden(terms, leaves, model.shape, 0))
    return [
        terms.disjunction((part.visible, _is(terms, leaves[part.first + place], number)))
        for part in hidden
        for place, number in enumerate(part.numbers)
    ]


def _is(terms: Terms, leaf: Term, number: int) -> Term:
    constant = terms.boolean(number) if leaf.is_bool else terms.integer(number)
    return terms.equal(leaf, constant)


def _hidden(terms: Terms, leaves: Sequence[Term], shape: Shape, first: int) -> Iterator[Hidden]:
    """All that can be hidden in a value of this shape whose leaves begin at `first`."""
    if isinstance(shape, ArrayShape):
        for place in range(len(shape.domain)):
            yield from _hidden(terms, leaves, shape.element, first + place * shape.element.size())
    elif isinstance(shape, FifoShape):
        yield from _hidden_slots(terms, leaves, shape, first)
    elif isinstance(shape, (RecordShape, ValueShape)):
        yield from _hidden_fields(terms, leaves, shape, first)


def _hidden_slots(terms: Terms, leaves: Sequence[Term], shape: FifoShape, first: int) -> Iterator[Hidden]:
    length, size = leaves[first], shape.element.size()
    for slot in range(int(shape.capacity)):
        is_used = terms.less(terms.integer(slot), length)
        at = first + 1 + slot * size
        yield Hidden(is_used, at, tuple(shape.element.default_numbers()))
        yield from _hidden(terms, leaves, shape.element, at)


def _hidden_fields(
    terms: Terms, leaves: Sequence[Term], shape: RecordShape | ValueShape, first: int
) -> Iterator[Hidden]:
    at = first
    if isinstance(shape, ValueShape) and shape.optional:
        yield Hidden(leaves[first], first + 1, tuple(shape.default_numbers()[1:]))
        at += 1
    for _, inner in shapes_of(shape.cls):
        yield from _hidden(terms, leaves, inner, at)
        at += inner.size()
