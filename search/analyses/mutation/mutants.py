"""Mutants: copies of a model in which one function has one change.

The id of a mutant is derived from what it changes (function, operator, the changed line before and after, and which of
several equal lines), not from its position, so that lines above it and the package of its module can change.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager

from attrs import field, fields, frozen

from kwalk.model.language import UsageError
from kwalk.model.language.errors import NOT_THE_MODEL
from kwalk.model.language.lift.machine import FieldUse
from kwalk.model.language.shapes import Shape
from kwalk.model.language.source import Function, replaced, source_of
from kwalk.search.analyses.mutation.operators import OPERATORS, Edit, Operator, Siblings

ALWAYS_FAILS = ast.Expr(ast.Call(ast.Name("min", ast.Load()), [ast.Tuple([], ast.Load())], []))
"""The statement `min(())`: where it does not change a lifting, the line is not executed."""


@frozen(eq=False)
class Mutant:
    """A function of the model with one change in it; `occurrence` numbers mutants with equal texts."""

    function: Function = field(repr=False)
    operator: Operator = field(repr=False)
    edit: Edit = field(repr=False)
    occurrence: int = 0
    id: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        about = (self.function.__qualname__, self.operator.name, self.before, self.after)
        digits = hashlib.blake2b(repr((*about, self.occurrence)).encode(), digest_size=4).hexdigest()
        module = self.function.__module__.rpartition(".")[2]
        object.__setattr__(self, "id", f"{module}.{self.function.__qualname__}:{self.operator.name}:{digits}")

    @property
    def file(self) -> str:
        """The path of its file."""
        return self.function.__code__.co_filename

    @property
    def line(self) -> int:
        """The number of the changed line."""
        return self.edit.statement.lineno

    @property
    def before(self) -> str:
        """The changed line in the model."""
        return self.edit.before

    @property
    def after(self) -> str:
        """The changed line in the mutant."""
        return self.edit.after

    def active(self) -> AbstractContextManager[None]:
        """Return a context in which the function has the change."""
        return replaced(self.function, self.edit.applied(source_of(self.function)))

    def failing_at_line(self) -> AbstractContextManager[None]:
        """Return a context in which the function fails at the line, which is unchanged."""
        statement = self.edit.statement
        both = ast.If(ast.Constant(True), [ALWAYS_FAILS, statement], [])
        return replaced(self.function, Edit(statement, statement, both).applied(source_of(self.function)))


def mutants_of(functions: Iterable[Function], uses: Iterable[FieldUse]) -> tuple[Mutant, ...]:
    """Return all mutants of some functions, with the fields that they use, ordered by file, line and operator."""
    chosen = {f for f in functions if not f.__code__.co_filename.startswith(NOT_THE_MODEL)}
    siblings = siblings_in(uses)
    found: list[Mutant] = []
    for function in sorted(chosen, key=lambda f: (f.__module__, f.__code__.co_firstlineno)):
        definition, seen = source_of(function), Counter[tuple[str, str, str]]()
        for operator in OPERATORS:
            for edit in operator.edits(definition, siblings.get(function, {})):
                key = (operator.name, edit.before, edit.after)
                if edit.before != edit.after:
                    found.append(Mutant(function, operator, edit, seen[key]))
                    seen[key] += 1
    return tuple(found)


def siblings_in(uses: Iterable[FieldUse]) -> dict[Function, Siblings]:
    """Return, for each field that a function uses, the next field of the same record that has an equal domain."""
    found: dict[Function, dict[str, tuple[str, ...]]] = {}
    for function, name, cls in sorted(uses, key=lambda use: (use[1], use[2].__qualname__)):
        other = _sibling(cls, name)
        known = found.setdefault(function, {}).get(name, ())
        if other is not None and other not in known:
            found[function][name] = (*known, other)
    return dict(found)


def _sibling(cls: type, name: str) -> str | None:
    """Return the next field of a record class with an equal domain, cyclically; None if there is none."""
    alike: dict[Shape, list[str]] = {}  # shapes with flags in them compare under a binding only; their hashes differ
    for declared in fields(cls):
        alike.setdefault(declared.metadata["shape"], []).append(declared.name)
    names = next(names for names in alike.values() if name in names)
    return names[(names.index(name) + 1) % len(names)] if len(names) > 1 else None


def chosen_mutants(mutants: Iterable[Mutant], *, operators: Iterable[str], functions: Iterable[str]) -> list[Mutant]:
    """Return the mutants of some operators, and of functions whose names match; an empty argument matches all.

    A name is that of a function, or of a class or module, whose functions all match.

    Raises:
        UsageError: No mutant is left.
    """
    operators, functions, mutants = tuple(operators), tuple(functions), list(mutants)
    patterns = [re.compile(rf"(.*\.)?{re.escape(name)}(\..*)?$") for name in functions]
    chosen = [m for m in mutants if not operators or m.operator.name in operators]
    chosen = [m for m in chosen if not patterns or any(p.match(name_of(m.function)) for p in patterns)]
    if not chosen:
        known = sorted({m.function.__qualname__ for m in mutants})
        raise UsageError(f"No mutant is left of {len(mutants):,}. Functions that have some: {', '.join(known[:40])} …")
    return chosen


def name_of(function: Function) -> str:
    """Return the full name of a function, with module and class."""
    return f"{function.__module__}.{function.__qualname__}"
