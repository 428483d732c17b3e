"""The mutable containers of a state: a fixed array, a bounded FIFO queue, and a source of fresh ids.

All have value semantics when they are stored in a field: storing copies the content, so two fields never share one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from attrs import field, frozen

from kwalk.model.language.binding import Bound, Domain, ScenarioConstant, identity_of, plain_value, reach
from kwalk.model.language.errors import DomainError
from kwalk.model.language.shapes import Copier, Leaf, NumberShape, Reader, Shape, Writer

T = TypeVar("T")
S = TypeVar("S", bound=Shape)


class _Items(Generic[T, S]):
    """The elements of a container, and its shape."""

    __slots__ = ("_items", "_shape")

    def __init__(self, shape: S, items: list[T]) -> None:
        self._shape, self._items = shape, items

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        """Return whether the other has equal elements; it may also be a list or tuple."""
        if isinstance(other, (list, tuple)):
            return self._items == list(other)
        return isinstance(other, type(self)) and self._items == other._items

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._items)


class Array(_Items[T, "ArrayShape"]):
    """One element per member of a domain. `a[i]` reads, `a[i] = x` writes; the size never changes."""

    __slots__ = ()

    if TYPE_CHECKING:  # as for Fifo

        def __get__(self, instance: object, owner: type | None = None) -> Array[T]: ...
        def __set__(self, instance: object, value: Array[T] | list[T] | tuple[T, ...]) -> None: ...

    def __getitem__(self, index: int) -> T:
        return self._items[self._member(index)]

    def __setitem__(self, index: int, value: T) -> None:
        element, at = self._shape.element, self._member(index)
        self._items[at] = element.assign(self._items[at], element.check(value, f"element {at}"))

    def _member(self, index: int) -> int:
        if type(index) is int and 0 <= index < len(self._items):
            return index
        if isinstance(index, ScenarioConstant):
            return self._member(index.value)
        name = self._shape.domain.name
        raise DomainError(f"An array over {name} has the indices 0 … {len(self._items) - 1} (got {index!r}).")

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)


class FrozenArray(Array[T]):
    """An array that is an argument of an action or property: it never changes."""

    __slots__ = ()

    def __setitem__(self, index: int, value: T) -> None:
        raise DomainError("An argument never changes; assign the array to a field, and write to that.")

    def __eq__(self, other: object) -> bool:
        return self._items == list(other) if isinstance(other, (Array, list, tuple)) else False

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self._items))


class Fifo(_Items[T, "FifoShape"]):
    """A queue, or sequence, of at most `capacity` elements; what would make it longer is a bound hit.

    `q[i]` and `q[i:j]` mean what they mean for a list: -1 is the last position, and ends outside are cut off. A part of
    a queue, and the sum of two, is a new queue of the same capacity.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # a field of this type also takes a list or tuple: state classes convert what is assigned

        def __get__(self, instance: object, owner: type | None = None) -> Fifo[T]: ...
        def __set__(self, instance: object, value: Fifo[T] | list[T] | tuple[T, ...]) -> None: ...

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Fifo[T]: ...
    def __getitem__(self, index: int | slice) -> T | Fifo[T]:
        if isinstance(index, slice):
            return Fifo(self._shape, self._items[index])
        return self._items[self._position(index)]

    def __setitem__(self, index: int, value: T) -> None:
        at = self._position(index)
        self._items[at] = self._shape.element.check(value, f"element {at}")

    def _position(self, index: Any) -> int:
        number, size = plain_value(index), len(self._items)
        if type(number) is int and -size <= number < size:
            return number
        has = f"positions 0 … {size - 1} here" if size else "no element here"
        raise DomainError(f"A FIFO has {has} (got {index!r}); test `len(fifo)` before.")

    def __add__(self, other: Fifo[T] | list[T] | tuple[T, ...]) -> Fifo[T]:
        return self._joined(self, other)

    def __radd__(self, other: list[T] | tuple[T, ...]) -> Fifo[T]:
        return self._joined(other, self)

    def _joined(self, first: Any, second: Any) -> Fifo[T]:
        if not all(isinstance(one, (Fifo, list, tuple)) for one in (first, second)):
            return cast("Fifo[T]", NotImplemented)
        return self._shape.check([*first, *second], "a sum of queues")

    def push(self, value: T) -> None:
        """Append at the tail; on a full queue the step is a bound hit."""
        if len(self._items) >= int(self._shape.capacity):
            reach(self._shape.capacity)
        self._items.append(self._shape.element.check(value, "element"))

    def pop(self) -> T:
        """Remove the oldest element and return it.

        Raises:
            DomainError: the queue is empty.
        """
        self._not_empty()
        return self._items.pop(0)

    @property
    def head(self) -> T:
        """Return the oldest element.

        Raises:
            DomainError: the queue is empty.
        """
        self._not_empty()
        return self._items[0]

    @property
    def is_empty(self) -> bool:
        """Return whether it has no element."""
        return not self._items

    def starts_with(self, value: T) -> bool:
        """Return whether there is an oldest element, and it equals the value."""
        return bool(self._items) and self._items[0] == value

    def clear(self) -> None:
        """Remove all elements."""
        self._items.clear()

    def index(self, value: T) -> int:
        """Return the position of the first element that equals the value.

        Raises:
            DomainError: there is none.
        """
        if value not in self._items:
            raise DomainError(f"A FIFO has no element {value!r} here; require `x in fifo` before fifo.index(x).")
        return self._items.index(value)

    def _not_empty(self) -> None:
        if not self._items:
            raise DomainError("A FIFO is empty here; require `not fifo.is_empty` before head or pop.")

    def __contains__(self, value: object) -> bool:
        return value in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._items))

    def __reversed__(self) -> Iterator[T]:
        return iter(tuple(self._items)[::-1])


