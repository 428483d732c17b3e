"""Calls: of functions and methods of the model (run in place), of constructors, and of the builtins that lift."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from typing import Any

import attrs
from attrs import frozen

from kwalk.model.language.action import Parametric, premise, require
from kwalk.model.language.declared import kind_of_class
from kwalk.model.language.errors import Abort
from kwalk.model.language.lift import containers, sets
from kwalk.model.language.lift.access import fit, write_attribute
from kwalk.model.language.lift.comprehensions import Round, items_of, rounds_of
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import admit, kind_of
from kwalk.model.language.lift.machine import DEPTH, ConditionKind, Frame, SymbolicMachine, Unreachable
from kwalk.model.language.lift.objects import ArrayObject
from kwalk.model.language.lift.rules import ARITHMETIC, MEMBERS, RECORDS, Operation, apply, rule
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.truth import truth
from kwalk.model.language.lift.values import (
    MOST,
    Int,
    Method,
    OnceItems,
    RecordValue,
    Reference,
    Refused,
    VaryingItems,
    bool_value,
    describe,
    digits,
    enum_of,
    int_value,
    record_class,
)
from kwalk.model.language.records import RecordShape, shapes_of
from kwalk.model.language.source import source_of

MISSING = object()


@frozen(eq=False)
class KeyExpression:
    """A lambda that is the `key` of min or max: it is evaluated at once, for one item after the other."""

    m: SymbolicMachine
    name: str
    body: ast.expr

    def __call__(self, value: Any) -> Any:
        """Return the key of an item; its name shadows a local variable of the function."""
        self.m.now.local[self.name] = value
        return self.m.evaluate(self.m, self.body)


def _items(
    m: SymbolicMachine, iterable: Any, stop: Callable[[Term, Any], Term] | None = None
) -> list[tuple[Term, Any]]:
    if isinstance(iterable, OnceItems):
        return list(iterable.use().items(stop))
    return items_of(m, iterable)


def _unordered(
    m: SymbolicMachine, iterable: Any, stop: Callable[[Term, Any], Term] | None = None
) -> list[tuple[Term, Any]]:
    """The items for a builtin to which their order makes no difference: sets have items here too."""
    if isinstance(iterable, OnceItems):
        return list(iterable.use().items(stop, any_order=True))
    return items_of(m, iterable, any_order=True)


def _quantified(m: SymbolicMachine, iterable: Any, stop: Callable[[Term, Any], Term]) -> list[tuple[Term, Any]]:
    """The items for `all` and `any`; it is recorded where there is one."""
    found = _unordered(m, iterable, stop)
    if isinstance(iterable, OnceItems):
        m.has_elements(iterable.position, (condition for condition, _ in found))
    return found


def _ascending(m: SymbolicMachine, iterable: Any) -> list[tuple[Term, Any]]:
    """The items in ascending order, each with its condition; they are ints, or tuples of ints, of no state."""
    found = _unordered(m, iterable)
    sizes = {len(item) if type(item) is tuple else 0 for _, item in found}
    are_ints = all(type(part) is int for _, item in found for part in (item if type(item) is tuple else (item,)))
    if not are_ints or len(sizes) > 1:
        what = "the order of items that are no members of a domain"
        raise Refused(what, "a set of a domain's members, or of tuples of as many constant numbers")
    here = [(m.simplify(condition), item) for condition, item in found]
    return sorted((pair for pair in here if pair[0] is not m.terms.false), key=lambda pair: pair[1])


def _sorted(m: SymbolicMachine, iterable: Any, *, reverse: bool = False) -> Any:
    if type(reverse) is not bool:
        raise Refused("an order that depends on the state", "reverse=True or reverse=False")
    found = _ascending(m, iterable)[:: -1 if reverse else 1]
    if all(condition is m.terms.true for condition, _ in found):
        return make_list(m, [item for _, item in found])
    return VaryingItems(tuple(found))


def _require(m: SymbolicMachine, condition: Any) -> None:
    if m.is_property:
        raise Refused("`require` in a property", "`premise(…)`, which restricts a property to some states")
    _guard(m, condition)


def _guard(m: SymbolicMachine, condition: Any) -> None:
    if m.now.is_written:
        raise Refused("a guard after an effect", "every `require` before the first write to the state")
    m.add_condition(ConditionKind.DISABLED, m.terms.negation(truth(m, condition)))


def _premise(m: SymbolicMachine, condition: Any) -> None:
    if not m.is_property:
        raise Refused("`premise` in an action", "`require(…)`, which disables the action")
    if m.premises is None:
        _guard(m, condition)
    else:
        holds = truth(m, condition)
        m.premises.append(m.terms.disjunction((m.terms.negation(m.terms.conjunction(m.now.path)), holds)))


def _any(m: SymbolicMachine, iterable: Any) -> Any:
    found = _quantified(m, iterable, stop=lambda _, value: truth(m, value))
    return bool_value(m.terms.disjunction(m.terms.conjunction((c, truth(m, v))) for c, v in found))


def _all(m: SymbolicMachine, iterable: Any) -> Any:
    t = m.terms
    found = _quantified(m, iterable, stop=lambda _, value: t.negation(truth(m, value)))
    return bool_value(t.conjunction(t.disjunction((t.negation(c), truth(m, v))) for c, v in found))


def _sum(m: SymbolicMachine, iterable: Any, start: Any = 0) -> Any:
    total, found = apply(m, Operation.SUM, start, condition=m.terms.true), _unordered(m, iterable)
    may_be_empty = all(condition is not m.terms.true for condition, _ in found)
    if may_be_empty and kind_of(start) is not K.NUMBER:  # the sum of nothing is the start, whatever it is
        raise Refused("sum with this start", "a number that is not None; `int(…)` of a truth value")
    for condition, value in found:
        item = apply(m, Operation.SUM, value, condition=condition)
        total = m.terms.add(total, m.terms.choose(condition, item, m.terms.integer(0)))
    return int_value(total)


@rule(Operation.SUM, ARITHMETIC)
def _summand(m: SymbolicMachine, value: Any, *, condition: Term) -> Term:
    m.error(m.terms.conjunction((condition, m.values.is_none(value))), "sum of None")
    return m.values.number(value)


def _length(m: SymbolicMachine, thing: Any) -> Any:
    return apply(m, Operation.LENGTH, thing)


@rule(Operation.LENGTH, (K.FIFO,))
def _length_of_queue(m: SymbolicMachine, queue: Reference) -> Any:
    return containers.length(m, queue)


@rule(Operation.LENGTH, (K.ARRAY, K.LIST))
def _length_of_array(m: SymbolicMachine, array: Reference) -> int:
    return len(array.sample.items)


@rule(Operation.LENGTH, (K.SET, K.RECORD_SET))
def _length_of_set(m: SymbolicMachine, thing: Any) -> Any:
    return len(thing) if isinstance(thing, frozenset) else sets.size_of(m, thing)


@rule(Operation.LENGTH, (K.VARYING,))
def _length_of_varying(m: SymbolicMachine, thing: VaryingItems) -> Any:
    return _sum(m, tuple(bool_value(condition) for condition, _ in thing.items))


@rule(Operation.LENGTH, (K.TUPLE, K.RANGE, K.DOMAIN, K.ENUM_CLASS))
def _length_of_constant(m: SymbolicMachine, thing: Any) -> int:
    return len(thing)


def _extreme(m: SymbolicMachine, args: tuple[Any, ...], default: Any, key: Any, *, least: bool) -> Any:
    if not args or (len(args) > 1 and default is not MISSING):
        raise Refused("min or max with these arguments", "several numbers, or one iterable and perhaps a default")
    if key is not None:
        return _extreme_by_key(m, args, default, key, least=least)
    found = [(m.terms.true, a) for a in args] if len(args) > 1 else _unordered(m, args[0])
    are_compared = sum(condition is m.terms.true for condition, _ in found) > 1
    best = default if default is not MISSING else found[0][1] if found else None  # of nothing: an error, below
    exists = m.terms.false
    for condition, value in found:
        apply(m, Operation.EXTREME, value, condition=condition, are_compared=are_compared)
        a, b = m.values.number(value), m.values.number(best)
        better = m.terms.less(a, b) if least else m.terms.less(b, a)
        wins = m.terms.conjunction((condition, m.terms.disjunction((m.terms.negation(exists), better))))
        best = m.values.choose(wins, value, best)
        exists = m.terms.disjunction((exists, condition))
    if default is MISSING:
        m.error(m.terms.negation(exists), "min or max of nothing")
        if isinstance(best, Int) and best.nullable:
            best = int_value(m.terms.within(best.term, 0, best.term.high), enum=best.enum)
    return best


def _extreme_by_key(m: SymbolicMachine, args: tuple[Any, ...], default: Any, key: Any, *, least: bool) -> Any:
    """Return the first of the items whose key is the least, or greatest; so their order makes a difference."""
    t = m.terms
    found = [(t.true, a) for a in args] if len(args) > 1 else _items(m, args[0])
    are_compared = sum(condition is t.true for condition, _ in found) > 1
    best = default if default is not MISSING else found[0][1] if found else None
    best_key, exists = t.integer(0), t.false
    for condition, value in found:
        with m.assuming(m.simplify(condition)):
            of_value = key(value) if isinstance(key, KeyExpression) else call(m, key, [value], {})
        apply(m, Operation.EXTREME, of_value, condition=condition, are_compared=are_compared)
        a = m.values.number(of_value)
        better = t.less(a, best_key) if least else t.less(best_key, a)
        wins = t.conjunction((condition, t.disjunction((t.negation(exists), better))))
        best, best_key = m.values.choose(wins, value, best), t.choose(wins, a, best_key)
        exists = t.disjunction((exists, condition))
    if default is MISSING:
        m.error(t.negation(exists), "min or max of nothing")
    return best


@rule(Operation.EXTREME, ARITHMETIC)
def _candidate(m: SymbolicMachine, value: Any, *, condition: Term, are_compared: bool) -> None:
    is_none = m.simplify(m.terms.conjunction((condition, m.values.is_none(value))))
    if is_none is not m.terms.false and not are_compared:
        failed = m.terms.disjunction(one.condition for one in m.side_conditions)  # `next` of nothing is lifted to None
        if m.terms.conjunction((is_none, m.terms.negation(failed))) is not m.terms.false:
            raise Refused("min or max of what may be a single None", "a test `is not None` for each item")
    m.error(is_none, "min or max of None")


def _min(m: SymbolicMachine, *args: Any, default: Any = MISSING, key: Any = None) -> Any:
    return _extreme(m, args, default, key, least=True)


def _max(m: SymbolicMachine, *args: Any, default: Any = MISSING, key: Any = None) -> Any:
    return _extreme(m, args, default, key, least=False)


def _next(m: SymbolicMachine, iterable: Any, default: Any = MISSING) -> Any:
    if not isinstance(iterable, OnceItems):
        raise Refused(f"next of {describe(iterable)}, which is no iterator", "next((x for x in …), None)")
    found = _items(m, iterable, stop=lambda *_: m.terms.true)
    if default is MISSING:
        m.error(m.terms.negation(m.terms.disjunction(condition for condition, _ in found)), "next of nothing")
    result = default if default is not MISSING else found[-1][1] if found else None
    for condition, value in reversed(found):
        result = m.values.choose(condition, value, result)
    return result


def _abs(m: SymbolicMachine, value: Any) -> Any:
    return apply(m, Operation.ABS, value)


def _int(m: SymbolicMachine, value: Any) -> Any:
    return apply(m, Operation.INT, value)


def _bool(m: SymbolicMachine, value: Any) -> Any:
    return bool_value(truth(m, value))


def _frozenset(m: SymbolicMachine, iterable: Any = ()) -> Any:
    if kind_of(iterable) is K.SET:
        return iterable
    if kind_of(iterable) is K.RECORD_SET:
        return sets.content(m, iterable)
    found = _unordered(m, iterable)
    return sets.made_set(m, found) if found else frozenset()


def _set(m: SymbolicMachine, iterable: Any = ()) -> Any:
    """Return a set that is no frozenset: Python refuses it in a tuple of a set."""
    is_set = kind_of(iterable) in (K.SET, K.RECORD_SET) and type(iterable) is not frozenset
    return _frozenset(m, iterable) if is_set else sets.made_set(m, _unordered(m, iterable))


def _list(m: SymbolicMachine, iterable: Any = ()) -> Any:
    return list_of(m, _items(m, iterable))


def list_of(m: SymbolicMachine, items: list[tuple[Term, Any]]) -> Any:
    """Return a list of the items that are there."""
    if any(condition is not m.terms.true for condition, _ in items):
        return VaryingItems(tuple(items))
    return make_list(m, [value for _, value in items])


def _tuple(m: SymbolicMachine, iterable: Any = ()) -> Any:
    return tuple_of(m, _items(m, iterable))


def tuple_of(m: SymbolicMachine, items: list[tuple[Term, Any]]) -> Any:
    """Return a tuple of the items that are there."""
    if any(condition is not m.terms.true for condition, _ in items):
        return VaryingItems(tuple(items), tuple)
    return tuple(value for _, value in items)


def part(m: SymbolicMachine, sequence: Any, lower: Any, upper: Any) -> Any:
    """Return `sequence[lower:upper]` of a list, tuple or range: a new one; an end that is None is its own."""
    t, is_varying = m.terms, isinstance(sequence, VaryingItems)
    there, before = containers.counted(m, _items(m, sequence))
    low = containers.end_of_slice(m, before[-1], lower, t.integer(0))
    high = containers.end_of_slice(m, before[-1], upper, before[-1])
    found = []
    for (condition, item), place in zip(there, before, strict=False):
        is_inside = t.conjunction((condition, t.negation(t.less(place, low)), t.less(place, high)))
        if (here := m.simplify(is_inside)) is not t.false:
            found.append((here, item))
    cls = sequence.of if is_varying else list if kind_of(sequence) is K.LIST else type(sequence)
    if cls is list:
        return list_of(m, found)
    return tuple_of(m, found) if cls is tuple else VaryingItems(tuple(found), cls)


MOST_NUMBERS = 1_000
"""The most numbers of a range whose ends depend on the state."""
SMALLER = "fields of smaller ranges"


def _range(m: SymbolicMachine, *args: Any) -> Any:
    if not 1 <= len(args) <= 3 or (len(args) == 3 and args[2] == 0):
        raise Refused("range with these arguments", "range(stop), range(start, stop) or range(start, stop, step)")
    if all(type(a) is int for a in args):
        numbers = range(*args)
        if numbers and (size := (numbers[-1] - numbers[0]) // numbers.step + 1) > MOST:
            raise Refused(f"a range of {digits(size)} numbers, from {digits(args[0])} to {digits(args[-1])}", SMALLER)
        return numbers
    if len(args) == 3 or not all(kind_of(a) is K.NUMBER for a in args):
        what = "a range of other things than numbers, or with a step, that depends on the state"
        raise Refused(what, "range(stop) or range(start, stop) of numbers that are not None, with an `if` inside")
    t, (start, stop) = m.terms, map(m.values.number, args if len(args) == 2 else (0, *args))
    if stop.high - start.low > MOST_NUMBERS:
        what = f"a range of {stop.high - start.low:,} numbers, from {start.low} to {stop.high}"
        raise Refused(what, f"{SMALLER}, so that it has at most {MOST_NUMBERS:,}")
    found = []
    for number in range(start.low, stop.high):
        is_after, is_before = t.negation(t.less(t.integer(number), start)), t.less(t.integer(number), stop)
        here = m.simplify(t.conjunction((is_after, is_before)))
        if here is not t.false:
            found.append((here, number))
    return VaryingItems(tuple(found), range)


def _numbered_rounds(m: SymbolicMachine, iterable: Any) -> list[Round]:
    """Return rounds of which the first ones are there, and no later one: the n-th round has the n-th item."""
    rounds = rounds_of(m, iterable)
    if kind_of(iterable) not in (K.VARYING, K.RECORD_SET):
        return rounds
    size, values = containers.numbered(m, [(condition, item()) for condition, item in rounds])
    present = [m.terms.less(m.terms.integer(number), size) for number in range(len(values))]
    return [(here, partial(_itself, value)) for here, value in zip(present, values, strict=True)]


def _itself(value: Any) -> Any:
    return value


def _iterator(rounds: list[Round]) -> OnceItems:
    def items(
        stop: Callable[[Term, Any], Term] | None = None, *, any_order: bool = False
    ) -> Iterator[tuple[Term, Any]]:
        return ((condition, item()) for condition, item in rounds)

    return OnceItems(items, rounds)


def _enumerate(m: SymbolicMachine, iterable: Any, start: Any = 0) -> OnceItems:
    if type(start) is not int:
        raise Refused("enumerate from a number that the state decides", "a constant as the start")

    def pair(number: int, item: Callable[[], Any]) -> tuple[int, Any]:
        return number, item()

    rounds = _numbered_rounds(m, iterable)
    return _iterator([(here, partial(pair, number, item)) for number, (here, item) in enumerate(rounds, start)])


def _zip(m: SymbolicMachine, *iterables: Any, strict: Any = False) -> OnceItems:
    columns = [_numbered_rounds(m, one) for one in iterables]
    if type(strict) is not bool:
        raise Refused("zip with `strict` that depends on the state", "strict=True or strict=False")
    if strict and any(condition is not m.terms.true for column in columns for condition, _ in column):
        raise Refused("zip(…, strict=True) of a Fifo", "zip without `strict`, and an assertion on the lengths")
    if strict and len({len(column) for column in columns}) > 1:
        m.error(m.terms.true, "zip(…, strict=True) of things that have unlike lengths")

    def row(items: tuple[Callable[[], Any], ...]) -> tuple[Any, ...]:
        return tuple(item() for item in items)

    rows = [tuple(zip(*rounds, strict=True)) for rounds in zip(*columns, strict=False)]
    return _iterator([(m.terms.conjunction(conditions), partial(row, items)) for conditions, items in rows])


def _reversed(m: SymbolicMachine, iterable: Any) -> OnceItems:
    rounds: OnceItems = apply(m, Operation.REVERSED, iterable)
    return rounds


@rule(Operation.REVERSED, (K.TUPLE, K.LIST, K.RANGE, K.DOMAIN, K.ARRAY, K.ENUM_CLASS))
def _backwards(m: SymbolicMachine, iterable: Any) -> OnceItems:
    return _iterator(rounds_of(m, iterable)[::-1])


@rule(Operation.REVERSED, (K.FIFO,))
def _queue_backwards(m: SymbolicMachine, queue: Reference) -> OnceItems:
    return _iterator(rounds_of(m, containers.backwards(m, queue)))


@rule(Operation.REVERSED, (K.VARYING,))
def _varying_backwards(m: SymbolicMachine, varying: VaryingItems) -> OnceItems:
    return _iterator(_numbered_rounds(m, VaryingItems(varying.items[::-1])))


def _isinstance(m: SymbolicMachine, value: Any, cls: Any) -> Any:
    return apply(m, Operation.ISINSTANCE, value, cls)


@rule(Operation.ISINSTANCE, (K.NONE, *RECORDS), (K.CLASS,))
def _is_record_of(m: SymbolicMachine, value: Any, cls: type) -> Any:
    if kind_of_class(cls) != "value":
        raise Refused(f"isinstance of the class {cls.__name__}", "a @value class or an Enum")
    of = record_class(value)
    return bool_value(m.values.is_not_none(value)) if of is not None and issubclass(of, cls) else False


@rule(Operation.ISINSTANCE, (K.NONE, *RECORDS, *MEMBERS), (K.ENUM_CLASS,))
def _is_member_of(m: SymbolicMachine, value: Any, cls: type) -> Any:
    return bool_value(m.values.is_not_none(value)) if enum_of(value) is cls else False


@rule(Operation.ISINSTANCE, (K.NONE, *RECORDS, *MEMBERS), (K.TUPLE,))
def _is_one_of(m: SymbolicMachine, value: Any, classes: tuple[Any, ...]) -> Any:
    return bool_value(m.terms.disjunction(truth(m, _isinstance(m, value, cls)) for cls in classes))


def _evolve(m: SymbolicMachine, record: Any, **changes: Any) -> Any:
    return apply(m, Operation.EVOLVE, record, changes=changes)


@rule(Operation.EVOLVE, RECORDS)
def _evolved(m: SymbolicMachine, record: Any, *, changes: dict[str, Any]) -> RecordValue:
    cls = record_class(record)
    assert cls is not None
    source = m.values.as_record(record, cls)
    m.error(m.terms.negation(source.present), "evolve of None")
    shapes = dict(shapes_of(cls))
    unknown = [name for name in changes if name not in shapes]
    if unknown:
        raise Refused(f"{cls.__name__} has no field {unknown[0]!r}", f"its fields: {', '.join(shapes)}")
    fitting = {name: fit(m, shapes[name], value, f"{cls.__name__}.{name}") for name, value in changes.items()}
    return RecordValue(cls, {**source.fields, **fitting}, m.terms.true)


BUILTINS: dict[Any, Callable[..., Any]] = {
    require: _require,
    premise: _premise,
    any: _any,
    all: _all,
    sum: _sum,
    len: _length,
    min: _min,
    max: _max,
    next: _next,
    abs: _abs,
    int: _int,
    bool: _bool,
    frozenset: _frozenset,
    set: _set,
    list: _list,
    tuple: _tuple,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    sorted: _sorted,
    isinstance: _isinstance,
    attrs.evolve: _evolve,
}


def call(m: SymbolicMachine, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Return the result of a call."""
    return apply(m, Operation.CALL, function, args=args, keywords=keywords)


