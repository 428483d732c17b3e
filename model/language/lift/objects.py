"""Mutable parts of a state while it is lifted: trees of cells.

Words: a *cell* holds one scalar, set or frozen record; its value is in the store. An *object* is a record, array, FIFO
or source of ids made of cells. Objects are reached through references (`values.Reference`), which name one of several
objects, each under a condition: so an index that depends on the state is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from kwalk.model.language.containers import ArrayShape, FifoShape, FreshShape
from kwalk.model.language.lift.terms import Term, Terms
from kwalk.model.language.lift.values import Bool, Int, RecordValue, Set, Values, bool_value, int_value
from kwalk.model.language.record_sets import BoundedSetShape, FlaggedSetShape, SetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import ChoiceShape, FlagShape, OptionalShape, Scalar, Shape, SubsetShape


@frozen(eq=False)
class LeafCell:
    """A place for one value. `shape` is None in local lists, which take anything."""

    key: int
    shape: Shape | None


@frozen(eq=False)
class RecordObject:
    """A mutable record of a state class."""

    cls: type
    fields: dict[str, Any]

    @property
    def description(self) -> str:
        """What a message calls it."""
        return f"a {self.cls.__name__}"

    @property
    def kind(self) -> object:
        """What two objects must have in common to be chosen between."""
        return self.cls


@frozen(eq=False)
class ArrayObject:
    """An array over a domain, or a local list (`shape` is None)."""

    shape: ArrayShape | None
    items: list[Any]

    @property
    def description(self) -> str:
        """What a message calls it."""
        return "a list" if self.shape is None else "an Array"

    @property
    def kind(self) -> object:
        """What two objects must have in common to be chosen between."""
        return ("array", len(self.items), self.shape)


@frozen(eq=False)
class FifoObject:
    """A bounded FIFO: its length and its slots."""

    shape: FifoShape
    length: LeafCell
    slots: list[LeafCell]
    description = "a Fifo"

    @property
    def kind(self) -> object:
        """What two objects must have in common to be chosen between."""
        return self.shape


@frozen(eq=False)
class FreshObject:
    """A source of fresh ids: how many were taken."""

    shape: FreshShape
    taken: LeafCell
    description = "a Fresh"

    @property
    def kind(self) -> object:
        """What two objects must have in common to be chosen between."""
        return self.shape


@frozen(eq=False)
class SetObject:
    """A set of records: a cell that holds a `Set`, or of a bounded set the tuple of its length and slots."""

    shape: SetShape
    content: LeafCell
    description = "a set of records"

    @property
    def kind(self) -> object:
        """What two objects must have in common to be chosen between."""
        return self.shape


Object = RecordObject | ArrayObject | FifoObject | FreshObject | SetObject
Node = LeafCell | Object


class Objects:
    """Makes objects, and reads and lays out their content. Cells are numbered in the order of their creation."""

    def __init__(self, values: Values) -> None:
        self.values, self.terms = values, values.terms
        self.count = 0

    def cell(self, shape: Shape | None, value: Any, store: dict[int, Any]) -> LeafCell:
        """Return a new cell with a value."""
        made = LeafCell(self.count, shape)
        self.count += 1
        store[made.key] = value
        return made

    def make(self, shape: Shape, value_of: Callable[[Shape], Any], store: dict[int, Any]) -> Node:
        """Return the cells for a shape; `value_of` returns the value of each cell, in vector order."""
        if isinstance(shape, RecordShape):
            return RecordObject(shape.cls, {n: self.make(s, value_of, store) for n, s in shapes_of(shape.cls)})
        if isinstance(shape, ArrayShape):
            return ArrayObject(shape, [self.make(shape.element, value_of, store) for _ in shape.domain])
        if isinstance(shape, FifoShape):
            return self._fifo(shape, value_of, store)
        if isinstance(shape, FreshShape):
            return FreshObject(shape, self.cell(None, value_of(shape), store))
        if isinstance(shape, SetShape):
            return SetObject(shape, self.cell(None, value_of(shape), store))
        return self.cell(shape, value_of(shape), store)

    def _fifo(self, shape: FifoShape, value_of: Callable[[Shape], Any], store: dict[int, Any]) -> FifoObject:
        length = self.cell(None, value_of(shape), store)
        slots = [self.make(shape.element, value_of, store) for _ in range(int(shape.capacity))]
        return FifoObject(shape, length, slots)  # type: ignore[arg-type]

    def variables(self, first: int) -> Callable[[Shape], Any]:
        """Return a `value_of` for `make`: variables numbered from `first` in vector order."""
        return _Variables(self.terms, first)

    @staticmethod
    def defaults(shape: Shape) -> Any:
        """Return the default of a shape: a `value_of` for `make`."""
        if isinstance(shape, SetShape):
            return empty_content(shape)
        return 0 if isinstance(shape, (FifoShape, FreshShape)) else shape.default()

    def layout(self, shape: Shape, node: Node, store: dict[int, Any]) -> Iterator[Term]:
        """Yield the terms of all leaves of a node, in vector order."""
        for key, inner in self.cells(shape, node):
            yield from self.cell_layout(inner, store[key])

    def cells(self, shape: Shape, node: Node) -> Iterator[tuple[int, Shape | None]]:
        """Yield the keys of all cells of a node, in vector order, with their shapes; None for a plain number."""
        if isinstance(node, RecordObject):
            for name, inner in shapes_of(node.cls):
                yield from self.cells(inner, node.fields[name])
        elif isinstance(node, ArrayObject):
            for item in node.items:
                yield from self.cells(shape.element, item)  # type: ignore[attr-defined]
        elif isinstance(node, FifoObject):
            yield node.length.key, None
            for slot in node.slots:
                yield from self.cells(node.shape.element, slot)
        elif isinstance(node, SetObject):
            yield node.content.key, node.shape
        elif isinstance(node, FreshObject):
            yield node.taken.key, None
        else:
            yield node.key, shape

    def cell_layout(self, shape: Shape | None, value: Any) -> Iterator[Term]:
        """Yield the terms of the leaves of a cell with this value."""
        if isinstance(shape, SetShape):
            return self._set_layout(shape, value)
        return iter([self.values.number(value)]) if shape is None else self.value_layout(shape, value)

    def _set_layout(self, shape: SetShape, content: Any) -> Iterator[Term]:
        if isinstance(shape, FlaggedSetShape):
            members = self.values.as_set(content).members
            yield from (members.get(member, self.terms.false) for member in shape.members())
        else:
            yield self.values.number(content[0])
            for slot in content[1:]:
                yield from self.value_layout(shape.element, slot)  # type: ignore[attr-defined]

    def value_layout(self, shape: Shape, value: Any) -> Iterator[Term]:
        """Yield the terms of the leaves of a value in a cell of this shape."""
        if isinstance(shape, FlagShape):
            yield self.values.truth(value)
        elif isinstance(shape, SubsetShape):
            members = self.values.as_set(value).members
            for member in shape.domain:
                yield members.get(member, self.terms.false)
        elif isinstance(shape, ValueShape):
            record = self.values.as_record(value, shape.cls)
            if shape.optional:
                yield record.present
            for name, inner in shapes_of(shape.cls):
                yield from self.value_layout(inner, record.fields[name])
        else:
            yield self.values.number(value)


def empty_content(shape: SetShape) -> Any:
    """Return what the cell of an empty set of records holds."""
    if isinstance(shape, BoundedSetShape):
        return (0, *(shape.element.default() for _ in range(int(shape.capacity))))
    return frozenset()


class _Variables:
    """Creates variables for the leaves of each cell."""

    def __init__(self, terms: Terms, first: int) -> None:
        self.terms, self.next = terms, first

    def __call__(self, shape: Shape) -> Any:
        if shape.fixed:
            self.next += shape.size()
            return shape.default()
        if isinstance(shape, FifoShape):
            return self._int(0, int(shape.capacity))
        if isinstance(shape, FreshShape):
            return self._int(0, len(shape.domain))
        if isinstance(shape, FlaggedSetShape):
            return Set({member: self._term() for member in shape.members()})
        if isinstance(shape, BoundedSetShape):
            return (self._int(0, int(shape.capacity)), *(self(shape.element) for _ in range(int(shape.capacity))))
        if isinstance(shape, FlagShape):
            return self._bool()
        if isinstance(shape, SubsetShape):
            return Set({member: self._term() for member in shape.domain})
        if isinstance(shape, ValueShape):
            present = self._term() if shape.optional else self.terms.true
            return RecordValue(shape.cls, {name: self(inner) for name, inner in shapes_of(shape.cls)}, present)
        if isinstance(shape, OptionalShape):
            enum = shape.inner.enum if isinstance(shape.inner, ChoiceShape) else None
            return self._int(shape.low(), shape.high(), nullable=True, enum=enum)
        assert isinstance(shape, Scalar)
        return self._int(shape.low(), shape.high(), enum=shape.enum if isinstance(shape, ChoiceShape) else None)

    def _term(self) -> Term:
        self.next += 1
        return self.terms.bool_variable(self.next - 1)

    def _bool(self) -> Bool | bool:
        return bool_value(self._term())

    def _int(self, low: int, high: int, **kind: Any) -> Int | Any:
        self.next += 1
        return int_value(self.terms.int_variable(self.next - 1, low, high), **kind)
