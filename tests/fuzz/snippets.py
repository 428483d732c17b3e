"""Random snippets: every construct in every position, with operands of every kind, also those that are unusual.

A snippet is one action or property of a module with several. It need not be in the language: the lifter may refuse it.
What the lifter accepts must mean what CPython does.
"""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from attrs import evolve, field, frozen

from kwalk.model.language import LiftError, Model
from kwalk.model.language.errors import KwalkError
from kwalk.model.language.lift import Lifted, lift
from kwalk.model.language.lift.rules import is_announced
from kwalk.search.kernel.differential import disagreements
from tests.fuzz.comparison import (
    Difference,
    ModelComparison,
    imported,
    refusal_of,
    what_is_refused,
)
from tests.fuzz.expressions import Expressions, GenerationScope
from tests.fuzz.models import HEADER, declarations
from tests.fuzz.oracle import Frozen, Oracle
from tests.fuzz.schema import (
    BoolType,
    ClassType,
    GeneratedType,
    IntType,
    PathText,
    RecordSetType,
    SchemaMaker,
    argument_types,
    expanded,
)
from tests.fuzz.statements import STEP, Statements, is_value

STATES = 10
"""Random states in which a snippet is executed."""
MOST_ARGUMENTS = 8
"""The most arguments of the parameter `e` of a snippet."""
UNUSUAL = (
    "None",
    "True",
    "False",
    "(0)",
    "(1)",
    "(2)",
    "(-1)",
    "(7)",
    "LIM",
    "CAP",
    "ON",
    "OFF",
    "MODE",
    "DA",
    "E0",
    "E0.A",
    "V0()",
    "()",
    "(1, 0)",
    "(0,)",
    "((0, 1), 2)",
    "[1, 0]",
    "[]",
    "frozenset()",
    "{0}",
    "{0, 1}",
    "{None}",
    "'old'",
    "range(2)",
    "s",
    "V0",
    "S",
    "Stop",
    "len",
    "w",
    "w",
    "d",
    "b",
    "e",
    "nowhere",
    "(None, 0)",
    "set()",
    "frozenset({1})",
    "(-2)",
)
"""Operands besides random expressions; `w` is a name that only one branch assigns."""
UNARY = (
    "not {x}",
    "-{x}",
    "+{x}",
    "~{x}",
    "abs({x})",
    "bool({x})",
    "int({x})",
    "len({x})",
    "min({x})",
    "max({x})",
    "sum({x})",
    "any({x})",
    "all({x})",
    "tuple({x})",
    "list({x})",
    "frozenset({x})",
    "set({x})",
    "sorted({x})",
    "{x}.taken",
    "sorted({x}, reverse=True)",
    "{x}.is_empty",
    "{x}.head",
    "{x}.pop()",
    "{x}.take()",
    "{x}.is_usual",
    "{x}.holds()",
    "{x}.f0",
    "{x}.v00",
    "{x}.name",
    "{x}.value",
    "range({x})",
    "tuple(reversed({x}))",
    "tuple(enumerate({x}))",
    "next((n for n in {x}), None)",
    "next((n for n in {x} if n), 0)",
    "[n for n in {x}]",
    "{{n for n in {x}}}",
    "({x},)",
    "({x}, {x})[0]",
    "[{x}]",
    "{{{x}}}",
    "str({x})",
    "V0({x})",
    "V0(v00={x})",
    "evolve({x})",
    "isinstance({x}, int)",
    "isinstance({x}, V0)",
    "type({x})",
    "max({x}, default=0)",
    "sum(1 for n in {x} if n)",
    "any(n for n in {x})",
    "all(n == 0 for n in {x})",
    "sum({x}, 1)",
    "f'{{1}}'",
    "({x} is None)",
    "({x} == {x})",
    "({x} in {x})",
    "{x}[:1]",
    "{x}[0]",
    "{x}[-1]",
    "{x}[1:]",
    "{x}[:-1]",
    "{x}[::-1]",
    "range(len({x}))",
    "[n for n in {x} if n]",
    "tuple(n for n in {x} if n == 0)",
    "tuple(reversed([n for n in {x} if n]))",
    "[n for n in {x} if n][0]",
    "tuple(n for n in {x} if n)[-1]",
    "sorted({x})[-1]",
    "list({x})[1:]",
    "tuple({x})[:-1]",
    "[n for n in {x} if n][1:]",
    "range({x})[1:]",
    "range({x})[-1]",
    "({x} + {x})",
    "({x} + [0])",
    "([1] + {x})",
    "({x} + ())",
    "tuple(enumerate(reversed({x})))",
    "{x}.last",
    "sum(n for n in (0, 1) if {x})",
    "len([{x} for n in DA])",
    "hash({x})",
    "tuple(zip({x}, {x}))",
    "dict({x})",
    "{x}()",
    "{x}.union({{0}})",
    "{x}.starts_with(0)",
    "{x}.push(0)",
    "{x}.clear()",
    "round({x})",
    "divmod({x}, 2)",
    "{x}.index(0)",
    "{x}.count(0)",
    "{x}.items()",
    "{x}.add(V0())",
    "{x}.discard(V0())",
    "{x}.remove(V0())",
    "{x}.update({{V0()}})",
    "len({{n for n in {x}}})",
    "isinstance({x}, (V0, E0))",
    "{{V0()}} | {x}",
    "V0() in {x}",
    "{{n.v00 for n in {x}}}",
    "{x}.copy()",
    "{x}.__class__",
    "bool(not {x})",
    "not not {x}",
    "{x} or None",
    "next(n for n in {x})",
    "min({x}, key=lambda n: n)",
    "max({x}, key=lambda n: -n, default=0)",
    "({x} == [])",
    "({x} == ())",
    "{{({x}, 1)}}",
)
BINARY = (
    "({x} + {y})",
    "({x} - {y})",
    "({x} * {y})",
    "({x} // {y})",
    "({x} % {y})",
    "({x} / {y})",
    "({x} ** {y})",
    "({x} | {y})",
    "({x} & {y})",
    "({x} ^ {y})",
    "({x} << {y})",
    "({x} >> {y})",
    "({x} == {y})",
    "({x} != {y})",
    "({x} < {y})",
    "({x} <= {y})",
    "({x} > {y})",
    "({x} >= {y})",
    "({x} is {y})",
    "({x} is not {y})",
    "({x} in {y})",
    "({x} not in {y})",
    "({x} and {y})",
    "({x} or {y})",
    "({x} < {y} < 2)",
    "({x} == {y} == {x})",
    "(0 <= {x} <= {y})",
    "min({x}, {y})",
    "max({x}, {y})",
    "{x}[{y}]",
    "({x}, {y})",
    "({x}, {y})[1]",
    "({x}, {y})[d]",
    "[{x}, {y}][{x}]",
    "({x} if {y} else {x})",
    "({x} if b else {y})",
    "({y} if {x} else 0)",
    "range({x}, {y})",
    "{x}[{y}:]",
    "{x}[:{y}]",
    "{x}[{y}:2]",
    "({x} + [{y}])",
    "(({x},) + {y})",
    "({x}[{y}] == {x}[0])",
    "({x} == {x}[:{y}])",
    "sum(1 for n, m in zip({x}, {y}) if n == m)",
    "next((n for n, m in enumerate({x}) if m == {y}), None)",
    "{x}.starts_with({y})",
    "{{{x}, {y}}}",
    "tuple(zip({x}, {y}))",
    "tuple(enumerate({x}, {y}))",
    "sum({x}, {y})",
    "next((n for n in {x} if n == {y}), None)",
    "sum({y} for n in {x})",
    "any(n == {y} for n in {x})",
    "[{y} for n in {x}]",
    "evolve({x}, v00={y})",
    "V0({x}, {y})",
    "max({x}, default={y})",
    "({x} and {y} or {x})",
    "(not {x} or {y})",
    "(({x}, 0) == ({y}, 0))",
    "({x} in (0, {y}))",
    "({x} in {{{y}}})",
    "({x} in [{y}, None])",
    "(({x} if b else None) == {y})",
    "(({x} if b else {y}) is None)",
    "({x} if {x} is not None else {y})",
    "int({x} == {y})",
    "len(({x}, {y}))",
    "all(({x}, {y}))",
    "any([{x}, {y}])",
    "min(({x}, {y}))",
    "sum(({x}, {y}))",
    "sum([{x}, {y}])",
    "tuple(n for n in ({x}, {y}))",
    "({x} + {y}) * 2",
    "-({x} - {y})",
    "{x}.index({y})",
    "[n for n in {x} if n][{y}]",
    "[n for n in {x} if n][{y}:]",
    "[{x}, {y}, 0][:{y}]",
    "(0, {x}, {y})[{y}:]",
    "tuple(n for n in {x} if n)[:{y}]",
    "list({x})[{y}:]",
    "list({x})[:{y}]",
    "sorted({x})[{y}]",
    "range({x})[{y}]",
    "range(3)[{x}:{y}]",
    "[[{x}], [{y}], [0]][{y}:][0][0]",
    "([{x}] + [{y}])",
    "([n for n in {x} if n] + [{y}])",
    "([{y}] + [n for n in {x} if n])",
    "(tuple(n for n in {x} if n) + ({y},))",
    "({x} + tuple(n for n in {y} if n))",
    "([{x}] + ({y},))",
    "({x} == [{y}])",
    "(({x}, {y}) in {{({y}, 1), (0, {x})}})",
    "min({x}, {y}, key=abs)",
    "frozenset({{({x}, {y})}})",
)
MILD = (
    "(not {x})",
    "(-{x})",
    "abs({x})",
    "bool({x})",
    "int({x})",
    "({x} == {y})",
    "({x} != {y})",
    "({x} < {y})",
    "({x} and {y})",
    "({x} <= {y} < 2)",
    "({x} or {y})",
    "min({x}, {y})",
    "max({x}, {y})",
    "({x} if {y} else {x})",
    "({x}, {y})[0]",
    "({x} is None)",
    "({x} in (0, {y}))",
    "sum(({x}, {y}))",
    "any(({x}, {y}))",
    "len({{{x}, {y}}})",
    "same({x})",
    "first({x}, {y})",
    "chosen({x}, {y}, b)",
    "({x} + {y})",
    "({x} - {y})",
    "({x} % 3)",
    "({x} // 2)",
    "all(({x}, {y}, b))",
    "({y} if {x} else {y})",
    "(None if {x} else {y})",
    "({x} is not None and {x} == {y})",
    "({x} in DA)",
    "[{x}, {y}][b]",
    "sum(1 for n in DA if {x} == n)",
    "(({x},) == ({y},))",
    "({x} ^ {y})",
    "({x} | {y})",
    "(0 < {x} and {y})",
)
"""Constructs that the lifter often accepts."""
POSITIONS = (
    "require({x})",
    "if {x}:\n    {t} = {y}",
    "{t} = {x}",
    "{t} = {x}",
    "{t} = {x}",
    "{t} += {x}",
    "{t} -= {x}",
    "{t} |= {x}",
    "{t} = {x} if {y} else {t}",
    "for n in {x}:\n    {t} = n",
    "for n in {x}:\n    {t} = {y}",
    "v = [{x}]\nu = v\nv += [{y}]\n{t} = len(u)",
    "v = [{x}]\nu = v\nv = v + [{y}]\n{t} = u == v",
    "assert {x}",
    "{x}",
    "v = {x}\n{t} = v",
    "v, u = {x}\n{t} = u",
    "v = u = {x}\n{t} = u",
    "if {x}:\n    return\n{t} = {y}",
    "v = {x}\nif b:\n    v = {y}\n{t} = v",
    "v = {x}\nif v:\n    {t} = v",
    "v = [n for n in {x} if n]\nif b:\n    v = v + [{y}]\n{t} = v[-1]",
    "v = ()\nif b:\n    v = ({x}, {y})\n{t} = v[d]",
    "v = []\nif b:\n    v = [n for n in {x} if n]\n{t} = v == [{y}]",
    "{t} = (({x},) if b else ({y}, 0))[-1]",
    "v = [{x}] if b else []\n{t} = v",
    "v = [{x}] if b else [{y}, 0]\nv[0] = {y}\n{t} = v[-1]",
    "v = [{x}]\nu = v if b else [{y}, 0]\nv[0] = {y}\n{t} = u[0]",
    "v = {x}\nv += {y}\n{t} = v",
    "{t} = same({x})",
    "{t} = first({x}, {y})",
    "{t} = first(b={x}, a={y})",
    "{t} = chosen({x}, {y}, b)",
    "{t} = bool({x})",
    "{t} = int({x})",
    "{t} = ({x}, {y})[0]",
    "{t} = any(({x}, {y}))",
    "if b and {x}:\n    {t} = {y}",
    "if not {x}:\n    {t} = {y}\nelif {y}:\n    {t} = {x}",
    "if {x} == {y}:\n    {t} = {x}",
    "{t}, {r} = {x}, {y}",
    "{t}, {r} = {x}",
    "for n, m in {x}:\n    {t} = m",
    "for n in {x}:\n    if {y}:\n        break\n    {t} = n",
    "for n in {x}:\n    if n:\n        continue\n    {t} = n",
    "for n, m in enumerate({x}):\n    {t} = n",
    "for n in {x}:\n    pass\n{t} = n",
    "try:\n    {t} = {x}\n    raise Stop\nexcept Stop:\n    {r} = {y}",
    "{q}.push({x})",
    "{q}.pop()\n{t} = {x}",
    "{t} = {x}\n{r} = {t}",
    "{r} = {x}\n{t} = {y}",
    "while {x}:\n    {t} = {y}",
    "{t} = {x}; require({y})",
    "{t} = sum(1 for n in DA if {x})",
    "{t} = any({x} for n in DA)",
    "{t} = [n for n in DA if {x}]",
    "{a}[{x}] = {y}",
    "{t} = {a}[{x}]",
    "v = {a}\nv[{x}] = {y}",
    "v = {a}[{x}]\n{a}[{x}] = {y}\n{t} = v",
    "{a} = {x}",
    "for n in {a}:\n    {a}[{x}] = {y}",
    "v = s\nv = {x}\n{t} = v",
    "{o} = {x}",
    "{o}.change({x})",
    "{t} = {o}.holds() == {x}",
    "if {x} is None:\n    {t} = {y}\nelse:\n    {t} = {x}",
    "{t} = {x} or {y}",
    "{t} = {x} and {y}",
    "raise {x}",
    "return {x}",
    "v = [{x}, {y}]\nv[0] = {y}\n{t} = v[0]",
    "v = [{x} for n in DA]\n{t} = v[d]",
    "v = {{n for n in {x}}}\n{t} = len(v)",
    "{t} = len({{n for n in {x}}})",
    "{t} = max({x}, {y}, default=0)",
    "{t} = max({x}, {y})",
    "{t} = LIM",
    "{t} = {x} + LIM",
    "if LIM:\n    {t} = {x}",
    "{m}.add({x})",
    "{m}.discard({x})",
    "{m}.remove({x})",
    "{m} = {x}",
    "{m} |= {x}",
    "{m} -= {x}",
    "{m}.update({x})",
    "for n in {m}:\n    {t} = {x}",
    "for n in {m}:\n    {m}.add({x})\n    {t} = {y}",
    "v = {m}\nv.add({x})\n{t} = {y}",
    "v = {{n for n in {m} if {x}}}\n{t} = len(v)",
    "{t} = any({x} for n in {m})",
    "v = {m}\n{m} = {x}\n{t} = len(v)",
    "{t} = {x} in {m}",
    "{t} = sum(n.v00 for n in {m} | {{V0()}})",
    "v = {m}\nv |= {x}",
    "{m}.clear()\n{t} = {x}",
    "{t} = {x} == {m}",
    "{m} = {{{x}}}",
    "{m} = {{{x}, {y}}}",
    "for n in {m}:\n    {m}.discard(n)\n    {t} = {y}",
    "{t} = next((n for n in {m}), None) == {x}",
    "{t} = len({m} ^ {{{x}}})",
    "v = {m} | {m}\n{t} = all({x} for n in v)",
    "{t} = abs({x})",
    "{t} = -{x}",
    "print({x})",
    "{t} = {x}.is_empty",
    "{q}.clear()\n{t} = {x}",
    "{q}[{x}] = {y}",
    "{q} = {q}[{x}:]",
    "{q} = {q} + [{x}]",
    "{q} = [{x}]",
    "{q} = {q}[:{x}] + [{y}]",
    "{q} += ({x},)",
    "{q}[{x}] += {y}",
    "{q} = [n for n in {x} if n != {y}]",
    "{q} = [n for n in {q} if {x}]",
    "for n in range({x}):\n    {t} = n",
    "for n in range(len({q})):\n    {q}[n] = {x}",
    "{q} = {q} + tuple(n for n in {x} if n)",
    "{t} = {q}[{x}]",
    "v = {q}[:]\nv[{x}] = {y}\n{t} = v[0]",
    "for n in {q}[{x}:]:\n    {t} = n",
    "{q} = {x}",
    "v = {q}[1:]\nv.push({x})\n{q} = v",
    "{t} = {q}[-1]",
    "{t} = {q}[0] == {x}",
    "for n in reversed({q}):\n    {t} = n",
    "v = {q} if b else {q}[1:]\nv[0] = {x}",
    "{t} = {q}[{x}:{y}] == {q}",
    "for n in {x}:\n    {q}.push(n)",
)
"""Statements with an expression at each place where the language has one: {t}, {r} and {o} are places of the state."""
HELPERS = """
def same(a):
    return a


def first(a, b=0):
    if b:
        return a
    return b


def chosen(a, b, c):
    if c:
        return a
    return b
"""


