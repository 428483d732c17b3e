"""The table of rules: what each operation means for each kind of operand. What has no rule is refused.

The reference's section on operations is generated from this table (`rules_page`), and the tests walk it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from itertools import product
from typing import Any, TypeVar

from attrs import frozen

from kwalk.model.language.lift.kinds import KINDS, ValueKind, kind_of
from kwalk.model.language.lift.machine import SymbolicMachine
from kwalk.model.language.lift.values import Refused, describe

K = ValueKind


@frozen
class Construct:
    """How an operation is written, what a refusal calls it, and what to write instead."""

    code: str
    phrase: str
    instead: str


class Operation(Enum):
    """The operations of the language whose meaning depends on the kinds of their operands."""

    __hash__ = object.__hash__  # as that of kinds

    TRUTH = Construct("if x:, not x, x and y, bool(x), any, all, require(x)", "{0} as a truth value", "a comparison")
    EQUAL = Construct("x == y, x != y", "a comparison of {0} with {1}", "a comparison of values of one kind")
    IS = Construct("x is y, x is not y", "`is` between {0} and {1}", "`==`; `is` compares with None or an Enum member")
    ORDER = Construct("x < y, x <= y, x > y, x >= y", "{0} compared by size with {1}", "numbers or sets")
    CONTAINS = Construct("y in x, y not in x", "a test whether {1} is in {0}", "`any(… == … for …)`")
    ADD = Construct("x + y", "+ of {0} and {1}", "numbers or truth values, two lists, two tuples, or a Fifo")
    SUBTRACT = Construct("x - y", "- of {0} and {1}", "numbers, truth values or sets")
    MULTIPLY = Construct("x * y", "* of {0} and {1}", "numbers or truth values")
    DIVIDE = Construct("x // y", "// of {0} and {1}", "numbers or truth values")
    REMAINDER = Construct("x % y", "% of {0} and {1}", "numbers or truth values")
    POWER = Construct("x ** y", "** of {0} and {1}", "constant numbers")
    SHIFT_LEFT = Construct("x << y", "<< of {0} and {1}", "constant numbers")
    SHIFT_RIGHT = Construct("x >> y", ">> of {0} and {1}", "constant numbers")
    AND = Construct("x & y", "& of {0} and {1}", "sets or constant numbers; `and` for truth values")
    OR = Construct("x | y", "| of {0} and {1}", "sets or constant numbers; `or` for truth values")
    XOR = Construct("x ^ y", "^ of {0} and {1}", "sets or constant numbers; `!=` for truth values")
    NEGATE = Construct("-x", "- of {0}", "a number or truth value")
    PLUS = Construct("+x", "+ of {0}", "a number or truth value")
    ABS = Construct("abs(x)", "abs of {0}", "a number or truth value")
    INT = Construct("int(x)", "int of {0}", "a number or truth value")
    SUM = Construct("x as an item of sum", "sum of {0}", "numbers or truth values")
    EXTREME = Construct("x as an item of min or max", "min or max of {0}", "numbers or truth values")
    LENGTH = Construct("len(x)", "len of {0}", "len of a set, Fifo, Array, Domain, list or tuple")
    ITERATE = Construct("for y in x:, [… for y in x]", "a loop over {0}", "a Domain, range, tuple, Array, Fifo or Enum")
    REVERSED = Construct("reversed(x)", "reversed of {0}", "a tuple, list, range, Domain, Array or Fifo")
    INDEX = Construct("x[y]", "{0} indexed with {1}", "an Array, Fifo, list or tuple, indexed with a number")
    SET_ITEM = Construct(
        "{x}", "a set that holds {0}", "a set of numbers (`int(x)` of a truth value), Enum members, records, or tuples"
    )
    ISINSTANCE = Construct("isinstance(x, y)", "isinstance of {0}", "a choice field that says which kind it is")
    EVOLVE = Construct("evolve(x, …)", "evolve of {0}", "evolve of a @value record; write to fields of a @state object")
    ATTRIBUTE = Construct("x.name", "an attribute of {0}", "a comparison of the value itself")
    CALL = Construct("x(…)", "a call of {0}", "a function of the model, or a builtin that the reference lists")
    RESULT = Construct("return x from a property", "the property returns {0}", "True or False, such as `bool(x)`")
    STORE_FLAG = Construct("x into flag()", "{field} is given {0}", "True or False; `x is not None` or `x != 0`")
    STORE_NUMBER = Construct("x into number() or member()", "{field} is given {0}", "a number")
    STORE_CHOICE = Construct("x into choice()", "{field} is given {0}", "a member of its Enum")
    STORE_OPTIONAL = Construct("x into optional() of a number or member", "{field} is given {0}", "a number or None")
    STORE_OPTIONAL_CHOICE = Construct("x into optional() of an Enum", "{field} is given {0}", "a member or None")
    STORE_SUBSET = Construct("x into subset()", "{field} is given {0}", "a set, such as frozenset({…}) or {… for …}")
    STORE_RECORD_SET = Construct(
        "x into subset() of @value classes or bounded_set()", "{field} is given {0}", "a set of records of its classes"
    )
    STORE_RECORD = Construct("x into nested() of a @value class", "{field} is given {0}", "a record of its class")
    STORE_OPTIONAL_RECORD = Construct("x into optional() of a @value class", "{field} is given {0}", "a record or None")
    STORE_OBJECT = Construct("x into nested() of a @state class", "{field} is given {0}", "an object of its class")
    STORE_ARRAY = Construct("x into array()", "{field} is given {0}", "an Array of the field's own kind, or a list")
    STORE_FIFO = Construct("x into fifo()", "{field} is given {0}", "a Fifo, or a list of elements")
    STORE_FRESH = Construct("x into fresh()", "{field} is given {0}", "another Fresh of its domain; or call its take()")


Rule = Callable[..., Any]
R = TypeVar("R", bound=Rule)
RULES: dict[Operation, dict[tuple[ValueKind, ...], Rule]] = {operation: {} for operation in Operation}
"""The rule of each operation for each kind, or pair of kinds, of operands."""

ARITHMETIC = (K.NONE, K.TRUTH, K.NUMBER, K.OPTIONAL_NUMBER)
"""Kinds that arithmetic accepts; None is an error of the model in the states in which it is met."""
MEMBERS = (K.MEMBER, K.OPTIONAL_MEMBER)
SCALARS = (*ARITHMETIC, *MEMBERS)
RECORDS = (K.RECORD, K.OPTIONAL_RECORD)
DATA = (*SCALARS, *RECORDS, K.SET, K.RECORD_SET, K.TUPLE, K.LIST, K.OBJECT, K.ARRAY, K.FIFO, K.FRESH)
"""Kinds that are compared by content."""

INSTEAD: dict[tuple[Operation, ValueKind], str] = {
    (Operation.TRUTH, K.ARRAY): "`any(x)` or `len(x) > 0`: Python takes an Array with elements as true",
    (Operation.TRUTH, K.FRESH): "`x.taken > 0`: Python takes a Fresh as true",
    (Operation.TRUTH, K.OBJECT): "one of its fields: Python takes an object as true",
    (Operation.TRUTH, K.DOMAIN): "`len(x) > 0`, which is always true",
    (Operation.TRUTH, K.ITERATOR): "`any(…)` or `all(…)` of it: Python takes an iterator as true",
    (Operation.TRUTH, K.FUNCTION): "a call of it, with ()",
    (Operation.TRUTH, K.SETTING): "a comparison with one of its settings",
    (Operation.IS, K.TRUTH): "`==`, or `x` and `not x`",
    (Operation.ITERATE, K.SET): "loop over `sorted(…)` of it, as Python does not fix the order of a set; any, all, "
    "sum, min, max and {… for …} take a set, and a set of records that is a field has an order",
    (Operation.INDEX, K.SET): "`x in s`, `min(s)`, or a loop over `sorted(s)`",
    (Operation.RESULT, K.NONE): "return True or False",
    (Operation.RESULT, K.MIXED): "return True or False on every path; without a return, Python returns None",
    (Operation.MULTIPLY, K.LIST): "`[x for _ in range(n)]`",
    (Operation.MULTIPLY, K.TUPLE): "`tuple(x for _ in range(n))`",
    (Operation.ATTRIBUTE, K.TUPLE): "`next(n for n, y in enumerate(x) if y == …)` for index, `sum(y == … for y in x)` "
    "for count",
}
"""What to write in place of an operation on an operand of this kind, where the operation's own advice is not enough."""


