"""A second implementation of the language's names, for the oracle: it shares no code with kwalk's own.

It is written from `docs/reference/language.md`, for plain CPython, and as simple as possible: a bound *is* an int, a
flag *is* a bool or a text, a set *is* a frozenset. `namespace` returns what `from kwalk import …` imports, for one
choice of bounds and flags.

Words: a *slot* is the declaration of a field: its default, its domain check, and how a value is stored in place of
another. A state is *frozen* to a nested tuple of plain values, which can be compared and hashed, and *thawed* again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from itertools import product
from typing import Annotated, Any, get_args, get_origin


class OracleError(Exception):
    """The model is wrong here: a value outside of its domain, or a container that is used wrongly."""


class OracleDisabled(Exception):
    """A `require` is false."""


class OraclePremise(Exception):
    """A `premise` is false."""


class OracleBound(Exception):
    """A bound is reached; the argument is its name."""


class OracleAbort(Exception):
    """The base class of the aborts of a model."""


class BoundInt(int):
    """The value of a bound, which knows its name."""

    bound: str

    def __new__(cls, value: int, bound: str) -> BoundInt:
        made = super().__new__(cls, value)
        made.bound = bound
        return made

    def __add__(self, other: int) -> BoundInt:
        return BoundInt(int(self) + int(other), self.bound)

    def __sub__(self, other: int) -> BoundInt:
        return BoundInt(int(self) - int(other), self.bound)

    def __mul__(self, other: int) -> BoundInt:
        return BoundInt(int(self) * int(other), self.bound)

    def __neg__(self) -> BoundInt:
        return BoundInt(-int(self), self.bound)

    def __radd__(self, other: int) -> BoundInt:
        return BoundInt(int(other) + int(self), self.bound)

    def __rsub__(self, other: int) -> BoundInt:
        return BoundInt(int(other) - int(self), self.bound)

    def __rmul__(self, other: int) -> BoundInt:
        return BoundInt(int(other) * int(self), self.bound)

    def __rpow__(self, other: int, modulus: Any = None) -> BoundInt:  # type: ignore[misc]
        return BoundInt(int(other) ** int(self), self.bound)


class OracleDomain:
    """The ints 0 … size - 1; `bound` is the size with the name of the bound from which it comes."""

    def __init__(self, name: str, bound: BoundInt) -> None:
        self.name, self.size, self.bound = name, int(bound), bound

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.size))

    def __reversed__(self) -> Iterator[int]:
        return reversed(range(self.size))

    def __contains__(self, item: object) -> bool:
        return isinstance(item, int) and 0 <= item < self.size


# Slots.


class Slot:
    """The declaration of a field."""

    is_on: bool = True
    """Whether the field exists under the flags; without it the field keeps its default."""

    def default(self) -> Any:
        """Return the value at first."""
        raise NotImplementedError

    def checked(self, value: Any) -> Any:
        """Return the value as it is stored; raise OracleError or OracleBound if it is outside of the domain."""
        raise NotImplementedError

    def stored(self, old: Any, value: Any) -> Any:
        """Return what the field holds after `value` is stored where `old` was: objects keep their identity."""
        return value

    def frozen(self, value: Any) -> Any:
        """Return the value as plain tuples."""
        return value

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        """Return the value of a frozen scalar, set or record, with the classes of a module."""
        return frozen

    def put(self, owner: Any, key: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        """Give a frozen value to a field (or element) of an object, through the operations of the language."""
        value = self.thawed(frozen, classes)
        if isinstance(key, str):
            setattr(owner, key, value)
        else:
            owner[key] = value

    def values(self) -> list[Any] | None:
        """Return all frozen values of a scalar; None for other slots."""
        return None

    def random(self, rng: Any) -> Any:
        """Return a random frozen value."""
        return rng.choice(self.values())


class NumberSlot(Slot):
    """An int from `least` to `most`; `bound` is reached above it, and `lower` below it, if there is one."""

    def __init__(
        self, least: int, most: int, start: int | None, bound: str | None = None, lower: str | None = None
    ) -> None:
        self.least, self.most, self.bound, self.lower = int(least), int(most), bound, lower
        self.start = self.least if start is None else int(start)

    def default(self) -> int:
        return self.start

    def checked(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise OracleError(f"{value!r} is no int")
        if self.bound is not None and value > self.most:
            raise OracleBound(self.bound)
        if self.lower is not None and value < self.least:
            raise OracleBound(self.lower)
        if not self.least <= value <= self.most:
            raise OracleError(f"{value!r} is outside of {self.least} … {self.most}")
        return int(value)

    def values(self) -> list[Any]:
        return list(range(self.least, self.most + 1))


class FlagSlot(Slot):
    """True or False."""

    def __init__(self, *, start: bool) -> None:
        self.start = start

    def default(self) -> bool:
        return self.start

    def checked(self, value: Any) -> bool:
        if value is not True and value is not False:
            raise OracleError(f"{value!r} is neither True nor False")
        return value

    def values(self) -> list[Any]:
        return [False, True]


class ChoiceSlot(Slot):
    """A member of an Enum; frozen as its name."""

    def __init__(self, enum: type[Enum], start: Enum | None) -> None:
        self.enum, self.start = enum, next(iter(enum)) if start is None else start

    def default(self) -> Enum:
        return self.start

    def checked(self, value: Any) -> Enum:
        if not isinstance(value, self.enum):
            raise OracleError(f"{value!r} is no {self.enum.__name__}")
        return value

    def frozen(self, value: Any) -> str:
        return str(value.name)

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        return classes.get(self.enum.__name__, self.enum)[frozen]

    def values(self) -> list[Any]:
        return [member.name for member in self.enum]


class OptionalSlot(Slot):
    """What another slot holds, or None."""

    def __init__(self, inner: Slot) -> None:
        self.inner = inner

    def default(self) -> None:
        return None

    def checked(self, value: Any) -> Any:
        return None if value is None else self.inner.checked(value)

    def frozen(self, value: Any) -> Any:
        return None if value is None else self.inner.frozen(value)

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        return None if frozen is None else self.inner.thawed(frozen, classes)

    def random(self, rng: Any) -> Any:
        return None if rng.random() < 0.4 else self.inner.random(rng)


class SubsetSlot(Slot):
    """A frozenset of members of a domain; frozen as their sorted tuple."""

    def __init__(self, domain: OracleDomain, start: frozenset[int]) -> None:
        self.domain, self.start = domain, start

    def default(self) -> frozenset[int]:
        return self.start

    def checked(self, value: Any) -> frozenset[int]:
        if not isinstance(value, (set, frozenset)):
            raise OracleError(f"{value!r} is no set")
        if not all(isinstance(m, int) and not isinstance(m, bool) and 0 <= m < self.domain.size for m in value):
            raise OracleError(f"{value!r} has another element than members of {self.domain.name}")
        return frozenset(int(m) for m in value)

    def frozen(self, value: Any) -> tuple[int, ...]:
        return tuple(sorted(value))

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> frozenset[int]:
        return frozenset(frozen)

    def random(self, rng: Any) -> Any:
        return tuple(m for m in range(self.domain.size) if rng.random() < 0.5)


class RecordSlot(Slot):
    """A @value record; frozen as the tuple of its fields."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def default(self) -> Any:
        return self.cls()

    def checked(self, value: Any) -> Any:
        if type(value) is not self.cls:
            raise OracleError(f"{value!r} is no {self.cls.__name__}")
        return value

    def frozen(self, value: Any) -> Any:
        return tuple(slot.frozen(getattr(value, name)) for name, slot in self.cls.slots.items())

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        pairs = zip(self.cls.slots.items(), frozen, strict=True)
        return classes[self.cls.__name__](**{name: slot.thawed(part, classes) for (name, slot), part in pairs})

    def random(self, rng: Any) -> Any:
        return tuple(slot.random(rng) for slot in self.cls.slots.values())