@frozen
class SnippetReport:
    """The outcome for the snippets of one module."""

    accepted: int
    refusals: Counter[str]
    differences: tuple[tuple[str, Difference], ...] = field(factory=tuple)
    """The key of an action or property, and its difference."""


def random_snippets(seed: int, count: int) -> str:
    """Return the text of a module with `count` random snippets."""
    return "\n".join(_SnippetText(seed).lines(count))


class _SnippetText:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"snippets {seed}")
        self.seed, self.schema = seed, SchemaMaker(self.rng).schema()

    def lines(self, count: int) -> Iterator[str]:
        """Yield the lines of the module."""
        yield HEADER.format(seed=f"snippets {self.seed}")
        yield from declarations(self.schema, self.rng, 0.0)
        yield HELPERS
        self.structured = argument_types(self.schema, MOST_ARGUMENTS)
        actions, properties = ["idle"], list[str]()
        yield from ("@action(by=SYSTEM)", "def idle(s: S) -> None:", f"{STEP}pass")
        for number in range(count):
            name, lines = self._snippet(number)
            (properties if name.startswith("p") else actions).append(name)
            yield from ("", "", *lines)
        flags = {"on": self.schema.flags["ON"], "off": self.schema.flags["OFF"], "mode": self.schema.flags["MODE"]}
        yield from ("", "", "SCENARIO = Scenario(", f'{STEP}name="snippets", story="Snippets.", state=S,')
        yield f"{STEP}actions=({', '.join(actions)},), properties=({''.join(f'{name}, ' for name in properties)}),"
        yield from (f"{STEP}bounds={self.schema.bounds!r}, flags={flags!r},", ")", "")

    def _snippet(self, number: int) -> tuple[str, list[str]]:
        """Return the name and the lines of a snippet that compiles."""
        while True:
            self.scope = self._scope()
            self.write = Expressions(self.rng, self.scope)
            chance = self.rng.random()
            name = f"{'p' if chance < 0.15 else 'a'}{number}"
            lines = (
                self._property(name) if chance < 0.15 else self._action(name) if chance < 0.4 else self._altered(name)
            )
            with suppress(SyntaxError, RecursionError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile("\n".join(lines), name, "exec")
                return name, lines

    def _altered(self, name: str) -> list[str]:
        """A typed block in which one expression is replaced by another, or put into a construct."""
        tree = ast.parse("\n".join(Statements(self.rng, self.scope).block(1, 2)))
        holders = [(node, field, index) for node in ast.walk(tree) for field, index in _loaded_expressions(node)]
        for _ in range(self.rng.choice((1, 1, 2))):
            if holders:
                node, field, index = self.rng.choice(holders)
                value = getattr(node, field) if index is None else getattr(node, field)[index]
                with suppress(SyntaxError):
                    other = ast.parse(self._other(ast.unparse(value)), mode="eval").body
                    if index is None:
                        setattr(node, field, other)
                    else:
                        getattr(node, field)[index] = other
        body = ast.unparse(tree)
        return [
            "@action(by=SYSTEM)",
            f"def {name}(s: S, d: MDA, b: bool, e: {self.hint}) -> None:",
            *(STEP + line for line in [*self._prelude(body), *body.splitlines()]),
        ]

    def _other(self, text: str) -> str:
        """Return another expression in place of one."""
        if self.rng.random() < 0.25:
            return self.operand(1)
        shapes = MILD if self.rng.random() < 0.6 else UNARY if self.rng.random() < 0.5 else BINARY
        other = self._typed() if self.rng.random() < 0.5 else self.operand(0)
        return _filled(self.rng.choice(shapes), {"x": f"({text})", "y": other})

    def _typed(self) -> str:
        """Return an expression of a random type."""
        kind = self.rng.choice([path.type for path in self.scope.paths if is_value(path.type)])
        return self.write.of(kind, 1)

    def _scope(self) -> GenerationScope:
        paths = self.schema.paths("s")
        kind: GeneratedType = self.schema.enums[0]
        self.hint = "E0"
        if self.structured and self.rng.random() < 0.3:
            self.hint, kind = self.rng.choice(self.structured)
        variables = [
            PathText("d", IntType(0, self.schema.domains["DA"] - 1)),
            PathText("b", BoolType()),
            *expanded(PathText("e", kind, is_writable=False)),
        ]
        return GenerationScope(self.schema, paths, variables, risk=0.3)

    def _action(self, name: str) -> list[str]:
        holes = {"x": self.operand(2), "y": self.operand(1), **self._places()}
        body = _filled(self.rng.choice(POSITIONS), holes)
        lines = [*self._prelude(body), *body.splitlines()]
        return [
            "@action(by=SYSTEM)",
            f"def {name}(s: S, d: MDA, b: bool, e: {self.hint}) -> None:",
            *(STEP + line for line in lines),
        ]

    def _property(self, name: str) -> list[str]:
        text = self.operand(2)
        body = self.rng.choice(
            (
                f"return {text}",
                f"premise({text})\nreturn {self.operand(1)}",
                f"v = {text}\nreturn v",
                f"if {text}:\n    return {self.operand(1)}",
            )
        )
        kind = self.rng.choice(("always", "always", "reachable", "eventually"))
        lines = [*self._prelude(body), *body.splitlines()]
        return [
            f"@{kind}()",
            f"def {name}(s: S, d: MDA, b: bool, e: {self.hint}) -> bool:",
            *(STEP + line for line in lines),
        ]

    def _prelude(self, body: str) -> list[str]:
        """Assign the name `w`, where it is used, on one branch or on both."""
        if "w" not in body.replace("==", " ").replace("(", " ").replace(")", " ").replace(",", " ").split():
            return []
        return self.rng.choice(
            (
                ["if b:", f"{STEP}w = {self.operand(0)}"],
                ["w = 0", "if b:", f"{STEP}w = {self.operand(0)}"],
                ["for w in DA:", f"{STEP}pass"],
                [f"for w in {self.operand(0)}:", f"{STEP}pass"],
                ["if b:", f"{STEP}w = {self.operand(0)}", "else:", f"{STEP}w = {self.operand(0)}"],
            )
        )

    def _places(self) -> dict[str, str]:
        """Return places of the state for the holes of a position; any place where there is none of the kind."""
        found = [path for path in self.scope.paths if is_value(path.type)]
        sets = [p for p in self.scope.paths if isinstance(p.type, RecordSetType)]
        kinds = {"q": "push", "a": "array", "o": "object"}
        queues = [p for p in self.scope.paths if type(p.type).__name__ == "FifoType"]
        arrays = [p for p in self.scope.paths if type(p.type).__name__ == "ArrayType"]
        objects = [p for p in self.scope.paths if isinstance(p.type, ClassType) and p.type.is_mutable]
        lists = {"t": found, "r": found, "m": sets, **dict(zip(kinds, (queues, arrays, objects), strict=True))}
        return {hole: self.write.indexed(self.rng.choice(paths or found).text) for hole, paths in lists.items()}

    def operand(self, depth: int) -> str:
        """Return a random expression: an unusual constant, a typed expression, or a construct of operands."""
        chance = self.rng.random()
        if depth == 0 or chance < 0.3:
            if self.rng.random() < 0.4:
                return self.rng.choice(UNUSUAL)
            if self.rng.random() < 0.5:
                return self.write.indexed(self.rng.choice(self.scope.paths).text)
            return self._typed()
        shape = self.rng.choice(MILD if self.rng.random() < 0.4 else UNARY if self.rng.random() < 0.5 else BINARY)
        return _filled(shape, {"x": self.operand(depth - 1), "y": self.operand(depth - 1)})


def _filled(shape: str, holes: dict[str, str]) -> str:
    """Return a shape with its holes filled; `{{` and `}}` stand for braces."""
    return re.sub(r"\{\{|\}\}|\{(\w)\}", lambda m: holes[m[1]] if m[1] else m[0][0], shape)


def _loaded_expressions(node: ast.AST) -> Iterator[tuple[str, int | None]]:
    """Yield the places of a node that hold an expression whose value is read."""
    for name, value in ast.iter_fields(node):
        for index, one in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(one, ast.expr) and isinstance(getattr(one, "ctx", ast.Load()), ast.Load):
                yield name, index if isinstance(value, list) else None


# The comparison.


def compare_snippets(source: str, seed: int) -> SnippetReport:
    """Compare kwalk with the oracle on each snippet of a module: plain Python and terms, on random states."""
    warnings.simplefilter("ignore", SyntaxWarning)  # snippets compare constants with `is`
    oracle = Oracle(source)
    with imported(source) as module:
        found = ModelComparison(oracle, module, seed)
        rng = random.Random(seed)
        states = [*oracle.initial(), *(oracle.root.random(rng) for _ in range(STATES))]
        return _SnippetComparison(found, states).report()


class _SnippetComparison:
    def __init__(self, comparison: ModelComparison, states: Sequence[Frozen]) -> None:
        self.both, self.states, self.model = comparison, states, comparison.model
        self.vectors = [comparison.vector(state) for state in states]

    def report(self) -> SnippetReport:
        """Compare all snippets."""
        refusals: Counter[str] = Counter()
        differences, accepted, scenario = [], 0, self.model.scenario
        idle = scenario.actions[0]
        for thing in (*scenario.actions[1:], *scenario.properties):
            is_action = thing in scenario.actions
            part = (thing,) if is_action else (idle,)
            alone = evolve(scenario, actions=part, properties=() if is_action else (thing,))  # type: ignore[arg-type]
            try:
                lifted = lift(Model(alone))
                accepted += 1
                self._compare(thing.name, lifted)
            except LiftError as error:
                refusals[refusal_of(error)] += 1
                if not is_announced(what_is_refused(error).removeprefix(f"{thing.name}: ")):
                    kind = f"a refusal that the reference does not announce: {refusal_of(error)}"
                    differences.append((thing.name, Difference(kind, str(error))))
            except Difference as error:
                differences.append((thing.name, error))
            except KwalkError as error:
                differences.append(
                    (thing.name, Difference(f"refused with {type(error).__name__}: {refusal_of(error)}", str(error)))
                )
            except Exception as error:
                kind = f"crash of the lifter: {type(error).__name__}: {refusal_of(error)}"
                differences.append((thing.name, Difference(kind, f"{thing.name}: {error}")))
        return SnippetReport(accepted, refusals, tuple(differences))

    def _compare(self, name: str, lifted: Lifted) -> None:
        """Compare the oracle with plain Python, and that with terms."""
        mine = lifted.model
        for instance in mine.instances:
            theirs = next(one for one in self.both.oracle.actions if one.key == instance.key)
            for state, vector in zip(self.states, self.vectors, strict=True):
                self.both.compare_action(theirs, instance, state, vector)
        for prop in mine.properties:
            if prop.declaration.only_counts:
                continue
            theirs = next(one for one in self.both.oracle.properties if one.key == prop.key)
            for state, vector in zip(self.states, self.vectors, strict=True):
                self.both.compare_property(theirs, prop, (state,), vector)
        for one in disagreements(mine, self.vectors, lifted=lifted):
            self.both.raise_disagreement(one)


def snippet_difference(source: str, seed: int) -> Difference | None:
    """Return the first difference of a module's snippets; None if there is none, or if it is no module of snippets."""
    try:
        report = compare_snippets(source, seed)
    except Exception:  # the text is no model
        return None
    return report.differences[0][1] if report.differences else None
