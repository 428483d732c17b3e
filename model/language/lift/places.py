"""Reading and writing parts of the state: attributes and elements."""
from __future__ import annotations

import types
from enum import Enum
from typing import Any

from attrs import frozen

from model.language.binding import Bound
from model.language.lift.fitting import fit
from model.language.lift.machine import Machine
from model.language.lift.objects import ArrayObject, Cell, FifoObject, FreshObject, Node, RecordObject
from model.language.lift.terms import Term
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
)
from model.language.records import shapes_of


@frozen(eq=False)
class Method:
    """A function of a class with its `self`, or an operation of a container by name."""

    function: Any
    owner: Any


CONTAINER_OPERATIONS = {
    FifoObject: ("push", "pop", "head", "is_empty", "starts_with", "clear"),
    FreshObject: ("take", "taken"),
}


def constant(value: Any) -> Any:
    """A concrete thing as the machine holds it: bounds are their numbers."""
    return value.value if isinstance(value, Bound) else value


# Reading.


def read_node(m: Machine, reference: Reference, nodes: list[Node]) -> Any:
    """What a reference sees in corresponding nodes of its objects: a value, or a reference further down."""
    if isinstance(nodes[0], Cell):
        result = m.now.store[nodes[-1].key]  # type: ignore[union-attr]
        for (condition, _), node in zip(reversed(reference.options[:-1]), reversed(nodes[:-1]), strict=True):
            result = m.values.choose(condition, m.now.store[node.key], result)  # type: ignore[union-attr]
        return known(m, result)
    options = zip(reference.options, nodes, strict=True)
    return Reference(tuple((condition, node) for (condition, _), node in options))


def known(m: Machine, value: Any) -> Any:
    """The value, or the constant that the facts say it is."""
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


def attribute(m: Machine, owner: Any, name: str) -> Any:
    """`owner.name`."""
    if isinstance(owner, Reference):
        return _attribute_of_object(m, owner, name)
    if isinstance(owner, Record) or (isinstance(owner, Int) and owner.nullable):
        m.error(m.values.is_none(owner), f"None has no attribute {name}")
    if isinstance(owner, Record):
        if name in owner.fields:
            m.uses(owner.cls, name)
            return known(m, owner.fields[name])
        return _class_attribute(owner.cls, owner, name)
    if isinstance(owner, (Bool, Int, Set, Mixed)) or owner is None:
        raise Refused(f"attribute {name!r} of {describe(owner)}", "compare the value itself")
    if getattr(type(owner), "__kwalk__", "") == "value" and name not in dict(shapes_of(type(owner))):
        return _class_attribute(type(owner), owner, name)
    try:
        return constant(getattr(owner, name))
    except AttributeError:
        raise Refused(f"{describe(owner)} has no attribute {name!r}", "check the spelling") from None


def _attribute_of_object(m: Machine, owner: Reference, name: str) -> Any:
    sample = owner.sample
    if isinstance(sample, RecordObject):
        if name in sample.fields:
            m.uses(sample.cls, name)
            return read_node(m, owner, [node.fields[name] for _, node in owner.options])
        return _class_attribute(sample.cls, owner, name)
    if name in CONTAINER_OPERATIONS.get(type(sample), ()):
        return Method(name, owner)
    raise Refused(f"{type(sample).__name__} has no {name!r}", "use the operations that the language's reference lists")


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


