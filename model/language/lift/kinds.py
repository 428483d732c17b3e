"""The kinds of values that lifting knows. A value of no kind here is refused; there is no rule for it.

Every value that enters an execution (a constant, a global, a field, an argument, a default) passes `admit`; every
operation finds its rule by the kinds of its operands (see `rules`).
"""

from __future__ import annotations

import types
from collections.abc import Callable
from enum import Enum, EnumMeta
from typing import Any

from kwalk.model.language.action import Parametric
from kwalk.model.language.binding import Bound, Domain, Flag, cached
from kwalk.model.language.declared import kind_of_class
from kwalk.model.language.lift.objects import ArrayObject, FifoObject, FreshObject, RecordObject, SetObject
from kwalk.model.language.lift.values import (
    MOST,
    Bool,
    Int,
    Method,
    Mixed,
    OnceItems,
    RecordValue,
    Reference,
    Refused,
    Set,
    VaryingItems,
    describe,
    digits,
    is_constant_member,
)
from kwalk.model.language.shapes import is_plain_enum


class ValueKind(Enum):
    """A kind of value; the text is what the reference calls it."""

    NONE = "None"
    TRUTH = "truth value"
    NUMBER = "number"
    OPTIONAL_NUMBER = "number or None"
    MEMBER = "Enum member"
    OPTIONAL_MEMBER = "Enum member or None"
    RECORD = "record"
    OPTIONAL_RECORD = "record or None"
    SET = "set"
    RECORD_SET = "set of records"
    VARYING = "list of varying length"
    TUPLE = "tuple"
    LIST = "list"
    RANGE = "range"
    ITERATOR = "iterator"
    DOMAIN = "Domain"
    OBJECT = "state object"
    ARRAY = "Array"
    FIFO = "Fifo"
    FRESH = "Fresh"
    TEXT = "text"
    SETTING = "Flag with settings"
    ENUM_CLASS = "Enum class"
    CLASS = "class"
    FUNCTION = "function"
    MODULE = "module"
    MIXED = "variable of mixed types"
    __hash__ = object.__hash__  # Enum's is a function of Python, which each operation would call


def admit(value: Any) -> Any:
    """Return a value of the model as lifting stores it: bounds and flags are their values.

    Tuples can be large tables, so that they are converted once for a binding; the cache holds the tuple, whose id is
    its key.

    Raises:
        Refused: it is of no kind that lifting knows.
    """
    if isinstance(value, Bound) or (isinstance(value, Flag) and not value.settings):
        return value.value
    if type(value) is tuple:
        return cached(("admit", id(value)), lambda: (value, tuple(map(admit, value))))[1]
    kind_of(value)
    return value


def kind_of(value: Any) -> ValueKind:
    """Return the kind of a value.

    Raises:
        Refused: it is of none.
    """
    found = KINDS.get(type(value))
    if found is None:
        return _kind_of_other(value)
    return found if isinstance(found, ValueKind) else found(value)


def _kind_of_number(value: int) -> ValueKind:
    if abs(value) > MOST:
        raise Refused(f"the number {digits(value)}", f"numbers from -{MOST:,} to {MOST:,}")
    return ValueKind.NUMBER


def _kind_of_int(value: Int) -> ValueKind:
    if value.enum is not None:
        return ValueKind.OPTIONAL_MEMBER if value.nullable else ValueKind.MEMBER
    return ValueKind.OPTIONAL_NUMBER if value.nullable else ValueKind.NUMBER


def _kind_of_record(value: RecordValue) -> ValueKind:
    is_certain = value.present.op == "bool" and value.present.payload
    return ValueKind.RECORD if is_certain else ValueKind.OPTIONAL_RECORD


def _kind_of_reference(value: Reference) -> ValueKind:
    sample = value.sample
    if isinstance(sample, ArrayObject):
        return ValueKind.LIST if sample.shape is None else ValueKind.ARRAY
    return OBJECTS[type(sample)]


OBJECTS: dict[type, ValueKind] = {
    RecordObject: ValueKind.OBJECT,
    FifoObject: ValueKind.FIFO,
    FreshObject: ValueKind.FRESH,
    SetObject: ValueKind.RECORD_SET,
}


def _kind_of_constant_set(value: frozenset[Any]) -> ValueKind:
    for member in value:
        if not is_constant_member(member):
            raise Refused(f"a set that holds {describe(member)}", MEMBERS_OF_SETS)
        kind_of(member)
    return ValueKind.SET


MEMBERS_OF_SETS = "a set of ints, None, Enum members, records, or tuples or frozensets of those"


def _kind_of_flag(value: Flag) -> ValueKind:
    return ValueKind.SETTING if value.settings else ValueKind.TRUTH


def _refuse_mutable(value: Any) -> ValueKind:
    what = f"a {type(value).__name__} that is no part of the state, and can change"
    raise Refused(what, "a tuple or frozenset at module level, or a field of the state")


KINDS: dict[type, ValueKind | Callable[[Any], ValueKind]] = {
    type(None): ValueKind.NONE,
    bool: ValueKind.TRUTH,
    Bool: ValueKind.TRUTH,
    int: _kind_of_number,
    Int: _kind_of_int,
    RecordValue: _kind_of_record,
    Reference: _kind_of_reference,
    Set: ValueKind.SET,
    frozenset: _kind_of_constant_set,
    VaryingItems: ValueKind.VARYING,
    tuple: ValueKind.TUPLE,
    range: ValueKind.RANGE,
    OnceItems: ValueKind.ITERATOR,
    Domain: ValueKind.DOMAIN,
    str: ValueKind.TEXT,
    Flag: _kind_of_flag,
    Mixed: ValueKind.MIXED,
    Method: ValueKind.FUNCTION,
    types.FunctionType: ValueKind.FUNCTION,
    types.BuiltinFunctionType: ValueKind.FUNCTION,
    types.MethodType: ValueKind.FUNCTION,
    types.ModuleType: ValueKind.MODULE,
    list: _refuse_mutable,
    set: _refuse_mutable,
    dict: _refuse_mutable,
}
"""The kind of each class of values, or a function that tells the kinds of its values apart."""


def _kind_of_other(value: Any) -> ValueKind:
    cls = type(value)
    if isinstance(value, Enum):
        return _kind_of_member(cls)
    if isinstance(value, EnumMeta):
        _kind_of_member(value)  # type: ignore[arg-type]
        return ValueKind.ENUM_CLASS
    if isinstance(value, type):
        return ValueKind.CLASS
    if isinstance(value, Parametric):
        return ValueKind.FUNCTION
    if kind_of_class(cls) == "value":
        return ValueKind.RECORD
    if kind_of_class(cls) == "state":
        raise Refused(f"a {cls.__name__} that is no part of the state, and can change", "a field of the state")
    what = f"{repr(value)[:80]}, of the class {cls.__name__}"
    if cls.__module__ == "random":
        raise Refused(what, "a parameter of the action, such as `n: member(NUMBERS)`: kwalk tries each of its values")
    raise Refused(what, INSTEAD_OF.get(cls, "one of the values of the language (docs/reference/language.md)"))


INSTEAD_OF: dict[type, str] = {float: "an int", complex: "an int", bytes: "an Enum member"}


def _kind_of_member(cls: type[Enum]) -> ValueKind:
    """Return the kind of the members of an Enum; members that also are something else are refused."""
    if not is_plain_enum(cls):
        what = f"the Enum {cls.__name__}, whose members also behave as other values"
        raise Refused(what, "a class derived from Enum alone, without special methods")
    return ValueKind.MEMBER
