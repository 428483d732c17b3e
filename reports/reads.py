"""What a claim reads: the parts of a state on which its truth was decided there.

Words: a *watched* state is an ordinary one whose records and arrays note which fields and elements are looked at. A
part is *decisive* when the claim would be true had this part alone another value.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from attrs import frozen

from model.language import Array, Claim, DomainError, Fifo, Fresh, Kind, Model, Vector
from model.language.containers import ArrayShape, FifoShape, FreshShape
from model.language.errors import BoundReached
from model.language.records import RecordShape
from model.language.shapes import Shape
from reports.changes import Part, pieces

TRIALS = 3000
"""How many other values are tried, at most, to find the decisive parts of a state."""

_LOOKS: dict[int, dict[Any, int]] = {}
"""For each watched object, by id: the start of the part behind each field or index."""
_SEEN: set[int] = set()
"""The starts of the parts that were looked at."""


def reads(model: Model, claim: Claim, vector: Vector, before: Vector | None = None) -> frozenset[int]:
    """The starts of the parts that the claim looks at in a state (for a step invariant, in either state)."""
    states = [model.state(v) for v in (before, vector) if v is not None]
    _SEEN.clear()
    with model.active():
        for state in states:
            _watch(state, model.shape, 0)
        try:
            _evaluate(claim, states)
            return frozenset(_SEEN)
        finally:
            _LOOKS.clear()


def _evaluate(claim: Claim, states: list[Any]) -> bool | None:
    """The predicate's truth on states; None where it says nothing. The model must be active."""
    if claim.kind is Kind.EVENTUALLY:
        return claim.invariant.awaited(*states, *claim.args)[1]
    return claim.invariant.truth(*states, *claim.args)


# Watching.


def _watch(thing: Any, shape: Shape, start: int) -> None:
    """Turn a state object, and all records and arrays in it, into watched ones."""
    if isinstance(shape, (RecordShape, ArrayShape)):
        looks: dict[Any, int] = {}
        for index, (token, inner) in enumerate(pieces(shape)):
            key = token if isinstance(token, str) else index
            looks[key] = start
            _watch(getattr(thing, key) if isinstance(key, str) else thing._items[key], inner, start)
            start += sum(1 for _ in inner.leaves(""))
        _LOOKS[id(thing)] = {key: at for key, at in looks.items() if not _inside(shape, key)}
        object.__setattr__(thing, "__class__", _watched(type(thing)))  # type: ignore[arg-type]
    elif isinstance(shape, (FifoShape, FreshShape)):
        _LOOKS[id(thing)] = {None: start}
        object.__setattr__(thing, "__class__", _watched(type(thing)))  # type: ignore[arg-type]


def _inside(shape: Shape, key: Any) -> bool:
    """Whether what is behind a key notes looks by itself."""
    inner = shape.element if isinstance(shape, ArrayShape) else dict(pieces(shape))[key]
    return isinstance(inner, (RecordShape, ArrayShape, FifoShape, FreshShape))


@cache
def _watched(cls: type) -> type:
    """The class whose objects are like those of `cls`, and note what is looked at."""
    if issubclass(cls, Array):
        methods = {"__getitem__": _element, "__iter__": _elements, "__eq__": _equal, "__hash__": None}
        return type(cls.__name__, (cls,), {"__slots__": (), **methods})
    if issubclass(cls, (Fifo, Fresh)):
        return type(cls.__name__, (cls,), {"__slots__": (), "__getattribute__": _content})
    return type(cls.__name__, (cls,), {"__slots__": (), "__getattribute__": _attribute})


def _attribute(self: Any, name: str) -> Any:
    start = _LOOKS.get(id(self), {}).get(name)
    if start is not None:
        _SEEN.add(start)
    return object.__getattribute__(self, name)


def _content(self: Any, name: str) -> Any:
    if name in ("_items", "taken"):
        _SEEN.update(_LOOKS.get(id(self), {}).values())
    return object.__getattribute__(self, name)


def _element(self: Any, index: int) -> Any:
    found = Array.__getitem__(self, index)
    _SEEN.update(start for key, start in _LOOKS.get(id(self), {}).items() if key == index)
    return found


def _elements(self: Any) -> Iterator[Any]:
    for index in range(len(self)):
        yield self[index]


def _equal(self: Any, other: object) -> bool:
    return isinstance(other, Array) and list(self) == list(other)


# What would have made the difference.


@frozen
class Behaviour:
    """The last state of a trace, and for a step invariant the one before it."""

    vector: Vector
    before: Vector | None = None


def decisive(model: Model, claim: Claim, end: Behaviour, parts: Iterable[Part]) -> list[Part]:
    """The parts that could have made the claim true in the end by another value of theirs alone."""
    left = TRIALS
    found: list[Part] = []
    for part in parts:
        for other in _others(model, part, end.vector):
            left -= 1
            if left < 0:
                return found
            if _true_at(model, claim, Behaviour(other, end.before)):
                found.append(part)
                break
    return found


def _others(model: Model, part: Part, vector: Vector) -> Iterator[Vector]:
    """The states that differ in one leaf of a part."""
    for at in range(part.start, part.stop):
        leaf = model.leaves[at]
        for number in range(leaf.low, leaf.high + 1):
            if number != vector[at]:
                yield (*vector[:at], number, *vector[at + 1 :])


def _true_at(model: Model, claim: Claim, end: Behaviour) -> bool:
    try:
        if claim.kind is Kind.EVENTUALLY:
            return model.awaited(claim, end.vector)[1]
        return model.truth(claim, end.vector, end.before) is True
    except (DomainError, BoundReached, IndexError, ValueError, TypeError):
        return False  # No state of the model: an empty queue's head, None as a number.
