"""The machine that runs a model's source symbolically: where it is, what it has seen, and what it owes.

Words: an *obligation* is a condition under which the step does not happen as written: a guard that is false, a bound
that is reached, or an error (a value leaves its domain). Obligations are listed in program order; the first one that is
true in a state is what plain Python would raise there. A *pure* section is an expression that Python may or may not
evaluate (the right of `and`, a comprehension): nothing outside may be written there.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from attrs import define, field, frozen

from model.language.errors import LiftError
from model.language.lift.objects import Objects
from model.language.lift.source import Function
from model.language.lift.terms import Term, Terms
from model.language.lift.valuation import Values
from model.language.lift.values import Refused
from model.language.lift.world import World, join

DEPTH = 60
"""Calls nested deeper than this are taken for a recursion."""


FieldUse = tuple[Function, str, type]
"""A function, the name of a field that it reads or writes, and the class of record that has the field there."""


@frozen(eq=False)
class Coverage:
    """What a run has come to, on any path: functions, statements of their syntax trees, and fields of records."""

    functions: set[Function]
    statements: set[ast.stmt]
    fields: set[FieldUse]


class Unreachable(Exception):
    """No path goes on from here: all have aborted, or an obligation is certainly true."""


class Owed(Enum):
    """What happens where an obligation's condition is true."""

    DISABLED = "the guard is false"
    BOUND = "a bound is reached"
    ERROR = "a value leaves its domain"


@frozen(eq=False)
class Obligation:
    """A condition under which the step is not taken as written; `name` is the bound, or the error's text."""

    owed: Owed
    condition: Term
    name: str


@define(eq=False)
class Frame:
    """A call under way: where its source is, and the paths that have returned or left a loop."""

    function: Function
    returns: list[tuple[World, Any]] = field(factory=list)
    breaks: list[list[World]] = field(factory=list)
    continues: list[list[World]] = field(factory=list)


class Machine:
    """One symbolic run of one function.

    `execute` runs a block of statements (see `statements`), `evaluate` an expression (see `expressions`).
    """

    def __init__(
        self,
        terms: Terms,
        execute: Callable[[Machine, list[ast.stmt]], None],
        evaluate: Callable[[Machine, ast.expr], Any],
    ) -> None:
        self.terms, self.execute, self.evaluate = terms, execute, evaluate
        self.values = Values(terms)
        self.objects = Objects(self.values)
        self.world: World | None = World()
        self.obligations: list[Obligation] = []
        self.premises: list[Term] | None = None
        """Where premises are noted if they do not end the run; None if they do."""
        self.aborts: list[tuple[World, type]] = []
        self.frames: list[Frame] = []
        self.coverage = Coverage(set(), set(), set())
        self.state_cells = 0
        self.pure_below = 0

    # Where the machine is.

    @property
    def now(self) -> World:
        """The present world; Unreachable if there is none."""
        if self.world is None:
            raise Unreachable
        return self.world

    def uses(self, cls: type, name: str) -> None:
        """Note that the function under way reads or writes a field of a record."""
        self.coverage.fields.add((self.frames[-1].function, name, cls))

    def locate(self, node: ast.AST, problem: Refused) -> LiftError:
        """The error for a construct that cannot be lifted, with file and line."""
        code, first = self.frames[-1].function.__code__, self.frames[0].function.__code__
        caller = "" if code is first else f" ({first.co_name} calls it: {first.co_filename}:{first.co_firstlineno})"
        return LiftError(
            f"{code.co_filename}:{getattr(node, 'lineno', code.co_firstlineno)}: cannot lift this: {problem.what}. "
            f"Instead: {problem.instead}.{caller}"
        )

    # Obligations.

    def owe(self, owed: Owed, condition: Term, name: str = "") -> None:
        """Note that the step is not taken where the condition holds here; go on where it does not."""
        world = self.now
        condition = world.simplify(self.terms, condition)
        if condition is self.terms.false:
            return
        everything = self.terms.conjunction((*world.path, condition))
        if everything is not self.terms.false:
            self.obligations.append(Obligation(owed, everything, name))
        if condition is self.terms.true and not self.pure_below:
            raise Unreachable
        world.assume(self.terms, self.terms.negation(condition))

    def error(self, condition: Term, message: str) -> None:
        """Note an error, if it can happen at all."""
        self.owe(Owed.ERROR, condition, message)

    # Branches.

    def settle(self, condition: Term) -> Term:
        """A condition without what is known here."""
        return self.now.simplify(self.terms, condition)

    @contextmanager
    def assuming(self, condition: Term) -> Iterator[None]:
        """A pure section in which the condition is known; afterwards the world is as before."""
        kept, floor = self.now, self.pure_below
        self.world = kept.fork()
        if condition is not self.terms.true:
            self.world.take(self.terms, condition)
        self.pure_below = max(floor, self.objects.count)
        try:
            yield
        finally:
            inside, self.world, self.pure_below = self.world, kept, floor
            if inside is not None:
                for key, value in inside.store.items():
                    kept.store.setdefault(key, value)

    def join(self, base: World, ends: list[tuple[World, Any]]) -> Any:
        """Go on from all ends at once; the result of whichever is reached."""
        if not ends:
            self.world = None
            return None
        self.world, result = join(self.values, base, ends)
        return result

    def writable(self, key: int) -> None:
        """Refuse a write in a pure section to something that is older than the section."""
        if key < self.pure_below:
            raise Refused(
                "a write inside an expression that Python may not evaluate (and/or, if-else, a comprehension)",
                "make the call a statement of its own, before or under an `if`",
            )
