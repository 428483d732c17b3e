"""Access to parts of the state: reading and writing attributes and elements, and checks of what is stored."""
from __future__ import annotations

import types
from enum import Enum
from typing import Any

from attrs import frozen

from kwalk.model.language.binding import Bound
from kwalk.model.language.lift.machine import ConditionKind, SymbolicMachine
from kwalk.model.language.lift.objects import ArrayObject, FifoObject, FreshObject, LeafCell, Node, RecordObject
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import (
    Bool,
    Int,
    Mixed,
    RecordValue,
    Reference,
    Refused,
    Set,
    SortedItems,
    describe,
    int_value,
    is_scalar,
    record_class,
)
from kwalk.model.language.records import ValueShape, shapes_of
from kwalk.model.language.shapes import (
    ChoiceShape,
    FlagShape,
    MemberShape,
    NumberShape,
    OptionalShape,
    Shape,
    SubsetShape,
)


def fit(m: SymbolicMachine, shape: Shape, value: Any, where: str) -> Any:
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


def _fit_scalar(m: SymbolicMachine, shape: Any, value: Any, where: str) -> Any:
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
        m.add_condition(ConditionKind.BOUND, over, inner.most.name)
    else:
        m.error(over, f"{where} goes above {high}")
    under = m.terms.less(term, m.terms.integer(low))
    m.error(m.terms.conjunction((under, m.values.is_not_none(value))), f"{where} goes below {low}")
    least = -1 if optional and term.low < 0 else low
    if term.high < least or term.low > high:
        return shape.default()  # Never stored: a side condition above is true wherever this is reached.
    return int_value(m.terms.within(term, least, high), nullable=optional, enum=enum)


def _enum(value: Any) -> type | None:
    if isinstance(value, Int):
        return value.enum
    return type(value) if isinstance(value, Enum) else None


def _fit_set(m: SymbolicMachine, shape: SubsetShape, value: Any, where: str) -> Set:
    if not isinstance(value, (Set, frozenset, set)):
        instead = "give it a set, such as frozenset({…}) or a set comprehension"
        raise Refused(f"{where} is given {describe(value)}", instead)
    members = m.values.as_set(value).members
    for member, condition in members.items():
        if member not in shape.domain:
            m.error(condition, f"{where} is given {member}, which is no member of {shape.domain.name}")
    return Set({member: members.get(member, m.terms.false) for member in shape.domain})


def _fit_record(m: SymbolicMachine, shape: ValueShape, value: Any, where: str) -> RecordValue:
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


@frozen(eq=False)
class Method:
    """A function of a class with its `self`, or an operation of a container by name."""

    function: Any
    owner: Any


CONTAINER_OPERATIONS = {
    FifoObject: ("push", "pop", "head", "is_empty", "starts_with", "clear"),
    FreshObject: ("take", "taken"),
}


SET_METHODS = {
    "add": "`s = s | {x}`: a set is a value, and the field is assigned",
    "update": "`s = s | t`: a set is a value, and the field is assigned",
    "discard": "`s = s - {x}`: a set is a value, and the field is assigned",
    "remove": "`s = s - {x}`: a set is a value, and the field is assigned",
    "clear": "`s = frozenset()`",
    "pop": "`x = min(s)`, then `s = s - {x}`",
    "union": "`s | t`",
    "intersection": "`s & t`",
    "difference": "`s - t`",
    "issubset": "`s <= t`",
    "issuperset": "`s >= t`",
    "isdisjoint": "`not s & t`",
    "copy": "`s` itself, which never changes",
}
"""What to write in place of a method of sets."""


def constant(value: Any) -> Any:
    """Return a concrete object as the machine stores it: bounds are their numbers."""
    return value.value if isinstance(value, Bound) else value


# Reading.


def read_node(m: SymbolicMachine, reference: Reference, nodes: list[Node]) -> Any:
    """Return what a reference refers to in corresponding nodes of its objects: a value, or a reference to a part."""
    if isinstance(nodes[0], LeafCell):
        result = m.now.store[nodes[-1].key]  # type: ignore[union-attr]
        for (condition, _), node in zip(reversed(reference.options[:-1]), reversed(nodes[:-1]), strict=True):
            result = m.values.choose(condition, m.now.store[node.key], result)  # type: ignore[union-attr]
        return refine(m, result)
    options = zip(reference.options, nodes, strict=True)
    return Reference(tuple((condition, node) for (condition, _), node in options))