@rule(Operation.CALL, (K.FUNCTION, K.CLASS))
def _call(m: SymbolicMachine, function: Any, *, args: list[Any], keywords: dict[str, Any]) -> Any:
    if isinstance(function, Method):
        return _call_method(m, function, args, keywords)
    if isinstance(function, types.MethodType):
        return call_function(m, function.__func__, [admit(function.__self__), *args], keywords)
    if isinstance(function, Parametric):
        return call_function(m, function.function, args, keywords)
    builtin = BUILTINS.get(function)
    if builtin is not None:
        return _operate(m, builtin, function.__name__, args, keywords)
    if isinstance(function, types.FunctionType):
        return call_function(m, function, args, keywords)
    if isinstance(function, type):
        return _construct(m, function, args, keywords)
    raise Refused(f"a call of {describe(function)}", FUNCTIONS.get(function, Operation.CALL.value.instead))


FUNCTIONS: dict[Any, str] = {
    print: "nothing: traces and `kwalk explore` show the state, and Python's debugger runs the plain model",
}
"""What to write in place of a call of a function that is none of a model."""
CLASSES: dict[type, str] = {
    itertools.product: "several `for` in one comprehension, or nested loops",
    itertools.permutations: "several `for` in one comprehension, with `if`; or a parameter of the action",
    itertools.combinations: "several `for` in one comprehension, with `if`; or a parameter of the action",
    dict: "an Array over a domain",
    str: "no text at all: labels belong in `description=`",
}
"""What to write in place of a call of a class that is none of a model."""
ATTRIBUTES = ("head", "is_empty", "taken")
"""The operations of containers that are read, and not called."""


