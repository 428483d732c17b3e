"""The machine that runs a model's source symbolically: its state on each path, and the side conditions of the step.

Words: the *store* maps cells (fields of the state, local lists) to values; `local` maps names to values. The *path* is
the list of branch conditions taken since the action began. *Facts* are terms known to be true or false on this path,
from its branches and from guards; they decide later conditions before a term is built. A *side condition* is a
condition under which the step does not happen as written: a guard is false, a bound is reached, or a value leaves its
domain. Side conditions are listed in program order; the first one that is true in a state is what plain Python raises
there. A *pure* section is an expression that Python may or may not evaluate (the right operand of `and`, a
comprehension): nothing that exists outside of it may be written there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from attrs import define, field, frozen

from kwalk.model.language.errors import LiftError
from kwalk.model.language.lift.objects import Objects
from kwalk.model.language.lift.terms import Term, Terms
from kwalk.model.language.lift.values import Refused, Values
from kwalk.model.language.source import Function


@frozen(eq=False)
class Partial:
    """A local variable that has a value on some of the paths that lead to a point.

    Attributes:
        value: its value there.
        assigned: whether it has one: a constant, or a choice between two of these by a condition.
    """

    value: Any
    assigned: Assigned


Assigned = bool | tuple[Term, Any, Any]
"""A constant, or a condition with what applies where it is true and where it is false. It becomes a term if needed."""
NOT_ASSIGNED = Partial(None, False)


def assigned_term(terms: Terms, assigned: Assigned) -> Term:
    """Return the condition under which a local variable has a value."""
    if isinstance(assigned, bool):
        return terms.boolean(assigned)
    condition, then, other = assigned
    return terms.choose(condition, assigned_term(terms, then), assigned_term(terms, other))


class SymbolicState:
    """What is known at a point of the execution. It is forked at a branch and joined after it."""

    __slots__ = ("constants", "facts", "is_written", "local", "path", "store")

    def __init__(self) -> None:
        self.store: dict[int, Any] = {}
        self.local: dict[str, Any] = {}
        self.path: tuple[Term, ...] = ()
        self.facts: dict[int, bool] = {}
        self.constants: dict[int, int] = {}
        self.is_written = False

    def fork(self) -> SymbolicState:
        """Return an independent copy."""
        twin = SymbolicState()
        twin.store, twin.local = self.store.copy(), self.local.copy()
        twin.facts, twin.constants = self.facts.copy(), self.constants.copy()
        twin.path, twin.is_written = self.path, self.is_written
        return twin

    def take(self, terms: Terms, condition: Term) -> None:
        """Enter a branch."""
        self.path = (*self.path, condition)
        self.assume(terms, condition)

    def assume(self, terms: Terms, condition: Term) -> None:
        """Add the fact that a condition is true here."""
        truth = True
        while condition.op == "not":
            condition, truth = condition.args[0], not truth
        self.facts[condition.id] = truth
        if condition.op == ("and" if truth else "or"):
            for part in condition.args:
                self.assume(terms, part if truth else terms.negation(part))
        if truth and condition.op == "eq" and condition.args[1].op == "int":
            self.constants[condition.args[0].id] = condition.args[1].payload

    def decide(self, condition: Term) -> bool | None:
        """Return whether the facts make the condition true or false; None if they imply neither."""
        return self._decide(condition, {})

    def _decide(self, condition: Term, decided: dict[int, bool | None]) -> bool | None:
        """Decide a condition; `decided` has the answers for the junctions below it that were met before."""
        if condition.op == "bool":
            return bool(condition.payload)
        if condition.op == "not":
            inner = self._decide(condition.args[0], decided)
            return None if inner is None else not inner
        known = self.facts.get(condition.id)
        if known is not None:
            return known
        if condition.op in ("and", "or"):
            if condition.id not in decided:
                decided[condition.id] = self._decide_junction(condition, decided)
            return decided[condition.id]
        if condition.op == "eq" and condition.args[1].op == "int":
            constant = self.constants.get(condition.args[0].id)
            return None if constant is None else constant == condition.args[1].payload
        return None

    def _decide_junction(self, condition: Term, decided: dict[int, bool | None]) -> bool | None:
        dominant = condition.op == "or"
        parts = [self._decide(part, decided) for part in condition.args]
        if dominant in parts:
            return dominant
        return None if None in parts else not dominant

    def simplify(self, terms: Terms, condition: Term) -> Term:
        """Return the condition without the parts that the facts decide."""
        return condition if condition.op == "bool" else self._simplify(terms, condition, {})

    def _simplify(self, terms: Terms, condition: Term, simpler: dict[int, Term]) -> Term:
        """Simplify a condition; `simpler` has the results for the junctions below it: terms share their parts."""
        if condition.op not in ("and", "or") or condition.id in self.facts:
            decided = self._decide(condition, {})
            return condition if decided is None else terms.boolean(decided)
        if condition.id not in simpler:
            parts = tuple([self._simplify(terms, part, simpler) for part in condition.args])
            if parts == condition.args:
                simpler[condition.id] = condition
            else:
                junction = terms.conjunction if condition.op == "and" else terms.disjunction
                simpler[condition.id] = junction(parts)
        return simpler[condition.id]


def join(values: Values, base: SymbolicState, ends: list[tuple[SymbolicState, Any]]) -> tuple[SymbolicState, Any]:
    """Return one state (and result) that equals whichever of the ends is reached; they exclude each other.

    Args:
        values: operations over the table of terms.
        base: the state from which all ends were forked.
        ends: at least one state with the result there.
    """
    if len(ends) == 1:
        return ends[0]
    terms, depth = values.terms, len(base.path)
    conditions = [terms.conjunction(state.path[depth:]) for state, _ in ends]
    joined, result = ends[-1][0].fork(), ends[-1][1]
    unlike = _conditions_in_order(terms, base, conditions)
    for (state, value), condition in zip(reversed(ends[:-1]), reversed(unlike), strict=True):
        _choose_into(values, condition, state, joined)
        result = values.choose(condition, value, result)
        joined.facts = _in_common(state.facts, joined.facts)
        joined.constants = _in_common(state.constants, joined.constants)
        joined.is_written |= state.is_written
    any_of_them = terms.disjunction(conditions)
    joined.path = base.path if any_of_them is terms.true else (*base.path, any_of_them)
    return joined, result


def _conditions_in_order(terms: Terms, base: SymbolicState, conditions: list[Term]) -> list[Term]:
    """Each end's condition, given that those before it are false."""
    scratch = SymbolicState()
    scratch.facts, scratch.constants = base.facts.copy(), base.constants.copy()
    simplified: list[Term] = []
    for condition in conditions[:-1]:
        simplified.append(scratch.simplify(terms, condition))
        scratch.assume(terms, terms.negation(simplified[-1]))
    return simplified


