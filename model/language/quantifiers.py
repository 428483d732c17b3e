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

_LINES: ContextVar[set[int]] = ContextVar("lines of generators")
"""Where an observed function adds the lines of its generators that yield something."""
CONSUMERS: dict[str, Callable[[Iterable[Any]], bool]] = {"all": all, "any": any}
"""The functions whose argument is a quantifier's generator expression."""
KINDS = frozenset({Kind.ALWAYS, Kind.WHEN_QUIESCENT})
"""The kinds of properties whose quantifiers are counted. In `step` properties that would cost walks a tenth of their
speed (records-through-failover: 3.9 M steps/s of CPU in place of 4.3 M), as they are evaluated on every step."""


@frozen
class Quantifier:
    """The quantifiers of a property that begin in one line.

    Attributes:
        line: the line of the file.
        ranges: the clauses of their generator expressions, as text.
        is_whole: whether the property can be false only where the quantifier has an element.
    """

    line: int
    ranges: tuple[str, ...]
    is_whole: bool


class QuantifierElements(Property):
    """A property that is always true; its premise is true where a quantifier of another property has an element.

    It counts the states in which this is so for some arguments of the other property, where the premise of that one is
    true and it raises no error.
    """

    def __init__(self, prop: Property, quantifier: Quantifier) -> None:
        super().__init__(prop.function, prop.kind, "", "")
        self.prop, self.quantifier, self.only_counts = prop, quantifier, True
        self.name = f"{prop.name}_elements_{quantifier.line}"
        self.about = f"Counts where the quantifier of {prop.name} in line {quantifier.line} has an element."

    @property
    def parameters(self) -> tuple[Parameter, ...]:  # type: ignore[override]
        """Return no parameters: it is about all instances of the property."""
        return ()

    @property
    def place(self) -> str:
        """Return file and line of the quantifier, from the present folder if it is below that."""
        file, here = Path(self.function.__code__.co_filename), Path.cwd()
        return f"{file.relative_to(here) if file.is_relative_to(here) else file}:{self.quantifier.line}"

    def truth(self, *arguments: Any) -> bool | None:
        """Return True if the quantifier has an element in a state; None if it has none."""
        function = _observed(self.function, self.function.__code__)
        for args in self.prop.arguments():
            lines: set[int] = set()
            token = _LINES.set(lines)
            try:
                function(*arguments, *args)
            except Exception:  # the premise is false, or the property fails, and then reports that itself
                continue
            finally:
                _LINES.reset(token)
            if self.quantifier.line in lines:
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
    found: dict[int, list[tuple[ast.GeneratorExp, bool]]] = {}
    returned = [node.value for node in ast.walk(definition) if isinstance(node, ast.Return)]
    for value in returned:
        if value is not None:
            for generator, is_whole in _quantifiers(value, is_positive=True, is_whole=len(returned) == 1):
                found.setdefault(generator.lineno, []).append((generator, is_whole))
    names = prop.function.__globals__
    if any(name in names for name in CONSUMERS):
        return ()
    return tuple(
        QuantifierElements(prop, Quantifier(line, tuple(_ranges(one) for one, _ in here), any(w for _, w in here)))
        for line, here in sorted(found.items())
        if not any(_never_empty(one, names) for one, _ in here)
    )


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


def _ranges(generator: ast.GeneratorExp) -> str:
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
    """Return a copy of a function that adds the line of each generator expression with an element to `_LINES`.

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
    line = items.gi_code.co_firstlineno
    for item in items:
        _LINES.get().add(line)
        yield item