MIXED_TYPES = "this variable holds values of different types, depending on the branch taken"
REFUSALS: dict[str, tuple[str, ...]] = {
    "syntax": (
        "the construct …",
        "the statement …",
        "the operator …",
        "a lambda or async function",
        "`else` after a loop",
        "`try` with anything but one `except`",
        "`except` of anything but a named abort",
        "a raise of …",
        "an assignment of … to …",
        "an assignment of several objects at once: the first copies into what the next ones may be",
        "this loop target for …",
        "a write to a slice",
        "a slice",
        "a slice of a Fifo with a step",
        "… as the end of a slice",
        "an expression or a block that is nested too deeply",
        "calls nested deeper than …",
    ),
    "names and attributes": (
        "the name … has no value here",
        "the name … has no value yet",
        "… is read here, and what it refers to was changed under another name meanwhile",
        MIXED_TYPES,
        "… has no attribute …",
        "… has no field …",
        "attribute … of a set",
        "attribute … of a member that the state decides",
        "attribute …, which Python defines",
        "Flag … is never …",
    ),
    "calls": (
        "… with these arguments",
        "* or ** in a call",
        "* or ** in the parameters of …",
        "keywords in a call of …",
        "… is called with arguments it does not take",
        "… is called without …",
        "… has no field for one of these arguments",
        "a call of …",
        "isinstance of the class …",
        "add of …",
        "discard of …",
        "remove of …",
        "update of …",
    ),
    "guards and writes": (
        "a guard after an effect",
        "`require` in a property",
        "`premise` in an action",
        "`premise` or an abort in a constraint",
        "the constraint changes the state",
        "… changes the state",
        "an abort leaves the property",
        "an abort from an expression that Python may not evaluate",
        "a write inside an expression that Python may not evaluate …",
        "a write to an argument, which never changes",
        "a value that the action returns",
        "… cannot be written to",
        "an element of … is written",
        "a change in place of the set …, which other names may share",
        "a change in place of the list …, which other names may share",
    ),
    "stored values": (
        "… is given …",
        "an element is given …",
        "… is given another value",
        "… is given a Fresh of another domain",
        "a range in place of elements of a Fifo",
        "a list that holds an object which the state decides",
        "a record that can be None in a set",
        "a tuple with … in a set",
        "a set that holds …",
        "a set that holds a number from … to …",
    ),
    "numbers and indexes": (
        "… is used as an index",
        "… cannot be indexed",
        "an index into something that is empty",
        "… is used as a number",
        "the number …",
        "a number that can be beyond …",
        "the exponent or shift …",
        "* of two numbers that the state decides",
        "// by a number that the state decides",
        "% by a number that the state decides",
        "a value that can be None is compared with a negative number",
        "min or max of what may be a single None",
        "sum with this start",
    ),
    "ranges, iterators and orders": (
        "a range of other things than numbers, or with a step, that depends on the state",
        "a range of … numbers, from … to …",
        "more than … rounds of loops and calls in one function (… of them here)",
        "next of …, which is no iterator",
        "a key with these parameters",
        "enumerate from a number that the state decides",
        "zip with `strict` that depends on the state",
        "zip(…, strict=True) of a Fifo",
        "the order of items that are no members of a domain",
        "an order that depends on the state",
        "an iterator that is used twice",
        "a generator expression that is used in another function, or after a change of what it reads",
        "a loop over a generator expression, which Python evaluates between the rounds",
        "a comprehension over a set, whose order Python does not fix, with a possible error (…)",
    ),
    "values that are not those of a model": (
        "a … that is no part of the state, and can change",
        "…, of the class …",
        "the Enum …, whose members also behave as other values",
    ),
}
"""What is refused for another reason than the kinds of operands, by topic; `…` stands for any text."""


