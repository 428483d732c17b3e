"""Sets of @value records: Python sets that are changed in place, with a defined order, and with bounded values.

Words: a *flagged* set has one leaf for each record that can be in it, so its records have few values. A *bounded* set
has slots for a few records of many values; they are in ascending order, so that equal sets have equal vectors. The
order of records is that of their classes, then of their vectors; a loop takes them in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from itertools import compress, islice, product
from typing import Any, TypeVar

from attrs import field, fields, frozen

from kwalk.model.language.binding import Bound, cached, identity_of, reach
from kwalk.model.language.containers import leaves_of_slots, reader_of_slots, writer_of_slots
from kwalk.model.language.errors import DomainError, UsageError
from kwalk.model.language.records import ValueShape, token_of
from kwalk.model.language.shapes import Copier, FlagShape, Leaf, Reader, Shape, Writer

T = TypeVar("T")
MOST_RECORDS = 2048
"""The most records of which each has a flag in a set."""


class RecordSet(set[T]):
    """A set of @value records in the state. Its operators return sets of Python; its methods change it in place."""

    __slots__ = ("_shape",)

    def __init__(self, shape: SetShape, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self._shape = shape

    def __iter__(self) -> Iterator[T]:
        return iter(sorted(super().__iter__(), key=self._shape.rank))

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}"

    __hash__ = None

    def copy(self) -> set[T]:
        """Return a set of Python with the same records."""
        return set[T]().union(self)

    def _become(self, records: set[T]) -> RecordSet[T]:
        checked = self._shape.check(records, "a set")
        super().clear()
        super().update(checked)
        return self

    def add(self, item: T) -> None:
        """Add a record; nothing changes if it is there."""
        if item not in self:
            self._become(self.copy() | {item})

    def remove(self, item: T) -> None:
        """Remove a record.

        Raises:
            DomainError: it is not there.
        """
        if item not in self:
            raise DomainError(f"remove({item!r}): the set does not hold it; discard(…) removes what may be there.")
        super().discard(item)

    def update(self, *others: Iterable[T]) -> None:
        """Add all records of others."""
        self._become(self.copy().union(*others))

    def symmetric_difference_update(self, other: Iterable[T]) -> None:
        """Keep the records that are in one of the two."""
        self._become(self.copy() ^ set(other))

    def pop(self) -> T:
        """Refuse to take any record: which one is not defined.

        Raises:
            DomainError: always.
        """
        raise DomainError("pop() takes any record of a set; name the record, and use remove(…).")

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __and__(self, other: Any) -> Any:
        return self.copy() & other

    def __sub__(self, other: Any) -> Any:
        return self.copy() - other

    def __xor__(self, other: Any) -> Any:
        return self.copy() ^ other

    def __ior__(self, other: Any) -> Any:
        return self._become(self | other)

    def __iand__(self, other: Any) -> Any:
        return self._become(self & other)

    def __isub__(self, other: Any) -> Any:
        return self._become(self - other)

    def __ixor__(self, other: Any) -> Any:
        return self._become(self ^ other)


class SetShape(Shape):
    """What both kinds of sets of records have in common."""

    classes: tuple[type, ...]

    def rank(self, record: Any) -> Any:
        """Return what records are ordered by; no scenario need be active."""
        return self.classes.index(type(record)), _place(record)

    def default(self) -> RecordSet[Any]:
        return RecordSet(self)

    def check(self, value: Any, where: str) -> RecordSet[Any]:
        names = " or ".join(cls.__name__ for cls in self.classes)
        if not isinstance(value, (set, frozenset)):
            raise DomainError(f"{where} must be a set of {names} (got {value!r}).")
        for item in value:
            if type(item) not in self.classes:
                raise DomainError(f"{where} holds records of {names} (got {item!r}).")
        return RecordSet(self, value)

    def copier(self) -> Copier:
        return lambda value: RecordSet(self, value)

    def assign(self, target: RecordSet[Any], value: RecordSet[Any]) -> RecordSet[Any]:
        return target._become(value.copy())

    def text(self, value: Iterable[Any]) -> str:
        return "{" + ", ".join(ValueShape(type(record)).text(record) for record in sorted(value, key=self.rank)) + "}"


@lru_cache(100_000)
def _place(value: Any) -> Any:
    """Return what a value is ordered by among those of its field: the order is that of vectors."""
    if value is None:
        return (0,)
    if isinstance(value, Enum):
        return (1, list(type(value)).index(value))
    if isinstance(value, frozenset):
        return (1, tuple(-member for member in sorted(value)))
    if isinstance(value, int):
        return (1, int(value))
    return (1, tuple(_place(getattr(value, one.name)) for one in fields(type(value))))


@frozen
class FlaggedSetShape(SetShape):
    """A set of records of some classes; in a vector a flag for each record that there can be."""

    classes: tuple[type, ...]

    def check(self, value: Any, where: str) -> RecordSet[Any]:
        found = super().check(value, where)
        outside = next((record for record in set.__iter__(found) if record not in self.numbers()), None)
        if outside is not None:
            raise DomainError(f"{where}: {outside!r} is outside of the domains of its fields.")
        return found

    def members(self) -> tuple[Any, ...]:
        """Return all records that can be in the set, in order.

        Raises:
            UsageError: they are too many.
        """
        return cached(("members", self), self._members)

    def _members(self) -> tuple[Any, ...]:
        counts = {cls.__name__: ValueShape(cls).count() for cls in self.classes}
        if sum(counts.values()) > MOST_RECORDS:
            each = ", ".join(f"{count:,} of {name}" for name, count in counts.items())
            raise UsageError(
                f"A field subset({', '.join(counts)}) has a flag for each record that can be in it: {each}; at most "
                f"{MOST_RECORDS:,} are allowed. Give smaller bounds, records with fewer or smaller fields, or declare "
                "bounded_set(…) with the most records that it holds at a time."
            )
        return tuple(record for cls in self.classes for record in ValueShape(cls).values())

    def numbers(self) -> dict[Any, int]:
        """Return the position of each record."""
        return cached(("numbers", self), lambda: {record: n for n, record in enumerate(self.members())})

    def leaves(self, path: str) -> Iterator[Leaf]:
        for record in self.members():
            yield Leaf(f"{path}{{{token_of(record)}}}", 0, 1, FlagShape())

    def writer(self) -> Writer:
        numbers, size = self.numbers(), len(self.members())

        def write(value: RecordSet[Any] | frozenset[Any], into: list[int]) -> None:
            flags = [0] * size
            for record in value if isinstance(value, frozenset) else set.__iter__(value):
                flags[numbers[record]] = 1
            into.extend(flags)

        return write

    def reader(self) -> Reader:
        members = self.members()

        def read(numbers: Iterator[int]) -> RecordSet[Any]:
            return RecordSet(self, list(compress(members, islice(numbers, len(members)))))

        return read

    def count(self) -> int:
        return int(2 ** len(self.members()))

    def values(self) -> Iterator[frozenset[Any]]:
        """Yield all sets of these records, as arguments: they never change."""
        members = self.members()
        return (frozenset(compress(members, flags)) for flags in product((0, 1), repeat=len(members)))


@frozen
class BoundedSetShape(SetShape):
    """A set of at most `capacity` records of a class; in a vector their number, and the records in order."""

    cls: type
    capacity: int | Bound = field(eq=identity_of)

    @property
    def classes(self) -> tuple[type, ...]:  # type: ignore[override]
        """Return the class of the records."""
        return (self.cls,)

    @property
    def element(self) -> ValueShape:
        """Return the shape of a slot."""
        return ValueShape(self.cls)

    def check(self, value: Any, where: str) -> RecordSet[Any]:
        found = super().check(value, where)
        if len(found) > int(self.capacity):
            if isinstance(self.capacity, Bound):
                reach(self.capacity)
                return found
            raise DomainError(f"{where} holds at most {self.capacity} records (got {found!r}).")
        return found

    def leaves(self, path: str) -> Iterator[Leaf]:
        return leaves_of_slots(self.element, self.capacity, path)

    def writer(self) -> Writer:
        return writer_of_slots(self.element, int(self.capacity))

    def reader(self) -> Reader:
        read_items = reader_of_slots(self.element, int(self.capacity))
        return lambda numbers: RecordSet(self, read_items(numbers))
