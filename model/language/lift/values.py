"""Symbolic values: what Python expressions become while a model is lifted.

A value is concrete (an ordinary Python object) wherever the scenario fixes it, and symbolic otherwise: `Bool`, `Int`
(also members of an Enum, and None), `Set`, `Record` (a frozen record, or None). References to mutable parts of the
state are in `objects`.
"""
from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import frozen

from model.language.lift.terms import Term
from model.language.shapes import NONE


class Refused(Exception):
    """A construct that cannot be lifted; the interpreter adds file and line."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(what, instead)
        self.what, self.instead = what, instead


@frozen(eq=False)
class Bool:
    """A truth value that depends on the state."""

    term: Term


@frozen(eq=False)
class Int:
    """A number that depends on the state; with `nullable`, None is stored as -1; with `enum`, a member's position."""

    term: Term
    nullable: bool = False
    enum: type[Enum] | None = None


@frozen(eq=False)
class Set:
    """A set: for each possible member the truth of its being in."""

    members: dict[int, Term]


@frozen(eq=False)
class Record:
    """A frozen record of class `cls`; `present` is false where it is None (its fields are defaults there)."""

    cls: type
    fields: dict[str, Any]
    present: Term


@frozen(eq=False)
class Reference:
    """One of several mutable objects (see `objects`), each under a condition; the conditions exclude each other."""

    options: tuple[tuple[Term, Any], ...]

    @property
    def sample(self) -> Any:
        """Any of the objects: all are alike but for their cells."""
        return self.options[0][1]


class Mixed:
    """What two branches left in a variable when no common type exists; an error only if it is used."""


MIXED = Mixed()


def bool_value(term: Term) -> Bool | bool:
    """A truth value, concrete if the term is a constant."""
    return bool(term.payload) if term.op == "bool" else Bool(term)


def int_value(term: Term, *, nullable: bool = False, enum: type[Enum] | None = None) -> Any:
    """A number, concrete if the term is a constant."""
    if term.op != "int":
        return Int(term, nullable and term.low <= NONE, enum)
    if term.payload == NONE and nullable:
        return None
    return list(enum)[term.payload] if enum is not None else term.payload


def is_scalar(value: Any) -> bool:
    """Whether a value is a number, truth value, Enum member or None."""
    return value is None or isinstance(value, (Bool, Int, bool, int, Enum))


def record_class(value: Any) -> type | None:
    """The class of a frozen record, concrete or symbolic."""
    if isinstance(value, Record):
        return value.cls
    return type(value) if getattr(type(value), "__kwalk__", "") == "value" else None


def enum_of(value: Any) -> type[Enum] | None:
    """The Enum that a scalar belongs to."""
    if isinstance(value, Int):
        return value.enum
    return type(value) if isinstance(value, Enum) else None


def describe(value: Any) -> str:
    """A value's kind, in the words of the language."""
    kinds = {Bool: "a truth value", Int: "a number", Set: "a set", Mixed: "a variable of mixed types"}
    if isinstance(value, Record):
        return f"a {value.cls.__name__}"
    return kinds.get(type(value), f"{value!r}")
