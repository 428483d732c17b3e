"""Symbolic values: what Python expressions become while a model is lifted, and the operations on them.

A value is concrete (an ordinary Python object) wherever the scenario fixes it, and symbolic otherwise: `Bool`, `Int`
(also members of an Enum, and None), `Set`, `RecordValue` (a frozen record, or None). References to mutable parts of the
state are in `objects`. `Values` converts, chooses between and compares them over one table of terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import Any

from attrs import define, frozen

from kwalk.model.language.declared import kind_of_class
from kwalk.model.language.lift.terms import Term, Terms
from kwalk.model.language.records import shapes_of
from kwalk.model.language.shapes import NONE


class Refused(Exception):
    """A construct that cannot be lifted; the machine adds file and line."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(what, instead)
        self.what, self.instead = what, instead


@define(eq=False)  # frozen classes take twice as long to make: nothing changes values all the same
class Bool:
    """A Boolean that depends on the state."""

    term: Term


@define(eq=False)
class Int:
    """A number that depends on the state; with `nullable`, None is -1; with `enum`, the position of a member."""

    term: Term
    nullable: bool = False
    enum: type[Enum] | None = None


@define(eq=False)
class Set:
    """A set: for each possible member (a constant, see `is_constant_member`) the condition that it is in the set.

    `others` are records and tuples that depend on the state, each with its condition; they may equal members and each
    other.
    """

    members: dict[Any, Term]
    others: tuple[tuple[Term, Any], ...] = ()


@define(eq=False)
class OnceItems:
    """What can be looped over once: a generator expression, or `enumerate`, `zip` or `reversed` of something.

    Attributes:
        items: returns the items with their conditions; no item follows one for which its argument is true. With
            `any_order`, their order makes no difference to what consumes them, so sets have items too.
        rounds: for a loop, the condition of each round and what returns its item at the beginning of the round; None
            for a generator expression, which Python evaluates between the rounds.
        position: the line and the column in which a generator expression begins; None for anything else.
        is_used: whether its items have been taken.
    """

    items: Callable[..., Iterator[tuple[Term, Any]]]
    rounds: list[tuple[Term, Callable[[], Any]]] | None
    position: tuple[int, int] | None = None
    is_used: bool = False

    def use(self) -> OnceItems:
        """Return this object, for the first time.

        Raises:
            Refused: it has been used already, on this path or on another one.
        """
        if self.is_used:
            raise Refused("an iterator that is used twice", "a tuple or list of its items")
        self.is_used = True
        return self


@frozen(eq=False)
class Method:
    """A function of a class with its `self`, or an operation of a container by name."""

    function: Any
    owner: Any


@frozen(eq=False)
class VaryingItems:
    """A list, tuple or range whose length depends on the state: the items that it can have, each with its condition.

    Attributes:
        items: the items, in order.
        of: list, tuple or range.
    """

    items: tuple[tuple[Term, Any], ...]
    of: type = list


@define(eq=False)
class RecordValue:
    """A frozen record of class `cls`; `present` is false where it is None (its fields are defaults there)."""

    cls: type
    fields: dict[str, Any]
    present: Term


@define(eq=False)
class Reference:
    """One of several mutable objects (see `objects`), each under a condition; the conditions exclude each other.

    `through` are the references by which it was reached: `x.boxes[i]` through `x.boxes`, and so through `x`.
    """

    options: tuple[tuple[Term, Any], ...]
    through: tuple[Reference, ...] = ()

    @property
    def sample(self) -> Any:
        """Return any of the objects: they differ only in their cells."""
        return self.options[0][1]


@frozen(eq=False)
class Mixed:
    """The value of a variable to which two branches give values without a common type; an error only if it is used.

    Attributes:
        truth: its truth value, where it is the result of `and` or `or` and this is all that may be used.
    """

    truth: Term | None = None


@frozen(eq=False)
class Outdated:
    """The value of a variable that refers to what was changed under another name (see `names`)."""