class ObjectSlot(Slot):
    """A @state object: a write copies its fields into the object that is there."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def default(self) -> Any:
        return self.cls()

    def checked(self, value: Any) -> Any:
        if type(value) is not self.cls:
            raise OracleError(f"{value!r} is no {self.cls.__name__}")
        return self.copy(value)

    def copy(self, value: Any) -> Any:
        """Return an object with equal content that shares nothing with the given one."""
        return self.thawed(self.frozen(value), self.cls.classes)

    def stored(self, old: Any, value: Any) -> Any:
        for name, slot in self.cls.slots.items():
            old.__dict__[name] = slot.stored(old.__dict__[name], value.__dict__[name])
        return old

    def frozen(self, value: Any) -> Any:
        return tuple(slot.frozen(getattr(value, name)) for name, slot in self.cls.slots.items())

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        made = classes[self.cls.__name__]()
        self.fill(made, frozen, classes)
        return made

    def fill(self, target: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        """Give frozen values to all fields of an object that has its defaults."""
        for (name, slot), part in zip(self.cls.slots.items(), frozen, strict=True):
            slot.put(target, name, part, classes)

    def put(self, owner: Any, key: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        self.fill(getattr(owner, key) if isinstance(key, str) else owner[key], frozen, classes)

    def random(self, rng: Any) -> Any:
        return tuple(slot.random(rng) for slot in self.cls.slots.values())


class OracleArray:
    """One element for each member of a domain."""

    def __init__(self, slot: ArraySlot, items: list[Any]) -> None:
        self.slot, self.items = slot, items

    def _place(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(self.items):
            raise OracleError(f"the index {index!r}")
        return index

    def __getitem__(self, index: Any) -> Any:
        return self.items[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        place, element = self._place(index), self.slot.element
        self.items[place] = element.stored(self.items[place], element.checked(value))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (OracleArray, list, tuple)) and self.items == list(other)

    __hash__ = None  # type: ignore[assignment]


class OracleArgumentArray(OracleArray):
    """An array that is an argument, which never changes."""

    def __setitem__(self, index: Any, value: Any) -> None:
        raise OracleError("a write to an argument")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (OracleArray, list, tuple)) and self.items == list(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(token(self))


class ArraySlot(Slot):
    """An Array: a write copies the elements into those that are there."""

    def __init__(self, domain: OracleDomain, element: Slot) -> None:
        self.domain, self.element = domain, element

    def default(self) -> OracleArray:
        return OracleArray(self, [self.element.default() for _ in self.domain])

    def checked(self, value: Any) -> OracleArray:
        if not isinstance(value, (OracleArray, list, tuple)) or len(value) != self.domain.size:
            raise OracleError(f"{value!r} is no array over {self.domain.name}")
        return OracleArray(self, [self.element.checked(item) for item in value])

    def stored(self, old: OracleArray, value: OracleArray) -> OracleArray:
        old.items[:] = [self.element.stored(a, b) for a, b in zip(old.items, value.items, strict=True)]
        return old

    def frozen(self, value: Any) -> Any:
        return tuple(self.element.frozen(item) for item in value)

    def put(self, owner: Any, key: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        array = getattr(owner, key) if isinstance(key, str) else owner[key]
        if self.is_on:
            for index, part in enumerate(frozen):
                self.element.put(array, index, part, classes)

    def random(self, rng: Any) -> Any:
        return tuple(self.element.random(rng) for _ in self.domain)


class OracleFifo:
    """A queue of at most `capacity` elements."""

    def __init__(self, slot: FifoSlot, items: list[Any]) -> None:
        self.slot, self.items = slot, items

    def push(self, value: Any) -> None:
        """Append an element."""
        if len(self.items) >= self.slot.capacity:
            raise OracleBound(self.slot.capacity.bound)
        self.items.append(self.slot.element.checked(value))

    def pop(self) -> Any:
        """Remove and return the oldest element."""
        if not self.items:
            raise OracleError("pop of an empty queue")
        return self.items.pop(0)

    @property
    def head(self) -> Any:
        """Return the oldest element."""
        if not self.items:
            raise OracleError("head of an empty queue")
        return self.items[0]

    @property
    def is_empty(self) -> bool:
        """Return whether there is no element."""
        return len(self.items) == 0

    def starts_with(self, value: Any) -> bool:
        """Return whether the oldest element exists and equals the value."""
        return len(self.items) > 0 and self.items[0] == value

    def clear(self) -> None:
        """Remove all elements."""
        del self.items[:]

    def _place(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool):
            raise OracleError(f"the index {index!r}")
        self.items[index]  # raises an error if it is outside
        return index

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return OracleFifo(self.slot, self.items[index])
        return self.items[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.items[self._place(index)] = self.slot.element.checked(value)

    def __add__(self, other: Any) -> OracleFifo:
        if not isinstance(other, (OracleFifo, list, tuple)):
            raise OracleError(f"a queue and {other!r}")
        return self.slot.checked(list(self) + list(other))

    def __radd__(self, other: Any) -> OracleFifo:
        if not isinstance(other, (list, tuple)):
            raise OracleError(f"{other!r} and a queue")
        return self.slot.checked(list(other) + list(self))

    def __reversed__(self) -> Iterator[Any]:
        return iter(self.items[::-1])

    def __contains__(self, value: Any) -> bool:
        return value in self.items

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.items))

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (OracleFifo, list, tuple)) and self.items == list(other)

    def index(self, value: Any) -> int:
        """Return the first position of an element."""
        return self.items.index(value)

    __hash__ = None  # type: ignore[assignment]


class FifoSlot(Slot):
    """A queue: a write copies its elements."""

    def __init__(self, element: Slot, capacity: BoundInt) -> None:
        self.element, self.capacity = element, capacity

    def default(self) -> OracleFifo:
        return OracleFifo(self, [])

    def checked(self, value: Any) -> OracleFifo:
        if not isinstance(value, (OracleFifo, list, tuple)):
            raise OracleError(f"{value!r} is no queue")
        if len(value) > self.capacity:
            raise OracleBound(self.capacity.bound)
        return OracleFifo(self, [self.element.checked(item) for item in value])

    def stored(self, old: OracleFifo, value: OracleFifo) -> OracleFifo:
        old.items[:] = list(value.items)
        return old

    def frozen(self, value: Any) -> Any:
        return tuple(self.element.frozen(item) for item in value)

    def put(self, owner: Any, key: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        queue = getattr(owner, key) if isinstance(key, str) else owner[key]
        for part in frozen:
            queue.push(self.element.thawed(part, classes))

    def random(self, rng: Any) -> Any:
        return tuple(self.element.random(rng) for _ in range(rng.randint(0, self.capacity)))


class OracleRecordSet(set):  # type: ignore[type-arg]
    """A set of records that is changed in place; a loop goes through them in the order of their values."""

    def __init__(self, slot: RecordSetSlot, items: Any) -> None:
        super().__init__(items)
        self.slot = slot

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(set.__iter__(self), key=self.slot.place))

    def _give(self, items: set[Any]) -> OracleRecordSet:
        self.slot.refuse(items)
        set.clear(self)
        for item in items:
            set.add(self, item)
        return self

    def add(self, item: Any) -> None:
        """Add a record."""
        self._give({*self, item})

    def update(self, *others: Any) -> None:
        """Add the records of others."""
        self._give({item for some in (self, *others) for item in some})

    def remove(self, item: Any) -> None:
        """Remove a record that is there."""
        if not set.__contains__(self, item):
            raise OracleError("remove of what is not there")
        set.discard(self, item)

    def pop(self) -> Any:
        """Refuse to choose a record."""
        raise OracleError("pop of a set")

    def __or__(self, other: Any) -> Any:
        return set(self) | other

    def __and__(self, other: Any) -> Any:
        return set(self) & other

    def __sub__(self, other: Any) -> Any:
        return set(self) - other

    def __xor__(self, other: Any) -> Any:
        return set(self) ^ other

    def __ior__(self, other: Any) -> Any:
        return self._give(set(self) | other)

    def __iand__(self, other: Any) -> Any:
        return self._give(set(self) & other)

    def __isub__(self, other: Any) -> Any:
        return self._give(set(self) - other)

    def __ixor__(self, other: Any) -> Any:
        return self._give(set(self) ^ other)


class RecordSetSlot(Slot):
    """A set of records of some classes, of at most `most` of them; frozen as a sorted tuple of (class, fields)."""

    def __init__(self, classes: tuple[Any, ...], most: int | None = None) -> None:
        self.classes, self.most = classes, most

    def place(self, record: Any) -> Any:
        """Return what records are ordered by: their class, then each field by its place among its values."""
        number = [cls.__name__ for cls in self.classes].index(type(record).__name__)
        return number, _places(type(record), record)

    def refuse(self, items: Any) -> None:
        """Raise OracleError for another thing than records of the classes, or for too many of them."""
        if not all(type(item) in self.classes for item in items):
            raise OracleError(f"{items!r} has something else")
        if self.most is not None and len(items) > self.most:
            if isinstance(self.most, BoundInt):
                raise OracleBound(self.most.bound)
            raise OracleError(f"{items!r} is too large")

    def default(self) -> Any:
        return OracleRecordSet(self, ())

    def checked(self, value: Any) -> Any:
        if not isinstance(value, (set, frozenset)):
            raise OracleError(f"{value!r} is no set")
        self.refuse(value)
        return OracleRecordSet(self, value)

    def stored(self, old: Any, value: Any) -> Any:
        return old._give(set(value))

    def frozen(self, value: Any) -> Any:
        numbers = [([cls.__name__ for cls in self.classes].index(type(record).__name__), record) for record in value]
        return tuple((number, RecordSlot(self.classes[number]).frozen(record)) for number, record in numbers)

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        return {RecordSlot(self.classes[number]).thawed(part, classes) for number, part in frozen}

    def random(self, rng: Any) -> Any:
        found = set()
        for _ in range(rng.randint(0, min(4, 4 if self.most is None else self.most))):
            number = rng.randrange(len(self.classes))
            found.add((number, RecordSlot(self.classes[number]).random(rng)))
        live = [RecordSlot(self.classes[n]).thawed(part, self.classes[n].classes) for n, part in found]
        return self.frozen(OracleRecordSet(self, live))


def _places(cls: Any, record: Any) -> tuple[Any, ...]:
    return tuple(_place(slot, record.__dict__[name]) for name, slot in cls.slots.items())


def _place(slot: Slot, value: Any) -> Any:
    """Return what a field of a record is ordered by: None is first, sets by their members from the first one on."""
    if isinstance(slot, SwitchedSlot):
        return _place(slot.slot, value)
    if isinstance(slot, OptionalSlot):
        return (0,) if value is None else (1, _place(slot.inner, value))
    if isinstance(slot, ChoiceSlot):
        return [member.name for member in slot.enum].index(value.name)
    if isinstance(slot, SubsetSlot):
        return tuple(member in value for member in slot.domain)
    return _places(slot.cls, value) if isinstance(slot, RecordSlot) else value


class OracleFresh:
    """A source of ids."""

    def __init__(self, domain: OracleDomain) -> None:
        self.domain, self.taken = domain, 0

    def take(self) -> int:
        """Return the next id."""
        if self.taken >= self.domain.size:
            raise OracleBound(self.domain.bound.bound)
        self.taken += 1
        return self.taken - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OracleFresh) and self.taken == other.taken

    __hash__ = None  # type: ignore[assignment]


class FreshSlot(Slot):
    """A source of ids, which is never assigned."""

    def __init__(self, domain: OracleDomain) -> None:
        self.domain = domain

    def default(self) -> OracleFresh:
        return OracleFresh(self.domain)

    def checked(self, value: Any) -> OracleFresh:
        if not isinstance(value, OracleFresh):
            raise OracleError(f"{value!r} is no source of ids")
        return value

    def stored(self, old: OracleFresh, value: OracleFresh) -> OracleFresh:
        old.taken = value.taken
        return old

    def frozen(self, value: Any) -> int:
        return int(value.taken)

    def put(self, owner: Any, key: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        source = getattr(owner, key) if isinstance(key, str) else owner[key]
        for _ in range(frozen):
            source.take()

    def random(self, rng: Any) -> int:
        return int(rng.randint(0, self.domain.size))


class SwitchedSlot(Slot):
    """A slot whose flag is off: it keeps its default."""

    is_on = False

    def __init__(self, slot: Slot) -> None:
        self.slot = slot

    def default(self) -> Any:
        return self.slot.default()

    def checked(self, value: Any) -> Any:
        checked = self.slot.checked(value)
        if self.slot.frozen(checked) != self.slot.frozen(self.slot.default()):
            raise OracleError(f"{value!r} is not the default, and the flag is off")
        return checked

    def stored(self, old: Any, value: Any) -> Any:
        return self.slot.stored(old, value)

    def frozen(self, value: Any) -> Any:
        return self.slot.frozen(value)

    def thawed(self, frozen: Any, classes: Mapping[str, Any]) -> Any:
        return self.slot.thawed(frozen, classes)

    def put(self, owner: Any, key: Any, frozen: Any, classes: Mapping[str, Any]) -> None:
        """It has its default already."""

    def random(self, rng: Any) -> Any:
        return self.slot.frozen(self.slot.default())


def slot_of(element: Any) -> Slot:
    """Return the slot of a declaration, a domain, an Enum, or a class."""
    if isinstance(element, Slot):
        return element
    if isinstance(element, OracleDomain):
        return NumberSlot(0, element.size - 1, None)
    if isinstance(element, type) and issubclass(element, Enum):
        return ChoiceSlot(element, None)
    if isinstance(element, type) and hasattr(element, "slots"):
        return ObjectSlot(element) if issubclass(element, _Mutable) else RecordSlot(element)
    raise OracleError(f"{element!r} declares nothing")


# Classes.


def _fields(cls: type) -> dict[str, Slot]:
    return {name: cls.__dict__[name] for name in inspect.get_annotations(cls) if name in cls.__dict__}


def _rest(cls: type, slots: Mapping[str, Slot]) -> dict[str, Any]:
    left_out = {"__dict__", "__weakref__", *slots}
    return {name: item for name, item in cls.__dict__.items() if name not in left_out}


def _arguments(cls: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return a value for each field: those given, checked, and the defaults of the others."""
    names = list(cls.slots)
    if len(args) > len(names) or set(keywords) - set(names[len(args) :]):
        raise TypeError(f"{cls.__name__} does not take these arguments")
    given = {**dict(zip(names, args, strict=False)), **keywords}
    return {name: slot.checked(given[name]) if name in given else slot.default() for name, slot in cls.slots.items()}


