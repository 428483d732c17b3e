"""What fits where: a value as a field stores it, and what it owes if it does not fit."""
from __future__ import annotations

from enum import Enum
from typing import Any

from model.language.binding import Bound
from model.language.lift.machine import Machine, Owed
from model.language.lift.objects import ArrayObject, FifoObject, RecordObject
from model.language.lift.values import (
    Bool,
    Int,
    Mixed,
    Record,
    Reference,
    Refused,
    Set,
    describe,
    int_value,
    is_scalar,
    record_class,
)
from model.language.records import ValueShape
from model.language.shapes import ChoiceShape, FlagShape, MemberShape, NumberShape, OptionalShape, Shape, SubsetShape


def fit(m: Machine, shape: Shape, value: Any, where: str) -> Any:
    """The value as a field of this shape stores it; notes the errors and bound hits that plain Python would raise."""
    if isinstance(value, Mixed):
        raise m.values.mixed()
    if shape.fixed:
        m.error(m.terms.negation(m.values.equal(value, shape.default())), f"{where} is always {shape.default()!r}")
        return shape.default()
    if isinstance(shape, FlagShape):
        if not isinstance(value, (bool, Bool)):
            instead = "give it True or False; write `x is not None` or `x != 0`"
            raise Refused(f"{where} is given {describe(value)}", instead)
        return value
    if isinstance(shape, SubsetShape):
        return _fit_set(m, shape, value, where)
    if isinstance(shape, ValueShape):
        return _fit_record(m, shape, value, where)
    if isinstance(shape, (NumberShape, MemberShape, ChoiceShape, OptionalShape)):
        return _fit_scalar(m, shape, value, where)
    return _fit_object(shape, value, where)


def _fit_scalar(m: Machine, shape: Any, value: Any, where: str) -> Any:
    optional = isinstance(shape, OptionalShape)
    inner = shape.inner if optional else shape
    enum = inner.enum if isinstance(inner, ChoiceShape) else None
    right_type = is_scalar(value) and not isinstance(value, (bool, Bool))
    if not right_type or (value is not None and enum is not _enum(value)):
        wanted = enum.__name__ if enum else "a number"
        raise Refused(f"{where} is given {describe(value)}", f"give it {wanted}")
    if not optional:
        m.error(m.values.is_none(value), f"{where} is given None")
        if value is None:
            return shape.default()
    term = m.values.number(value)
    low, high = inner.low(), inner.high()
    over = m.terms.less(m.terms.integer(high), term)
    if isinstance(inner, NumberShape) and isinstance(inner.most, Bound):
        m.owe(Owed.BOUND, over, inner.most.name)
    else:
        m.error(over, f"{where} goes above {high}")
    under = m.terms.less(term, m.terms.integer(low))
    m.error(m.terms.conjunction((under, m.values.is_not_none(value))), f"{where} goes below {low}")
    least = -1 if optional and term.low < 0 else low
    if term.high < least or term.low > high:
        return shape.default()  # Never stored: an obligation above is true wherever this is reached.
    return int_value(m.terms.within(term, least, high), nullable=optional, enum=enum)


def _enum(value: Any) -> type | None:
    if isinstance(value, Int):
        return value.enum
    return type(value) if isinstance(value, Enum) else None


def _fit_set(m: Machine, shape: SubsetShape, value: Any, where: str) -> Set:
    if not isinstance(value, (Set, frozenset, set)):
        instead = "give it a set, such as frozenset({…}) or a set comprehension"
        raise Refused(f"{where} is given {describe(value)}", instead)
    members = m.values.as_set(value).members
    for member, condition in members.items():
        if member not in shape.domain:
            m.error(condition, f"{where} is given {member}, which is no member of {shape.domain.name}")
    return Set({member: members.get(member, m.terms.false) for member in shape.domain})


def _fit_record(m: Machine, shape: ValueShape, value: Any, where: str) -> Record:
    if value is not None and record_class(value) is not shape.cls:
        raise Refused(f"{where} is given {describe(value)}", f"give it a {shape.cls.__name__}")
    record = m.values.as_record(value, shape.cls)
    if not shape.optional:
        m.error(m.terms.negation(record.present), f"{where} is given None")
    return record


def _fit_object(shape: Shape, value: Any, where: str) -> Reference:
    cls = getattr(shape, "cls", None)
    if isinstance(value, Reference):
        sample = value.sample
        if isinstance(sample, RecordObject) and sample.cls is cls:
            return value
        if isinstance(sample, (ArrayObject, FifoObject)) and sample.shape in (shape, None):
            return value
    raise Refused(f"{where} is given {describe(value)}", "give it an object of the field's own kind")
