"""Random declarations: domains, bounds, flags, Enums, record and state classes, with the types that expressions need.

Words: a *type* is what the generator knows of a value, such as the range of an int. A *path* is an expression
that reads a part of the state; an index in it is written `{domain}`, to be replaced by an index expression.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import prod

from attrs import define, field, frozen

MOST_RECORDS = 40
"""The most records that can be in a flagged set."""


@frozen
class IntType:
    """An int from `low` to `high`."""

    low: int
    high: int


@frozen
class BoolType:
    """A truth value."""


@frozen
class EnumType:
    """A member of an Enum."""

    name: str
    members: tuple[str, ...]


@frozen
class OptType:
    """What `inner` is, or None."""

    inner: GeneratedType


@frozen
class SetType:
    """A set of members of a domain of this size."""

    domain: str
    size: int


@frozen
class ClassType:
    """A record or an object of a generated class."""

    name: str
    fields: tuple[FieldText, ...]
    is_mutable: bool


@frozen
class ArrayType:
    """An Array over a domain."""

    domain: str
    size: int
    element: GeneratedType
    declaration: str
    """That of its elements: only objects of one kind are stored in place of each other."""


@frozen
class FifoType:
    """A queue."""

    element: GeneratedType
    declaration: str
    """That of its elements."""


@frozen
class RecordSetType:
    """A set of records in the state, of some classes; `most` is the text of its bound, if it has one."""

    classes: tuple[ClassType, ...]
    most: str = ""


@frozen
class SomeRecordsType:
    """A set of records of a class that is a value of Python, whose order is not defined."""

    cls: ClassType


@frozen
class FreshType:
    """A source of ids."""

    domain: str
    size: int


GeneratedType = (
    IntType
    | BoolType
    | EnumType
    | OptType
    | SetType
    | ClassType
    | ArrayType
    | FifoType
    | FreshType
    | RecordSetType
    | SomeRecordsType
)


@frozen
class FieldText:
    """A field: its name, its annotation and declaration as text, and its type."""

    name: str
    annotation: str
    declaration: str
    type: GeneratedType
    is_fixed: bool = False
    """Whether its flag is off, so that writing it is an error."""
    bound: str = ""
    """The bound that limits it from above."""


@frozen
class PathText:
    """A path, its type, and what a write to it must respect."""

    text: str
    type: GeneratedType
    is_fixed: bool = False
    is_writable: bool = True
    bound: str = ""


@define
class SchemaText:
    """The declarations of one model."""

    domains: dict[str, int]
    limits: dict[str, int]
    sizes: dict[str, str]
    """For each domain whose size follows from bounds, its size as text."""
    flags: dict[str, bool | str]
    enums: list[EnumType]
    records: list[ClassType] = field(factory=list)
    parts: list[ClassType] = field(factory=list)
    root: ClassType | None = None

    @property
    def bounds(self) -> dict[str, int]:
        """Return the values of the scenario's bounds: those of domains and limits, by the names in the text."""
        given = {name: size for name, size in {**self.domains, **self.limits}.items() if name not in self.sizes}
        return {name.lower(): size for name, size in given.items()}

    def paths(self, root: str, cls: ClassType | None = None) -> list[PathText]:
        """Return every path below an object of a class; by default below the root of the state."""
        found = cls or self.root
        assert found is not None
        return [path for one in found.fields for path in _paths(f"{root}.{one.name}", one)]


def value_count(kind: GeneratedType) -> int:
    """Return how many values an immutable type, or an array of one, has as an argument."""
    if isinstance(kind, IntType):
        return kind.high - kind.low + 1
    if isinstance(kind, EnumType):
        return len(kind.members)
    if isinstance(kind, OptType):
        return 1 + value_count(kind.inner)
    if isinstance(kind, SetType):
        return int(2**kind.size)
    if isinstance(kind, ClassType):
        return prod(1 if one.is_fixed else value_count(one.type) for one in kind.fields)
    if isinstance(kind, ArrayType):
        return int(value_count(kind.element) ** kind.size)
    if isinstance(kind, SomeRecordsType):
        return int(2 ** min(value_count(kind.cls), 64))
    return 2