def element(m: Machine, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    if isinstance(owner, Reference) and isinstance(owner.sample, ArrayObject):
        return _element_of_array(m, owner, index)
    if isinstance(owner, (tuple, list, str)):
        if isinstance(index, Int):
            return _element_of_tuple(m, owner, index)
        return constant(owner[index])
    raise Refused(f"{describe(owner)} cannot be indexed", "index an Array, a list or a tuple")


def positions(m: Machine, index: Any, size: int) -> list[tuple[Term, int]]:
    """The positions that an index can mean here, each with its condition; notes the error of being outside."""
    if isinstance(index, (bool, Bool)) or not (isinstance(index, Int) or type(index) is int) or enum_like(index):
        raise Refused(f"{describe(index)} is used as an index", "index with a number or a domain's member")
    term = m.values.number(index)
    zero, last = m.terms.integer(0), m.terms.integer(size - 1)
    outside = m.terms.disjunction((m.terms.less(term, zero), m.terms.less(last, term)))
    m.error(outside, f"an index is outside of 0 … {size - 1}")
    found = []
    for position in range(max(0, term.low), min(size - 1, term.high) + 1):
        condition = m.settle(m.terms.equal(term, m.terms.integer(position)))
        if condition is m.terms.true:
            return [(condition, position)]
        if condition is not m.terms.false:
            found.append((condition, position))
    return found or [(m.terms.true, 0)]


def enum_like(value: Any) -> bool:
    """Whether a value is an Enum's member."""
    return isinstance(value, Enum) or (isinstance(value, Int) and value.enum is not None)


def _element_of_array(m: Machine, owner: Reference, index: Any) -> Any:
    chosen = positions(m, index, len(owner.sample.items))
    options: list[tuple[Term, Any]] = []
    for at, position in chosen:
        for condition, array in owner.options:
            both = m.terms.conjunction((at, condition))
            if both is not m.terms.false:
                options.append((both, array.items[position]))
    return read_node(m, Reference(tuple(options)), [node for _, node in options])


def _element_of_tuple(m: Machine, owner: Any, index: Int) -> Any:
    chosen = positions(m, index, len(owner))
    result = owner[chosen[-1][1]]
    for condition, position in reversed(chosen[:-1]):
        result = m.values.choose(condition, owner[position], result)
    return result


# Writing.


def write_attribute(m: Machine, owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`."""
    if not isinstance(owner, Reference) or not isinstance(owner.sample, RecordObject):
        instead = "write to a field of a @state class; use evolve on a @value"
        raise Refused(f"{describe(owner)} cannot be written to", instead)
    if name not in owner.sample.fields:
        raise Refused(f"{owner.sample.cls.__name__} has no field {name!r}", "declare it, or check the spelling")
    m.uses(owner.sample.cls, name)
    shape = dict(shapes_of(owner.sample.cls))[name]
    where = f"{owner.sample.cls.__name__}.{name}"
    write_nodes(m, [(c, node.fields[name]) for c, node in owner.options], fit(m, shape, value, where))


def write_element(m: Machine, owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
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


def write_nodes(m: Machine, targets: list[tuple[Term, Node]], value: Any) -> None:
    """Store a value in each of several nodes where its condition holds."""
    content = _content(m, value) if isinstance(value, Reference) and not _is_any_cell(targets) else None
    for condition, node in targets:
        condition = m.settle(condition)
        if condition is m.terms.false:
            continue
        if content is None:
            put(m, node, value, condition)  # type: ignore[arg-type]
        else:
            for inner, tree in content:
                _put_tree(m, node, tree, m.settle(m.terms.conjunction((condition, inner))))


def _is_any_cell(targets: list[tuple[Term, Node]]) -> bool:
    node = targets[0][1]
    return isinstance(node, Cell) and node.shape is None


def put(m: Machine, cell: Cell, value: Any, condition: Term) -> None:
    """Store a value in a cell where the condition holds."""
    m.writable(cell.key)
    world = m.now
    world.store[cell.key] = m.values.choose(condition, value, world.store[cell.key])
    world.touched |= cell.key < m.state_cells


def _content(m: Machine, reference: Reference) -> list[tuple[Term, Any]]:
    """What the objects of a reference hold now, as trees of values."""
    return [(condition, _tree(m, node)) for condition, node in reference.options]


def _tree(m: Machine, node: Node) -> Any:
    return m.now.store[node.key] if isinstance(node, Cell) else [_tree(m, child) for child in children(node)]


def _put_tree(m: Machine, node: Node, tree: Any, condition: Term) -> None:
    if isinstance(node, Cell):
        put(m, node, tree if node.shape is None else fit(m, node.shape, tree, "an element"), condition)
        return
    for child, branch in zip(children(node), tree, strict=True):
        _put_tree(m, child, branch, condition)


def children(node: Node) -> list[Node]:
    """The nodes directly below an object."""
    if isinstance(node, RecordObject):
        return list(node.fields.values())
    if isinstance(node, ArrayObject):
        return node.items
    if isinstance(node, FifoObject):
        return [node.length, *node.slots]
    assert isinstance(node, FreshObject)
    return [node.taken]