class Fresh:
    """A source of ids; each is given out once. Taking one more than there are is a bound hit."""

    __slots__ = ("_shape", "taken")

    def __init__(self, shape: FreshShape, taken: int) -> None:
        self._shape, self.taken = shape, taken

    def take(self) -> int:
        """Return the next id of the domain."""
        if self.taken >= len(self._shape.domain):
            reach(self._shape.domain.bound)
        self.taken += 1
        return self.taken - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fresh) and self.taken == other.taken

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.taken} taken>"


@frozen
class ArrayShape(Shape):
    """A fixed array over a domain."""

    domain: Domain
    element: Shape

    def default(self) -> Array[Any]:
        return Array(self, [self.element.default() for _ in self.domain])

    def check(self, value: Any, where: str) -> Array[Any]:
        items = list(value) if isinstance(value, (Array, list, tuple)) else None
        if items is None or len(items) != len(self.domain):
            wanted = f"{len(self.domain)} elements, one per member of {self.domain.name}"
            raise DomainError(f"{where} must have {wanted} (got {value!r}).")
        return Array(self, [self.element.check(item, f"{where}[{i}]") for i, item in enumerate(items)])

    def copier(self) -> Copier:
        copy = self.element.copier()
        if copy is None:
            return lambda value: Array(self, value._items[:])
        return lambda value: Array(self, [copy(item) for item in value._items])

    def assign(self, target: Array[Any], value: Array[Any]) -> Array[Any]:
        source = self.copy(value)._items
        target._items[:] = [self.element.assign(k, v) for k, v in zip(target._items, source, strict=True)]
        return target

    def leaves(self, path: str) -> Iterator[Leaf]:
        for member in self.domain:
            yield from self.element.leaves(f"{path}[{member}]")

    def writer(self) -> Writer:
        write_item = self.element.writer()

        def write(value: Array[Any], into: list[int]) -> None:
            for item in value._items:
                write_item(item, into)

        return write

    def reader(self) -> Reader:
        read, members = self.element.reader(), range(len(self.domain))
        return lambda numbers: Array(self, [read(numbers) for _ in members])

    def text(self, value: Array[Any]) -> str:
        return "[" + ", ".join(map(self.element.text, value)) + "]"

    def count(self) -> int:
        return int(self.element.count() ** len(self.domain))

    def values(self) -> Iterator[FrozenArray[Any]]:
        elements = tuple(self.element.values())
        return (FrozenArray(self, list(items)) for items in product(elements, repeat=len(self.domain)))


