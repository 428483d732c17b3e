"""Fields that exist only under a flag: without it they always hold their default, need no bits, and fold away.

Words: a field is *switched* by its flag (`flag(when=RECORDS)`). While the flag is off the field is *fixed*: it can be
read, and whatever depends on it folds to a constant; writing anything but its default is an error of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve, field, fields_dict, frozen

from kwalk.model.language.binding import Bound, Flag, identity_of
from kwalk.model.language.containers import ArrayShape
from kwalk.model.language.errors import DomainError, LiftError
from kwalk.model.language.records import ValueShape
from kwalk.model.language.shapes import (
    ChoiceShape,
    FlagShape,
    Leaf,
    MemberShape,
    NumberShape,
    OptionalShape,
    Shape,
    SubsetShape,
)


class Fixed(Shape):
    """Makes a shape hold only its default."""

    fixed = True

    def check(self, value: Any, where: str) -> Any:
        checked = super().check(value, where)
        if checked != self.default():
            raise DomainError(f"{where} is always {self.default()!r} under these flags (got {value!r}).")
        return checked

    def leaves(self, path: str) -> Iterator[Leaf]:
        numbers: list[int] = []
        self.flatten(self.default(), numbers)
        for leaf, number in zip(super().leaves(path), numbers, strict=True):
            yield evolve(leaf, low=number, high=number)

    def count(self) -> int:
        return 1

    def values(self) -> Iterator[Any]:
        yield self.default()


FIXED: dict[type[Shape], type[Shape]] = {
    cls: type(f"Fixed{cls.__name__}", (Fixed, cls), {"__doc__": f"A {cls.__name__} that holds only its default."})
    for cls in (FlagShape, NumberShape, MemberShape, ChoiceShape, OptionalShape, SubsetShape, ValueShape)
}
"""By the class of a shape, the class for the same field while its flag is off."""


@frozen
class SwitchedShape(Shape):
    """A shape that exists only while a flag is on, or a bound is not 0."""

    on: Shape
    off: Shape
    when: Flag | Bound = field(eq=identity_of)

    def now(self) -> Shape:
        return self.on if self.when else self.off

    def default(self) -> Any:
        return self.on.default()


def switched(shape: Shape, when: Flag | Bound | None) -> Shape:
    """Return the shape under a flag or bound; the shape itself without one.

    Raises:
        LiftError: the flag has settings, or the shape cannot be switched.
    """
    if when is None:
        return shape
    if not isinstance(when, (Flag, Bound)) or (isinstance(when, Flag) and when.settings):
        raise LiftError(f"when={when!r}: a field is switched by a Flag that is on or off, or by a Bound.")
    return SwitchedShape(shape, _fixed(shape), when)


def _fixed(shape: Shape) -> Shape:
    if isinstance(shape, ArrayShape):
        return evolve(shape, element=_fixed(shape.element))
    made = FIXED.get(type(shape))
    if made is None:
        raise LiftError(f"when= does not fit a {type(shape).__name__}; switch the fields inside, or use a Bound of 0.")
    return made(**{name: getattr(shape, name) for name in fields_dict(type(shape))})  # type: ignore[arg-type]