def argument_types(schema: SchemaText, most: int) -> list[tuple[str, GeneratedType]]:
    """Return annotations of parameters that have a structure, each with its type, of at most this many arguments."""
    found: list[tuple[str, GeneratedType]] = [(cls.name, cls) for cls in schema.records]
    found += [(f"Annotated[frozenset[{cls.name}], subset({cls.name})]", SomeRecordsType(cls)) for cls in schema.records]
    for domain, size in schema.domains.items():
        subset = SetType(domain, size)
        found += [
            (f"Annotated[frozenset[int], subset({domain})]", subset),
            (f"Annotated[int | None, optional({domain})]", OptType(IntType(0, size - 1))),
            (f"Annotated[Array[bool], array({domain}, flag())]", ArrayType(domain, size, BoolType(), "flag()")),
            (
                f"Annotated[Array[frozenset[int]], array({domain}, subset({domain}))]",
                ArrayType(domain, size, subset, f"subset({domain})"),
            ),
            *(
                (f"Annotated[Array[{cls.name}], array({domain}, {cls.name})]", ArrayType(domain, size, cls, cls.name))
                for cls in schema.records
            ),
        ]
    return [(text, kind) for text, kind in found if value_count(kind) <= most]


def expanded(path: PathText) -> tuple[PathText, ...]:
    """Return a path or variable with all paths below it."""
    return (path, *_below(path))


def _paths(text: str, declared: FieldText) -> Iterator[PathText]:
    yield PathText(text, declared.type, declared.is_fixed, declared.is_fixed is False, declared.bound)
    yield from _below(PathText(text, declared.type, declared.is_fixed, True, declared.bound))


def _below(path: PathText) -> Iterator[PathText]:
    kind, text = path.type, path.text
    if isinstance(kind, ArrayType):
        element = PathText(f"{text}[{{{kind.domain}}}]", kind.element, path.is_fixed, path.is_writable, path.bound)
        yield element
        yield from _below(element)
    elif isinstance(kind, ClassType):
        for one in kind.fields:
            writable = path.is_writable and kind.is_mutable
            inner = PathText(f"{text}.{one.name}", one.type, path.is_fixed or one.is_fixed, writable, one.bound)
            yield inner
            yield from _below(inner)


