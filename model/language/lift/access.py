"""Access to parts of the state: reading and writing attributes and elements, and checks of what is stored."""

from __future__ import annotations

import types
from typing import Any

from attrs import frozen

from kwalk.model.language.binding import Bound
from kwalk.model.language.containers import ArrayShape, FifoShape, FreshShape, FrozenArray
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import admit, kind_of
from kwalk.model.language.lift.machine import ConditionKind, SymbolicMachine
from kwalk.model.language.lift.names import outdate_changed, outdate_replaced
from kwalk.model.language.lift.objects import (
    ArrayObject,
    FifoObject,
    FreshObject,
    LeafCell,
    Node,
    RecordObject,
    SetObject,
)
from kwalk.model.language.lift.rules import MEMBERS, RECORDS, Operation, apply, rule
from kwalk.model.language.lift.sets import content_of, stored_as
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import (
    Bool,
    Int,
    Method,
    RecordValue,
    Reference,
    Refused,
    Set,
    describe,
    enum_of,
    int_value,
    record_class,
)
from kwalk.model.language.record_sets import SetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
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
    fitting = apply(m, _store_operation(shape), value, shape=shape, where=where)
    if shape.fixed:
        m.error(m.terms.negation(m.values.equal(fitting, shape.default())), f"{where} is always {shape.default()!r}")
        return shape.default()
    return fitting


def _store_operation(shape: Shape) -> Operation:
    if isinstance(shape, OptionalShape):
        return Operation.STORE_OPTIONAL_CHOICE if isinstance(shape.inner, ChoiceShape) else Operation.STORE_OPTIONAL
    if isinstance(shape, ValueShape):
        return Operation.STORE_OPTIONAL_RECORD if shape.optional else Operation.STORE_RECORD
    cls = type(shape)
    return STORES[cls] if cls in STORES else next(STORES[base] for base in cls.__mro__ if base in STORES)


STORES: dict[type, Operation] = {
    FlagShape: Operation.STORE_FLAG,
    NumberShape: Operation.STORE_NUMBER,
    MemberShape: Operation.STORE_NUMBER,
    ChoiceShape: Operation.STORE_CHOICE,
    SubsetShape: Operation.STORE_SUBSET,
    RecordShape: Operation.STORE_OBJECT,
    ArrayShape: Operation.STORE_ARRAY,
    FifoShape: Operation.STORE_FIFO,
    FreshShape: Operation.STORE_FRESH,
    SetShape: Operation.STORE_RECORD_SET,
}


@rule(Operation.STORE_FLAG, (K.TRUTH,))
def _fit_flag(m: SymbolicMachine, value: Any, *, shape: FlagShape, where: str) -> Any:
    return value


NUMBERS = (K.NONE, K.NUMBER, K.OPTIONAL_NUMBER)


@rule(Operation.STORE_NUMBER, NUMBERS)
@rule(Operation.STORE_OPTIONAL, NUMBERS)
@rule(Operation.STORE_CHOICE, (K.NONE, *MEMBERS))
@rule(Operation.STORE_OPTIONAL_CHOICE, (K.NONE, *MEMBERS))
def _fit_scalar(m: SymbolicMachine, value: Any, *, shape: Any, where: str) -> Any:
    optional = isinstance(shape, OptionalShape)
    inner = shape.inner if optional else shape
    enum = inner.enum if isinstance(inner, ChoiceShape) else None
    if value is not None and enum is not enum_of(value):
        raise Refused(f"{where} is given {describe(value)}", f"give it {enum.__name__ if enum else 'a number'}")
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
    under = m.terms.conjunction((m.terms.less(term, m.terms.integer(low)), m.values.is_not_none(value)))
    if isinstance(inner, NumberShape) and isinstance(inner.least, Bound):
        m.add_condition(ConditionKind.BOUND, under, inner.least.name)
    else:
        m.error(under, f"{where} goes below {low}")
    least = -1 if optional and term.low < 0 else low
    if term.high < least or term.low > high:
        return shape.default()  # Never stored: a side condition above is true wherever this is reached.
    return int_value(m.terms.within(term, least, high), nullable=optional, enum=enum)


