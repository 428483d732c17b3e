"""Declaration of state classes: attrs classes whose fields have bounded domains.

`@state` makes a mutable class (a broker, a topic's znode), `@value` a frozen one (a message, an event). The functions
below declare fields: each returns an attrs field, and has the type of what the field holds, so that type checkers
accept `level: int = number(0, 3)`. Every field has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar, dataclass_transform, overload

import attrs

from kwalk.model.language.binding import Bound, Domain, Flag
from kwalk.model.language.containers import Array, ArrayShape, Fifo, FifoShape, Fresh, FreshShape
from kwalk.model.language.declared import check_declared, kind_of_class, truth_value
from kwalk.model.language.errors import LiftError
from kwalk.model.language.record_sets import BoundedSetShape, FlaggedSetShape, SetShape
from kwalk.model.language.records import RecordShape, ValueShape
from kwalk.model.language.shapes import (
    LARGEST,
    ChoiceShape,
    FlagShape,
    MemberShape,
    NumberShape,
    OptionalShape,
    Scalar,
    Shape,
    SubsetShape,
    shape_field,
)
from kwalk.model.language.switched import SwitchedShape, switched

C = TypeVar("C", bound=type)
E = TypeVar("E", bound=Enum)
T = TypeVar("T")


When = Flag | Bound | None
"""A flag or bound without which a field always has its default and folds away."""


def flag(*, default: bool = False, when: When = None) -> bool:
    """Declare a Boolean."""
    check_declared("flag(…)", truth_value("default", default))
    return shape_field(switched(FlagShape(default), when))


def number(least: int, most: int, *, default: int | None = None, when: When = None) -> int:
    """Declare an int.

    Args:
        least: the least value. If it is a Bound, also one such as `-LIMIT`, a smaller value is a counted bound hit, and
            not an error.
        most: the greatest value. If it is a Bound, also one such as `LIMIT + 1`, so is a greater value.
        default: the value at first; by default the least. It may be a Bound.
        when: the flag or bound without which the field always has its default.

    Raises:
        LiftError: a limit is no int, or too large for any engine, or the range does not contain the default.
    """
    start = least if default is None else default
    limits = (("least", least), ("most", most), ("default", start))
    for name, given in limits:
        if isinstance(given, Bound):
            continue
        if type(given) is not int:
            raise LiftError(f"number(…): `{name}` must be an int or a Bound (got {given!r}).")
        if abs(given) > LARGEST:
            raise LiftError(f"number(…): `{name}` is {given:,}; numbers from -{LARGEST:,} to {LARGEST:,} are allowed.")
    if type(least) is type(most) is int and least > most:
        raise LiftError(
            f"number({least}, {most}): the least value comes first, and it is above the greatest; swap them."
        )
    if not any(isinstance(given, Bound) for _, given in limits) and not least <= start <= most:
        raise LiftError(f"number({least}, {most}): the default {start} is not in the range; give another one.")
    return shape_field(switched(NumberShape(least, most, start), when))


def member(domain: Domain, *, default: int = 0, when: When = None) -> int:
    """Declare a member of a domain; `default` at first."""
    _must_be_domain("member", domain)
    is_number = type(default) is int or isinstance(default, Bound)
    check_declared("member(…)", ("default", default, is_number, "the number of a member, an int or a Bound"))
    return shape_field(switched(MemberShape(domain, default), when))


def choice(enum: type[E], *, default: E | None = None, when: When = None) -> E:
    """Declare a member of an Enum; the first one at first."""
    if not (isinstance(enum, type) and issubclass(enum, Enum)):
        raise LiftError(f"choice(…) takes an Enum class (got {enum!r}); for a domain's member write member(DOMAIN).")
    is_member = default is None or isinstance(default, enum)
    check_declared(f"choice({enum.__name__})", ("default", default, is_member, f"a member of {enum.__name__}"))
    return shape_field(switched(ChoiceShape(enum, next(iter(enum)) if default is None else default), when))


@overload
def optional(of: Domain, *, when: When = None) -> int | None: ...
@overload
def optional(of: type[T], *, when: When = None) -> T | None: ...
@overload
def optional(of: T, *, when: When = None) -> T | None: ...
def optional(of: Any, *, when: When = None, **more: Any) -> Any:
    """Declare a scalar, a member of a domain or a frozen record, or None; None at first.

    Raises:
        LiftError: a default is given, or None cannot stand beside these values.
    """
    if more:
        given = ", ".join(f"{name}=" for name in more)
        raise LiftError(
            f"optional(…) takes no {given}: an optional field is None at first, and where it stands for nothing. Give "
            "its first value in the scenario's function `initial`."
        )
    shape = shape_of(of)
    if isinstance(shape, ValueShape):
        return shape_field(switched(ValueShape(shape.cls, optional=True), when))
    if not isinstance(shape, Scalar) or isinstance(shape, (FlagShape, OptionalShape)):
        raise LiftError(f"optional(…) takes a number, a member, an Enum or a @value class (got {of!r}).")
    if isinstance(shape, NumberShape) and not isinstance(shape.least, Bound) and shape.least < 0:
        raise LiftError(f"optional(number({shape.least}, …)): the least number must be 0 or more; shift the range.")
    return shape_field(switched(OptionalShape(shape), when))


@overload
def subset(
    of: Domain,
    *,
    full: bool = False,
    default: Iterable[int] | Callable[[], Iterable[int]] | None = None,
    when: When = None,
) -> frozenset[int]: ...
@overload
def subset(of: type[T], *more: type[T]) -> set[T]: ...
def subset(of: Any, *more: Any, full: bool = False, default: Any = None, when: When = None) -> Any:
    """Declare a set of members of a domain, as a frozenset; or a set of records of one or more @value classes.

    A set of records is changed in place. Every record that can be in it is one bit of the state.

    Args:
        of: the domain, or a class.
        more: further classes.
        full: whether it has all members of the domain at first, instead of none.
        default: its members at first, such as `{0}` or `(0, LAST)`, or a function of no arguments that returns them,
            such as `lambda: range(LAST)`, if they follow from bounds.
        when: the flag or bound without which the field always has its default.

    Raises:
        LiftError: the default is no set of members.
    """
    classes = (of, *more)
    if all(kind_of_class(cls) == "value" for cls in classes):
        if full or default is not None or when is not None or len(set(classes)) < len(classes):
            raise LiftError("subset(…) of @value classes takes each class once, and neither full=, default= nor when=.")
        return shape_field(FlaggedSetShape(classes))
    for one in classes:
        if not more or kind_of_class(one) != "value":
            _must_be_domain("subset", one)
    if more:
        raise LiftError(
            "subset(…) takes one Domain, or only @value classes; declare a second field, or one domain for all members."
        )
    if default is None or callable(default):
        return shape_field(switched(SubsetShape(of, full if default is None else default), when))
    is_set = isinstance(default, Iterable) and not isinstance(default, str | bytes | Mapping)
    check_declared("subset(…)", ("default", default, is_set, "a set of members, such as {0, 1}"))
    members = sorted(default) if isinstance(default, (set, frozenset)) else list(default)
    if full or not all(type(one) is int or isinstance(one, Bound) for one in members):
        raise LiftError(f"subset(…, default={default!r}): write a set of members, such as {{0, 1}}, without full=True.")
    return shape_field(switched(SubsetShape(of, tuple(members)), when))


def bounded_set(of: type[T], most: int | Bound) -> set[T]:
    """Declare a set of at most `most` records of a @value class that has many values; it is changed in place.

    Args:
        of: the class.
        most: how many records it can hold. If it is a Bound, what would add one more is a bound hit, and not an error.
    """
    if kind_of_class(of) != "value":
        raise LiftError(f"bounded_set(…) takes a @value class (got {of!r}); of members write subset(DOMAIN).")
    if not isinstance(most, Bound) and (type(most) is not int or most < 1):
        raise LiftError(f"bounded_set({of.__name__}, {most!r}): the most records are an int of 1 or more, or a Bound.")
    return shape_field(BoundedSetShape(of, most))


@overload
def array(domain: Domain, element: Domain, *, when: When = None) -> Array[int]: ...
@overload
def array(domain: Domain, element: type[T], *, when: When = None) -> Array[T]: ...
@overload
def array(domain: Domain, element: T, *, when: When = None) -> Array[T]: ...
def array(domain: Domain, element: Any, *, when: When = None) -> Any:
    """Declare an Array with one element per member of a domain.

    Args:
        domain: the domain of its indices.
        element: a field declaration, a Domain, an Enum, or a state or value class.
        when: the flag or bound without which the array always has its default.
    """
    _must_be_domain("array", domain)
    return shape_field(switched(ArrayShape(domain, _unswitched(shape_of(element))), when))


def _unswitched(shape: Shape) -> Shape:
    if isinstance(shape, SwitchedShape):
        raise LiftError("An element has a when= of its own; give it to the array instead.")
    return shape


@overload
def fifo(element: Domain, capacity: int) -> Fifo[int]: ...
@overload
def fifo(element: type[T], capacity: int) -> Fifo[T]: ...
@overload
def fifo(element: T, capacity: int) -> Fifo[T]: ...
def fifo(element: Any, capacity: int) -> Any:
    """Declare a Fifo of scalars, sets or frozen records.

    Args:
        element: a field declaration, a Domain, an Enum, or a value class.
        capacity: how many elements it can hold; a Bound, also one such as `LIMIT - 1`. More elements are a bound hit.
    """
    shape = _unswitched(shape_of(element))
    if not isinstance(capacity, Bound):
        raise LiftError(
            f"fifo(…, {capacity!r}): the capacity is a Bound, which the scenario fixes; "
            f'write CAPACITY = Bound("capacity") and `bounds={{"capacity": …}}` in the Scenario.'
        )
    if isinstance(shape, (RecordShape, ArrayShape, FifoShape, FreshShape, SetShape)):
        raise LiftError(f"A fifo holds scalars, sets or @value records (got {element!r}); freeze it with @value.")
    return shape_field(FifoShape(shape, capacity))


def fresh(domain: Domain) -> Fresh:
    """Declare a Fresh source of ids of a domain: `take()` returns one that was never returned before."""
    _must_be_domain("fresh", domain)
    return shape_field(FreshShape(domain))


def nested(cls: type[T]) -> T:
    """Declare a nested state object, updated in place, or a frozen record, replaced as a whole."""
    return shape_field(shape_of(cls))


def _must_be_domain(function: str, domain: object) -> None:
    if isinstance(domain, Domain):
        return
    shape = getattr(domain, "metadata", {}).get("shape")
    if isinstance(shape, NumberShape):
        instead = 'for numbers, declare the range as a domain: LEVELS = Domain("levels"), with its size in `bounds`'
    elif isinstance(domain, type) and function == "subset":
        instead = "a set can also hold records of @value classes, which may have a field of an Enum"
    else:
        instead = 'declare one: SHELVES = Domain("shelves"), with its size in `bounds`'
    what = domain.__name__ if isinstance(domain, type) else "a field" if shape is not None else repr(domain)
    raise LiftError(f"{function}(…) takes a Domain (got {what}); {instead}.")


def shape_of(element: Any) -> Shape:
    """Return the shape of a field declaration, a Domain, an Enum, or a state or value class.

    Raises:
        LiftError: it declares no bounded domain.
    """
    if isinstance(element, Domain):
        return MemberShape(element)
    if isinstance(element, type) and issubclass(element, Enum):
        return ChoiceShape(element, next(iter(element)))
    if kind := kind_of_class(element):
        return RecordShape(element) if kind == "state" else ValueShape(element)
    metadata = getattr(element, "metadata", {})
    if "shape" in metadata:
        return metadata["shape"]
    known = "flag(), number(), member(), a Domain, an Enum or a state class"
    raise LiftError(f"{element!r} declares no domain; use {known}.")


def _store(instance: Any, attribute: Any, value: Any) -> Any:
    """Check the domain, then copy, so that no two fields share a container; attrs calls it before it stores."""
    shape: Shape = attribute.metadata["shape"].now()
    checked = shape.check(value, f"{type(instance).__name__}.{attribute.name}")
    return shape.assign(getattr(instance, attribute.name), checked)


@dataclass_transform()
def state(cls: C) -> C:
    """Make a mutable state class: every write is checked against the field's domain.

    Raises:
        LiftError: a field has no bounded domain.
    """
    _refuse_special_methods(cls)
    made = attrs.define(slots=True, eq=True, on_setattr=_store, field_transformer=_checked)(_with_text(cls))
    made.__kwalk__ = "state"  # type: ignore[attr-defined]
    return made


@dataclass_transform(frozen_default=True)
def value(cls: C) -> C:
    """Make a frozen record class, such as a message: its objects are compared and copied as a whole.

    Raises:
        LiftError: a field has no bounded domain, or one of a mutable kind.
    """
    _refuse_special_methods(cls)
    made = attrs.frozen(slots=True, field_transformer=_checked)(_with_text(cls))
    for name, shape in ((f.name, f.metadata.get("shape")) for f in attrs.fields(made)):
        content = shape.on if isinstance(shape, SwitchedShape) else shape
        if isinstance(content, (RecordShape, ArrayShape, FifoShape, FreshShape, SetShape)):
            only = "scalars, sets of members and @value records only"
            raise LiftError(f"{cls.__name__}.{name}: a @value record holds {only}.")
    made.__kwalk__ = "value"  # type: ignore[attr-defined]
    return made


def _with_text(cls: C) -> C:
    """Give a class the `__repr__` below, unless it has its own: what attrs generates takes half the time of a class."""
    if "__repr__" not in vars(cls):
        cls.__repr__ = _text  # type: ignore[method-assign, assignment]
    return cls


def _text(thing: Any) -> str:
    """Return the name of an object's class and the values of all fields."""
    fields = ", ".join(f"{field.name}={getattr(thing, field.name)!r}" for field in attrs.fields(type(thing)))
    return f"{type(thing).__qualname__.rpartition('>.')[2]}({fields})"