class _Record:
    """What @state and @value classes have in common."""

    slots: dict[str, Slot]

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self.__dict__.update(_arguments(type(self), args, keywords))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(self.__dict__[name] == other.__dict__[name] for name in self.slots)

    __hash__ = None  # type: ignore[assignment]


class _Mutable(_Record):
    is_mutable = True
    classes: Mapping[str, Any]

    def __setattr__(self, name: str, value: Any) -> None:
        slot = self.slots.get(name)
        if slot is None:
            raise AttributeError(name)
        self.__dict__[name] = slot.stored(self.__dict__[name], slot.checked(value))


class _Frozen(_Record):
    is_mutable = False

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} of a frozen record")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.__dict__[name] for name in self.slots))


def evolve(record: Any, **changes: Any) -> Any:
    """Return a copy of a frozen record with other values in some fields."""
    if not isinstance(record, _Frozen):
        raise TypeError(f"{record!r} is no record")
    return type(record)(**{**record.__dict__, **changes})


def _class_maker(base: type, classes: dict[str, Any]) -> Callable[[type], type]:
    def make(cls: type) -> type:
        slots = _fields(cls)
        made = type(cls.__name__, (base,), {**_rest(cls, slots), "slots": slots, "classes": classes})
        classes[cls.__name__] = made
        return made

    return make