@rule(Operation.STORE_SUBSET, (K.SET,))
def _fit_set(m: SymbolicMachine, value: Any, *, shape: SubsetShape, where: str) -> Set:
    members = m.values.as_set(value).members
    for member, condition in members.items():
        if type(member) is not int or member not in shape.domain:
            m.error(condition, f"{where} is given {member}, which is no member of {shape.domain.name}")
    for condition, other in m.values.as_set(value).others:
        m.error(condition, f"{where} is given {describe(other)}, which is no member of {shape.domain.name}")
    return Set({member: members.get(member, m.terms.false) for member in shape.domain})


@rule(Operation.STORE_RECORD, (K.NONE, *RECORDS))
@rule(Operation.STORE_OPTIONAL_RECORD, (K.NONE, *RECORDS))
def _fit_record(m: SymbolicMachine, value: Any, *, shape: ValueShape, where: str) -> RecordValue:
    if value is not None and record_class(value) is not shape.cls:
        raise Refused(f"{where} is given {describe(value)}", f"give it a {shape.cls.__name__}")
    record = m.values.as_record(value, shape.cls)
    if not shape.optional:
        m.error(m.terms.negation(record.present), f"{where} is given None")
    return record


@rule(Operation.STORE_OBJECT, (K.OBJECT,))
@rule(Operation.STORE_ARRAY, (K.ARRAY, K.LIST))
def _fit_object(m: SymbolicMachine, value: Reference, *, shape: Any, where: str) -> Reference:
    sample = value.sample
    if isinstance(shape, RecordShape) and sample.cls is shape.cls:
        return value
    if isinstance(sample, ArrayObject) and sample.shape is None:
        size = len(shape.domain)
        m.error(m.terms.boolean(len(sample.items) != size), f"{where} is given {len(sample.items)} elements")
        return value
    if isinstance(sample, ArrayObject) and sample.shape == shape:
        return value
    raise Refused(f"{where} is given {describe(value)}", "give it an object of the field's own kind")


