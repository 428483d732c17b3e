"""Expressions for every operation and every kind of operand, and their values in plain Python and when lifted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import product
from types import ModuleType
from typing import Any

from attrs import frozen

from kwalk.model.language import Array, Fifo, Fresh, LiftError, Model, Vector, source
from kwalk.model.language.action import Action
from kwalk.model.language.binding import plain_value
from kwalk.model.language.lift import lifting
from kwalk.model.language.lift.calls import call_function
from kwalk.model.language.lift.containers import items as queue_items
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.machine import SymbolicMachine, Unreachable
from kwalk.model.language.lift.objects import ArrayObject, FifoObject, FreshObject, LeafCell, RecordObject, SetObject
from kwalk.model.language.lift.rules import Operation
from kwalk.model.language.lift.sets import content_of
from kwalk.model.language.lift.terms import Term, Terms, evaluate_terms
from kwalk.model.language.lift.values import Bool, Int, Mixed, RecordValue, Reference, Set, VaryingItems
from kwalk.model.language.records import shapes_of

SAMPLES: dict[K, tuple[str, ...]] = {
    K.NONE: ("None",),
    K.TRUTH: ("w.f", "ON"),
    K.NUMBER: ("w.n", "LIM", "(-3)", "(0)"),
    K.OPTIONAL_NUMBER: ("w.o",),
    K.MEMBER: ("w.light", "Light.DARK"),
    K.OPTIONAL_MEMBER: ("w.maybe",),
    K.RECORD: ("w.sure", "NOTE"),
    K.OPTIONAL_RECORD: ("w.note",),
    K.SET: (
        "w.s",
        "FEW",
        "{NOTE, w.sure}",
        "WARM",
        "{w.light, None}",
        "PAIRS",
        "{(w.n, 1), (2, w.maybe)}",
        "{(w.note, 1)}",
        "SOME_SETS",
    ),
    K.RECORD_SET: ("w.mail", "w.few", "w.pair"),
    K.VARYING: ("sorted(w.s)", "[x for x in w.r if x > 0]", "tuple(w.r)", "range(w.c, w.n)"),
    K.TUPLE: ("(1, w.n)", "LIMITS", "()", "(2, w.maybe)"),
    K.LIST: ("[w.n, 1]", "[]"),
    K.RANGE: ("range(2)",),
    K.ITERATOR: ("(x for x in w.a)", "enumerate(w.a)"),
    K.DOMAIN: ("CELLS",),
    K.OBJECT: ("w.box", "w.boxes[w.c]"),
    K.ARRAY: ("w.a",),
    K.FIFO: ("w.q", "w.r", "w.r[w.c:]", "(w.q + w.r[:1])"),
    K.FRESH: ("w.ids",),
    K.TEXT: ('"old"',),
    K.SETTING: ("MODE",),
    K.ENUM_CLASS: ("Light",),
    K.CLASS: ("Note",),
    K.FUNCTION: ("identity",),
    K.MODULE: ("ast",),
    K.MIXED: ("(w.n if w.f else w.f)",),
}
"""Expressions of each kind; the first one of each is combined with all others."""
TEMPLATES: dict[Operation, tuple[str, ...]] = {
    Operation.TRUTH: (
        "not {0}",
        "bool({0})",
        "1 if {0} else 2",
        "any(({0},))",
        "all([{0}])",
        "identity({0} and w.g)",
        "[1 for _ in (0, 1) if {0}] == [1, 1] if bool({0}) in (True, False) else 0",
    ),
    Operation.EQUAL: ("{0} == {1}", "{0} != {1}", "({0}, 1) == ({1}, 1)"),
    Operation.IS: ("{0} is {1}", "{0} is not {1}"),
    Operation.ORDER: ("{0} < {1}", "{0} <= {1}", "{0} > {1}", "{0} >= {1}"),
    Operation.CONTAINS: ("{1} in {0}", "{1} not in {0}"),
    Operation.ADD: ("{0} + {1}",),
    Operation.SUBTRACT: ("{0} - {1}",),
    Operation.MULTIPLY: ("{0} * {1}",),
    Operation.DIVIDE: ("{0} // {1}",),
    Operation.REMAINDER: ("{0} % {1}",),
    Operation.POWER: ("{0} ** {1}",),
    Operation.SHIFT_LEFT: ("{0} << {1}",),
    Operation.SHIFT_RIGHT: ("{0} >> {1}",),
    Operation.AND: ("{0} & {1}",),
    Operation.OR: ("{0} | {1}",),
    Operation.XOR: ("{0} ^ {1}",),
    Operation.NEGATE: ("-{0}",),
    Operation.PLUS: ("+{0}",),
    Operation.ABS: ("abs({0})",),
    Operation.INT: ("int({0})",),
    Operation.SUM: ("sum(({0}, 1))", "sum([1], {0})"),
    Operation.EXTREME: ("max({0}, 1)", "min(1, {0})", "min(({0}, w.n, -1))"),
    Operation.LENGTH: ("len({0})",),
    Operation.ITERATE: ("[x for x in {0}]", "[x for x in tuple({0})]"),
    Operation.REVERSED: ("tuple(reversed({0}))",),
    Operation.INDEX: ("{0}[{1}]", "identity({0})[{1}]"),
    Operation.SET_ITEM: ("{{{0}}}", "{{1, {0}}}"),
    Operation.ISINSTANCE: ("isinstance({0}, {1})",),
    Operation.EVOLVE: ("evolve({0}, n=1)",),
    Operation.ATTRIBUTE: ("{0}.n",),
    Operation.CALL: ("{0}(1)",),
}
"""How each operation is written with one or two operands."""
STORED: dict[Operation, str] = {
    Operation.STORE_FLAG: "f",
    Operation.STORE_NUMBER: "n",
    Operation.STORE_CHOICE: "light",
    Operation.STORE_OPTIONAL: "o",
    Operation.STORE_OPTIONAL_CHOICE: "maybe",
    Operation.STORE_SUBSET: "s",
    Operation.STORE_RECORD_SET: "mail",
    Operation.STORE_RECORD: "sure",
    Operation.STORE_OPTIONAL_RECORD: "note",
    Operation.STORE_OBJECT: "box",
    Operation.STORE_ARRAY: "a",
    Operation.STORE_FIFO: "q",
    Operation.STORE_FRESH: "ids",
}
"""A field into which each operation stores."""
POSITIONS = ("identity({0})", "({0}, 1)[0]", "[{0}][0]", "({0} if w.f else {0})", "chosen(w, {0})")
"""Positions in which every value can be: argument, element, either branch of a condition."""
HELPERS = """
import ast
NOTE = Note(n=2)
FEW = frozenset({1, 2})
PAIRS = frozenset({(1, 1), (2, None), ()})
SOME_SETS = frozenset({FEW, frozenset(), frozenset({0})})