# Functions.


class OracleFunction:
    """An action or property: its function, its kind, and the tuples of its arguments."""

    def __init__(self, function: Callable[..., Any], kind: str, states: int, by: OracleActor | None = None) -> None:
        self.function, self.kind, self.by, self.name = function, kind, by, function.__name__
        code = function.__code__
        self.parameters = code.co_varnames[states : code.co_argcount]

    @cached_property
    def domains(self) -> list[list[Any]]:
        """Return all values of each parameter; a first execution, which has no bounds yet, does not need them."""
        return [_values_of(self.function.__annotations__[name]) for name in self.parameters]

    def only(self, **values: Any) -> OracleSteps:
        """Return the action for some of its arguments."""
        return OracleSteps(self, {name: one if isinstance(one, tuple) else (one,) for name, one in values.items()})

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


class OracleSteps:
    """An action with the values that some of its parameters may have."""

    def __init__(self, action: OracleFunction, values: Mapping[str, tuple[Any, ...]]) -> None:
        self.action, self.values = action, values


class OracleFairness:
    """A declaration of fairness: of which actions, whether it is strong, and for each value of which parameters."""

    def __init__(self, steps: tuple[Any, ...], *, strong: bool, each: Any = ()) -> None:
        self.steps = [one if isinstance(one, OracleSteps) else OracleSteps(one, {}) for one in steps]
        self.strong, self.each = strong, (each,) if isinstance(each, str) else tuple(each)


