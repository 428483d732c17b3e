"""Shapes of records: state classes, nested and updated in place, and frozen values, replaced as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import islice, product
from math import prod
from typing import Any

from attrs import fields, frozen

from kwalk.model.language.binding import cached
from kwalk.model.language.declared import kind_of_class
from kwalk.model.language.errors import DomainError
from kwalk.model.language.shapes import (
    MAX_CACHED_VALUES,
    ChoiceShape,
    Copier,
    FlagShape,
    Leaf,
    NumberShape,
    Reader,
    Shape,
    Writer,
)


@frozen
class RecordShape(Shape):
    """A nested state class, updated in place: storing one copies its fields."""

    cls: type

    def default(self) -> Any:
        return self.copy(cached(("fresh", self), self.cls))  # to copy takes a fifth of the time of checking all fields

    def check(self, value: Any, where: str) -> Any:
        if isinstance(value, self.cls):
            return value
        raise DomainError(f"{where} must be a {self.cls.__name__} (got {value!r}).")

    def copier(self) -> Copier:
        names, lines = self._creation(), ["twin = new(cls)"]
        for number, (name, shape) in enumerate(shapes_of(self.cls)):
            copy_field = names[f"copy_{number}"] = shape.copier()
            content = f"value.{name}" if copy_field is None else f"copy_{number}(value.{name})"
            lines.append(f"put_{number}(twin, {content})")
        return _function("value", [*lines, "return twin"], names)

    def _creation(self) -> dict[str, Any]:
        """Return what lines call that make a record without checks: `new` with `cls`, and `put_N` for each field."""
        puts = {f"put_{n}": getattr(self.cls, name).__set__ for n, (name, _) in enumerate(shapes_of(self.cls))}
        return {"cls": self.cls, "new": object.__new__, **puts}

    def assign(self, cached: Any, value: Any) -> Any:
        source = self.copy(value)
        for name, shape in shapes_of(self.cls):
            object.__setattr__(cached, name, shape.assign(getattr(cached, name), getattr(source, name)))
        return cached

    def leaves(self, path: str) -> Iterator[Leaf]:
        for name, shape in shapes_of(self.cls):
            yield from shape.leaves(f"{path}.{name}" if path else name)

    def writer(self) -> Writer:
        return _writer_of_fields(self.cls)

    def reader(self) -> Reader:
        names, lines = self._creation(), ["made = new(cls)"]
        for number, (_, shape) in enumerate(shapes_of(self.cls)):
            names[f"read_{number}"] = shape.reader()
            lines.append(f"put_{number}(made, read_{number}(numbers))")
        return _function("numbers", [*lines, "return made"], names)


def _writer_of_fields(cls: type) -> Writer:
    """Return a function that appends the leaves of all fields of a record."""
    names: dict[str, Any] = {}
    lines = []
    for number, (name, shape) in enumerate(shapes_of(cls)):
        names[f"write_{number}"] = shape.writer()
        lines.append(f"write_{number}(value.{name}, into)")
    return _function("value, into", lines or ["pass"], names)


def _function(parameters: str, lines: Iterable[str], names: dict[str, Any]) -> Callable[..., Any]:
    """Return a function of these lines, which call what the names mean: a loop over fields takes twice the time."""
    exec("\n".join([f"def function({parameters}):", *(f"    {line}" for line in lines)]), names)
    function: Callable[..., Any] = names["function"]
    return function


@frozen
class ValueShape(Shape):
    """A frozen record, such as a message; with `optional`, or None."""

    cls: type
    optional: bool = False

    def default(self) -> Any:
        return None if self.optional else self.cls()

    def check(self, value: Any, where: str) -> Any:
        if isinstance(value, self.cls) or (value is None and self.optional):
            return value
        raise DomainError(f"{where} must be a {self.cls.__name__}{' or None' * self.optional} (got {value!r}).")

    def leaves(self, path: str) -> Iterator[Leaf]:
        if self.optional:
            yield Leaf(f"{path}?", 0, 1, FlagShape())
        for name, shape in shapes_of(self.cls):
            yield from shape.leaves(f"{path}.{name}")

    def writer(self) -> Writer:
        write_fields = _writer_of_fields(self.cls)
        empty = (0, *(number for _, shape in shapes_of(self.cls) for number in shape.default_numbers()))

        def write(value: Any, into: list[int]) -> None:
            if value is None:
                into.extend(empty)
                return
            if self.optional:
                into.append(1)
            write_fields(value, into)

        return write

    def reader(self) -> Reader:
        """Return a function that returns one record for equal numbers: it never changes, so states can share it."""
        found = cached(("values", self), dict[tuple[int, ...], Any])
        size, fields = self.size(), [(name, shape.reader()) for name, shape in shapes_of(self.cls)]

        def read(numbers: Iterator[int]) -> Any:
            key = tuple(islice(numbers, size))
            if key not in found:
                if len(found) >= MAX_CACHED_VALUES:
                    found.clear()
                left = iter(key)
                is_there = not self.optional or next(left)
                found[key] = self.cls(**{name: read_field(left) for name, read_field in fields}) if is_there else None
            return found[key]

        return read

    def text(self, value: Any) -> str:
        """Return a record by its own `__str__` if its class has one, else its name and fields.

        Left out are fields that exist only under a flag which is off, but for choices, which say what is modelled, and
        numbers that are always the same, as under a bound of 0.
        """
        if value is None:
            return "none"
        if "__str__" in self.cls.__dict__:
            return str(value)
        shapes = ((name, s) for name, s in shapes_of(self.cls) if not is_constant(s))
        fields = (f"{name.replace('_', ' ')} {s.text(getattr(value, name))}" for name, s in shapes)
        return f"{self.cls.__name__}({', '.join(fields)})"

    def count(self) -> int:
        return int(self.optional) + prod(shape.count() for _, shape in shapes_of(self.cls))

    def values(self) -> Iterator[Any]:
        if self.optional:
            yield None
        names = [name for name, _ in shapes_of(self.cls)]
        for row in product(*(tuple(shape.values()) for _, shape in shapes_of(self.cls))):
            yield self.cls(**dict(zip(names, row, strict=True)))


def is_constant(shape: Shape) -> bool:
    """Whether the text of a record leaves a field out, as it always has the same value."""
    if isinstance(shape, NumberShape):
        return shape.count() == 1
    return shape.fixed and not isinstance(shape, ChoiceShape)


def token_of(value: Any) -> str:
    """Return a scalar, set or record as text without spaces: `2`, `RED`, `None`, `{0,2}`, `Vote(1,0)`."""
    if value is None or isinstance(value, Enum):
        return "None" if value is None else value.name
    if isinstance(value, frozenset):
        in_order = sorted(value) if all(isinstance(one, int) for one in value) else sorted(value, key=token_of)
        return f"{{{','.join(map(token_of, in_order))}}}"
    if kind_of_class(type(value)) == "value":
        return f"{type(value).__name__}({','.join(token_of(getattr(value, one.name)) for one in fields(type(value)))})"
    return str(int(value))


def shapes_of(cls: type) -> list[tuple[str, Shape]]:
    """Return the fields of a state or value class with their shapes under the active binding, in declaration order."""
    declared, is_switched = cls.__dict__.get("__shapes__") or _declared(cls)
    if not is_switched:
        return declared
    return cached(cls, lambda: [(name, shape.now()) for name, shape in declared])


def _declared(cls: type) -> tuple[list[tuple[str, Shape]], bool]:
    """Return the fields as declared, and whether a flag switches one of them; cached in the class."""
    declared = [(f.name, f.metadata["shape"]) for f in fields(cls)]
    cached = declared, any(type(shape).now is not Shape.now for _, shape in declared)
    cls.__shapes__ = cached  # type: ignore[attr-defined]
    return cached
