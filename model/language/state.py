"""How state classes are declared: attrs classes whose fields have bounded domains.

`@state` makes a mutable class (a broker, a topic's znode), `@value` a frozen one (a message, an event). The functions
below declare fields; each returns what attrs wants on the right-hand side of an annotated field.
"""
from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar, dataclass_transform

import attrs

from model.language.binding import Bound, Domain, Flag
from model.language.containers import ArrayShape, FifoShape, FreshShape
from model.language.errors import LiftError
from model.language.records import RecordShape, ValueShape
from model.language.shapes import (
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
from model.language.switched import SwitchedShape, switched

C = TypeVar("C", bound=type)


When = Flag | Bound | None
"""What a field may be switched by: without it the field is always its default, and folds away."""


def flag(*, default: bool = False, when: When = None) -> Any:
    """True or False."""
    return shape_field(switched(FlagShape(default), when))


def number(least: int, most: int | Bound, *, default: int | None = None, when: When = None) -> Any:
    """An int in `least … most`; passing a `most` that is a Bound is a counted bound hit, not an error."""
    return shape_field(switched(NumberShape(least, most, least if default is None else default), when))


def member(domain: Domain, *, default: int = 0, when: When = None) -> Any:
    """A member of a domain."""
    return shape_field(switched(MemberShape(domain, default), when))


def choice(enum: type[Enum], *, default: Enum | None = None, when: When = None) -> Any:
    """A member of an Enum; the first one to begin with."""
    return shape_field(switched(ChoiceShape(enum, next(iter(enum)) if default is None else default), when))


def optional(of: Any, *, when: When = None) -> Any:
    """A scalar, a domain's member or a frozen record, or None; None to begin with."""
    shape = shape_of(of)
    if isinstance(shape, ValueShape):
        return shape_field(switched(ValueShape(shape.cls, optional=True), when))
    if not isinstance(shape, Scalar) or isinstance(shape, (FlagShape, OptionalShape)):
        raise LiftError(f"optional(…) takes a number, a member, an Enum or a @value class (got {of!r}).")
    if isinstance(shape, NumberShape) and shape.least < 0:
        raise LiftError(f"optional(number({shape.least}, …)): the least number must be 0 or more; shift the range.")
    return shape_field(switched(OptionalShape(shape), when))


def subset(domain: Domain, *, full: bool = False, when: When = None) -> Any:
    """A set of members of a domain, as a frozenset; empty (or full) to begin with."""
    return shape_field(switched(SubsetShape(domain, full), when))


def array(domain: Domain, element: Any, *, when: When = None) -> Any:
    """An Array with one element per member of the domain; the element is a field declaration, Domain, Enum or class."""
    return shape_field(switched(ArrayShape(domain, _unswitched(shape_of(element))), when))


def _unswitched(shape: Shape) -> Shape:
    if isinstance(shape, SwitchedShape):
        raise LiftError("An element has a when= of its own; give it to the array instead.")
    return shape


def fifo(element: Any, capacity: Bound) -> Any:
    """A Fifo of scalars or frozen records that holds at most `capacity` of them."""
    shape = _unswitched(shape_of(element))
    if isinstance(shape, (RecordShape, ArrayShape, FifoShape, FreshShape)):
        raise LiftError(f"A fifo holds scalars, sets or @value records (got {element!r}); freeze it with @value.")
    return shape_field(FifoShape(shape, capacity))


def fresh(domain: Domain) -> Any:
    """A Fresh source of ids of the domain: `take()` gives one that was never given before."""
    return shape_field(FreshShape(domain))


def nested(cls: type) -> Any:
    """A nested state class, updated in place, or a frozen @value record, replaced whole."""
    return shape_field(shape_of(cls))


def shape_of(element: Any) -> Shape:
    """The shape of a field declaration, a Domain, an Enum, or a state or value class."""
    if isinstance(element, Domain):
        return MemberShape(element)
    if isinstance(element, type) and issubclass(element, Enum):
        return ChoiceShape(element, next(iter(element)))
    kind = getattr(element, "__kwalk__", None)
    if kind is not None:
        return RecordShape(element) if kind == "state" else ValueShape(element)
    metadata = getattr(element, "metadata", {})
    if "shape" in metadata:
        return metadata["shape"]
    known = "flag(), number(), member(), a Domain, an Enum or a state class"
    raise LiftError(f"{element!r} declares no domain; use {known}.")


def _store(instance: Any, attribute: Any, value: Any) -> Any:
    """attrs calls this before it stores: check the domain, then copy, so that no two fields share a container."""
    shape: Shape = attribute.metadata["shape"].now()
    checked = shape.check(value, f"{type(instance).__name__}.{attribute.name}")
    return shape.assign(getattr(instance, attribute.name), checked)


@dataclass_transform(field_specifiers=(flag, number, member, choice, optional, subset, array, fifo, fresh, nested))
def state(cls: C) -> C:
    """Make a mutable state class: every write is checked against the field's domain."""
    made = attrs.define(slots=True, eq=True, on_setattr=_store, field_transformer=_checked)(cls)
    return _declared(made, "state")


@dataclass_transform(
    frozen_default=True, field_specifiers=(flag, number, member, choice, optional, subset, array, fifo, fresh, nested)
)
def value(cls: C) -> C:
    """Make a frozen record, such as a message: a value that is compared and copied whole."""
    made = attrs.frozen(slots=True, field_transformer=_checked)(cls)
    for name, shape in ((f.name, f.metadata.get("shape")) for f in attrs.fields(made)):
        content = shape.on if isinstance(shape, SwitchedShape) else shape
        if isinstance(content, (RecordShape, ArrayShape, FifoShape, FreshShape)):
            raise LiftError(f"{cls.__name__}.{name}: a @value record holds scalars, sets and @value records only.")
    return _declared(made, "value")


def _checked(cls: type, fields: list[attrs.Attribute]) -> list[attrs.Attribute]:
    """Give every field a validator, so that constructors check domains too."""
    return [f.evolve(validator=_validate) for f in fields]


def _validate(instance: Any, attribute: Any, value: Any) -> None:
    attribute.metadata["shape"].now().check(value, f"{type(instance).__name__}.{attribute.name}")


def _declared(cls: C, kind: str) -> C:
    for field in attrs.fields(cls):  # type: ignore[arg-type]
        if "shape" not in field.metadata:
            raise LiftError(
                f"{cls.__module__}.{cls.__name__}.{field.name} has no bounded domain; "
                "declare it with flag(), number(), member(), choice(), optional(), subset(), array(), fifo(), nested()."
            )
    cls.__kwalk__ = kind  # type: ignore[attr-defined]
    return cls


evolve = attrs.evolve
"""A copy of a frozen record with some fields changed."""