def leads_to(source: Any, target: Any, *, name: str = "", **_: Any) -> OracleFunction:
    """Return the eventually property whose premise is one predicate, and whose rest is another."""

    def both(*args: Any) -> Any:
        premise(source(*args))
        return target(*args)

    both.__annotations__ = target.__annotations__  # the domains of its parameters are read from there
    made = OracleFunction(target, "eventually", 1)
    made.function, made.name = both, name or f"{source.__name__}_leads_to_{target.__name__}"
    return made


def _values_of(hint: Any) -> list[Any]:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[1]
    if isinstance(hint, Slot) or hasattr(hint, "slots"):
        return _arguments_of(slot_of(hint))
    return [False, True] if hint is bool else list(hint)


def _arguments_of(slot: Slot) -> list[Any]:
    """Return all values of a slot as arguments: the last part changes first; None and False are first."""
    if isinstance(slot, SwitchedSlot):
        return [slot.default()]
    if isinstance(slot, ChoiceSlot):
        return list(slot.enum)
    if isinstance(slot, OptionalSlot):
        return [None, *_arguments_of(slot.inner)]
    if isinstance(slot, SubsetSlot):
        rows = product((False, True), repeat=slot.domain.size)
        return [frozenset(m for m in slot.domain if row[m]) for row in rows]
    if isinstance(slot, RecordSetSlot):
        records = [record for cls in slot.classes for record in _arguments_of(RecordSlot(cls))]
        rows = product((False, True), repeat=len(records))
        return [frozenset(record for record, is_in in zip(records, row, strict=True) if is_in) for row in rows]
    if isinstance(slot, RecordSlot):
        return [slot.cls(*parts) for parts in product(*map(_arguments_of, slot.cls.slots.values()))]
    if isinstance(slot, ArraySlot):
        rows = product(_arguments_of(slot.element), repeat=slot.domain.size)
        return [OracleArgumentArray(slot, list(row)) for row in rows]
    found = slot.values()
    assert found is not None
    return found