MIXED = Mixed()
OUTDATED = Outdated()
EMPTY_LIST = ("array", 0, None)
"""The `kind` of a local list without elements, which never changes."""


MOST = 2**62
"""The largest number that a model may compute: machine code calculates with 64 bits."""
MOST_IN_SET = 100_000
"""The most numbers that an item of a set can be."""


def bool_value(term: Term) -> Bool | bool:
    """Return a Boolean, concrete if the term is a constant."""
    return bool(term.payload) if term.op == "bool" else Bool(term)


def digits(number: int) -> str:
    """Return a number as text; a long one, which Python may refuse to write, by its size."""
    size = number.bit_length()
    return f"{number:,}" if size <= 128 else f"{'-' * (number < 0)}2 ** {size - 1} or more"


def int_value(term: Term, *, nullable: bool = False, enum: type[Enum] | None = None) -> Any:
    """Return a number, concrete if the term is a constant."""
    if term.low < -MOST or term.high > MOST:
        raise Refused(f"a number that can be beyond {MOST:,}", "fields and factors of smaller ranges")
    if term.op != "int":
        return Int(term, nullable and term.low <= NONE, enum)
    if term.payload == NONE and nullable:
        return None
    return members_of(enum)[term.payload] if enum is not None else term.payload


@cache
def members_of(enum: type[Enum]) -> tuple[Enum, ...]:
    """Return the members of an Enum in their order."""
    return tuple(enum)


@cache
def _position(enum: type[Enum], name: str) -> int:
    return members_of(enum).index(enum[name])


SCALARS = frozenset({type(None), Bool, Int, bool, int})
"""The classes of scalars, but for members of an Enum."""


def is_scalar(value: Any) -> bool:
    """Return whether a value is a number, Boolean, Enum member or None."""
    return value is None or isinstance(value, (Bool, Int, bool, int, Enum))


def record_class(value: Any) -> type | None:
    """Return the class of a frozen record, concrete or symbolic; None for other values."""
    cls = type(value)
    if cls is RecordValue:
        return value.cls  # type: ignore[no-any-return]
    return cls if kind_of_class(cls) == "value" else None


def is_constant_record(value: Any) -> bool:
    """Return whether a value is a frozen record of Python."""
    return kind_of_class(type(value)) == "value"


def is_constant_member(value: Any) -> bool:
    """Return whether a set can hold a value as it is: it is hashable, and does not depend on the state."""
    if type(value) in (tuple, frozenset):
        return all(type(part) is bool or is_constant_member(part) for part in value)
    return value is None or type(value) is int or isinstance(value, Enum) or is_constant_record(value)


def enum_of(value: Any) -> type[Enum] | None:
    """Return the Enum to which a scalar belongs, or None."""
    if isinstance(value, Int):
        return value.enum
    return type(value) if isinstance(value, Enum) else None


def describe(value: Any) -> str:
    """Return the kind of a value, for messages."""
    kinds = {
        Bool: "a truth value",
        Int: "a number",
        Set: "a set",
        Mixed: "a variable of mixed types",
        bool: "a truth value",
        int: "a number",
        type(None): "None",
        tuple: "a tuple",
        frozenset: "a set",
        range: "a range",
        str: "a text",
        OnceItems: "an iterator",
        Method: "a method",
    }
    if isinstance(value, RecordValue):
        return f"a {value.cls.__name__}"
    if isinstance(value, Reference):
        return str(value.sample.description)
    if isinstance(value, VaryingItems):
        return f"a {value.of.__name__} of varying length"
    enum = enum_of(value)
    if enum is not None:
        return f"a {enum.__name__}"
    return kinds.get(type(value), repr(value)[:80])


