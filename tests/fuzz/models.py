"""Random models, as the text of a Python module that a user could have written."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count

from tests.fuzz.expressions import Expressions, GenerationScope
from tests.fuzz.schema import (
    BoolType,
    ClassType,
    EnumType,
    FieldText,
    GeneratedType,
    IntType,
    PathText,
    SchemaMaker,
    SchemaText,
    argument_types,
    expanded,
    value_count,
)
from tests.fuzz.statements import STEP, Statements

HEADER = '''"""Random model {seed}."""
from enum import Enum
from typing import Annotated

from kwalk import (
    Abort, Actor, Array, Bound, Domain, Fifo, Flag, Fresh, Scenario,
    SYSTEM_FAIRNESS, action, action_constraint, always, always_eventually, array, bounded_set, choice, constraint,
    eventually, eventually_always, evolve, fifo, flag, fresh, inevitable, leads_to, member, nested, number, optional,
    premise, reachable, refines, require, state, step, strongly_fair, subset, value, weakly_fair, when_quiescent,
)
'''
RISKS = (0.0, 0.0, 0.03, 0.1)
"""The probabilities of uses that may be errors, of which each model draws one."""
LIVENESS = ("eventually", "inevitable", "always_eventually", "eventually_always", "leads_to")
MOST_INSTANCES = 8
"""The most instances of an action."""


def random_model(seed: int) -> str:
    """Return the text of the model of a seed."""
    for attempt in count():
        text = _ModelText(seed, attempt).text()
        with suppress(SyntaxError), warnings.catch_warnings():  # Python limits how deep blocks are nested
            warnings.simplefilter("ignore")
            compile(text, f"model {seed}", "exec")
            return text
    raise AssertionError("count() does not end")


def declarations(schema: SchemaText, rng: random.Random, risk: float) -> Iterator[str]:
    """Yield the lines of a module up to its classes of states."""
    for name in schema.limits:
        yield f'{name} = Bound("{name.lower()}")'
    for name in schema.domains:
        size = f", size={schema.sizes[name]}" if name in schema.sizes else ""
        yield f'{name} = Domain("{name.lower()}"{size})'
        yield f"M{name} = Annotated[int, {name}]"
    yield 'ON = Flag("on")'
    yield 'OFF = Flag("off")'
    yield 'MODE = Flag("mode", settings=("old", "new"))'
    yield 'SYSTEM = Actor("system")'
    yield 'CLIENT = Actor("client", system=False)'
    for enum in schema.enums:
        yield from ("", "", f"class {enum.name}(Enum):")
        yield from (f'{STEP}{member} = "{member.lower()}"' for member in enum.members)
    yield from ("", "", "class Stop(Abort):", f'{STEP}"""An abort."""')
    yield from ("", "", "class Halt(Stop):", f'{STEP}"""A special abort."""')
    for cls in (*schema.records, *schema.parts):
        yield from _class(cls, schema, rng, risk)
    assert schema.root is not None
    yield from ("", "", "@state", "class S:", *map(_field, schema.root.fields))


def _field(field: FieldText) -> str:
    return f"{STEP}{field.name}: {field.annotation} = {field.declaration}"


def _class(cls: ClassType, schema: SchemaText, rng: random.Random, risk: float) -> Iterator[str]:
    """Yield the lines of a class, with a property and methods."""
    yield from ("", "", "@state" if cls.is_mutable else "@value", f"class {cls.name}:", *map(_field, cls.fields))
    scope = GenerationScope(schema, [path for path in schema.paths("self", cls) if "{" not in path.text], risk=risk)
    condition = Expressions(rng, scope).boolean(2)
    yield from ("", f"{STEP}@property", f"{STEP}def is_usual(self) -> bool:", f"{STEP}{STEP}return {condition}")
    lines = [
        f"if {Expressions(rng, scope).boolean(1)}:",
        f"{STEP}return {Expressions(rng, scope).boolean(1)}",
        f"return {Expressions(rng, scope).boolean(1)}",
    ]
    yield from ("", f"{STEP}def holds(self) -> bool:", *(STEP + STEP + line for line in lines))
    if cls.is_mutable:
        scope = GenerationScope(schema, schema.paths("self", cls), [PathText("given", BoolType())], risk=risk)
        body = Statements(rng, scope).block(1, 2)
        yield from ("", f"{STEP}def change(self, given: bool) -> None:", *(STEP + STEP + line for line in body))


class _ModelText:
    def __init__(self, seed: int, attempt: int = 0) -> None:
        self.seed, self.rng = seed, random.Random(f"{seed} {attempt}" if attempt else seed)
        self.schema = SchemaMaker(self.rng, rich=self.rng.random() < 0.15).schema()
        self.risk = self.rng.choice(RISKS)
        self.behaviours = random.Random(f"behaviours {seed} {attempt}")
        """What is about behaviours is drawn from here, so that it changes nothing else of a model."""
        self.restrictions = random.Random(f"restrictions {seed} {attempt}")
        """Constraints and refinements are drawn from here, for the same reason."""
        self.arguments: dict[str, list[PathText]] = {}
        self.parameters: dict[str, list[str]] = {}
        self.readers: list[tuple[str, GeneratedType]] = []
        self.writers: list[str] = []
        self.constraints: list[str] = []

    def text(self) -> str:
        """Return the whole module."""
        rng = self.rng
        lines = [*declarations(self.schema, rng, self.risk)]
        for number in range(rng.choice((0, 1, 2))):
            lines += self._reader(number)
        for number in range(rng.choice((0, 1, 2))):
            lines += self._writer(number)
        actions = [f"a{number}" for number in range(rng.choice((2, 2, 3, 3, 4, 5)))]
        for name in actions:
            lines += self._action(name)
        properties = [f"p{number}" for number in range(rng.choice((1, 2, 3, 4)))]
        for name in properties:
            lines += self._property(name)
        drawn, self.rng = self.rng, self.behaviours
        for number in range(self.behaviours.choice((0, 1, 1, 2))):
            properties.append(f"q{number}")
            lines += self._liveness(f"q{number}", self.behaviours.choice(LIVENESS))
        self.rng = drawn
        has_initial = rng.random() < 0.5
        if has_initial:
            lines += self._initial()
        if self.restrictions.random() < 0.2:
            lines += self._abstract(actions, has_initial)
            properties.append("refines(ABSTRACT, image)")
        self.constraints = [f"c{number}" for number in range(self.restrictions.choice((0, 0, 0, 1, 2)))]
        for name in self.constraints:
            lines += self._constraint(name)
        return "\n".join([HEADER.format(seed=self.seed), *lines, *self._scenario(actions, properties, has_initial), ""])

    def _scope(self, *roots: str, variables: Iterable[PathText] = ()) -> GenerationScope:
        paths = [path for root in roots or ("s",) for path in self.schema.paths(root)]
        functions = self.readers if roots in ((), ("s",)) else []
        return GenerationScope(self.schema, paths, list(variables), self.risk, functions)

    def _parameters(self) -> tuple[str, list[PathText]]:
        """Return the text of parameters after the state, and their variables."""
        rng, sizes, text = self.rng, 1, ""
        variables: list[PathText] = []
        kind: GeneratedType
        for number in range(rng.choice((0, 0, 1, 1, 2))):
            name, (domain, size) = f"d{number}", rng.choice(list(self.schema.domains.items()))
            enum = rng.choice(self.schema.enums)
            hint, count, kind = rng.choice(
                (
                    (f"M{domain}", size, IntType(0, size - 1)),
                    (f"M{domain}", size, IntType(0, size - 1)),
                    ("bool", 2, BoolType()),
                    (enum.name, len(enum.members), enum),
                )
            )
            structured = argument_types(self.schema, MOST_INSTANCES)
            if structured and rng.random() < 0.25:
                hint, kind = rng.choice(structured)
                count = value_count(kind)
            if sizes * count <= MOST_INSTANCES:
                sizes *= count
                text += f", {name}: {hint}"
                variables += expanded(PathText(name, kind, is_writable=False))
        return text, variables

    def _reader(self, number: int) -> list[str]:
        """A helper that reads: some early returns, then a last one."""
        kind: GeneratedType = self.rng.choice((BoolType(), IntType(-9, 9)))
        scope = self._scope(variables=[PathText("given", IntType(-9, 9))])
        write = Expressions(self.rng, scope)
        result = (lambda: write.boolean(2)) if isinstance(kind, BoolType) else lambda: write.number(2)[0]
        lines = [f"def read{number}(s: S, given: int, other: int = 1) -> {'bool' if kind == BoolType() else 'int'}:"]
        if self.rng.random() < 0.5:
            loop, bound = write.loop(in_order=True)
            with scope.binding(*bound):
                lines += [f"{STEP}{loop}:", f"{STEP}{STEP}if {write.boolean(2)}:", f"{STEP * 3}return {result()}"]
        else:
            lines += [f"{STEP}if {write.boolean(2)}:", f"{STEP}{STEP}return {result()}"]
        lines.append(f"{STEP}return {result()}")
        argument = Expressions(self.rng, self._scope()).number(0)[0]
        more = self.rng.choice(("", ", 2", ", other=0"))
        self.readers.append((f"read{number}(s, {argument if '{' not in argument else '1'}{more})", kind))
        return ["", "", *lines]

    def _writer(self, number: int) -> list[str]:
        """A helper that writes, and may abort."""
        is_loud = self.rng.random() < 0.5
        scope = self._scope(variables=[PathText("given", IntType(0, 2))])
        body = Statements(self.rng, scope).block(2, 3)
        if is_loud:
            body = [
                f"if {Expressions(self.rng, scope).boolean(2)}:",
                f"{STEP}raise {self.rng.choice(('Stop', 'Halt'))}",
                *body,
            ]
        self.writers.append(f"{'!' * is_loud}write{number}(s, {self.rng.randint(0, 2)})")
        return ["", "", f"def write{number}(s: S, given: int) -> None:", *(STEP + line for line in body)]

    def _action(self, name: str) -> list[str]:
        parameters, variables = self._parameters()
        self.arguments[name], self.parameters[name] = variables, re.findall(r"(\w+): ", parameters)
        actor = self.rng.choice(("SYSTEM", "SYSTEM", "CLIENT"))
        statements = Statements(self.rng, self._scope(variables=variables), tuple(self.writers))
        body = statements.body()
        return [
            "",
            "",
            f"@action(by={actor})",
            f"def {name}(s: S{parameters}) -> None:",
            *(STEP + line for line in body),
        ]

    def _property(self, name: str) -> list[str]:
        kind = self.rng.choice(("always", "always", "when_quiescent", "reachable", "step", "eventually"))
        parameters, variables = self._parameters() if self.rng.random() < 0.3 else ("", [])
        roots = ("before", "after") if kind == "step" else ("s",)
        write = Expressions(self.rng, self._scope(*roots, variables=variables))
        lines = [f"premise({write.boolean(2)})"] if self.rng.random() < 0.35 else []
        if self.rng.random() < 0.2:
            lines += [f"if {write.boolean(1)}:", f"{STEP}return {write.boolean(1)}"]
        lines.append(f"return {write.boolean()}")
        states = ", ".join(f"{root}: S" for root in roots)
        return ["", "", f"@{kind}()", f"def {name}({states}{parameters}) -> bool:", *(STEP + line for line in lines)]

    def _liveness(self, name: str, kind: str) -> list[str]:
        """A property about behaviours."""
        parameters, variables = self._parameters() if self.rng.random() < 0.3 else ("", [])
        write = Expressions(self.rng, self._scope(variables=variables))
        head, first, last = f"(s: S{parameters}) -> bool:", write.boolean(2), write.boolean()
        if kind == "leads_to":
            made = f'{name} = leads_to({name}a, {name}b, name="{name}")'
            one, other = (["", "", f"def {name}{letter}{head}"] for letter in "ab")
            return [*one, f"{STEP}return {first}", *other, f"{STEP}return {last}", "", "", made]
        lines = [f"premise({first})"] if self.rng.random() < 0.4 else []
        return ["", "", f"@{kind}()", f"def {name}{head}", *(STEP + line for line in [*lines, f"return {last}"])]

    def _fairness(self, actions: list[str]) -> str:
        """The declarations of fairness: mostly of disjunctions that overlap, weak and strong."""
        rng, declared = self.behaviours, list[str]()
        for _ in range(rng.choice((0, 1, 2, 2, 3))):
            strength = rng.choice(("weakly_fair", "strongly_fair"))
            chosen = rng.sample(actions, rng.choice((1, 1, min(2, len(actions)))))
            steps, each = [], ""
            for name in chosen:
                steps.append(name)
                parameters = self.parameters[name]
                values = [(v.text, v.type) for v in self.arguments[name] if v.text in parameters]
                value = self._value(values[0][1]) if values and rng.random() < 0.4 else None
                if value is not None:
                    steps[-1] = f"{name}.only({values[0][0]}={value})"
                elif parameters and len(chosen) == 1 and rng.random() < 0.7:
                    each = f', each="{rng.choice(parameters)}"'
            declared.append(f"{strength}({', '.join(steps)}{each})")
        if rng.random() < 0.15:
            declared.append("SYSTEM_FAIRNESS")
        return f"({''.join(f'{one}, ' for one in declared)})"

    def _value(self, kind: GeneratedType) -> str | None:
        """An argument of a type, or a tuple of all of them; None for a type whose arguments have no short text."""
        if isinstance(kind, BoolType):
            return self.behaviours.choice(("False", "True", "(False, True)"))
        if isinstance(kind, IntType):
            return self.behaviours.choice((str(kind.low), str(kind.high)))
        return f"{kind.name}.{kind.members[0]}" if isinstance(kind, EnumType) else None

    def _constraint(self, name: str) -> list[str]:
        """A constraint of states or of steps."""
        kind, roots = self.restrictions.choice((("constraint", ("s",)), ("action_constraint", ("before", "after"))))
        write = Expressions(self.restrictions, self._scope(*roots))
        states = ", ".join(f"{root}: S" for root in roots)
        return ["", "", f"@{kind}()", f"def {name}({states}) -> bool:", f"{STEP}return {write.boolean(2)}"]

    def _abstract(self, actions: list[str], has_initial: bool) -> Iterator[str]:
        """An abstract scenario with some of the actions, and a mapping that copies all or some of the fields."""
        assert self.schema.root is not None
        names = [field.name for field in self.schema.root.fields]
        share = self.restrictions.choice((1.0, 0.6))
        copied = [name for name in names if self.restrictions.random() < share]
        yield from ("", "", "def image(s: S, t: S) -> None:")
        yield from (f"{STEP}t.{name} = s.{name}" for name in copied)
        yield f"{STEP}pass"
        kept = [name for name in actions if self.restrictions.random() < 0.7] or actions[:1]
        yield from ("", "", "ABSTRACT = Scenario(", f'{STEP}name="abstract", story="Abstract.", state=S,')
        yield f"{STEP}actions=({', '.join(kept)},),"
        if has_initial and self.restrictions.random() < 0.9:
            yield f"{STEP}initial=begin,"
        yield from self._choices()
        yield ")"

    def _choices(self) -> Iterator[str]:
        flags = {"on": self.schema.flags["ON"], "off": self.schema.flags["OFF"]}
        yield f"{STEP}bounds={self.schema.bounds!r}, flags={flags!r},"
        mode = self.schema.flags["MODE"]
        yield f"{STEP}variants={{{mode!r}: {{'mode': {mode!r}}}}},"

    def _initial(self) -> list[str]:
        parameters, variables = self._parameters()
        scope = self._scope(variables=variables)
        scope.risk = 0.0
        scope.paths = [evolved for evolved in scope.paths if not evolved.bound]
        body = Statements(self.rng, scope).block(1, 3)
        kept = [line for line in body if "raise" not in line]
        lines = kept if kept == body else ["pass"]
        return ["", "", f"def begin(s: S{parameters}) -> None:", *(STEP + line for line in lines)]

    def _scenario(self, actions: list[str], properties: list[str], has_initial: bool) -> Iterator[str]:
        yield from ("", "", "SCENARIO = Scenario(")
        yield from (f'{STEP}name="random", story="Random.", state=S,', f"{STEP}actions=({', '.join(actions)},),")
        yield f"{STEP}properties=({', '.join(properties)},),"
        if has_initial:
            yield f"{STEP}initial=begin,"
        if self.constraints:
            yield f"{STEP}constraints=({', '.join(self.constraints)},),"
        yield from self._choices()
        if self.behaviours.random() < 0.7:
            yield f"{STEP}fairness={self._fairness(actions)},"
        if self.rng.random() < 0.2:
            yield f"{STEP}deadlock_is_error=True,"
        yield ")"