class SchemaMaker:
    """Draws declarations.

    Args:
        rng: The source of all choices.
        rich: Whether to draw larger states, which a search cannot exhaust.
    """

    def __init__(self, rng: random.Random, *, rich: bool = False) -> None:
        self.rng, self.rich = rng, rich
        domains = {name: rng.choice((1, 2, 2, 2, 3)) for name in ("DA", "DB")[: rng.choice((1, 2))]}
        limits = {"LIM": rng.choice((0, 1, 2, 2, 3)), "CAP": rng.choice((0, 1, 1, 2, 2, 3))}
        sizes: dict[str, str] = {}
        if "DB" in domains and rng.random() < 0.4:
            chosen = (
                ("LIM + 1", limits["LIM"] + 1),
                ("DA.bound", domains["DA"]),
                ("4 - DA.bound", 4 - domains["DA"]),
                ("CAP - LIM", limits["CAP"] - limits["LIM"]),
                ("2 ** DA.bound", 2 ** domains["DA"]),
            )
            sizes["DB"], domains["DB"] = rng.choice([(text, size) for text, size in chosen if 1 <= size <= 4])
        self.made = SchemaText(
            domains,
            limits,
            sizes,
            {"ON": rng.random() < 0.6, "OFF": rng.random() < 0.3, "MODE": rng.choice(("old", "new"))},
            [EnumType(f"E{n}", ("A", "B", "C")[: rng.choice((1, 2, 3))]) for n in range(rng.choice((1, 1, 2)))],
        )

    def schema(self) -> SchemaText:
        """Return the declarations of a model."""
        rng, made = self.rng, self.made
        for number in range(rng.choice((1, 1, 2))):
            made.records.append(self._class(f"V{number}", rng.randint(1, 3), mutable=False))
        for number in range(rng.choice((0, 1, 1, 2))):
            made.parts.append(self._class(f"N{number}", rng.randint(1, 3), mutable=True))
        made.root = self._class("S", rng.randint(3, 6) + 4 * self.rich, mutable=True, is_root=True)
        return made

    def _class(self, name: str, count: int, *, mutable: bool, is_root: bool = False) -> ClassType:
        fields = []
        for number in range(count):
            makers = self._root_makers() if is_root else self._part_makers() if mutable else self._record_makers()
            fields.append(self.rng.choice(makers)(f"{name.lower()}{number}" if not is_root else f"f{number}"))
        if is_root and not any(isinstance(f.type, (IntType, BoolType)) for f in fields):
            fields.append(self._number("count"))
        return ClassType(name, tuple(fields), mutable)

    def _record_makers(self) -> list:  # type: ignore[type-arg]
        return [self._number, self._flag, self._member, self._choice, self._optional, self._subset, self._record]

    def _part_makers(self) -> list:  # type: ignore[type-arg]
        return [*self._record_makers(), self._array, self._optional_record, self._fifo, self._fresh, self._record_set]

    def _root_makers(self) -> list:  # type: ignore[type-arg]
        return [
            *self._part_makers(),
            self._number,
            self._flag,
            self._array,
            self._array,
            self._nested,
            self._fifo,
            self._record_set,
        ]

    # Fields.

    def _when(self, name: str, annotation: str, call: str, kind: GeneratedType) -> FieldText:
        """Return a field, sometimes one that a flag or bound switches."""
        chance = self.rng.random()
        if chance > 0.12:
            return FieldText(name, annotation, call, kind)
        when, is_on = self.rng.choice(
            (("ON", self.made.flags["ON"]), ("OFF", self.made.flags["OFF"]), ("LIM", self.made.limits["LIM"] > 0))
        )
        text = call[:-1] + (", " if not call.endswith("(") and call[-2] != "(" else "") + f"when={when})"
        return FieldText(name, annotation, text, kind, is_fixed=not is_on)

    def _domain(self) -> tuple[str, int]:
        return self.rng.choice(list(self.made.domains.items()))

    def _number(self, name: str) -> FieldText:
        if self.rng.random() < 0.4:
            limit = self.made.limits["LIM"]
            call, kind = self.rng.choice(
                (
                    ("number(0, LIM)", IntType(0, limit)),
                    ("number(0, LIM)", IntType(0, limit)),
                    ("number(0, LIM + 1)", IntType(0, limit + 1)),
                    ("number(-LIM, LIM)", IntType(-limit, limit)),
                    ("number(-LIM, 2 * LIM, default=LIM)", IntType(-limit, 2 * limit)),
                    ("number(1 - LIM, LIM + 1, default=1)", IntType(1 - limit, limit + 1)),
                )
            )
            found = self._when(name, "int", call, kind)
            return FieldText(name, "int", found.declaration, kind, found.is_fixed, "lim")
        low = self.rng.choice((0, 0, 0, 0, -1, -2, 1))
        high = low + self.rng.choice((0, 1, 2, 2, 3))
        default = f", default={self.rng.randint(low, high)}" if self.rng.random() < 0.4 else ""
        return self._when(name, "int", f"number({low}, {high}{default})", IntType(low, high))

    def _flag(self, name: str) -> FieldText:
        return self._when(name, "bool", self.rng.choice(("flag()", "flag()", "flag(default=True)")), BoolType())

    def _member(self, name: str) -> FieldText:
        domain, size = self._domain()
        default = f", default={self.rng.randrange(size)}" if self.rng.random() < 0.3 else ""
        return self._when(name, "int", f"member({domain}{default})", IntType(0, size - 1))

    def _choice(self, name: str) -> FieldText:
        enum = self.rng.choice(self.made.enums)
        default = f", default={enum.name}.{self.rng.choice(enum.members)}" if self.rng.random() < 0.3 else ""
        return self._when(name, enum.name, f"choice({enum.name}{default})", enum)

    def _optional(self, name: str) -> FieldText:
        domain, size = self._domain()
        enum, low = self.rng.choice(self.made.enums), self.rng.choice((0, 0, 1))
        return self.rng.choice(
            (
                lambda: self._when(name, "int | None", f"optional({domain})", OptType(IntType(0, size - 1))),
                lambda: self._when(name, f"{enum.name} | None", f"optional({enum.name})", OptType(enum)),
                lambda: self._when(
                    name, "int | None", f"optional(number({low}, {low + 2}))", OptType(IntType(low, low + 2))
                ),
            )
        )()

    def _subset(self, name: str) -> FieldText:
        domain, size = self._domain()
        calls = [f"subset({domain}{more})" for more in ("", "", ", full=True", ", default={0}")]
        if self.made.limits["LIM"] < size:
            calls += [f"subset({domain}, default=(LIM, 0))", f"subset({domain}, default=lambda: range(LIM))"]
        call = self.rng.choice(calls)
        return self._when(name, "frozenset[int]", call, SetType(domain, size))

    def _record(self, name: str) -> FieldText:
        if not self.made.records:
            return self._flag(name)
        cls = self.rng.choice(self.made.records)
        return FieldText(name, cls.name, f"nested({cls.name})", cls)

    def _optional_record(self, name: str) -> FieldText:
        cls = self.rng.choice(self.made.records)
        return self._when(name, f"{cls.name} | None", f"optional({cls.name})", OptType(cls))

    def _nested(self, name: str) -> FieldText:
        cls = self.rng.choice([*self.made.parts, *self.made.records])
        return FieldText(name, cls.name, f"nested({cls.name})", cls)

    def _array(self, name: str) -> FieldText:
        domain, size = self._domain()
        annotation, call, element = self._element(deep=True)
        kind = ArrayType(domain, size, element, call)
        made = FieldText(name, f"Array[{annotation}]", f"array({domain}, {call})", kind)
        return self._when(name, made.annotation, made.declaration, made.type) if _is_plain(element) else made

    def _element(self, *, deep: bool) -> tuple[str, str, GeneratedType]:
        """Return the annotation, declaration and type of an element."""
        domain, size = self._domain()
        enum, rng = self.rng.choice(self.made.enums), self.rng
        options: list[tuple[str, str, GeneratedType]] = [
            ("int", "number(0, 2)", IntType(0, 2)),
            ("bool", "flag()", BoolType()),
            ("int", domain, IntType(0, size - 1)),
            (enum.name, enum.name, enum),
            ("int | None", f"optional({domain})", OptType(IntType(0, size - 1))),
            ("frozenset[int]", f"subset({domain})", SetType(domain, size)),
            *((cls.name, cls.name, cls) for cls in self.made.records),
        ]
        if deep:
            options += [(cls.name, cls.name, cls) for cls in self.made.parts]
            options.append(self._records())
            options += [(f"{cls.name} | None", f"optional({cls.name})", OptType(cls)) for cls in self.made.records]
            annotation, call, element = self._element(deep=False)
            options.append((f"Array[{annotation}]", f"array({domain}, {call})", ArrayType(domain, size, element, call)))
        return rng.choice(options)

    def _fifo(self, name: str) -> FieldText:
        annotation, call, element = self._element(deep=False)
        fewer = ("CAP - 1",) if self.made.limits["CAP"] else ()
        capacity = self.rng.choice(("CAP", "CAP", "CAP", "LIM", "CAP + 1", *fewer))
        return FieldText(name, f"Fifo[{annotation}]", f"fifo({call}, {capacity})", FifoType(element, call))

    def _record_set(self, name: str) -> FieldText:
        annotation, call, kind = self._records()
        return FieldText(name, annotation, call, kind)

    def _records(self) -> tuple[str, str, RecordSetType]:
        """Return the annotation, declaration and type of a set of records."""
        classes = tuple(self.rng.sample(self.made.records, self.rng.randint(1, len(self.made.records))))
        names = [cls.name for cls in classes]
        if self.rng.random() < 0.4 or sum(map(value_count, classes)) > MOST_RECORDS:
            most = self.rng.choice(("1", "2", "CAP"))
            return f"set[{names[0]}]", f"bounded_set({names[0]}, {most})", RecordSetType(classes[:1], most)
        return f"set[{' | '.join(names)}]", f"subset({', '.join(names)})", RecordSetType(classes)

    def _fresh(self, name: str) -> FieldText:
        domain, size = self._domain()
        return FieldText(name, "Fresh", f"fresh({domain})", FreshType(domain, size))


def _is_plain(kind: GeneratedType) -> bool:
    """Return whether an array of these elements accepts `when=`."""
    if isinstance(kind, ArrayType):
        return _is_plain(kind.element)
    return not isinstance(kind, RecordSetType) and not (isinstance(kind, ClassType) and kind.is_mutable)