def _choose_into(values: Values, condition: Term, state: SymbolicState, joined: SymbolicState) -> None:
    """Where the condition holds, make the joined state's cells and names those of another state."""
    mine = joined.store
    for key, value in state.store.items():
        ours = mine.get(key, NOT_ASSIGNED)
        if ours is not value:
            mine[key] = value if ours is NOT_ASSIGNED else values.choose(condition, value, ours)
    for name in {**state.local, **joined.local}:
        theirs, ours = state.local.get(name, NOT_ASSIGNED), joined.local.get(name, NOT_ASSIGNED)
        if theirs is not ours:
            joined.local[name] = _choose_local(values, condition, theirs, ours)


def _choose_local(values: Values, condition: Term, a: Any, b: Any) -> Any:
    """Return the value of a name in the joined state; it may have none on some of the paths."""
    if not isinstance(a, Partial) and not isinstance(b, Partial):
        return values.choose(condition, a, b)
    (x, has_x), (y, has_y) = ((v.value, v.assigned) if isinstance(v, Partial) else (v, True) for v in (a, b))
    value = y if has_x is False else x if has_y is False else values.choose(condition, x, y)
    return Partial(value, (condition, has_x, has_y))


def _in_common(a: dict[int, Any], b: dict[int, Any]) -> dict[int, Any]:
    return {key: value for key, value in a.items() if key in b and b[key] == value}


DEPTH = 60
"""Calls nested deeper than this are considered recursive."""


FieldUse = tuple[Function, str, type]
"""A function, the name of a field that it reads or writes, and the class of record that has the field there."""


@frozen(eq=False)
class Coverage:
    """What an execution has reached on any path: functions, statements of their syntax trees, and fields of records."""

    functions: set[Function]
    statements: set[ast.stmt]
    fields: set[FieldUse]


class Unreachable(Exception):
    """No path continues from here: all have aborted, or a side condition is certainly true."""


class ConditionKind(Enum):
    """The effect of a side condition where it is true."""

    DISABLED = "the guard is false"
    BOUND = "a bound is reached"
    ERROR = "a value leaves its domain"


@frozen(eq=False)
class SideCondition:
    """A condition under which the step is not taken as written; `name` is the bound, or the error's text."""

    kind: ConditionKind
    condition: Term
    name: str


@define(eq=False)
class Frame:
    """A call in progress: its function, the names of its caller, and the paths that have returned or left a loop."""

    function: Function
    caller: dict[str, Any] = field(factory=dict)
    returns: list[tuple[SymbolicState, Any]] = field(factory=list)
    breaks: list[list[SymbolicState]] = field(factory=list)
    continues: list[list[SymbolicState]] = field(factory=list)


MOST_ROUNDS = 200_000
"""The most rounds of loops, and calls, of one function when it is unrolled, with those of functions that it calls."""