class Values:
    """Operations on values over one table of terms."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    # Conversions to terms.

    def number(self, value: Any) -> Term:
        """Return the int term of a scalar; None is -1."""
        if type(value) is Int:
            return value.term
        if type(value) is Bool:
            return self.terms.choose(value.term, self.terms.integer(1), self.terms.integer(0))
        if value is None:
            return self.terms.integer(NONE)
        if isinstance(value, Enum):
            return self.terms.integer(_position(type(value), value._name_))
        if type(value) in (bool, int):
            return self.terms.integer(int(value))
        raise Refused(f"{describe(value)} is used as a number", "use a number, flag, member or Enum")

    def truth(self, value: Any) -> Term:
        """Return the term of the truth that Python gives to a scalar, record or set; see `truth.truth` for others."""
        if isinstance(value, Bool):
            return value.term
        if isinstance(value, Int):
            if value.enum is not None:
                return self.is_not_none(value)
            zero = self.terms.equal(value.term, self.terms.integer(0))
            return self.terms.conjunction((self.terms.negation(zero), self.is_not_none(value)))
        if isinstance(value, Set):
            return self.terms.disjunction([*value.members.values(), *(condition for condition, _ in value.others)])
        if isinstance(value, RecordValue):
            return value.present
        if isinstance(value, VaryingItems):
            return self.terms.disjunction(condition for condition, _ in value.items)
        if value is None or type(value) in (bool, int, frozenset):
            return self.terms.boolean(value)
        if isinstance(value, Enum) or record_class(value) is not None:
            return self.terms.true
        raise Refused(f"{describe(value)} as a truth value", "a comparison")

    def is_none(self, value: Any) -> Term:
        """Return the term of `value is None`."""
        if isinstance(value, Int):
            none = self.terms.integer(NONE)
            return self.terms.equal(value.term, none) if value.nullable else self.terms.false
        if isinstance(value, RecordValue):
            return self.terms.negation(value.present)
        return self.terms.boolean(value is None)

    def is_not_none(self, value: Any) -> Term:
        """Return the term of `value is not None`."""
        return self.terms.negation(self.is_none(value))

    # Lifting concrete things to the symbolic type that a merge needs.

    def as_set(self, value: Any) -> Set:
        """Return a symbolic set for a concrete or symbolic one."""
        if isinstance(value, Set):
            return value
        return Set(dict.fromkeys(value, self.terms.true))

    def possibilities(self, value: Any) -> list[tuple[Any, Term]]:
        """Return all numbers or members of its Enum that a scalar can be, and None, each with its condition."""
        term = self.number(value)
        if value is None:
            return [(None, self.terms.true)]
        is_nullable = isinstance(value, Int) and value.nullable
        none: list[tuple[int | None, Term]] = [(None, self.is_none(value))] if is_nullable else []
        least = max(0, term.low) if is_nullable else term.low
        if term.high - least >= MOST_IN_SET:
            what = f"a set that holds a number from {least:,} to {term.high:,}"
            raise Refused(what, f"a field of a smaller range, of at most {MOST_IN_SET:,} numbers")
        enum = enum_of(value)
        members = list(enum) if enum is not None else range(term.high + 1)
        return [
            *none,
            *(
                (members[n] if n >= 0 else n, self.terms.equal(term, self.terms.integer(n)))
                for n in range(least, term.high + 1)
            ),
        ]

    def in_set(self, item: Any, container: Any) -> Term:
        """Return the term of `item in container`, of a set."""
        t, found = self.terms, self.as_set(container)
        if is_constant_member(item):
            parts = [found.members.get(item, t.false)]
        else:
            parts = [t.conjunction((c, self.equal(item, member))) for member, c in found.members.items()]
        return t.disjunction([*parts, *(t.conjunction((c, self.equal(item, one))) for c, one in found.others)])

    def subset(self, small: Any, large: Any) -> Term:
        """Return the term of `small <= large`, of two sets."""
        t, x = self.terms, self.as_set(small)
        items = [*((c, member) for member, c in x.members.items()), *x.others]
        return t.conjunction(t.disjunction((t.negation(c), self.in_set(item, large))) for c, item in items)

    def constant(self, value: Any) -> Any:
        """Return a record or set as Python's own object if it does not depend on the state; else as it is."""
        if isinstance(value, Set) and not value.others and all(c.op == "bool" for c in value.members.values()):
            return frozenset(member for member, c in value.members.items() if c.payload)
        if not isinstance(value, RecordValue) or value.present.op != "bool":
            return value
        if not value.present.payload:
            return None
        fields = {name: self.constant(part) for name, part in value.fields.items()}
        if any(isinstance(part, (Bool, Int, Set, RecordValue)) for part in fields.values()):
            return value
        return value.cls(**fields)

    def as_record(self, value: Any, cls: type) -> RecordValue:
        """Return a symbolic record for a concrete or symbolic one, or None."""
        if isinstance(value, RecordValue):
            return value
        source = cls() if value is None else value
        fields = {name: getattr(source, name) for name, _ in shapes_of(cls)}
        return RecordValue(cls, fields, self.terms.boolean(value is not None))

    # Choice.

    def choose(self, condition: Term, a: Any, b: Any) -> Any:
        """Return `a` where the condition is true, else `b`; MIXED if they have no common type."""
        if a is b or condition is self.terms.true:
            return a
        if condition is self.terms.false:
            return b
        if a is OUTDATED or b is OUTDATED:
            return OUTDATED
        if type(a) in SCALARS and type(b) in SCALARS:
            return self._choose_scalars(condition, a, b)
        record = record_class(a if isinstance(a, RecordValue) or not isinstance(b, RecordValue) else b)
        record = record or record_class(b)
        if record is not None:
            return self._choose_records(condition, a, b, record)
        if is_scalar(a) and is_scalar(b):
            return self._choose_scalars(condition, a, b)
        if isinstance(a, (Set, frozenset, set)) and isinstance(b, (Set, frozenset, set)):
            return self._choose_sets(condition, self.as_set(a), self.as_set(b))
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.choose(condition, x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, Reference) and isinstance(b, Reference) and a.sample.kind == b.sample.kind:
            return self._choose_references(condition, a, b)
        x, y = self._as_varying(a), self._as_varying(b)
        if x is not None and y is not None and x.of is y.of:
            return self._choose_varying(condition, x, y)
        return MIXED

    def _as_varying(self, value: Any) -> VaryingItems | None:
        """Return a tuple, or an empty list, as a sequence of varying length; None for what can change in place."""
        if isinstance(value, tuple):
            return VaryingItems(tuple((self.terms.true, item) for item in value), tuple)
        if isinstance(value, Reference) and value.sample.kind == EMPTY_LIST:
            return VaryingItems(())
        return value if isinstance(value, VaryingItems) else None

    def _choose_varying(self, condition: Term, a: VaryingItems, b: VaryingItems) -> VaryingItems:
        """Return the items of either; those with which both begin are taken once."""
        t, common = self.terms, 0
        for (one, item), (other, same) in zip(a.items, b.items, strict=False):
            if one is not other or item is not same:
                break
            common += 1
        rest = [(t.conjunction((condition, c)), item) for c, item in a.items[common:]]
        rest += [(t.conjunction((t.negation(condition), c)), item) for c, item in b.items[common:]]
        return VaryingItems((*a.items[:common], *((c, item) for c, item in rest if c is not t.false)), a.of)

    def _choose_references(self, condition: Term, a: Reference, b: Reference) -> Reference:
        chosen: dict[int, tuple[Term, Any]] = {}
        for guard, reference in ((condition, a), (self.terms.negation(condition), b)):
            for inner, node in reference.options:
                both = self.terms.conjunction((guard, inner))
                if id(node) in chosen:
                    both = self.terms.disjunction((chosen[id(node)][0], both))
                if both is not self.terms.false:
                    chosen[id(node)] = (both, node)
        return Reference(tuple(chosen.values()), (a, b))

    def _choose_scalars(self, condition: Term, a: Any, b: Any) -> Any:
        if isinstance(a, (Bool, bool)) and isinstance(b, (Bool, bool)):
            return bool_value(self.terms.choose(condition, self.truth(a), self.truth(b)))
        if isinstance(a, (Bool, bool)) or isinstance(b, (Bool, bool)):
            return MIXED
        enum = enum_of(b if a is None else a)
        if a is not None and b is not None and enum is not enum_of(b):
            return MIXED
        x, y = self.number(a), self.number(b)
        nullable = a is None or b is None or getattr(a, "nullable", False) or getattr(b, "nullable", False)
        if nullable and min(self._least(a), self._least(b)) < 0:
            return MIXED
        return int_value(self.terms.choose(condition, x, y), nullable=nullable, enum=enum)

    def _least(self, value: Any) -> int:
        if value is None or (isinstance(value, Int) and value.nullable):
            return 0
        return self.number(value).low

    def _choose_sets(self, condition: Term, a: Set, b: Set) -> Set:
        t = self.terms
        members = {
            k: t.choose(condition, a.members.get(k, t.false), b.members.get(k, t.false))
            for k in dict.fromkeys([*a.members, *b.members])
        }
        not_it = t.negation(condition)
        others = [(t.conjunction((condition, c)), item) for c, item in a.others]
        others += [(t.conjunction((not_it, c)), item) for c, item in b.others]
        return Set(members, tuple((c, item) for c, item in others if c is not t.false))

    def _choose_records(self, condition: Term, a: Any, b: Any, cls: type) -> Any:
        if any(v is not None and record_class(v) is not cls for v in (a, b)):
            return MIXED
        x, y = self.as_record(a, cls), self.as_record(b, cls)
        others = y.fields
        fields = {n: v if v is others[n] else self.choose(condition, v, others[n]) for n, v in x.fields.items()}
        return RecordValue(cls, fields, self.terms.choose(condition, x.present, y.present))

    # Equality.

    def equal(self, a: Any, b: Any) -> Term:
        """Return the term of Python's == between scalars, sets, records and tuples of them.

        See `operators.equal` for others.
        """
        cls = record_class(a) or record_class(b)
        if cls is not None:
            return self._equal_records(a, b, cls)
        if is_scalar(a) and is_scalar(b):
            return self._equal_scalars(a, b)
        sets = (Set, frozenset, set)
        if isinstance(a, sets) and isinstance(b, sets):
            if self.as_set(a).others or self.as_set(b).others:
                return self.terms.conjunction((self.subset(a, b), self.subset(b, a)))
            x, y, false = self.as_set(a).members, self.as_set(b).members, self.terms.false
            return self.terms.conjunction(self.terms.equal(x.get(k, false), y.get(k, false)) for k in {**x, **y})
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return self.terms.false
            return self.terms.conjunction(self.equal(x, y) for x, y in zip(a, b, strict=True))
        if all(is_scalar(one) or isinstance(one, (*sets, tuple)) for one in (a, b)):
            return self.terms.false
        raise Refused(f"a comparison of {describe(a)} with {describe(b)}", "a comparison of values of one kind")

    def _equal_scalars(self, a: Any, b: Any) -> Term:
        if enum_of(a) is not enum_of(b) and not (a is None or b is None):
            return self.terms.conjunction((self.is_none(a), self.is_none(b)))
        for x, y in ((a, b), (b, a)):
            if x is None:
                return self.is_none(y)
        x, y = self.number(a), self.number(b)
        for nullable, other in ((a, b), (b, a)):
            # A number that happens to be -1 is not None.
            if not isinstance(nullable, Int) or not nullable.nullable or getattr(other, "nullable", False):
                continue
            if self.number(other).low < 0:
                raise Refused("a value that can be None is compared with a negative number", "test `is not None` first")
        return self.terms.equal(x, y)

    def _equal_records(self, a: Any, b: Any, cls: type) -> Term:
        if any(v is not None and record_class(v) is not cls for v in (a, b)):
            return self.terms.conjunction((self.is_none(a), self.is_none(b)))
        x, y = self.as_record(a, cls), self.as_record(b, cls)
        fields = self.terms.conjunction(self.equal(x.fields[n], y.fields[n]) for n in x.fields)
        both = self.terms.conjunction((x.present, y.present, fields))
        neither = self.terms.conjunction((self.terms.negation(x.present), self.terms.negation(y.present)))
        return self.terms.disjunction((both, neither))
