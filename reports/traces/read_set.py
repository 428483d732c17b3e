"""The read set of a property: the parts of a state that its predicate reads there.

Words: a *recording* state is an ordinary state whose records and arrays record which fields and elements are read. A
part is *decisive* if the property would hold with another value of this part alone.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from attrs import frozen

from kwalk.model.language import Array, DomainError, Fifo, Fresh, Model, PropertyInstance, Vector
from kwalk.model.language.containers import ArrayShape, FifoShape, FreshShape
from kwalk.model.language.errors import BoundReached
from kwalk.model.language.record_sets import RecordSet, SetShape
from kwalk.model.language.records import RecordShape
from kwalk.model.language.shapes import Shape
from kwalk.reports.traces.changes import Part, pieces

TRIALS = 3000
"""The largest number of other values that are tried to find the decisive parts of a state."""

_STARTS: dict[int, dict[Any, int]] = {}
"""For each recording object, by id: the start of the part behind each field or index."""
_READ: set[int] = set()
"""The starts of the parts that were read."""


def read_set(model: Model, prop: PropertyInstance, vector: Vector, before: Vector | None = None) -> frozenset[int]:
    """Return the starts of the parts that the property reads in a state (a step property: in either state)."""
    states = [model.state(v) for v in (before, vector) if v is not None]
    _READ.clear()
    with model.active():
        for state in states:
            _record(state, model.shape, 0)
        try:
            _evaluate(prop, states)
            return frozenset(_READ)
        finally:
            _STARTS.clear()


def _evaluate(prop: PropertyInstance, states: list[Any]) -> bool | None:
    """Return the predicate's value on states, None if its premise does not hold. The model must be active."""
    if prop.kind.is_liveness:
        return prop.declaration.awaited(*states, *prop.args)[1]
    return prop.declaration.truth(*states, *prop.args)


# Recording.


def _record(thing: Any, shape: Shape, start: int) -> None:
    """Turn a state object, and all records and arrays in it, into recording ones."""
    if isinstance(shape, (RecordShape, ArrayShape)):
        starts: dict[Any, int] = {}
        for index, (token, inner) in enumerate(pieces(shape)):
            key = token if isinstance(token, str) else index
            starts[key] = start
            _record(getattr(thing, key) if isinstance(key, str) else thing._items[key], inner, start)
            start += sum(1 for _ in inner.leaves(""))
        _STARTS[id(thing)] = {key: at for key, at in starts.items() if not _inside(shape, key)}
        object.__setattr__(thing, "__class__", _recording(type(thing)))  # type: ignore[arg-type]
    elif isinstance(shape, SetShape):
        _STARTS[id(thing)] = {None: start}
        object.__setattr__(thing, "__class__", _ReadSet)
    elif isinstance(shape, (FifoShape, FreshShape)):
        _STARTS[id(thing)] = {None: start}
        object.__setattr__(thing, "__class__", _recording(type(thing)))  # type: ignore[arg-type]


def _inside(shape: Shape, key: Any) -> bool:
    """Return whether the value of a key records its reads itself."""
    inner = shape.element if isinstance(shape, ArrayShape) else dict(pieces(shape))[key]
    return isinstance(inner, (RecordShape, ArrayShape, FifoShape, FreshShape, SetShape))


class _ReadSet(RecordSet[Any]):
    """A set of records that records that it is read; a method of any kind counts."""

    __slots__ = ()


def _noted(name: str) -> Any:
    method = getattr(RecordSet, name)

    def read(self: Any, *args: Any) -> Any:
        _READ.update(_STARTS.get(id(self), {}).values())
        return method(self, *args)

    return read


for _name in (
    "__iter__", "__len__", "__contains__", "__eq__", "__ne__", "__le__", "__lt__", "__ge__", "__gt__", "__or__",
    "__and__", "__sub__", "__xor__", "__ror__", "__rand__", "__rsub__", "__rxor__", "copy",
):  # fmt: skip
    setattr(_ReadSet, _name, _noted(_name))


@cache
def _recording(cls: type) -> type:
    """Return a subclass of `cls` whose objects record what is read."""
    if issubclass(cls, Array):
        methods = {"__getitem__": _element, "__iter__": _elements, "__eq__": _equal, "__hash__": None}
        return type(cls.__name__, (cls,), {"__slots__": (), **methods})
    if issubclass(cls, (Fifo, Fresh)):
        return type(cls.__name__, (cls,), {"__slots__": (), "__getattribute__": _content})
    return type(cls.__name__, (cls,), {"__slots__": (), "__getattribute__": _attribute})


def _attribute(self: Any, name: str) -> Any:
    start = _STARTS.get(id(self), {}).get(name)
    if start is not None:
        _READ.add(start)
    return object.__getattribute__(self, name)


def _content(self: Any, name: str) -> Any:
    if name in ("_items", "taken"):
        _READ.update(_STARTS.get(id(self), {}).values())
    return object.__getattribute__(self, name)


def _element(self: Any, index: int) -> Any:
    found = Array.__getitem__(self, index)
    _READ.update(start for key, start in _STARTS.get(id(self), {}).items() if key == index)
    return found


def _elements(self: Any) -> Iterator[Any]:
    for index in range(len(self)):
        yield self[index]


def _equal(self: Any, other: object) -> bool:
    return isinstance(other, Array) and list(self) == list(other)


# Decisive parts.


@frozen
class FinalStates:
    """The last state of a trace, and for a step property the state before it."""

    vector: Vector
    before: Vector | None = None


def decisive(model: Model, prop: PropertyInstance, end: FinalStates, parts: Iterable[Part]) -> list[Part]:
    """Return the parts of which another value alone would make the property true in the last state."""
    left = TRIALS
    found: list[Part] = []
    for part in parts:
        for other in _others(model, part, end.vector):
            left -= 1
            if left < 0:
                return found
            if _true_at(model, prop, FinalStates(other, end.before)):
                found.append(part)
                break
    return found


def _others(model: Model, part: Part, vector: Vector) -> Iterator[Vector]:
    """Yield the states that differ in one leaf of a part."""
    for at in range(part.start, part.stop):
        leaf = model.leaves[at]
        for number in range(leaf.low, leaf.high + 1):
            if number != vector[at]:
                yield (*vector[:at], number, *vector[at + 1 :])


def _true_at(model: Model, prop: PropertyInstance, end: FinalStates) -> bool:
    try:
        if prop.kind.is_liveness:
            return model.awaited(prop, end.vector)[1]
        return model.truth(prop, end.vector, end.before) is True
    except (DomainError, BoundReached, IndexError, ValueError, TypeError):
        return False  # not a state of the model: an empty queue's head, None as a number