class SymbolicMachine:
    """One symbolic execution of one function.

    Args:
        terms: the table of terms.
        execute: executes a block of statements (see `statements`).
        evaluate: returns the value of an expression (see `expressions`).
    """

    def __init__(
        self,
        terms: Terms,
        execute: Callable[[SymbolicMachine, list[ast.stmt]], None],
        evaluate: Callable[[SymbolicMachine, ast.expr], Any],
    ) -> None:
        self.terms, self.execute, self.evaluate = terms, execute, evaluate
        self.values = Values(terms)
        self.objects = Objects(self.values)
        self.state: SymbolicState | None = SymbolicState()
        self.side_conditions: list[SideCondition] = []
        self.premises: list[Term] | None = None
        """The premises, if they do not end the execution; None if they do."""
        self.elements: dict[tuple[int, int], Term] = {}
        """By the place of a generator expression in the first function, for `all` or `any`: where it has items."""
        self.aborts: list[tuple[SymbolicState, type]] = []
        self.frames: list[Frame] = []
        self.coverage = Coverage(set(), set(), set())
        self.is_property = False
        """Whether the function is a property, in which `premise` is allowed and `require` is not."""
        self.writes = 0
        """How many writes were executed so far."""
        self.rounds = 0
        """How many rounds of loops, and calls, were executed so far; see `count_rounds`."""
        self.state_cells = 0
        self.constant_cells: tuple[range, ...] = ()
        """The cells of arguments, which never change."""
        self.pure_below = 0

    # The present state.

    @property
    def now(self) -> SymbolicState:
        """Return the present state.

        Raises:
            Unreachable: there is none.
        """
        if self.state is None:
            raise Unreachable
        return self.state

    def uses(self, cls: type, name: str) -> None:
        """Record that the function in progress reads or writes a field of a record."""
        self.coverage.fields.add((self.frames[-1].function, name, cls))

    def locate(self, node: ast.AST, problem: Refused) -> LiftError:
        """Return the error for a construct that cannot be lifted, with file and line."""
        code, first = self.frames[-1].function.__code__, self.frames[0].function.__code__
        caller = "" if code is first else f" ({first.co_name} calls it: {first.co_filename}:{first.co_firstlineno})"
        return LiftError(
            f"{code.co_filename}:{getattr(node, 'lineno', code.co_firstlineno)}: cannot translate this: "
            f"{problem.what}. Instead: {problem.instead}.{caller}"
        )

    def count_rounds(self, more: int) -> None:
        """Count rounds of a loop that is about to be unrolled, or items that are about to be made.

        Raises:
            Refused: with those before they are too many for one function.
        """
        self.rounds += more
        if self.rounds > MOST_ROUNDS:
            what = f"more than {MOST_ROUNDS:,} rounds of loops and calls in one function ({more:,} of them here)"
            raise Refused(what, "shorter loops: each round is unrolled")

    # Side conditions.

    def add_condition(self, kind: ConditionKind, condition: Term, name: str = "") -> None:
        """Add a side condition: the step is not taken where it is true here. Continue where it is false."""
        state = self.now
        condition = state.simplify(self.terms, condition)
        if condition is self.terms.false:
            return
        everything = self.terms.conjunction((*state.path, condition))
        if everything is not self.terms.false:
            self.side_conditions.append(SideCondition(kind, everything, name))
        if condition is self.terms.true and not self.pure_below:
            raise Unreachable
        state.assume(self.terms, self.terms.negation(condition))

    def error(self, condition: Term, message: str) -> None:
        """Add an error as a side condition, if it can happen at all."""
        self.add_condition(ConditionKind.ERROR, condition, message)

    def has_elements(self, position: tuple[int, int] | None, conditions: Iterable[Term]) -> None:
        """Record that the generator expression at a place has an item here if one of the conditions is true."""
        if self.is_property and position is not None and len(self.frames) == 1:
            here = self.terms.conjunction((*self.now.path, self.terms.disjunction(conditions)))
            self.elements[position] = self.terms.disjunction((self.elements.get(position, self.terms.false), here))

    # Branches.

    def simplify(self, condition: Term) -> Term:
        """Return a condition without what is known here."""
        return self.now.simplify(self.terms, condition)

    @contextmanager
    def assuming(self, condition: Term) -> Iterator[None]:
        """Enter a pure section in which the condition is known; afterwards the state is as before."""
        outside, floor = self.now, self.pure_below
        self.state = outside.fork()
        if condition is not self.terms.true:
            self.state.take(self.terms, condition)
        self.pure_below = max(floor, self.objects.count)
        try:
            yield
        finally:
            inside, self.state, self.pure_below = self.state, outside, floor
            if inside is not None and len(inside.store) > len(outside.store):
                for key in inside.store.keys() - outside.store.keys():
                    outside.store[key] = inside.store[key]

    def join(self, base: SymbolicState, ends: list[tuple[SymbolicState, Any]]) -> Any:
        """Continue from all ends at once; return the result of whichever is reached."""
        if not ends:
            self.state = None
            return None
        self.state, result = join(self.values, base, ends)
        return result

    def writable(self, key: int) -> None:
        """Refuse a write in a pure section to something that is older than the section."""
        if key < self.pure_below:
            raise Refused(
                "a write inside an expression that Python may not evaluate (and/or, if-else, a comprehension)",
                "make the call a statement of its own, before or under an `if`",
            )
        if any(key in cells for cells in self.constant_cells):
            raise Refused("a write to an argument, which never changes", "a copy in a field of the state")
