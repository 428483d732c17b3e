"""Shapes: what a field may hold, how it is checked, copied, and laid out as a vector of small ints.

Words: a *shape* describes one field. A *leaf* is one scalar of the state: a flag or an int in `low … high`. The
*vector* of a state is the tuple of all its leaves in declaration order; it is canonical (equal states have equal
vectors), and all engines exchange it. None is stored as -1. An empty slot holds its shape's default, so that states do
not differ in what cannot be observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, EnumType
from functools import cache
from itertools import product
from typing import Any

from attrs import field, frozen

from kwalk.model.language.binding import Bound, Domain, ScenarioConstant, cached, identity_of, plain_value, reach
from kwalk.model.language.errors import DomainError, LiftError

NONE = -1
"""How a vector stores None."""
LARGEST = 2**31
"""The largest number and the largest bound that a model may have."""


@frozen
class Leaf:
    """One scalar of the state: its path from the root, its range, and the shape that prints it."""

    path: str
    low: int
    high: int
    shape: Shape

    @property
    def is_truth_value(self) -> bool:
        """Return whether it is a flag (also of one member of a set, or of the presence of an optional record)."""
        return isinstance(self.shape, FlagShape)

    def show(self, number: int) -> str:
        """Return this leaf's value as text."""
        return self.shape.show(number)


Reader = Callable[[Iterator[int]], Any]
"""A function that takes the leaves of one value from a vector and makes the value."""
Writer = Callable[[Any, list[int]], None]
"""A function that appends the leaves of a value to a vector under construction."""
Copier = Callable[[Any], Any]
"""A function that returns a value which shares nothing mutable with the given one."""
MAX_CACHED_VALUES = 100_000
"""The number of values of one shape that are cached for states to share."""


class Shape:
    """The interface of all shapes."""

    fixed = False
    """Whether the default is the only value."""

    def now(self) -> Shape:
        """Return the shape under the flags of the active binding."""
        return self

    def default(self) -> Any:
        """Return a new value, as a field has it at first."""
        raise NotImplementedError

    def check(self, value: Any, where: str) -> Any:
        """Return the value in the form in which it is stored.

        Raises:
            DomainError: it is not in the domain.
            BoundReached: it exceeds a bound of the scenario.
        """
        raise NotImplementedError

    def copier(self) -> Copier | None:
        """Return what copies values of this shape under the active binding; None if they never change."""
        return None

    def copy(self, value: Any) -> Any:
        """Return a value that shares nothing mutable with the given one."""
        copier = cached(("copier", self), self.copier)
        return value if copier is None else copier(value)

    def assign(self, cached: Any, value: Any) -> Any:
        """Return what a field holds after `value` is stored over `target`: mutable objects keep their identity."""
        return self.copy(value)

    def leaves(self, path: str) -> Iterator[Leaf]:
        """Yield the leaves of a value of this shape, in vector order."""
        raise NotImplementedError

    def writer(self) -> Writer:
        """Return a function that appends the leaves of a value to a vector, under the active binding."""
        raise NotImplementedError

    def flatten(self, value: Any, into: list[int]) -> None:
        """Append the value's leaves to a vector under construction."""
        cached(("writer", self), self.writer)(value, into)

    def reader(self) -> Reader:
        """Return a function that makes the value whose leaves come next in a vector, under the active binding."""
        raise NotImplementedError

    def rebuild(self, numbers: Iterator[int]) -> Any:
        """Return the value whose leaves come next in a vector."""
        return cached(("reader", self), self.reader)(numbers)

    def size(self) -> int:
        """Return the number of leaves of a value of this shape."""
        return cached(("size", self), lambda: sum(1 for _ in self.leaves("")))

    def default_numbers(self) -> tuple[int, ...]:
        """Return the leaves of the default."""
        return cached(("default", self), lambda: self._numbers_of(self.default()))

    def _numbers_of(self, value: Any) -> tuple[int, ...]:
        numbers: list[int] = []
        self.flatten(value, numbers)
        return tuple(numbers)

    def show(self, number: int) -> str:
        """Return a leaf of this shape as text."""
        return str(number)

    def text(self, value: Any) -> str:
        """Return a value as reports print it."""
        raise NotImplementedError

    # The values of a shape that an action or property can have as an argument.

    def count(self) -> int:
        """Return how many values there are.

        Raises:
            LiftError: a value of this shape is no argument.
        """
        raise LiftError(f"a {type(self).__name__.removesuffix('Shape')} is no argument of an action or property")

    def values(self) -> Iterator[Any]:
        """Yield all values, in the order of their vectors; they never change.

        Raises:
            LiftError: a value of this shape is no argument.
        """
        self.count()
        raise NotImplementedError