def token(argument: Any) -> str:
    """Return an argument as the name of an instance has it."""
    if argument is None or isinstance(argument, Enum):
        return "None" if argument is None else argument.name
    if isinstance(argument, frozenset):
        is_of_records = any(isinstance(member, _Frozen) for member in argument)
        members = sorted(map(token, argument)) if is_of_records else map(str, sorted(argument))
        return "{" + ",".join(members) + "}"
    if isinstance(argument, OracleArray):
        return "[" + ",".join(token(item) for item in argument.items) + "]"
    if isinstance(argument, _Frozen):
        return type(argument).__name__ + "(" + ",".join(token(argument.__dict__[name]) for name in argument.slots) + ")"
    return str(int(argument))


class OracleActor:
    """An actor; the oracle needs to know only whether it is part of the system."""

    def __init__(self, name: str, *, system: bool = True, of: Any = None) -> None:
        self.name, self.system, self.of = name, system, of


class OracleDerived(OracleFunction):
    """A property that is no function of the model: one of a refinement, or one that counts what a constraint cuts."""

    def __init__(self, function: Callable[..., Any], kind: str, name: str, *domains: list[Any]) -> None:
        self.function, self.kind, self.by, self.name, self.domains = function, kind, None, name, list(domains)


class OracleRefinement:
    """What `refines` returns: three properties, which compare images as frozen states."""

    def __init__(self, scenario: OracleScenario, mapping: Callable[[Any, Any], None]) -> None:
        self.scenario, self.mapping, self.slot = scenario, mapping, ObjectSlot(scenario.state)

    def image(self, state: Any) -> Any:
        made = self.scenario.state()
        self.mapping(state, made)
        return self.slot.frozen(made)

    def taken(self, before: Any, after: Any) -> set[str]:
        """Return the names of the actions of which an instance leads from one image to the other."""
        names = set()
        for action in self.scenario.actions:
            for args in product(*action.domains):
                live = self.slot.thawed(before, self.scenario.state.classes)
                try:
                    action.function(live, *args)
                except OracleAbort:
                    pass
                except Exception:
                    continue
                if self.slot.frozen(live) == after:
                    names.add(action.name)
        return names

    def properties(self, detailed: OracleScenario) -> list[OracleFunction]:
        """Return the properties of a scenario that should refine this one."""

        def steps(before: Any, after: Any) -> bool:
            one, other = self.image(before), self.image(after)
            premise(one != other)
            return bool(self.taken(one, other))

        def initially(state: Any) -> bool:
            slot, right = ObjectSlot(detailed.state), {self.slot.frozen(each) for each in starts_of(self.scenario)}
            wrong = {slot.frozen(each) for each in starts_of(detailed) if self.image(each) not in right}
            return slot.frozen(state) not in wrong

        def counted(before: Any, after: Any, action: Enum) -> bool:
            premise(action.name in self.taken(self.image(before), self.image(after)))
            return True

        names = Enum("AbstractAction", [(each.name, each.name) for each in self.scenario.actions])  # type: ignore[misc]
        return [
            OracleDerived(steps, "step", "refines_abstract"),
            OracleDerived(initially, "always", "refines_abstract_initially"),
            OracleDerived(counted, "step", "refines_abstract_by", list(names)),
        ]


