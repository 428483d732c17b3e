"""Quantifiers of properties, and properties that count where they have an element.

Words: a *quantifier* of a property is an `all(…)` of a generator expression in what the property returns, or an
`any(…)` below `not`. Where its generator yields nothing it is true, whatever its condition says. So a property that
holds only because a quantifier never has an element was never put to the test; a search finds that out by a count.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FunctionType, GeneratorType
from typing import Any

from attrs import frozen

from kwalk.model.language.action import Parameter
from kwalk.model.language.binding import Domain
from kwalk.model.language.errors import LiftError
from kwalk.model.language.properties import Kind, Property
from kwalk.model.language.source import source_of

_YIELDING: ContextVar[set[int]] = ContextVar("generators that yield something")
"""Where an observed function adds the codes of its generators that yield something, by identity."""
CONSUMERS: dict[str, Callable[[Iterable[Any]], bool]] = {"all": all, "any": any}
"""The functions whose argument is a quantifier's generator expression."""
KINDS = frozenset({Kind.ALWAYS, Kind.WHEN_QUIESCENT})
"""The kinds of properties whose quantifiers are counted. In `step` properties that would cost walks a tenth of their
speed (records-through-failover: 3.9 M steps/s of CPU in place of 4.3 M), as they are evaluated on every step."""


@frozen
class Quantifier:
    """A quantifier of a property.

    Attributes:
        number: its place among the generator expressions of the property, from 0; it depends on no line.
        position: line and column of its generator expression in the syntax tree.
        range: the clauses of its generator expression, as text.
        is_whole: whether the property can be false only where the quantifier has an element.
    """

    number: int
    position: tuple[int, int]
    range: str
    is_whole: bool


class QuantifierElements(Property):
    """A property that is always true; its premise is true where a quantifier of another property has an element.

    It counts the states in which this is so for some arguments of the other property, where the premise of that one is
    true and it raises no error.
    """

    def __init__(self, prop: Property, quantifier: Quantifier) -> None:
        super().__init__(prop.function, prop.kind, "", "")
        self.prop, self.quantifier, self.only_counts = prop, quantifier, True
        self.name = f"{prop.name}_elements_{quantifier.number + 1}"
        self.about = f"Counts where `{quantifier.range}` of {prop.name} has an element."

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return no parameters: it is about all instances of the property."""
        return ()

    @property
    def place(self) -> str:
        """Return file and line of the quantifier, from the present folder if it is below that."""
        file, here = Path(self.function.__code__.co_filename), Path.cwd()
        return f"{file.relative_to(here) if file.is_relative_to(here) else file}:{self.quantifier.position[0]}"

    def truth(self, *arguments: Any) -> bool | None:
        """Return True if the quantifier has an element in a state; None if it has none."""
        code: CodeType = self.function.__code__
        function, generator = _observed(self.function, code), id(_generators(code)[self.quantifier.number])
        for args in self.prop.arguments():
            yielding: set[int] = set()
            token = _YIELDING.set(yielding)
            try:
                function(*arguments, *args)
            except Exception:  # the premise is false, or the property fails, and then reports that itself
                continue
            finally:
                _YIELDING.reset(token)
            if generator in yielding:
                return True
        return None


def counted_quantifiers(prop: Property) -> tuple[QuantifierElements, ...]:
    """Return the properties that count the elements of a property's quantifiers; none if it has none."""
    return _counted(prop, prop.function.__code__)


