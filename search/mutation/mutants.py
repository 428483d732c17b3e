"""Mutants: copies of a model in which one function has one mistake, and by which name each is found again.

A mutant's identity is made of what it changes (function, operator, the changed line before and after, and which one of
several equal lines), not of where that stands, so that lines above may come and go.
"""
from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager

from attrs import field, fields, frozen

from model.language import UsageError
from model.language.errors import NOT_THE_MODEL
from model.language.lift.machine import FieldUse
from model.language.lift.source import Function, replaced, source_of
from model.language.shapes import Shape
from search.mutation.edits import Edit
from search.mutation.operators import OPERATORS, Operator, Siblings

MUST_STOP = ast.Expr(ast.Call(ast.Name("min", ast.Load()), [ast.Tuple([], ast.Load())], []))
"""A statement that always fails, `min(())`: where it changes nothing, nobody comes by."""


@frozen(eq=False)
class Mutant:
    """A function of the model with one mistake in it; `occurrence` counts mutants that would read the same."""

    function: Function = field(repr=False)
    operator: Operator = field(repr=False)
    edit: Edit = field(repr=False)
    occurrence: int = 0
    id: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        about = (self.function.__module__, self.function.__qualname__, self.operator.name, self.before, self.after)
        digits = hashlib.blake2b(repr((*about, self.occurrence)).encode(), digest_size=4).hexdigest()
        module = self.function.__module__.rpartition(".")[2]
        object.__setattr__(self, "id", f"{module}.{self.function.__qualname__}:{self.operator.name}:{digits}")

    @property
    def file(self) -> str:
        """The path of the file that it is in."""
        return self.function.__code__.co_filename

    @property
    def line(self) -> int:
        """The number of the changed line."""
        return self.edit.statement.lineno

    @property
    def before(self) -> str:
        """The changed line as it is in the model."""
        return self.edit.before

    @property
    def after(self) -> str:
        """The changed line as it is in the mutant."""
        return self.edit.after

    def planted(self) -> AbstractContextManager[None]:
        """The context in which the function has the mistake."""
        return replaced(self.function, self.edit.applied(source_of(self.function)))

    def watched(self) -> AbstractContextManager[None]:
        """The context in which the function fails wherever it comes to the changed line, which is as it was."""
        statement = self.edit.statement
        both = ast.If(ast.Constant(True), [MUST_STOP, statement], [])
        return replaced(self.function, Edit(statement, statement, both).applied(source_of(self.function)))


def mutants_of(functions: Iterable[Function], uses: Iterable[FieldUse]) -> tuple[Mutant, ...]:
    """All mutants of some functions with the fields that they use, in the order of files, lines and operators."""
    chosen = {f for f in functions if not f.__code__.co_filename.startswith(NOT_THE_MODEL)}
    siblings = siblings_in(uses)
    found: list[Mutant] = []
    for function in sorted(chosen, key=lambda f: (f.__module__, f.__code__.co_firstlineno)):
        definition, told = source_of(function), Counter[tuple[str, str, str]]()
        for operator in OPERATORS:
            for edit in operator.edits(definition, siblings.get(function, {})):
                key = (operator.name, edit.before, edit.after)
                if edit.before != edit.after:
                    found.append(Mutant(function, operator, edit, told[key]))
                    told[key] += 1
    return tuple(found)


def siblings_in(uses: Iterable[FieldUse]) -> dict[Function, Siblings]:
    """For each field that a function uses, the next field of the same record that has an equal domain."""
    found: dict[Function, dict[str, tuple[str, ...]]] = {}
    for function, name, cls in sorted(uses, key=lambda use: (use[1], use[2].__qualname__)):
        other = _sibling(cls, name)
        known = found.setdefault(function, {}).get(name, ())
        if other is not None and other not in known:
            found[function][name] = (*known, other)
    return dict(found)


def _sibling(cls: type, name: str) -> str | None:
    """The next field of a record class with an equal domain, the first one after the last; None if there is none."""
    alike: dict[Shape, list[str]] = {}  # shapes with flags in them compare under a binding only; their hashes differ
    for declared in fields(cls):
        alike.setdefault(declared.metadata["shape"], []).append(declared.name)
    names = next(names for names in alike.values() if name in names)
    return names[(names.index(name) + 1) % len(names)] if len(names) > 1 else None


def chosen_mutants(mutants: Iterable[Mutant], *, operators: Iterable[str], functions: Iterable[str]) -> list[Mutant]:
    """Those of some operators, and of functions whose names match; all if none is named. UsageError if none is left."""
    operators, functions, mutants = tuple(operators), tuple(functions), list(mutants)
    patterns = [re.compile(rf"(.*\.)?{re.escape(name)}$") for name in functions]
    kept = [m for m in mutants if not operators or m.operator.name in operators]
    kept = [m for m in kept if not patterns or any(p.match(name_of(m.function)) for p in patterns)]
    if not kept:
        known = sorted({m.function.__qualname__ for m in mutants})
        raise UsageError(f"No mutant is left of {len(mutants):,}. Functions that have some: {', '.join(known[:40])} …")
    return kept


def name_of(function: Function) -> str:
    """A function's full name: module and class included."""
    return f"{function.__module__}.{function.__qualname__}"
