"""The read set of a property: the parts of a state that its predicate reads there.

Words: a *recording* state is an ordinary state whose records and arrays record which fields and elements are read. A
part is *decisive* if the property would hold with another value of this part alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
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

_STARTS: dict[int, Mapping[Any, int]] = {}
"""For each recording object, by id: the start of the part behind each field or index."""
_READ: set[int] = set()
"""The starts of the parts that were read."""


def read_set(model: Model, prop: PropertyInstance, vector: Vector, before: Vector | None = None) -> frozenset[int]:
    """Return the starts of the parts that the property reads in a state (a step property: in either state)."""
    states = [model.state(v) for v in (before, vector) if v is not None]
    layout = _layout_of(model)
    assert layout is not None
    _READ.clear()
    with model.active():
        for state in states:
            _record(state, layout)
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


@frozen
class _Layout:
    """Where the contents of records and containers of one shape are in a vector.

    Attributes:
        starts: The start of the part behind each field or index whose value does not record its reads itself.
        inside: The layouts of the other ones.
        is_set: Whether it is that of a set of records.
    """

    starts: Mapping[Any, int]
    inside: tuple[tuple[Any, _Layout], ...] = ()
    is_set: bool = False


@lru_cache(maxsize=8)
def _layout_of(model: Model) -> _Layout | None:
    """Return the layout of a model's states."""
    with model.active():
        return _layout(model.shape, 0)


def _layout(shape: Shape, start: int) -> _Layout | None:
    if isinstance(shape, (RecordShape, ArrayShape)):
        starts, inside = {}, []
        for index, (token, inner) in enumerate(pieces(shape)):
            key = token if isinstance(token, str) else index
            layout = _layout(inner, start)
            if layout is None:
                starts[key] = start
            else:
                inside.append((key, layout))
            start += sum(1 for _ in inner.leaves(""))
        return _Layout(starts, tuple(inside))
    if isinstance(shape, (SetShape, FifoShape, FreshShape)):
        return _Layout({None: start}, is_set=isinstance(shape, SetShape))
    return None


def _record(thing: Any, layout: _Layout) -> None:
    """Turn a state object, and all records and containers in it, into recording ones."""
    for key, inner in layout.inside:
        _record(getattr(thing, key) if isinstance(key, str) else thing._items[key], inner)
    _STARTS[id(thing)] = layout.starts
    object.__setattr__(thing, "__class__", _ReadSet if layout.is_set else _recording(type(thing)))  # type: ignore[arg-type]


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
    "__iter__",
    "__len__",
    "__contains__",
    "__eq__",
    "__ne__",
    "__le__",
    "__lt__",
    "__ge__",
    "__gt__",
    "__or__",
    "__and__",
    "__sub__",
    "__xor__",
    "__ror__",
    "__rand__",
    "__rsub__",
    "__rxor__",
    "copy",
):
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