@cache
def _counted(prop: Property, code: CodeType) -> tuple[QuantifierElements, ...]:
    if type(prop) is not Property or prop.kind not in KINDS or not _mentions(code):
        return ()
    try:
        definition = source_of(prop.function)
    except LiftError:  # lifting reports it
        return ()
    places = sorted(_place(node) for node in _below(definition.body) if isinstance(node, ast.GeneratorExp))
    if len(places) != len(_generators(code)):  # CPython makes one of equal ones in a line, or keeps no columns
        return ()
    found: dict[tuple[int, int], tuple[ast.GeneratorExp, bool]] = {}
    returned = [node.value for node in ast.walk(definition) if isinstance(node, ast.Return)]
    for value in returned:
        if value is not None:
            for generator, is_whole in _quantifiers(value, is_positive=True, is_whole=len(returned) == 1):
                found[_place(generator)] = generator, is_whole
    names = prop.function.__globals__
    if any(name in names for name in CONSUMERS):
        return ()
    return tuple(
        QuantifierElements(prop, Quantifier(places.index(place), place, _range(generator), is_whole))
        for place, (generator, is_whole) in sorted(found.items())
        if not _never_empty(generator, names)
    )


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _below(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    return (node for statement in statements for node in ast.walk(statement))


_GENERATORS: dict[int, tuple[CodeType, tuple[CodeType, ...]]] = {}
"""Results of `_generators` by the identity of the code, which is kept with it: equal codes have others."""


def _generators(code: CodeType) -> tuple[CodeType, ...]:
    """Return the codes of all generator expressions in a function, in the order of their text."""
    if id(code) not in _GENERATORS:
        _GENERATORS[id(code)] = code, _ordered_generators(code)
    return _GENERATORS[id(code)][1]


def _ordered_generators(code: CodeType) -> tuple[CodeType, ...]:

    def codes(outer: CodeType) -> Iterator[CodeType]:
        for inner in outer.co_consts:
            if isinstance(inner, CodeType):
                yield from (inner, *codes(inner))

    def first(generator: CodeType) -> tuple[int, int]:
        positions = ((line, column) for line, _, column, _ in generator.co_positions() if line and column)
        return min(positions, default=(generator.co_firstlineno, 0))  # what begins a generator has no column

    found = {first(inner): inner for inner in codes(code) if inner.co_name == "<genexpr>"}
    return tuple(found[place] for place in sorted(found))


def _mentions(code: CodeType) -> bool:
    """Return whether a function, or a generator expression in it, calls one of the consumers."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return any(name in code.co_names for name in CONSUMERS) or any(map(_mentions, inner))


def _quantifiers(node: ast.expr, *, is_positive: bool, is_whole: bool) -> Iterator[tuple[ast.GeneratorExp, bool]]:
    """Yield the quantifiers of a truth value, each with whether the property can fail only where it has an element.

    Args:
        node: the expression.
        is_positive: whether the property holds where the expression is true; otherwise, where it is false.
        is_whole: whether the property can fail only by this expression.
    """
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _quantifiers(value, is_positive=is_positive, is_whole=False)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _quantifiers(node.operand, is_positive=not is_positive, is_whole=is_whole)
    elif isinstance(node, ast.IfExp):
        for value in (node.body, node.orelse):
            yield from _quantifiers(value, is_positive=is_positive, is_whole=False)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CONSUMERS:
        generator = node.args[0] if len(node.args) == 1 else None
        if isinstance(generator, ast.GeneratorExp):
            is_quantifier = is_positive is (node.func.id == "all")
            if is_quantifier:
                yield generator, is_whole
            yield from _quantifiers(generator.elt, is_positive=is_positive, is_whole=is_whole and is_quantifier)


def _range(generator: ast.GeneratorExp) -> str:
    """Return the clauses of a generator expression as text."""
    return ast.unparse(generator)[1:-1].removeprefix(ast.unparse(generator.elt)).strip()


def _never_empty(generator: ast.GeneratorExp, names: dict[str, Any]) -> bool:
    """Return whether a generator expression has an element in every state: only domains and the like, and no test."""

    def has_member(node: ast.expr) -> bool:
        found = names.get(node.id) if isinstance(node, ast.Name) else None
        is_enum = isinstance(found, type) and issubclass(found, Enum)
        return is_enum or isinstance(found, Domain) or (isinstance(found, (tuple, frozenset)) and bool(found))

    return all(has_member(clause.iter) and not clause.ifs for clause in generator.generators)


class _Names(dict[str, Any]):
    """The global names of a function, a few of them with other values: those of its module, as they are at present."""

    module: dict[str, Any]

    def __missing__(self, name: str) -> Any:
        return self.module[name]


@lru_cache(maxsize=256)
def _observed(function: FunctionType, code: CodeType) -> FunctionType:
    """Return a copy of a function that adds the code of each generator expression with an element to `_YIELDING`.

    Args:
        function: the function.
        code: its code, which may be replaced for a while.
    """
    names = _Names({name: _observing(consume) for name, consume in CONSUMERS.items()})
    names.module = function.__globals__
    copy = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _observing(consume: Callable[[Iterable[Any]], bool]) -> Callable[[Iterable[Any]], bool]:
    return lambda items: consume(_noted(items) if isinstance(items, GeneratorType) else items)


def _noted(items: Any) -> Iterator[Any]:
    generator = id(items.gi_code)
    for item in items:
        _YIELDING.get().add(generator)
        yield item