def refine(m: SymbolicMachine, value: Any) -> Any:
    """Return the value, or the constant that the facts imply."""
    if isinstance(value, Int):
        fixed = m.now.constants.get(value.term.id)
        if fixed is not None:
            return int_value(m.terms.integer(fixed), nullable=value.nullable, enum=value.enum)
        if value.nullable and m.now.decide(m.values.is_none(value)) is False:
            return int_value(m.terms.within(value.term, 0, value.term.high), enum=value.enum)
    if isinstance(value, Bool):
        decided = m.now.decide(value.term)
        return value if decided is None else decided
    return value


def attribute(m: SymbolicMachine, owner: Any, name: str) -> Any:
    """Return `owner.name`."""
    if isinstance(owner, Reference):
        return _attribute_of_object(m, owner, name)
    if isinstance(owner, RecordValue) or (isinstance(owner, Int) and owner.nullable):
        m.error(m.values.is_none(owner), f"None has no attribute {name}")
    if isinstance(owner, RecordValue):
        if name in owner.fields:
            m.uses(owner.cls, name)
            return refine(m, owner.fields[name])
        return _class_attribute(owner.cls, owner, name)
    if isinstance(owner, (Set, frozenset, set)):
        raise Refused(f"attribute {name!r} of a set", SET_METHODS.get(name, "the operators |, &, - and ^"))
    if isinstance(owner, (Bool, Int, Mixed, SortedItems)) or owner is None:
        raise Refused(f"attribute {name!r} of {describe(owner)}", "compare the value itself")
    if getattr(type(owner), "__kwalk__", "") == "value" and name not in dict(shapes_of(type(owner))):
        return _class_attribute(type(owner), owner, name)
    try:
        return constant(getattr(owner, name))
    except AttributeError:
        raise Refused(f"{describe(owner)} has no attribute {name!r}", "check the spelling") from None


def _attribute_of_object(m: SymbolicMachine, owner: Reference, name: str) -> Any:
    sample = owner.sample
    if isinstance(sample, RecordObject):
        if name in sample.fields:
            m.uses(sample.cls, name)
            return read_node(m, owner, [node.fields[name] for _, node in owner.options])
        return _class_attribute(sample.cls, owner, name)
    if name in CONTAINER_OPERATIONS.get(type(sample), ()):
        return Method(name, owner)
    refine = CONTAINER_OPERATIONS.get(type(sample))
    instead = f"use {', '.join(refine)}" if refine else "read and write its elements, `a[i]`"
    raise Refused(f"{sample.description} has no attribute {name!r}", instead)