def property_value(m: SymbolicMachine, attribute: Any) -> Any:
    """Return the value of an attribute that is read and not called: a property is executed."""
    if isinstance(attribute, Method) and isinstance(attribute.function, property):
        return call_function(m, attribute.function.fget, [attribute.owner], {})
    if isinstance(attribute, Method) and attribute.function in ATTRIBUTES:
        return containers.OPERATIONS[attribute.function](m, attribute.owner)
    return attribute


def _operate(
    m: SymbolicMachine, operation: Callable[..., Any], name: str, args: list[Any], keywords: dict[str, Any]
) -> Any:
    """Call a builtin's or container's operation; arguments that it does not take are refused."""
    if not _takes(operation, 1 + len(args), tuple(keywords)):
        instead = ARGUMENTS.get(name, "the arguments that docs/reference/language.md lists")
        raise Refused(f"{name} with these arguments", instead)
    return operation(m, *args, **keywords)


@cache
def _takes(operation: Callable[..., Any], count: int, names: tuple[str, ...]) -> bool:
    """Return whether a function takes so many arguments in order, and keywords of these names."""
    try:
        inspect.signature(operation).bind(*[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


ARGUMENTS = {
    "pop": "`pop()`, which takes the oldest element of a Fifo",
    "push": "`push(x)`, which appends one element",
    "require": "`require(condition)`; join several with `and`",
    "premise": "`premise(condition)`; join several with `and`",
    "sorted": "`sorted(x)` or `sorted(x, reverse=True)`, without a key",
}
"""What to write in place of a call with arguments that an operation does not take."""


def _call_method(m: SymbolicMachine, method: Method, args: list[Any], keywords: dict[str, Any]) -> Any:
    if isinstance(method.function, property) or method.function in ATTRIBUTES:
        return call(m, property_value(m, method), args, keywords)
    if isinstance(method.function, str):
        if keywords:
            raise Refused(f"keywords in a call of {method.function}", "the arguments in order")
        return _operate(m, containers.OPERATIONS[method.function], method.function, [method.owner, *args], {})
    return call_function(m, method.function, [method.owner, *args], keywords)


def call_function(m: SymbolicMachine, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Execute a function of the model in place. Paths that abort leave it; the others join after the call."""
    if len(m.frames) >= DEPTH:
        what = f"calls nested deeper than {DEPTH} (at {function.__qualname__})"
        raise Refused(what, "a loop; recursion cannot be lifted")
    m.count_rounds(1)
    definition = source_of(function)
    m.coverage.functions.add(function)
    local = _bind_arguments(m, function, definition.args, args, keywords)
    base = m.now
    m.state = base.fork()
    m.state.local = local
    frame, aborted = Frame(function, base.local), len(m.aborts)
    m.frames.append(frame)
    m.execute(m, definition.body)
    m.frames.pop()
    for state, _ in m.aborts[aborted:]:
        state.local = base.local.copy()
    ends = frame.returns if m.state is None else [*frame.returns, (m.state, None)]
    for state, _ in ends:
        state.local = {}
    result = m.join(base, ends)
    if m.state is None:
        raise Unreachable
    m.state.local = base.local
    return result


def _bind_arguments(
    m: SymbolicMachine, function: Any, declared: ast.arguments, args: list[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    if declared.vararg or declared.kwarg:
        raise Refused(f"* or ** in the parameters of {function.__qualname__}", "the parameters written out")
    names, taken = _parameters(declared)
    defaults: dict[str, Any] = {}
    if function.__defaults__ or function.__kwdefaults__:
        defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
        defaults.update(function.__kwdefaults__ or {})
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if len(args) > len(names) or not given.keys() <= taken.keys():
        raise Refused(f"{function.__qualname__} is called with arguments it does not take", "its own parameters")
    bound = {name: admit(value) for name, value in defaults.items()}
    bound.update(given)
    missing = [name for name in taken if name not in bound]
    if missing:
        raise Refused(f"{function.__qualname__} is called without {', '.join(missing)}", "all of its parameters")
    return bound


@lru_cache(maxsize=1 << 12)  # trees of mutants come and go
def _parameters(declared: ast.arguments) -> tuple[tuple[str, ...], dict[str, None]]:
    """Return the names of the parameters that take arguments in order, and those of all."""
    names = tuple(a.arg for a in (*declared.posonlyargs, *declared.args))
    return names, dict.fromkeys((*names, *(a.arg for a in declared.kwonlyargs)))


# Constructors.


def _construct(m: SymbolicMachine, cls: type, args: list[Any], keywords: dict[str, Any]) -> Any:
    kind = kind_of_class(cls)
    if not kind:
        if issubclass(cls, Abort):
            return cls
        instead = CLASSES.get(cls, "a @state or @value class, or a builtin that the reference lists")
        raise Refused(f"a call of {cls.__name__}", instead)
    names = [f.name for f in attrs.fields(cls)]
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if len(args) > len(names) or not set(given) <= set(names):
        raise Refused(f"{cls.__name__} has no field for one of these arguments", f"its fields: {', '.join(names)}")
    return _record(m, cls, given) if kind == "value" else _object(m, cls, given)


def _record(m: SymbolicMachine, cls: type, values: dict[str, Any]) -> RecordValue:
    fields = {}
    for name, shape in shapes_of(cls):
        value = values[name] if name in values else shape.default()
        fields[name] = fit(m, shape, value, f"{cls.__name__}.{name}")
    return RecordValue(cls, fields, m.terms.true)


def _object(m: SymbolicMachine, cls: type, values: dict[str, Any]) -> Reference:
    node = m.objects.make(RecordShape(cls), m.objects.defaults, m.now.store)
    made = Reference(((m.terms.true, node),))
    for name, value in values.items():
        write_attribute(m, made, name, value)
    return made


def make_list(m: SymbolicMachine, items: list[Any]) -> Reference:
    """Return a local list: mutable elements, fixed length."""
    cells = [m.objects.cell(None, item, m.now.store) for item in items]
    return Reference(((m.terms.true, ArrayObject(None, list(cells))),))