def identity(x):
    return x


def chosen(w, x):
    if w.g:
        y = x
    else:
        y = x
    return y


"""
UNUSED = "of mixed types"
"""The value of a lifted expression that is refused as soon as it is used."""
ERROR = "error"
"""The value of an expression that raises an exception, or whose side condition is true."""


@frozen
class Snippet:
    """A function's body that ends with `return`, the operation that it is about, and the kinds of its operands."""

    operation: Operation | None
    kinds: tuple[K, ...]
    body: str


def snippets(operations: Sequence[Operation] = tuple(Operation), kinds: Sequence[K] = tuple(K)) -> Iterator[Snippet]:
    """Yield a snippet for each operation and all combinations of kinds, and more for pairs of alike operands."""
    for operation in operations:
        for template in TEMPLATES.get(operation, ()):
            arity = 2 if "{1}" in template else 1
            for chosen in product(kinds, repeat=arity):
                for operands in _operands(chosen):
                    yield Snippet(operation, chosen, f"return {template.format(*operands)}")
        fields = (STORED[operation],) if operation in STORED else ()
        for kind, field in product(kinds, (*fields, "few", "pair") if fields == ("mail",) else fields):
            for operand in SAMPLES[kind]:
                yield Snippet(operation, (kind,), f"w.{field} = {operand}\nreturn w.{field}")


def positions() -> Iterator[Snippet]:
    """Yield each sample in each position."""
    for kind in set(K) - {K.ITERATOR, K.MIXED}:
        for template, operand in product(POSITIONS, SAMPLES[kind]):
            yield Snippet(None, (kind,), f"return {template.format(operand)}")


def _operands(kinds: tuple[K, ...]) -> Iterator[tuple[str, ...]]:
    if len(kinds) == 1:
        yield from ((sample,) for sample in SAMPLES[kinds[0]])
        return
    left, right = (SAMPLES[kind] for kind in kinds)
    yield from ((left[0], sample) for sample in right)
    yield from product(left[1:], dict.fromkeys((right[0], right[min(1, len(right) - 1)], right[-1])))


def source_text(found: Sequence[Snippet]) -> str:
    """Return the source of a function `f0`, `f1`, … for each snippet."""
    bodies = ("\n    ".join(snippet.body.split("\n")) for snippet in found)
    return "\n".join(f"def f{number}(w):\n    {body}\n" for number, body in enumerate(bodies))