HARMLESS = frozenset({"__doc__", "__repr__", "__str__", "__format__", "__annotations__", "__slots__", "__dict__"})
"""Special names with which a class may have functions of its own: they have no influence on what a model does."""


def _refuse_special_methods(cls: type) -> None:
    """Refuse a class with special methods: lifting would not call them.

    Raises:
        LiftError: it has one, or inherits one from a class that is no state or value class.
    """
    for base in cls.__mro__[:-1]:
        for name, found in vars(base).items() if "__kwalk__" not in vars(base) else ():
            if name.startswith("__") and name.endswith("__") and name not in HARMLESS and callable(found):
                raise LiftError(
                    f"{cls.__module__}.{cls.__name__} has a method {name}, which Python calls by itself; "
                    "give it another name and call it."
                )


def _checked(cls: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Give every field a validator, so that constructors check domains too; refuse a field that is none.

    Raises:
        LiftError: a field has no bounded domain.
    """
    for field in fields:
        if "shape" not in field.metadata:
            raise LiftError(
                f"{cls.__module__}.{cls.__name__}.{field.name} has no bounded domain; "
                "declare it with flag(), number(), member(), choice(), optional(), subset(), array(), fifo(), nested()."
            )
    return [f.evolve(validator=_validate) for f in fields]


def _validate(instance: Any, attribute: Any, value: Any) -> None:
    checked = attribute.metadata["shape"].now().check(value, f"{type(instance).__name__}.{attribute.name}")
    if checked is not value:
        object.__setattr__(instance, attribute.name, checked)


evolve = attrs.evolve
"""A copy of a frozen record with some fields changed."""