class Scalar(Shape):
    """A shape with exactly one leaf."""

    def low(self) -> int:
        """Return the least stored number."""
        return 0

    def high(self) -> int:
        """Return the greatest stored number."""
        raise NotImplementedError

    def leaves(self, path: str) -> Iterator[Leaf]:
        yield Leaf(path, self.low(), self.high(), self)

    def writer(self) -> Writer:
        return lambda value, into: into.append(value)

    def reader(self) -> Reader:
        return lambda numbers: self.value(next(numbers))

    def value(self, number: int) -> Any:
        """Return the value that a number in a vector stands for."""
        return number

    def text(self, value: Any) -> str:
        return self.show(self._numbers_of(value)[0])

    def count(self) -> int:
        return self.high() - self.low() + 1

    def values(self) -> Iterator[Any]:
        return map(self.value, range(self.low(), self.high() + 1))


@frozen
class FlagShape(Scalar):
    """True or False."""

    start: bool = False

    def default(self) -> bool:
        return self.start

    def high(self) -> int:
        return 1

    def check(self, value: Any, where: str) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, ScenarioConstant):
            return self.check(value.value, where)
        raise DomainError(f"{where} must be True or False (got {value!r}).")

    def writer(self) -> Writer:
        return lambda value, into: into.append(int(value))

    def value(self, number: int) -> bool:
        return bool(number)

    def show(self, number: int) -> str:
        return "yes" if number else "no"


@frozen
class NumberShape(Scalar):
    """An int between two limits. Going beyond a limit that is a Bound is a bound hit, anything else an error."""

    least: int | Bound = field(eq=identity_of)
    most: int | Bound = field(eq=identity_of)
    start: int | Bound = field(eq=identity_of)

    def default(self) -> int:
        return int(self.start)

    def reader(self) -> Reader:
        return next  # a vector holds the value itself

    def low(self) -> int:
        return int(self.least)

    def high(self) -> int:
        return int(self.most)

    def check(self, value: Any, where: str) -> int:
        if type(value) is int and self.low() <= value <= self.high():
            return value
        if type(value) is int and value > self.high() and isinstance(self.most, Bound):
            reach(self.most)
            return value
        if type(value) is int and value < self.low() and isinstance(self.least, Bound):
            reach(self.least)
            return value
        if isinstance(value, ScenarioConstant):
            return self.check(value.value, where)
        raise DomainError(f"{where} must be an int in {self.low()} … {self.high()} (got {value!r}).")


@frozen
class MemberShape(Scalar):
    """A member of a domain."""

    domain: Domain
    start: int | Bound = field(default=0, eq=identity_of)

    def default(self) -> int:
        return int(self.start)

    def reader(self) -> Reader:
        return next  # a vector holds the value itself

    def high(self) -> int:
        return len(self.domain) - 1

    def check(self, value: Any, where: str) -> int:
        if type(value) is int and value in self.domain:
            return value
        if isinstance(value, ScenarioConstant):
            return self.check(value.value, where)
        raise DomainError(f"{where} must be a member of {self.domain.name}, 0 … {self.high()} (got {value!r}).")

    def show(self, number: int) -> str:
        return self.domain.label(number)


CHANGED_BY = (
    "__eq__",
    "__hash__",
    "__bool__",
    "__len__",
    "__contains__",
    "__iter__",
    "__getattr__",
    "__getattribute__",
)
"""Special methods that give members of an Enum another meaning than that of distinct constants."""


@cache
def is_plain_enum(enum: type[Enum]) -> bool:
    """Return whether the members of an Enum are distinct constants that are true, and nothing else."""
    bases = (base for base in enum.__mro__ if base not in (Enum, object))
    is_own = type(enum) is EnumType and getattr(enum, "_member_type_", None) is object
    return is_own and not any(name in base.__dict__ for base in bases for name in CHANGED_BY)


def _check_plain(instance: ChoiceShape, attribute: Any, enum: type[Enum]) -> None:
    if not is_plain_enum(enum):
        raise LiftError(
            f"A field cannot hold members of {enum.__name__}, which are more than constants to Python. Derive it from "
            "Enum alone, without special methods."
        )


