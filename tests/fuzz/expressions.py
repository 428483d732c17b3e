"""Random expressions of a wanted type, of the forms that `docs/reference/language.md` lists.

Each method `_bool_…`, `_int_…` and so on writes one form. Forms that need something that a scope lacks return None, and
another one is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import define, field

from tests.fuzz.schema import (
    ArrayType,
    BoolType,
    ClassType,
    EnumType,
    FifoType,
    FreshType,
    GeneratedType,
    IntType,
    OptType,
    PathText,
    RecordSetType,
    SchemaText,
    SetType,
    SomeRecordsType,
    expanded,
)

RECORD_SETS = (RecordSetType, SomeRecordsType)
DEPTH = 3
"""How deep expressions are nested."""
MOST_NESTED_INDICES = 4
"""How deep indices are nested in indices."""


def _classes_of(kind: GeneratedType) -> tuple[ClassType, ...]:
    """Return the classes of the records of a set."""
    if isinstance(kind, RecordSetType):
        return kind.classes
    assert isinstance(kind, SomeRecordsType)
    return (kind.cls,)


@define
class GenerationScope:
    """What an expression can read: paths below the states, and variables.

    `risk` is the probability that a value that may be None, or an index or element that may not exist, is used as if it
    did.
    """

    schema: SchemaText
    paths: list[PathText]
    variables: list[PathText] = field(factory=list)
    risk: float = 0.0
    functions: list[tuple[str, GeneratedType]] = field(factory=list)
    """Calls of helper functions that read only, as text."""

    @contextmanager
    def binding(self, *variables: PathText) -> Iterator[None]:
        """Add variables for the length of a block."""
        self.variables.extend(variables)
        try:
            yield
        finally:
            del self.variables[len(self.variables) - len(variables) :]


class Expressions:
    """Writes expressions.

    Args:
        rng: The source of all choices.
        scope: What they can read.
    """

    def __init__(self, rng: random.Random, scope: GenerationScope) -> None:
        self.rng, self.scope = rng, scope
        self.names, self._nested_indices = 0, 0
        forms = {name: getattr(self, name) for name in dir(type(self)) if name.count("_") >= 2}
        disabled = {name for name in forms if rng.random() < 0.25}
        self._forms: dict[str, list[Callable[[int], str | None]]] = {
            kind: [
                form for name, form in sorted(forms.items()) if name.startswith(f"_{kind}_") and name not in disabled
            ]
            for kind in ("bool", "int")
        }

    def fresh_name(self, prefix: str = "x") -> str:
        """Return a name that no variable has."""
        self.names += 1
        return f"{prefix}{self.names}"

    def risky(self) -> bool:
        """Return whether to write something that may be an error."""
        return self.rng.random() < self.scope.risk

    # Reading.

    def find(self, fits: Callable[[GeneratedType], bool]) -> PathText | None:
        """Return a random path or variable whose type fits, with its indices written; None if there is none."""
        fitting = [
            path for path in [*self.scope.paths, *self.scope.variables, *self.scope.variables] if fits(path.type)
        ]
        if not fitting:
            return None
        chosen = self.rng.choice(fitting)
        return PathText(self.indexed(chosen.text), chosen.type, chosen.is_fixed, chosen.is_writable, chosen.bound)

    def indexed(self, text: str) -> str:
        """Return a path with an index expression in place of each `{domain}`."""
        for domain, size in self.scope.schema.domains.items():
            while f"{{{domain}}}" in text:
                text = text.replace(f"{{{domain}}}", self.index(size), 1)
        return text

    def index(self, size: int) -> str:
        """Return an expression that is an index below `size`; rarely one that may be outside.

        An index may contain others, which end at a constant: else the text of some seeds would have no end.
        """
        if self._nested_indices == MOST_NESTED_INDICES:
            return str(self.rng.randrange(size))
        self._nested_indices += 1
        try:
            return self._index(size)
        finally:
            self._nested_indices -= 1

    def _index(self, size: int) -> str:
        if self.risky():
            return self.int_of(0, 3, 1)
        found = [
            one
            for one in [*self.scope.variables, *self.scope.paths]
            if isinstance(one.type, IntType) and 0 <= one.type.low <= one.type.high < size and "{" not in one.text
        ]
        if found and self.rng.random() < 0.7:
            return self.rng.choice(found).text
        return str(self.rng.randrange(size)) if self.rng.random() < 0.8 else f"({self.number(1)[0]}) % {size}"

    # Values of a wanted type.

    def of(self, kind: GeneratedType, depth: int = DEPTH) -> str:
        """Return an expression of a type; it is always inside of the type's domain unless the scope takes risks."""
        if isinstance(kind, BoolType):
            return self.boolean(depth)
        if isinstance(kind, IntType):
            return self.int_of(kind.low, kind.high, depth)
        if isinstance(kind, EnumType):
            return self._enum(kind, depth)
        if isinstance(kind, OptType):
            return self._optional(kind, depth)
        if isinstance(kind, SetType):
            return self.set_of(kind.domain, kind.size, depth)
        assert isinstance(kind, ClassType)
        return self.record(kind, depth)

    def int_of(self, low: int, high: int, depth: int) -> str:
        """Return an int expression whose value is in `low … high`."""
        text, least, most = self.number(depth)
        if (low <= least and most <= high) or (self.risky() and least <= high and most >= low):
            return text
        forms = [lambda: f"min(max({text}, {low}), {high})", lambda: f"({text}) % {high - low + 1} + {low}"]
        if low == 0:
            forms += [lambda: f"({text}) % {high + 1}"] * 2
        return self.rng.choice([*forms, lambda: str(self.rng.randint(low, high))])()

    def number(self, depth: int) -> tuple[str, int, int]:
        """Return an int expression with its least and greatest value."""
        found = self.find(lambda kind: isinstance(kind, IntType)) if self.rng.random() < 0.8 else None
        if depth > 0 and self.rng.random() < 0.55:
            return self._number_form(depth)
        if found is not None:
            assert isinstance(found.type, IntType)
            return found.text, found.type.low, found.type.high
        constant = self.rng.choice((0, 0, 1, 1, 2, 3, -1))
        return (str(constant) if constant >= 0 else f"({constant})"), constant, constant

    def _number_form(self, depth: int) -> tuple[str, int, int]:
        """Return a compound int expression with its least and greatest value."""
        a, low, high = self.number(depth - 1)
        kind = self.rng.randrange(9)
        if kind <= 1:
            b, other_low, other_high = self.number(depth - 1)
            if kind == 0:
                return f"({a} + {b})", low + other_low, high + other_high
            return f"({a} - {b})", low - other_high, high - other_low
        if kind == 2:
            factor = self.rng.choice((-1, 2, 3))
            ends = sorted((low * factor, high * factor))
            return (f"({a} * {factor})" if self.rng.random() < 0.5 else f"({factor} * {a})"), ends[0], ends[1]
        if kind == 3:
            divisor = self.rng.choice((1, 2, 3))
            return f"({a} // {divisor})", low // divisor, high // divisor
        if kind == 4:
            divisor = self.rng.choice((1, 2, 3))
            return f"({a} % {divisor})", 0, divisor - 1
        if kind == 5:
            return f"(-{a})", -high, -low
        if kind == 6:
            b, other_low, other_high = self.number(depth - 1)
            return f"({a} if {self.boolean(depth - 1)} else {b})", min(low, other_low), max(high, other_high)
        for _ in range(4):
            text = self.rng.choice(self._forms["int"] or [self._int_bool])(depth)
            if text is not None:
                return text, -9, 9
        return a, low, high

    def _int_bool(self, depth: int) -> str | None:
        return f"int({self.boolean(depth - 1)})"

    def _int_abs(self, depth: int) -> str | None:
        return f"abs({self.number(depth - 1)[0]})"

    def _int_min(self, depth: int) -> str | None:
        return f"{self.rng.choice(('min', 'max'))}({self.number(depth - 1)[0]}, {self.number(depth - 1)[0]})"

    def _int_len(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, (SetType, FifoType, ArrayType, *RECORD_SETS)))
        return None if found is None else f"len({found.text})"

    def _int_taken(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FreshType))
        return None if found is None else f"{found.text}.taken"

    def _int_domain(self, depth: int) -> str | None:
        return f"len({self.rng.choice(list(self.scope.schema.domains))})"

    def _int_limit(self, depth: int) -> str | None:
        return f"({self.number(depth - 1)[0]} {self.rng.choice('+-')} LIM)"

    def _int_sum(self, depth: int) -> str | None:
        loop, bound = self.loop()
        with self.scope.binding(*bound):
            item = self.number(depth - 1)[0] if self.rng.random() < 0.6 else self.boolean(depth - 1)
            return f"sum({item} {loop}{self._filter(depth - 1)})"

    def _int_extreme(self, depth: int) -> str | None:
        loop, bound = self.loop()
        with self.scope.binding(*bound):
            inner, condition = self.number(depth - 1)[0], self._filter(depth - 1)
        return f"{self.rng.choice(('min', 'max'))}(({inner} {loop}{condition}), default={self.rng.randint(-1, 2)})"

    def _int_extreme_set(self, depth: int) -> str | None:
        found = self.set_of(*self.rng.choice(list(self.scope.schema.domains.items())), depth - 1)
        return f"{self.rng.choice(('min', 'max'))}({found}, default={self.rng.randint(-1, 2)})"

    def _int_next(self, depth: int) -> str | None:
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        name = self.fresh_name()
        with self.scope.binding(PathText(name, IntType(0, size - 1))):
            return f"next(({name} for {name} in {domain} if {self.boolean(depth - 1)}), {self.rng.randint(0, 2)})"

    def _int_first(self, depth: int) -> str | None:
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        name = self.fresh_name()
        with self.scope.binding(PathText(name, IntType(0, size - 1))):
            key, extreme = self.number(depth - 1)[0], self.rng.choice(("min", "max"))
            condition = self.boolean(depth - 1)
        if self.risky():
            return f"next({name} for {name} in {domain} if {condition})"
        return f"{extreme}({domain}, key=lambda {name}: {key})"

    def _int_index(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FifoType))
        if found is None or not isinstance(found.type, FifoType):
            return None
        element = self.of(found.type.element, depth - 1)
        if self.risky():
            return f"{found.text}.index({element})"
        return f"({found.text}.index({element}) if {element} in {found.text} else 0)"

    def _int_list(self, depth: int) -> str | None:
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        name = self.fresh_name()
        with self.scope.binding(PathText(name, IntType(0, size - 1))):
            items = f"[{self.number(depth - 1)[0]} for {name} in {domain}]"
        return f"{items}[{self.index(size)}]"

    def _int_varying(self, depth: int) -> str | None:
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        name, other = self.fresh_name(), self.number(depth - 1)[0]
        with self.scope.binding(PathText(name, IntType(0, size - 1))):
            some = f"[{self.number(depth - 1)[0]} for {name} in {domain} if {self.boolean(depth - 1)}]"
        mixed = f"({some} if {self.boolean(depth - 1)} else [{other}, {self.rng.randint(-1, 2)}])"
        items = self.rng.choice((f"([{other}] + {some})", f"({some} + [{other}])", f"({mixed} + [{other}])"))
        if self.risky():
            return f"{some}[{self.number(0)[0]}]"
        if self.rng.random() < 0.5:
            return f"{items}[{self.rng.choice((0, -1))}]"
        ends = [self.rng.choice(("", "1", "-1", self.number(0)[0])) for _ in range(2)]
        return f"sum({items}[{ends[0]}:{ends[1]}])"

    def _int_tuple(self, depth: int) -> str | None:
        parts = [self.number(depth - 1)[0] for _ in range(2)]
        return f"({', '.join(parts)})[{self.index(2)}]"

    def _int_distinct(self, depth: int) -> str | None:
        loop, bound = self.loop()
        with self.scope.binding(*bound):
            return f"len({{{self.number(depth - 1)[0]} {loop}{self._filter(depth - 1)}}})"

    def _int_optional(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, OptType) and isinstance(kind.inner, IntType))
        if found is None:
            return None
        return found.text if self.risky() else f"({self.rng.randint(0, 2)} if {found.text} is None else {found.text})"

    def _int_head(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FifoType) and isinstance(kind.element, IntType))
        if found is None:
            return None
        return f"{found.text}.head" if self.risky() else f"(0 if {found.text}.is_empty else {found.text}.head)"

    def _int_element(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FifoType) and isinstance(kind.element, IntType))
        if found is None:
            return None
        queue = self.queue(found, depth - 1)
        if self.risky():
            return f"{queue}[{self.number(0)[0]}]"
        position = self.rng.choice((0, 1, -1))
        return f"({queue}[{position}] if len({queue}) > {max(position, 0)} else {self.rng.randint(-1, 1)})"

    def _int_part(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FifoType))
        return None if found is None else f"len({self.queue(found, depth)})"

    def _int_field(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, ClassType) and not kind.is_mutable)
        numbers = [f for f in found.type.fields if isinstance(f.type, IntType)] if found else []  # type: ignore[union-attr]
        if not numbers or found is None:
            return None
        one = self.rng.choice(numbers)
        assert isinstance(found.type, ClassType)
        changed = self.rng.choice(found.type.fields)
        change = "" if changed.is_fixed else f", {changed.name}={self.of(changed.type, 0)}"
        return f"evolve({found.text}{change}).{one.name}"

    def _int_call(self, depth: int) -> str | None:
        calls = [text for text, kind in self.scope.functions if isinstance(kind, IntType)]
        return self.indexed(self.rng.choice(calls)) if calls else None

    # Truth values.

    def boolean(self, depth: int = DEPTH) -> str:
        """Return a truth value."""
        if depth > 0 and self.rng.random() < 0.8:
            for _ in range(4):
                form = self.rng.choice(self._forms["bool"] or [self._bool_order])
                text = form(depth)
                if text is not None:
                    return text
        found = self.find(lambda kind: isinstance(kind, BoolType))
        if found is not None and self.rng.random() < 0.8:
            return found.text
        return (
            self._bool_order(0)
            if self.rng.random() < 0.8
            else self.rng.choice(("True", "False", "bool(ON)", "bool(OFF)"))
        )

    def condition(self, depth: int = DEPTH) -> str:
        """Return what an `if` or a guard tests: a truth value, also of a number, set, record or flag."""
        if self.rng.random() < 0.85:
            return self.boolean(depth)
        found = self.find(lambda kind: isinstance(kind, (IntType, SetType, OptType, *RECORD_SETS)))
        text = "True" if found is None else found.text
        return self.rng.choice((text, f"not {text}", "ON", "not OFF", f"ON and {text}", f"OFF or {text}"))

    def _bool_order(self, depth: int) -> str:
        a, b = self.number(max(0, depth - 1))[0], self.number(max(0, depth - 1))[0]
        return f"({a} {self.rng.choice(('<', '<=', '>', '>=', '==', '!='))} {b})"

    def _bool_chain(self, depth: int) -> str | None:
        a, b, c = (self.number(depth - 1)[0] for _ in range(3))
        return f"({a} {self.rng.choice(('<', '<=', '=='))} {b} {self.rng.choice(('<', '<=', '!='))} {c})"

    def _bool_not(self, depth: int) -> str | None:
        return f"(not {self.boolean(depth - 1)})"

    def _bool_connective(self, depth: int) -> str | None:
        parts = [self.boolean(depth - 1) for _ in range(self.rng.choice((2, 2, 3)))]
        word = self.rng.choice((" and ", " or "))
        return f"({word.join(parts)})"

    def _bool_choice(self, depth: int) -> str | None:
        return f"({self.boolean(depth - 1)} if {self.boolean(depth - 1)} else {self.boolean(depth - 1)})"

    def _bool_equal(self, depth: int) -> str | None:
        return f"({self.boolean(depth - 1)} {self.rng.choice(('==', '!='))} {self.boolean(depth - 1)})"

    def _bool_of(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, (IntType, SetType, OptType, BoolType, *RECORD_SETS)))
        return None if found is None else f"bool({found.text})"

    def _bool_none(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, OptType))
        return None if found is None else f"({found.text} {self.rng.choice(('is None', 'is not None', '== None'))})"

    def _bool_optional(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, OptType) and isinstance(kind.inner, IntType))
        if found is None:
            return None
        test = f"{found.text} {self.rng.choice(('<', '>=', '=='))} {self.number(depth - 1)[0]}"
        if self.risky():
            return f"({test})"
        return (
            f"({found.text} is None or {test})" if self.rng.random() < 0.5 else f"({found.text} is not None and {test})"
        )

    def _bool_optional_equal(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, OptType))
        if found is None or not isinstance(found.type, OptType):
            return None
        return f"({found.text} {self.rng.choice(('==', '!='))} {self._optional(found.type, depth - 1)})"

    def _bool_enum(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, EnumType))
        if found is None or not isinstance(found.type, EnumType):
            return None
        enum = found.type
        if self.rng.random() < 0.4:
            some = ", ".join(f"{enum.name}.{self.rng.choice(enum.members)}" for _ in range(2))
            brackets = self.rng.choice(("()", "{}"))
            return f"({found.text} {self.rng.choice(('in', 'not in'))} {brackets[0]}{some}{brackets[1]})"
        return f"({found.text} {self.rng.choice(('is', 'is not', '==', '!='))} {self._enum(enum, depth - 1)})"

    def _bool_member(self, depth: int) -> str | None:
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        container = self.rng.choice((domain, self.set_of(domain, size, depth - 1), f"({self.number(0)[0]}, 1)"))
        return f"({self.int_of(0, size - 1, depth - 1)} {self.rng.choice(('in', 'not in'))} {container})"

    def _bool_pairs(self, depth: int) -> str | None:
        first, second, third = (f"({self.number(depth - 1)[0]}, {self.boolean(depth - 1)})" for _ in range(3))
        return self.rng.choice((f"({first} in {{{second}, {third}}})", f"({{{first}, {second}}} == {{{third}}})"))

    def _bool_sets(self, depth: int) -> str | None:
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        operator = self.rng.choice(("==", "!=", "<=", "<", ">=", ">"))
        return f"({self.set_of(domain, size, depth - 1)} {operator} {self.set_of(domain, size, depth - 1)})"

    def _bool_quantifier(self, depth: int) -> str | None:
        loop, bound = self.loop()
        with self.scope.binding(*bound):
            inner = self.boolean(depth - 1)
            if self.rng.random() < 0.2:
                more, others = self.loop()
                with self.scope.binding(*others):
                    inner, loop = self.boolean(depth - 1), f"{loop} {more}"
            return f"{self.rng.choice(('any', 'all'))}({inner} {loop}{self._filter(depth - 1)})"

    def _bool_array_member(self, depth: int) -> str | None:
        found = self.find(
            lambda kind: isinstance(kind, ArrayType) and isinstance(kind.element, (IntType, EnumType, BoolType))
        )
        if found is None or not isinstance(found.type, ArrayType):
            return None
        return f"({self.of(found.type.element, depth - 1)} in {found.text})"

    def _bool_queue(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FifoType))
        if found is None or not isinstance(found.type, FifoType):
            return None
        element = self.of(found.type.element, depth - 1)
        return self.rng.choice(
            (
                f"{found.text}.is_empty",
                f"{found.text}.starts_with({element})",
                f"({element} in {found.text})",
                f"(not {found.text}.is_empty and {found.text}.head == {element})",
                f"(len({found.text}) == CAP)",
                f"({found.text} == [{element}])",
                f"(({element}, {element}) != {found.text})",
                f"({found.text} != [] and {found.text}[-1] == {element})" if self.risky() else f"({found.text} == [])",
                f"(len({found.text}) > 1 and {found.text}[1] != {element})",
            )
        )

    def _bool_parts(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, FifoType))
        if found is None:
            return None
        a, b, operator = self.queue(found, depth), self.queue(found, depth), self.rng.choice(("==", "!="))
        x, y = self.fresh_name(), self.fresh_name()
        return self.rng.choice(
            (
                f"({a} {operator} {b})",
                f"bool({a})",
                f"all({x} {operator} {y} for {x}, {y} in zip({found.text}, {a}))",
            )
        )

    def _bool_records(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, ClassType) and not kind.is_mutable)
        if found is None or not isinstance(found.type, ClassType):
            return None
        return f"({found.text} {self.rng.choice(('==', '!='))} {self.record(found.type, depth - 1)})"

    def _bool_objects(self, depth: int) -> str | None:
        mutable = (ArrayType, FifoType, RecordSetType)
        found = self.find(lambda kind: isinstance(kind, mutable) or getattr(kind, "is_mutable", False))
        other = self.find(lambda kind: found is not None and kind == found.type)
        return (
            None if found is None or other is None else f"({found.text} {self.rng.choice(('==', '!='))} {other.text})"
        )

    def _bool_in_records(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, RECORD_SETS))
        if found is None:
            return None
        item = self.record(self.rng.choice(_classes_of(found.type)), depth - 1)
        return f"({item} {self.rng.choice(('in', 'not in'))} {found.text})"

    def _bool_record_sets(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, RECORD_SETS))
        if found is None:
            return None
        operator = self.rng.choice(("==", "!=", "<=", "<", ">=", ">"))
        return f"({found.text} {operator} {self.records_of(self.rng.choice(_classes_of(found.type)), depth - 1)})"

    def _int_records(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, RECORD_SETS))
        if found is None:
            return None
        return f"len({self.records_of(self.rng.choice(_classes_of(found.type)), depth)})"

    def _bool_property(self, depth: int) -> str | None:
        found = self.find(lambda kind: isinstance(kind, ClassType) and kind.name != "S")
        return None if found is None else f"{found.text}.{self.rng.choice(('is_usual', 'holds()'))}"

    def _bool_flag(self, depth: int) -> str | None:
        return self.rng.choice((f"(bool(ON) and {self.boolean(depth - 1)})", '(MODE == "old")', '(MODE != "new")'))

    def _bool_call(self, depth: int) -> str | None:
        calls = [text for text, kind in self.scope.functions if isinstance(kind, BoolType)]
        return self.indexed(self.rng.choice(calls)) if calls else None

    # Loops within expressions.

    def loop(self, *, in_order: bool = False) -> tuple[str, tuple[PathText, ...]]:
        """Return `for … in …`, and the variables that it binds; with `in_order` one that can be a statement."""
        domain, size = self.rng.choice(list(self.scope.schema.domains.items()))
        name = self.fresh_name()
        member = PathText(name, IntType(0, size - 1))
        found = self.find(lambda kind: isinstance(kind, (ArrayType, FifoType)))
        records = self.find(lambda kind: isinstance(kind, RECORD_SETS))
        if records is not None and not in_order and self.rng.random() < 0.4:
            return self._loop_over_records(name, records)
        if not in_order and self.rng.random() < 0.1:
            return f"for {name} in {self.set_of(domain, size, 1)}", (member,)
        kind = self.rng.randrange(6)
        if kind == 0 or (kind > 2 and found is None):
            return f"for {name} in {domain}", (member,)
        if kind == 1 and self.rng.random() < 0.5:
            text, low, high = self.number(1)
            start, least = self.rng.choice((("", 0), ("0, ", 0), (f"{self.number(0)[0]}, ", -9)))
            if max(-low, high) <= 9:  # `range` has at most a thousand numbers
                return f"for {name} in range({start}{text})", (PathText(name, IntType(least, 8)),)
        if kind == 1:
            return f"for {name} in range({size})", (member,)
        if kind == 2:
            some = self.set_of(domain, size, 1)
            reverse = ", reverse=True" if self.rng.random() < 0.3 else ""
            return f"for {name} in sorted({some}{reverse})", (member,)
        assert found is not None and isinstance(found.type, (ArrayType, FifoType))
        item = PathText(name, found.type.element, is_writable=False)
        is_queue, text = isinstance(found.type, FifoType), found.text
        if is_queue and self.rng.random() < 0.3:
            text = self.queue(found, 1)
        if kind <= 4 and (not is_queue or self.rng.random() < 0.7):
            return f"for {name} in {text}", expanded(item)
        number = self.fresh_name()
        position = PathText(number, IntType(0, found.type.size - 1 if isinstance(found.type, ArrayType) else 2))
        if self.rng.random() < 0.3:
            return f"for {number}, {name} in enumerate(reversed({text}))", (position, *expanded(item))
        found = PathText(text, found.type)
        return f"for {number}, {name} in enumerate({found.text})", (position, *expanded(item))

    def _loop_over_records(self, name: str, found: PathText) -> tuple[str, tuple[PathText, ...]]:
        cls, text = self.rng.choice(_classes_of(found.type)), found.text
        if len(_classes_of(found.type)) > 1:
            classes = self.rng.choice((cls.name, f"({cls.name}, {cls.name})"))
            return f"for {name} in {text} if isinstance({name}, {classes})", expanded(PathText(name, cls, False, False))
        some = self.records_of(cls, 1) if self.rng.random() < 0.3 else text
        return f"for {name} in {some}", expanded(PathText(name, cls, is_writable=False))

    def records_of(self, cls: ClassType, depth: int) -> str:
        """Return a set of records of a class."""
        found = self.find(lambda kind: isinstance(kind, RECORD_SETS) and _classes_of(kind) == (cls,))
        if found is not None and self.rng.random() < 0.5:
            return found.text
        if depth > 0 and self.rng.random() < 0.7:
            a, b = self.records_of(cls, depth - 1), self.records_of(cls, depth - 1)
            name = self.fresh_name()
            with self.scope.binding(*expanded(PathText(name, cls, is_writable=False))):
                item, condition = self.record(cls, depth - 1), self.boolean(depth - 1)
            return self.rng.choice(
                (
                    f"({a} | {b})",
                    f"({a} & {b})",
                    f"({a} - {b})",
                    f"({a} ^ {b})",
                    f"{{{name} for {name} in {a} if {condition}}}",
                    f"{{{item} for {name} in {a} if {condition}}}",
                    f"{{{item} for {name} in {a}}}",
                    f"frozenset({name} for {name} in {a} if {condition})",
                )
            )
        items = ", ".join(self.record(cls, max(0, depth - 1)) for _ in range(self.rng.choice((1, 1, 2))))
        return self.rng.choice(("set()", f"{{{items}}}", f"{{{items}}}", f"frozenset({{{items}}})"))

    def _filter(self, depth: int) -> str:
        return f" if {self.condition(depth)}" if self.rng.random() < 0.4 else ""

    # Other types.

    def _enum(self, enum: EnumType, depth: int) -> str:
        found = self.find(lambda kind: kind == enum)
        if found is not None and self.rng.random() < 0.5:
            return found.text
        if depth > 0 and self.rng.random() < 0.3:
            return f"({self._enum(enum, 0)} if {self.boolean(depth - 1)} else {self._enum(enum, depth - 1)})"
        return f"{enum.name}.{self.rng.choice(enum.members)}"

    def _optional(self, kind: OptType, depth: int) -> str:
        found = self.find(lambda other: other == kind)
        if found is not None and self.rng.random() < 0.4:
            return found.text
        if self.rng.random() < 0.3:
            return "None"
        if depth > 0 and self.rng.random() < 0.2:
            return f"({self.of(kind.inner, depth - 1)} if {self.boolean(depth - 1)} else None)"
        return self.of(kind.inner, max(0, depth - 1))

    def set_of(self, domain: str, size: int, depth: int) -> str:
        """Return a set of members of a domain."""
        found = self.find(lambda kind: kind == SetType(domain, size))
        if found is not None and self.rng.random() < 0.5:
            return found.text
        if depth > 0 and self.rng.random() < 0.6:
            a, b = self.set_of(domain, size, depth - 1), self.set_of(domain, size, depth - 1)
            name = self.fresh_name()
            with self.scope.binding(PathText(name, IntType(0, size - 1))):
                condition = self.boolean(depth - 1)
            return self.rng.choice(
                (
                    f"({a} | {b})",
                    f"({a} & {b})",
                    f"({a} - {b})",
                    f"({a} ^ {b})",
                    f"({a} if {self.boolean(depth - 1)} else {b})",
                    f"frozenset({name} for {name} in {domain} if {condition})",
                    f"{{{name} for {name} in {domain} if {condition}}}",
                )
            )
        maybe = self.find(lambda kind: isinstance(kind, OptType) and kind.inner == IntType(0, size - 1))
        if maybe is not None and self.rng.random() < 0.25:
            return f"({{{maybe.text}, {self.int_of(0, size - 1, 0)}}} - {{None}})"
        return self.rng.choice(
            (
                "frozenset()",
                f"frozenset({domain})",
                f"{{{self.int_of(0, size - 1, 1)}}}",
                f"frozenset({{{self.int_of(0, size - 1, 1)}, {self.int_of(0, size - 1, 0)}}})",
            )
        )

    def queue(self, found: PathText, depth: int) -> str:
        """Return a queue with elements of another one: the queue itself, a part, or a sum of parts."""
        chance, end = self.rng.random(), lambda: self.rng.choice(("", "0", "1", "-1", self.number(0)[0]))
        if depth <= 0 or chance < 0.2:
            return found.text
        part = f"{found.text}[{end()}:{end()}]"
        if chance < 0.65:
            return part
        assert isinstance(found.type, FifoType)
        if chance < 0.8:
            name = self.fresh_name()
            with self.scope.binding(*expanded(PathText(name, found.type.element, is_writable=False))):
                condition = self.condition(depth - 1)
            return f"({found.text}[:0] + [{name} for {name} in {found.text} if {condition}])"
        return self.rng.choice(
            (
                f"({found.text}[:{end()}] + {part})",
                f"([{self.of(found.type.element, depth - 1)}] + {found.text}[1:])",
                f"({found.text}[1:] + ({self.of(found.type.element, depth - 1)},))",
            )
        )

    def record(self, cls: ClassType, depth: int) -> str:
        """Return a @value record of a class."""
        found = self.find(lambda kind: kind == cls)
        if found is not None and self.rng.random() < 0.4:
            base = found.text
            free = [f for f in cls.fields if not f.is_fixed]
            if self.rng.random() < 0.4 or not free:
                return base
            one = self.rng.choice(free)
            return f"evolve({base}, {one.name}={self.of(one.type, max(0, depth - 1))})"
        given = [f for f in cls.fields if not f.is_fixed and self.rng.random() < 0.7]
        return f"{cls.name}({', '.join(f'{f.name}={self.of(f.type, max(0, depth - 1))}' for f in given)})"