def starts_of(scenario: OracleScenario) -> Iterator[Any]:
    """Yield the initial states of a scenario, as objects."""
    start = OracleFunction(scenario.initial, "initial", 1)
    for args in product(*start.domains):
        state = ObjectSlot(scenario.state).default()
        try:
            start.function(state, *args)
        except OracleDisabled:
            continue
        yield state


class OracleScenario:
    """The arguments of a Scenario."""

    def __init__(self, **arguments: Any) -> None:
        self.state: Any = arguments["state"]
        self.actions: tuple[OracleFunction, ...] = tuple(arguments["actions"])
        self.initial: Callable[..., None] = arguments.get("initial", lambda state: None)
        self.constraints: tuple[OracleFunction, ...] = tuple(arguments.get("constraints", ()))
        self.properties: list[OracleFunction] = []
        for prop in arguments.get("properties", ()):
            self.properties += prop.properties(self) if isinstance(prop, OracleRefinement) else [prop]
        self.properties += [_counting(each) for each in self.constraints if each.kind == "constraint"]
        self.bounds: dict[str, int] = arguments.get("bounds", {})
        variant: dict[str, Any] = next(iter(arguments.get("variants", {}).values()), {})
        self.flags: dict[str, Any] = {**arguments.get("flags", {}), **variant}
        self.deadlock_is_error: bool = arguments.get("deadlock_is_error", False)
        fairness = arguments.get("fairness", (None,))
        self.fairness: list[OracleFairness | None] = list(fairness) if isinstance(fairness, tuple) else [fairness]
        """None stands for the weak fairness of each instance of each system action."""


def _counting(constraint: OracleFunction) -> OracleFunction:
    """Return the property whose premise is true of the states that violate a constraint."""

    def cut(state: Any) -> bool:
        premise(not constraint.function(state))
        return True

    return OracleDerived(cut, "always", f"cut_by_{constraint.name}")