@frozen
class ChoiceShape(Scalar):
    """A member of an Enum.

    Raises:
        LiftError: the Enum is not plain: one field of it would mean a number, and be true or false, to Python only.
    """

    enum: type[Enum] = field(validator=_check_plain)
    start: Enum

    def default(self) -> Enum:
        return self.start

    def high(self) -> int:
        return len(self.enum) - 1

    def members(self) -> tuple[Enum, ...]:
        """Return the members in the order in which vectors number them."""
        return _members(self.enum)

    def check(self, value: Any, where: str) -> Enum:
        if isinstance(value, self.enum):
            return value
        raise DomainError(f"{where} must be a member of {self.enum.__name__} (got {value!r}).")

    def writer(self) -> Writer:
        position = self.members().index
        return lambda value, into: into.append(position(value))

    def reader(self) -> Reader:
        members = self.members()
        return lambda numbers: members[next(numbers)]

    def value(self, number: int) -> Enum:
        return self.members()[number]

    def show(self, number: int) -> str:
        return self.members()[number].name.lower()


@cache
def _members(enum: type[Enum]) -> tuple[Enum, ...]:
    return tuple(enum)


@frozen
class OptionalShape(Scalar):
    """A scalar or None. Only for scalars whose least number is 0 or more, as -1 stands for None."""

    inner: Scalar

    def default(self) -> None:
        return None

    def low(self) -> int:
        return NONE

    def high(self) -> int:
        return self.inner.high()

    def check(self, value: Any, where: str) -> Any:
        return None if value is None else self.inner.check(value, where)

    def writer(self) -> Writer:
        write_inner = self.inner.writer()

        def write(value: Any, into: list[int]) -> None:
            if value is None:
                into.append(NONE)
            else:
                write_inner(value, into)

        return write

    def reader(self) -> Reader:
        least, value = self.inner.low(), self.inner.value

        def read(numbers: Iterator[int]) -> Any:
            number = next(numbers)
            return None if number < least else value(number)

        return read

    def value(self, number: int) -> Any:
        """Return the value of a number; one between None and the least value, which no state has, is None as well."""
        return None if number < self.inner.low() else self.inner.value(number)

    def show(self, number: int) -> str:
        return "none" if number == NONE else self.inner.show(number)

    def count(self) -> int:
        return 1 + self.inner.count()

    def values(self) -> Iterator[Any]:
        yield None
        yield from self.inner.values()


def _start_identity(start: Any) -> Any:
    return tuple(map(identity_of, start)) if isinstance(start, tuple) else start


@frozen
class SubsetShape(Shape):
    """A set of members of a domain; a frozenset in Python, a flag per member in a vector."""

    domain: Domain
    start: bool | tuple[int | Bound, ...] | Callable[[], Iterable[int]] = field(default=False, eq=_start_identity)
    """The members at first: all or none, these, or those that a function of the bounds returns."""

    def default(self) -> frozenset[int]:
        if isinstance(self.start, bool):
            return frozenset(self.domain) if self.start else frozenset()
        return frozenset(map(plain_value, self.start() if callable(self.start) else self.start))

    def check(self, value: Any, where: str) -> frozenset[int]:
        if isinstance(value, (set, frozenset)):
            members = frozenset(map(plain_value, value))
            if all(type(m) is int and m in self.domain for m in members):
                return members
        raise DomainError(f"{where} must be a set of members of {self.domain.name} (got {value!r}).")

    def leaves(self, path: str) -> Iterator[Leaf]:
        for member in self.domain:
            yield Leaf(f"{path}{{{member}}}", 0, 1, FlagShape())

    def writer(self) -> Writer:
        members, known = tuple(self.domain), dict[frozenset[int], tuple[int, ...]]()

        def write(value: frozenset[int], into: list[int]) -> None:
            numbers = known.get(value)
            if numbers is None:
                if len(known) >= MAX_CACHED_VALUES:
                    known.clear()
                numbers = known[value] = tuple(int(member in value) for member in members)
            into.extend(numbers)

        return write

    def reader(self) -> Reader:
        members = range(len(self.domain))
        return lambda numbers: frozenset([member for member in members if next(numbers)])

    def text(self, value: frozenset[int]) -> str:
        return "{" + ", ".join(self.domain.label(member) for member in sorted(value)) + "}"

    def count(self) -> int:
        return int(2 ** len(self.domain))

    def values(self) -> Iterator[frozenset[int]]:
        return (self.rebuild(iter(flags)) for flags in product((0, 1), repeat=len(self.domain)))


def shape_field(shape: Shape) -> Any:
    """Return an attrs field that begins with its shape's default and checks what is written to it."""
    return field(factory=shape.default, metadata={"shape": shape})