def leaves_of_slots(element: Shape, capacity: int | Bound, path: str) -> Iterator[Leaf]:
    """Yield the leaf of a collection's length, and those of its slots."""
    yield Leaf(f"{path}#", 0, int(capacity), NumberShape(0, capacity, 0))
    for slot in range(int(capacity)):
        yield from element.leaves(f"{path}[{slot}]")


def reader_of_slots(element: Shape, capacity: int) -> Callable[[Iterator[int]], list[Any]]:
    """Return a function that reads a length and as many values, and skips the free slots, which cannot be observed."""
    read, size = element.reader(), element.size()

    def read_items(numbers: Iterator[int]) -> list[Any]:
        length = next(numbers)
        items = [read(numbers) for _ in range(length)]
        free = (capacity - length) * size
        next(islice(numbers, free, free), None)
        return items

    return read_items


def writer_of_slots(element: Shape, capacity: int) -> Writer:
    """Return a function that writes the length of a collection, its items in order, and the default into free slots."""
    write_item, free = element.writer(), element.default_numbers()

    def write(value: Collection[Any], into: list[int]) -> None:
        into.append(len(value))
        for item in value:
            write_item(item, into)
        into.extend(free * (capacity - len(value)))

    return write


@frozen
class FifoShape(Shape):
    """A bounded FIFO of scalars or frozen records; free slots hold the element's default."""

    element: Shape
    capacity: Bound = field(eq=identity_of)

    def default(self) -> Fifo[Any]:
        return Fifo(self, [])

    def check(self, value: Any, where: str) -> Fifo[Any]:
        if not isinstance(value, (Fifo, list, tuple)):
            raise DomainError(f"{where} must be a Fifo, or a list of its elements (got {value!r}).")
        if len(value) > int(self.capacity):
            reach(self.capacity)
        return Fifo(self, [self.element.check(item, where) for item in value])

    def copier(self) -> Copier:
        return lambda value: Fifo(self, value._items[:])

    def assign(self, target: Fifo[Any], value: Fifo[Any]) -> Fifo[Any]:
        target._items[:] = list(value._items)
        return target

    def leaves(self, path: str) -> Iterator[Leaf]:
        return leaves_of_slots(self.element, self.capacity, path)

    def writer(self) -> Writer:
        return writer_of_slots(self.element, int(self.capacity))

    def reader(self) -> Reader:
        read_items = reader_of_slots(self.element, int(self.capacity))
        return lambda numbers: Fifo(self, read_items(numbers))

    def text(self, value: Fifo[Any] | tuple[Any, ...]) -> str:
        return "[" + ", ".join(map(self.element.text, value)) + "]"

    def count(self) -> int:
        return sum(self.element.count() ** length for length in range(int(self.capacity) + 1))

    def values(self) -> Iterator[tuple[Any, ...]]:
        elements = tuple(self.element.values())
        return chain.from_iterable(product(elements, repeat=length) for length in range(int(self.capacity) + 1))


@frozen
class FreshShape(Shape):
    """The counter behind a source of fresh ids."""

    domain: Domain

    def default(self) -> Fresh:
        return Fresh(self, 0)

    def check(self, value: Any, where: str) -> Fresh:
        if isinstance(value, Fresh):
            return value
        raise DomainError(f"{where} is a source of fresh ids and is never assigned; use take() (got {value!r}).")

    def copier(self) -> Copier:
        return lambda value: Fresh(self, value.taken)

    def assign(self, target: Fresh, value: Fresh) -> Fresh:
        target.taken = value.taken
        return target

    def leaves(self, path: str) -> Iterator[Leaf]:
        yield Leaf(f"{path}#", 0, len(self.domain), NumberShape(0, self.domain.bound, 0))

    def writer(self) -> Writer:
        return lambda value, into: into.append(value.taken)

    def reader(self) -> Reader:
        return lambda numbers: Fresh(self, next(numbers))

    def text(self, value: Fresh) -> str:
        return f"{value.taken} taken"