class Bench:
    """The snippets of a written module, evaluated in plain Python and lifted."""

    def __init__(self, model: Model, module: ModuleType) -> None:
        self.model, self.module = model, module
        self.terms = Terms()
        self.shared: dict[Vector, Any] = {}
        self.expressions: set[str] = set()
        assert module.__file__ is not None
        with open(module.__file__, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                function = getattr(module, node.name)
                source._trees[function] = function.__code__, node
                if isinstance(node.body[0], ast.Return):
                    self.expressions.add(node.name)

    def plain(self, number: int, vector: Vector) -> Any:
        """Return the value of a snippet in a state in plain Python.

        Expressions, which change nothing, share a state; a snippet with other statements has one of its own.
        """
        name = f"f{number}"
        if name in self.expressions and vector not in self.shared:
            self.shared[vector] = self.model.state(vector)
        state = self.shared[vector] if name in self.expressions else self.model.state(vector)
        with self.model.active():
            try:
                return normal(getattr(self.module, name)(state))
            except Exception:  # each exception of a model is an error of the model
                return ERROR

    def has_kept_states(self) -> bool:
        """Return whether no expression has changed the states that expressions share."""
        return all(self.model.vector(state) == vector for vector, state in self.shared.items())

    def lifted(self, number: int) -> LiftedSnippet:
        """Return a snippet as terms.

        Raises:
            LiftError: it is refused.
        """
        declaration = Action(getattr(self.module, f"f{number}"), self.module.ANY, "", "")
        with self.model.active():
            machine, (root,) = lifting._start(self.model, self.terms, 1)
            reference = Reference(((machine.terms.true, root),))
            try:
                value = call_function(machine, declaration.function, [reference], {})
            except Unreachable:
                machine.state, value = None, None
            return LiftedSnippet(machine, value)

    def difference(self, number: int, vectors: Sequence[Vector], lifted: LiftedSnippet | None = None) -> str | None:
        """Return in which state a snippet has another value when lifted; None if there is none, or it is refused."""
        try:
            lifted = lifted or self.lifted(number)
        except LiftError:
            return None
        for vector in vectors:
            plain, other = self.plain(number, vector), lifted.at(vector, self.model)
            if plain != other and UNUSED not in (other, *other):
                return f"plain Python {plain!r}, lifted {other!r}, in {vector}"
        return None


class LiftedSnippet:
    """The value of a snippet as terms, and the errors on the way to it."""

    def __init__(self, machine: SymbolicMachine, value: Any) -> None:
        self.machine, self.value = machine, value

    def at(self, vector: Vector, model: Model) -> Any:
        """Return the value in a state."""

        def number(term: Term) -> int:
            return evaluate_terms([term], vector)[0]

        conditions = [one.condition for one in self.machine.side_conditions]
        if any(evaluate_terms(conditions, vector)) if conditions else False:
            return ERROR
        assert self.machine.state is not None
        with model.active():
            return concrete(self.machine, self.value, number)


def normal(value: Any) -> Any:
    """Return a value of plain Python as tuples of simple values, each with the name of its kind."""
    value = plain_value(value)
    if value is None or isinstance(value, (bool, int, str)):
        return (type(value).__name__, value)
    if isinstance(value, Enum):
        return ("member", value.name)
    if isinstance(value, (set, frozenset)):
        return ("set", frozenset(map(normal, value)))
    if isinstance(value, (tuple, list, Array, Fifo, range)):
        return (type(value).__name__, *map(normal, value))
    if isinstance(value, Fresh):
        return ("Fresh", value.taken)
    if hasattr(type(value), "__kwalk__"):
        return (type(value).__name__, *(normal(getattr(value, name)) for name, _ in shapes_of(type(value))))
    return ("object", id(value))


def concrete(m: SymbolicMachine, value: Any, number: Any) -> Any:
    """Return what `normal` returns for the value that a lifted value has in a state, by the numbers of its terms."""
    if isinstance(value, Mixed):
        return UNUSED
    if isinstance(value, Bool):
        return ("bool", bool(number(value.term)))
    if isinstance(value, Int):
        found = number(value.term)
        if value.nullable and found == -1:
            return ("NoneType", None)
        return ("int", found) if value.enum is None else ("member", list(value.enum)[found].name)
    if isinstance(value, Set):
        items = [*((holds, member) for member, holds in value.members.items()), *value.others]
        return ("set", frozenset(concrete(m, member, number) for holds, member in items if number(holds)))
    if isinstance(value, VaryingItems):
        items = (concrete(m, item, number) for condition, item in value.items if number(condition))
        return (value.of.__name__, *items)
    if isinstance(value, RecordValue):
        if not number(value.present):
            return ("NoneType", None)
        return (value.cls.__name__, *(concrete(m, field, number) for field in value.fields.values()))
    if isinstance(value, tuple):
        return ("tuple", *(concrete(m, item, number) for item in value))
    if isinstance(value, Reference):
        chosen = next(node for condition, node in value.options if number(condition))
        return _content(m, chosen, number)
    return normal(value)


def _content(m: SymbolicMachine, node: Any, number: Any) -> Any:
    if isinstance(node, LeafCell):
        return concrete(m, m.now.store[node.key], number)
    if isinstance(node, RecordObject):
        return (node.cls.__name__, *(_content(m, field, number) for field in node.fields.values()))
    if isinstance(node, ArrayObject):
        return ("list" if node.shape is None else "Array", *(_content(m, item, number) for item in node.items))
    if isinstance(node, FifoObject):
        found = queue_items(m, Reference(((m.terms.true, node),)))
        return ("Fifo", *(concrete(m, item, number) for condition, item in found if number(condition)))
    if isinstance(node, SetObject):
        return concrete(m, content_of(m, node.shape, m.now.store[node.content.key]), number)
    assert isinstance(node, FreshObject)
    return ("Fresh", concrete(m, m.now.store[node.taken.key], number)[1])