def is_announced(refused: str) -> bool:
    """Return whether the reference announces a refusal, given by the text that says what is refused."""
    return _announced().fullmatch(refused) is not None


@cache
def _announced() -> re.Pattern[str]:
    operations = (re.sub(r"{\w+}", "…", operation.value.phrase) for operation in Operation)
    phrases = (*operations, *(phrase for phrases in REFUSALS.values() for phrase in phrases))
    return re.compile("|".join(re.escape(phrase).replace("…", ".*") for phrase in phrases), re.DOTALL)


INDEXED = (K.ARRAY, K.LIST, K.VARYING, K.TUPLE, K.RANGE, K.FIFO)


def rule(operation: Operation, *kinds: Iterable[ValueKind]) -> Callable[[R], R]:
    """Declare a function to be the rule of an operation for all combinations of these kinds of operands."""

    def declare(function: R) -> R:
        RULES[operation].update(dict.fromkeys(product(*kinds), function))
        return function

    return declare


def apply(m: SymbolicMachine, operation: Operation, *operands: Any, **more: Any) -> Any:
    """Return what the rule for an operation and the kinds of its operands returns.

    Raises:
        Refused: there is no rule.
    """
    kinds = tuple([kind if type(kind := KINDS.get(type(each))) is K else kind_of(each) for each in operands])
    found = RULES[operation].get(kinds)
    if found is None:
        raise refusal(operation, operands, kinds, more.get("where", ""))
    return found(m, *operands, **more)


def refusal(operation: Operation, operands: tuple[Any, ...], kinds: tuple[ValueKind, ...], field: str = "") -> Refused:
    """Return the refusal of an operation on operands for which there is no rule."""
    if K.MIXED in kinds:
        usual = "values of one type on all branches, and tuples in place of lists of unlike length"
        return Refused(MIXED_TYPES, INSTEAD.get((operation, K.MIXED), usual))
    construct = operation.value
    if operation is Operation.INDEX and kinds[0] not in INDEXED:
        instead = INSTEAD.get((operation, kinds[0]), construct.instead)
        return Refused(f"{describe(operands[0])} cannot be indexed", instead)
    what = construct.phrase.format(*map(describe, operands), field=field)
    instead = next((INSTEAD[operation, kind] for kind in kinds if (operation, kind) in INSTEAD), construct.instead)
    return Refused(what, instead)