def _class_attribute(cls: type, owner: Any, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            if isinstance(found, staticmethod):
                return found.__func__
            if isinstance(found, (property, types.FunctionType)):
                return Method(found, owner)
            return constant(found)
    raise Refused(f"{cls.__name__} has no attribute {name!r}", "check the spelling, or declare it as a field")


def element(m: SymbolicMachine, owner: Any, index: Any) -> Any:
    """Return `owner[index]`."""
    if isinstance(owner, Reference) and isinstance(owner.sample, ArrayObject):
        return _element_of_array(m, owner, index)
    if isinstance(owner, (tuple, list, str)):
        if isinstance(index, Int):
            return _element_of_tuple(m, owner, index)
        return constant(owner[index])
    what = describe(owner)
    raise Refused(f"{what} cannot be indexed", INSTEAD_OF_INDEX.get(what, "index an Array, a list or a tuple"))


INSTEAD_OF_INDEX = {
    "a Fifo": "`head` for the oldest element, or a loop over the Fifo",
    "a sorted set": "`min(…)` or `max(…)` of the set, or a loop",
    "a set": "`x in s`, `min(s)`, or a loop over `sorted(s)`",
}


def positions(m: SymbolicMachine, index: Any, size: int) -> list[tuple[Term, int]]:
    """Return the positions that an index can have here, each with its condition; add the error of being outside."""
    if isinstance(index, (bool, Bool)) or not (isinstance(index, Int) or type(index) is int) or enum_like(index):
        raise Refused(f"{describe(index)} is used as an index", "index with a number or a domain's member")
    term = m.values.number(index)
    zero, last = m.terms.integer(0), m.terms.integer(size - 1)
    outside = m.terms.disjunction((m.terms.less(term, zero), m.terms.less(last, term)))
    m.error(outside, f"an index is outside of 0 … {size - 1}")
    found = []
    for position in range(max(0, term.low), min(size - 1, term.high) + 1):
        condition = m.simplify(m.terms.equal(term, m.terms.integer(position)))
        if condition is m.terms.true:
            return [(condition, position)]
        if condition is not m.terms.false:
            found.append((condition, position))
    return found or [(m.terms.true, 0)]


def enum_like(value: Any) -> bool:
    """Return whether a value is an Enum's member."""
    return isinstance(value, Enum) or (isinstance(value, Int) and value.enum is not None)


def _element_of_array(m: SymbolicMachine, owner: Reference, index: Any) -> Any:
    chosen = positions(m, index, len(owner.sample.items))
    options: list[tuple[Term, Any]] = []
    for at, position in chosen:
        for condition, array in owner.options:
            both = m.terms.conjunction((at, condition))
            if both is not m.terms.false:
                options.append((both, array.items[position]))
    return read_node(m, Reference(tuple(options)), [node for _, node in options])


def _element_of_tuple(m: SymbolicMachine, owner: Any, index: Int) -> Any:
    chosen = positions(m, index, len(owner))
    result = owner[chosen[-1][1]]
    for condition, position in reversed(chosen[:-1]):
        result = m.values.choose(condition, owner[position], result)
    return result


# Writing.


def write_attribute(m: SymbolicMachine, owner: Any, name: str, value: Any) -> None:
    """Execute `owner.name = value`."""
    if not isinstance(owner, Reference) or not isinstance(owner.sample, RecordObject):
        instead = "write to a field of a @state class; use evolve on a @value"
        raise Refused(f"{describe(owner)} cannot be written to", instead)
    if name not in owner.sample.fields:
        raise Refused(f"{owner.sample.cls.__name__} has no field {name!r}", "declare it, or check the spelling")
    m.uses(owner.sample.cls, name)
    shape = dict(shapes_of(owner.sample.cls))[name]
    where = f"{owner.sample.cls.__name__}.{name}"
    write_nodes(m, [(c, node.fields[name]) for c, node in owner.options], fit(m, shape, value, where))


def write_element(m: SymbolicMachine, owner: Any, index: Any, value: Any) -> None:
    """Execute `owner[index] = value`."""
    if not isinstance(owner, Reference) or not isinstance(owner.sample, ArrayObject):
        raise Refused(f"an element of {describe(owner)} is written", "write to an element of an Array or a local list")
    shape = owner.sample.shape
    chosen = positions(m, index, len(owner.sample.items))
    fitting = value if shape is None else fit(m, shape.element, value, f"an element over {shape.domain.name}")
    targets = [
        (m.terms.conjunction((at, condition)), array.items[position])
        for at, position in chosen
        for condition, array in owner.options
    ]
    write_nodes(m, targets, fitting)


def write_nodes(m: SymbolicMachine, targets: list[tuple[Term, Node]], value: Any) -> None:
    """Store a value in each of several nodes where its condition is true."""
    content = _content(m, value) if isinstance(value, Reference) and not _is_any_cell(targets) else None
    for condition, node in targets:
        condition = m.simplify(condition)
        if condition is m.terms.false:
            continue
        if content is None:
            write_cell(m, node, value, condition)  # type: ignore[arg-type]
        else:
            for inner, tree in content:
                _write_tree(m, node, tree, m.simplify(m.terms.conjunction((condition, inner))))


def _is_any_cell(targets: list[tuple[Term, Node]]) -> bool:
    node = targets[0][1]
    return isinstance(node, LeafCell) and node.shape is None


def write_cell(m: SymbolicMachine, cell: LeafCell, value: Any, condition: Term) -> None:
    """Store a value in a cell where the condition is true."""
    m.writable(cell.key)
    state = m.now
    state.store[cell.key] = m.values.choose(condition, value, state.store[cell.key])
    state.is_written |= cell.key < m.state_cells


def _content(m: SymbolicMachine, reference: Reference) -> list[tuple[Term, Any]]:
    """Return the present content of the objects of a reference, as trees of values."""
    return [(condition, _tree(m, node)) for condition, node in reference.options]


def _tree(m: SymbolicMachine, node: Node) -> Any:
    return m.now.store[node.key] if isinstance(node, LeafCell) else [_tree(m, child) for child in children(node)]


def _write_tree(m: SymbolicMachine, node: Node, tree: Any, condition: Term) -> None:
    if isinstance(node, LeafCell):
        write_cell(m, node, tree if node.shape is None else fit(m, node.shape, tree, "an element"), condition)
        return
    for child, branch in zip(children(node), tree, strict=True):
        _write_tree(m, child, branch, condition)


def children(node: Node) -> list[Node]:
    """Return the nodes directly below an object."""
    if isinstance(node, RecordObject):
        return list(node.fields.values())
    if isinstance(node, ArrayObject):
        return node.items
    if isinstance(node, FifoObject):
        return [node.length, *node.slots]
    assert isinstance(node, FreshObject)
    return [node.taken]