CONTAINER_OPERATIONS = {
    FifoObject: ("push", "pop", "head", "is_empty", "starts_with", "clear", "index"),
    FreshObject: ("take", "taken"),
    SetObject: ("add", "discard", "remove", "update", "clear"),
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
QUEUE_METHODS = {
    "append": "`q.push(x)`",
    "appendleft": "`q = [x] + q`",
    "extend": "`q = q + [x, …]`, or push in a loop",
    "insert": "`q = q[:i] + [x] + q[i:]`",
    "remove": "`q = q[:i] + q[i + 1:]`",
    "popleft": "`q.pop()`, which takes the oldest element",
    "first": "`q[0]`, or `q.head`",
    "last": "`q[-1]`",
    "tail": "`q[-1]` for the last element, `q[1:]` for all but the first one",
    "count": "`sum(x == y for y in q)`",
    "copy": "`q[:]`",
}
"""What to write in place of a method of lists or deques."""
LIST_METHODS = {
    "append": "`x = x + [y]`, which makes a new list",
    "extend": "`x = x + y`, which makes a new list",
    "index": "`next(n for n, y in enumerate(x) if y == …)`",
    "count": "`sum(y == … for y in x)`",
    "sort": "`sorted(…)` of a set, or `min(…, key=…)`",
    "reverse": "`reversed(x)`",
    "copy": "`x[:]`",
    "pop": "`x[-1]`, then `x = x[:-1]`",
}
"""What to write in place of a method of local lists."""


# Arguments.


def argument(m: SymbolicMachine, value: Any) -> Any:
    """Return an argument of an action or property as lifting has it; an array is an object that never changes."""
    if not isinstance(value, FrozenArray):
        return admit(value)
    first = m.objects.count
    node = _constant_array(m, value)
    m.constant_cells = (*m.constant_cells, range(first, m.objects.count))
    return Reference(((m.terms.true, node),))


def _constant_array(m: SymbolicMachine, array: FrozenArray[Any]) -> ArrayObject:
    element = array._shape.element
    items: list[Node] = [
        _constant_array(m, item) if isinstance(item, FrozenArray) else m.objects.cell(element, item, m.now.store)
        for item in array
    ]
    return ArrayObject(array._shape, items)


# Reading.


def read_node(m: SymbolicMachine, reference: Reference, nodes: list[Node]) -> Any:
    """Return what a reference refers to in corresponding nodes of its objects: a value, or a reference to a part."""
    if isinstance(nodes[0], LeafCell):
        result = m.now.store[nodes[-1].key]  # type: ignore[union-attr]
        for (condition, _), node in zip(reversed(reference.options[:-1]), reversed(nodes[:-1]), strict=True):
            result = m.values.choose(condition, m.now.store[node.key], result)  # type: ignore[union-attr]
        return refine(m, result)
    options = zip(reference.options, nodes, strict=True)
    return Reference(tuple((condition, node) for (condition, _), node in options), (reference,))


def refine(m: SymbolicMachine, value: Any) -> Any:
    """Return the value, or the constant that the facts imply."""
    if type(value) is Int:
        state = m.now
        fixed = state.constants.get(value.term.id)
        if fixed is not None:
            return int_value(m.terms.integer(fixed), nullable=value.nullable, enum=value.enum)
        if value.nullable and state.decide(m.values.is_none(value)) is False:
            return int_value(m.terms.within(value.term, 0, value.term.high), enum=value.enum)
    elif type(value) is Bool:
        decided = m.now.decide(value.term)
        return value if decided is None else decided
    return value


def attribute(m: SymbolicMachine, owner: Any, name: str) -> Any:
    """Return `owner.name`."""
    if isinstance(owner, (Set, frozenset)):
        raise Refused(f"attribute {name!r} of a set", SET_METHODS.get(name, "the operators |, &, - and ^"))
    if name.startswith("__") and name.endswith("__"):  # a text for people is none of a model's meaning
        raise Refused(f"attribute {name!r}, which Python defines", "a constant of the module")
    return apply(m, Operation.ATTRIBUTE, owner, name=name)


@rule(Operation.ATTRIBUTE, RECORDS)
def _attribute_of_record(m: SymbolicMachine, owner: Any, *, name: str) -> Any:
    if not isinstance(owner, RecordValue):
        if name in dict(shapes_of(type(owner))):
            m.uses(type(owner), name)
            return admit(getattr(owner, name))
        return _class_attribute(type(owner), owner, name)
    m.error(m.values.is_none(owner), f"None has no attribute {name}")
    if name in owner.fields:
        m.uses(owner.cls, name)
        return refine(m, owner.fields[name])
    return _class_attribute(owner.cls, owner, name)


@rule(Operation.ATTRIBUTE, (K.MEMBER,))
def _attribute_of_member(m: SymbolicMachine, owner: Any, *, name: str) -> Any:
    if isinstance(owner, Int):
        raise Refused(f"attribute {name!r} of a member that the state decides", "`if` and `is`, one member at a time")
    is_own = name in vars(owner) and not isinstance(getattr(type(owner), name, None), property)
    if is_own or name in ("name", "value"):
        return admit(getattr(owner, name))
    return _class_attribute(type(owner), owner, name)


@rule(Operation.ATTRIBUTE, (K.CLASS, K.ENUM_CLASS, K.MODULE))
def _attribute_of_constant(m: SymbolicMachine, owner: Any, *, name: str) -> Any:
    try:
        return admit(getattr(owner, name))
    except AttributeError:
        raise Refused(f"{owner.__name__} has no attribute {name!r}", "check the spelling") from None


@rule(Operation.ATTRIBUTE, (K.OBJECT, K.ARRAY, K.LIST, K.FIFO, K.FRESH, K.RECORD_SET))
def _attribute_of_object(m: SymbolicMachine, owner: Reference, *, name: str) -> Any:
    sample = owner.sample
    if isinstance(sample, RecordObject):
        if name in sample.fields:
            m.uses(sample.cls, name)
            return read_node(m, owner, [node.fields[name] for _, node in owner.options])
        return _class_attribute(sample.cls, owner, name)
    if name in CONTAINER_OPERATIONS.get(type(sample), ()):
        return Method(name, owner)
    if isinstance(sample, SetObject):
        raise Refused(f"attribute {name!r} of a set", SET_METHODS.get(name, "add, discard, remove, update, clear"))
    refine = CONTAINER_OPERATIONS.get(type(sample))
    instead = f"use {', '.join(refine)}" if refine else "read and write its elements, `a[i]`"
    if isinstance(sample, FifoObject):
        instead = QUEUE_METHODS.get(name, instead)
    elif kind_of(owner) is K.LIST:
        instead = LIST_METHODS.get(name, instead)
    raise Refused(f"{sample.description} has no attribute {name!r}", instead)


def _class_attribute(cls: type, owner: Any, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            if type(found) is staticmethod:
                return found.__func__
            if type(found) in (property, types.FunctionType):
                return Method(found, owner)
            return admit(found)
    raise Refused(f"{cls.__name__} has no attribute {name!r}", "check the spelling, or declare it as a field")


def element(m: SymbolicMachine, owner: Any, index: Any) -> Any:
    """Return `owner[index]`."""
    return apply(m, Operation.INDEX, owner, index)


def positions(m: SymbolicMachine, index: Any, size: int, *, wraps: bool) -> list[tuple[Term, int]]:
    """Return the positions that an index can have here, each with its condition; add the error of being outside.

    Args:
        m: the machine.
        index: a number, or None, which is an error.
        size: the number of elements.
        wraps: whether -1 is the last position, as in lists and tuples; in an Array it is an error.
    """
    if kind_of(index) not in NUMBERS:
        raise Refused(f"{describe(index)} is used as an index", "index with a number or a domain's member")
    if type(index) is int and 0 <= index < size:
        m.count_rounds(1)
        return [(m.terms.true, index)]
    if wraps:
        m.error(m.values.is_none(index), "None is used as an index")
    term, t = m.values.number(index), m.terms
    least = -size if wraps else 0
    zero, last = t.integer(0), t.integer(size - 1)
    outside = t.disjunction((t.less(term, t.integer(least)), t.less(last, term)))
    m.error(outside, f"an index is outside of 0 … {size - 1}")
    if wraps and term.low < 0:
        term = t.choose(t.less(term, zero), t.add(term, t.integer(size)), term)
    found, places = [], range(max(0, term.low), min(size - 1, term.high) + 1)
    m.count_rounds(len(places))
    for position in places:
        condition = m.simplify(m.terms.equal(term, m.terms.integer(position)))
        if condition is m.terms.true:
            return [(condition, position)]
        if condition is not m.terms.false:
            found.append((condition, position))
    if size == 0:
        raise Refused("an index into something that is empty", "a test of its length first")
    return found or [(m.terms.true, 0)]


@rule(Operation.INDEX, (K.ARRAY, K.LIST), NUMBERS)
def _element_of_array(m: SymbolicMachine, owner: Reference, index: Any) -> Any:
    chosen = positions(m, index, len(owner.sample.items), wraps=owner.sample.shape is None)
    options: list[tuple[Term, Any]] = []
    for at, position in chosen:
        for condition, array in owner.options:
            both = m.terms.conjunction((at, condition))
            if both is not m.terms.false:
                options.append((both, array.items[position]))
    return read_node(m, Reference(tuple(options), (owner,)), [node for _, node in options])


@rule(Operation.INDEX, (K.TUPLE, K.RANGE), NUMBERS)
def _element_of_tuple(m: SymbolicMachine, owner: tuple[Any, ...] | range, index: Any) -> Any:
    chosen = positions(m, index, len(owner), wraps=True)
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
    shape = next(shape for field, shape in shapes_of(owner.sample.cls) if field == name)
    where = f"{owner.sample.cls.__name__}.{name}"
    targets = [(c, node.fields[name]) for c, node in owner.options]
    fitting = fit(m, shape, value, where)
    outdate_replaced(m, owner, targets, fitting)
    write_nodes(m, targets, fitting)


def write_element(m: SymbolicMachine, owner: Any, index: Any, value: Any) -> None:
    """Execute `owner[index] = value`."""
    if not isinstance(owner, Reference) or not isinstance(owner.sample, ArrayObject):
        raise Refused(f"an element of {describe(owner)} is written", "write to an element of an Array or a local list")
    shape = owner.sample.shape
    chosen = positions(m, index, len(owner.sample.items), wraps=shape is None)
    fitting = value if shape is None else fit(m, shape.element, value, f"an element over {shape.domain.name}")
    targets = [
        (m.terms.conjunction((at, condition)), array.items[position])
        for at, position in chosen
        for condition, array in owner.options
    ]
    outdate_changed(m, owner)
    outdate_replaced(m, owner, targets, fitting)
    write_nodes(m, targets, fitting)


def write_nodes(m: SymbolicMachine, targets: list[tuple[Term, Node]], value: Any) -> None:
    """Store a value in each of several nodes where its condition is true."""
    content = _content(m, value) if isinstance(value, Reference) and not _is_any_cell(targets) else None
    for condition, node in targets:
        condition = m.simplify(condition)
        if condition is m.terms.false:
            continue
        if content is None or isinstance(node, SetObject):
            write_cell(m, node.content if isinstance(node, SetObject) else node, value, condition)  # type: ignore[arg-type]
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
    m.writes += 1
    state.store[cell.key] = m.values.choose(condition, value, state.store[cell.key])
    state.is_written |= cell.key < m.state_cells


@frozen(eq=False)
class _Tree:
    """The content of an object: of which kind it is, and the values or trees below it."""

    node: Any
    parts: list[Any]


def _content(m: SymbolicMachine, reference: Reference) -> list[tuple[Term, Any]]:
    """Return the present content of the objects of a reference, as trees of values."""
    return [(condition, _tree(m, node)) for condition, node in reference.options]


def _tree(m: SymbolicMachine, node: Node) -> Any:
    if isinstance(node, SetObject):
        return content_of(m, node.shape, m.now.store[node.content.key])
    if not isinstance(node, LeafCell):
        return _Tree(node, [_tree(m, child) for child in children(node)])
    value = m.now.store[node.key]
    if isinstance(value, Reference):  # an element of a local list
        if len(value.options) > 1:
            raise Refused("a list that holds an object which the state decides", "the objects one at a time")
        return _tree(m, value.sample)
    return value


def _write_tree(m: SymbolicMachine, node: Node, tree: Any, condition: Term) -> None:
    if isinstance(node, LeafCell):
        if isinstance(tree, _Tree):
            raise Refused(f"an element is given {tree.node.description}", "a value of the element's own kind")
        write_cell(m, node, tree if node.shape is None else fit(m, node.shape, tree, "an element"), condition)
        return
    if isinstance(node, SetObject):
        if not isinstance(tree, (Set, frozenset)):
            raise Refused(f"{node.description} is given another value", "a set of records")
        write_cell(m, node.content, stored_as(m, node.shape, m.values.as_set(tree), "a set"), condition)
        return
    below = children(node)
    source = tree.node if isinstance(tree, _Tree) else None
    if type(source) is not type(node) or getattr(source, "cls", None) is not getattr(node, "cls", None):
        raise Refused(f"{node.description} is given another value", "an object of its own kind")
    m.error(m.terms.boolean(len(below) != len(tree.parts)), f"{node.description} is given another number of elements")
    for child, branch in zip(below, tree.parts, strict=False):
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