FAILED_PREMISES: list[list[Any]] = []
"""While an eventually property is evaluated: where its false premises are noted."""


def require(condition: Any) -> None:
    """Disable the action if the condition is false."""
    if not condition:
        raise OracleDisabled


def premise(condition: Any) -> None:
    """Leave out this state if the condition is false."""
    if condition:
        return
    if not FAILED_PREMISES:
        raise OraclePremise
    FAILED_PREMISES[-1].append(condition)


def _declared(slot: Slot, when: Any) -> Slot:
    return slot if when is None or when else _switched_off(slot)


def _switched_off(slot: Slot) -> Slot:
    """Return the slot that keeps its default; so do the elements of an array."""
    return SwitchedSlot(ArraySlot(slot.domain, _switched_off(slot.element)) if isinstance(slot, ArraySlot) else slot)


def _number(least: int, most: int, *, default: int | None = None, when: Any = None) -> Any:
    upper, lower = (limit.bound if isinstance(limit, BoundInt) else None for limit in (most, least))
    return _declared(NumberSlot(least, most, default, upper, lower), when)


def _subset(of: Any, *more: Any, full: bool = False, default: Any = None, when: Any = None) -> Any:
    if not isinstance(of, OracleDomain):
        return RecordSetSlot((of, *more))
    start = list(of) if full else [] if default is None else default() if callable(default) else default
    members = frozenset(int(one) for one in start if one < of.size)  # a first execution has bounds of 1
    return _declared(SubsetSlot(of, members), when)


FIELDS: dict[str, Callable[..., Any]] = {
    "flag": lambda *, default=False, when=None: _declared(FlagSlot(start=default), when),
    "number": _number,
    "member": lambda domain, *, default=0, when=None: _declared(NumberSlot(0, domain.size - 1, default), when),
    "choice": lambda enum, *, default=None, when=None: _declared(ChoiceSlot(enum, default), when),
    "optional": lambda of, *, when=None: _declared(OptionalSlot(slot_of(of)), when),
    "subset": _subset,
    "bounded_set": lambda of, most: RecordSetSlot((of,), most),
    "array": lambda domain, element, *, when=None: _declared(ArraySlot(domain, slot_of(element)), when),
    "fifo": lambda element, capacity: FifoSlot(slot_of(element), capacity),
    "fresh": FreshSlot,
    "nested": slot_of,
}
LIVENESS_KINDS = ("eventually", "inevitable", "always_eventually", "eventually_always")
KINDS = {"always": 1, "when_quiescent": 1, "reachable": 1, "step": 2, **dict.fromkeys(LIVENESS_KINDS, 1)}
"""The kinds of properties, each with the number of states that it takes."""


def namespace(bounds: Mapping[str, int], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names that a model imports from kwalk, with the oracle's meaning of each.

    Args:
        bounds: The value of each bound and the size of each domain.
        flags: The setting of each flag.
    """
    classes: dict[str, Any] = {}

    def bound(name: str, about: str = "") -> BoundInt:
        return BoundInt(bounds.get(name, 1), name)

    def domain(name: str, about: str = "", *, size: BoundInt | None = None, **_: Any) -> OracleDomain:
        return OracleDomain(name, BoundInt(bounds.get(name, 1), name) if size is None else size)

    def flag(name: str, about: str = "", **_: Any) -> Any:
        return flags.get(name, False)

    def declared(kind: str) -> Callable[..., Any]:
        return lambda **_: lambda function: OracleFunction(function, kind, KINDS[kind])

    def action(*, by: OracleActor, **_: Any) -> Callable[..., Any]:
        return lambda function: OracleFunction(function, "action", 1, by)

    return {
        "Abort": OracleAbort,
        "Actor": OracleActor,
        "Array": list,
        "Fifo": list,
        "Fresh": OracleFresh,
        "Bound": bound,
        "Domain": domain,
        "Flag": flag,
        "Scenario": OracleScenario,
        "action": action,
        "leads_to": leads_to,
        "SYSTEM_FAIRNESS": None,
        "weakly_fair": lambda *steps, each=(): OracleFairness(steps, strong=False, each=each),
        "strongly_fair": lambda *steps, each=(): OracleFairness(steps, strong=True, each=each),
        "constraint": lambda **_: lambda function: OracleFunction(function, "constraint", 1),
        "action_constraint": lambda **_: lambda function: OracleFunction(function, "action_constraint", 2),
        "refines": OracleRefinement,
        "require": require,
        "premise": premise,
        "evolve": evolve,
        "state": _class_maker(_Mutable, classes),
        "value": _class_maker(_Frozen, classes),
        **FIELDS,
        **{kind: declared(kind) for kind in KINDS},
    }
