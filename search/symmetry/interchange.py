"""Whether the members of a domain are interchangeable: proved by Z3, swap by swap, or refused with what orders them.

A renaming must map initial states to initial states, each instance to one with the renamed guard, bounds, errors and
effect, and each property to check to one that is checked and has the same truth value. That is proved for the swaps of
neighbours, which generate all permutations.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from kwalk.model.language import Kind, Model, PropertyInstance, UsageError, Vector
from kwalk.model.language.action import Parametric
from kwalk.model.language.lift import Lifted, LiftedAction, LiftedProperty, lift, step_code, substitute
from kwalk.model.language.lift.terms import Term
from kwalk.search.solver.terms import satisfying_state, state_variables
from kwalk.search.symmetry.permutations import Permutation, Renaming

MILLISECONDS = 20_000
"""The time limit of one query to Z3."""
ORDERING = ("next", "min", "max", "enumerate", "reversed", "zip")
"""Functions that depend on an order, or select the first."""
NAMED = 3
"""The largest number of lines that a refusal names."""


def check_interchangeable(renaming: Renaming, checked: Iterable[PropertyInstance]) -> None:
    """Raise a UsageError, with file and line, unless Z3 proves that the members are interchangeable."""
    _check_properties(renaming, tuple(checked))
    _check_start(renaming)
    lifted = lift(renaming.model)
    for swap in renaming.swaps:
        for action in lifted.actions:
            twin = lifted.actions[renaming.instance(action.instance, swap).index]
            _require_equal(renaming, swap, _steps_differ(lifted, renaming, swap, (action, twin)), action)
        for prop in lifted.stated_properties:
            if prop.prop in checked:
                other = lifted.properties[renaming.prop(prop.prop, swap).index]
                _require_equal(renaming, swap, _truths_differ(lifted, renaming, swap, (prop, other)), prop)


def _check_properties(renaming: Renaming, checked: tuple[PropertyInstance, ...]) -> None:
    for prop in checked:
        if prop.kind.is_liveness:
            raise UsageError(
                f"{prop.declaration.name} is about behaviours, and fairness treats each actor separately: "
                "search it without symmetry, or check other properties."
            )
        if any(renaming.prop(prop, swap) not in checked for swap in renaming.swaps):
            name = prop.declaration.name
            raise UsageError(f"With symmetry in {renaming.name!r}, check {name} as a whole, not one instance of it.")


def _check_start(renaming: Renaming) -> None:
    model = renaming.model
    starts = set(model.initial)
    for swap in renaming.swaps:
        if any(renaming.vector(start, swap) not in starts for start in starts):
            start = Parametric(model.scenario.initial, states=1)
            with model.active():
                args = next(iter(start.arguments()))
                fresh = model.vector(model.scenario.state())
            raise _refusal(renaming, "gives some members another initial state", start, (args, (fresh,)))


def _require_equal(renaming: Renaming, swap: Permutation, differ: Term, thing: LiftedAction | LiftedProperty) -> None:
    """Raise a UsageError if there is a state where the two differ."""
    model = renaming.model
    what: Parametric = thing.instance.action if isinstance(thing, LiftedAction) else thing.prop.declaration
    args = thing.instance.args if isinstance(thing, LiftedAction) else thing.prop.args
    try:
        state = satisfying_state(model, differ, MILLISECONDS)
    except TimeoutError as error:
        raise _refusal(
            renaming, f"may treat some members differently, and Z3 cannot decide it ({error})", what, (args, ())
        ) from error
    if state is not None:
        raise _refusal(renaming, "does not treat all members alike", what, (args, (state,) * what.states))


def _refusal(renaming: Renaming, why: str, what: Parametric, run: tuple[Any, tuple[Vector, ...]]) -> UsageError:
    """Return the error for a function, with the ordering lines that it executes for some arguments and states."""
    name, code = renaming.name, what.function.__code__
    lines = _ordering_lines(renaming.model, what.function, *run) if run[1] else []
    seen = f" (see {', '.join(lines)})" if lines else ""
    return UsageError(
        f"The {name} are not interchangeable: {what.name}, {code.co_filename}:{code.co_firstlineno}, {why}{seen}. "
        f"Search without symmetry in {name}."
    )


def _steps_differ(
    lifted: Lifted, renaming: Renaming, swap: Permutation, pair: tuple[LiftedAction, LiftedAction]
) -> Term:
    """Return where an instance differs from the renamed one in the renamed state."""
    t, (action, twin) = lifted.terms, pair
    now = state_variables(lifted)
    there = renaming.terms(t, now, swap)

    bounds: dict[str, int] = {}

    def outcome(one: LiftedAction) -> list[Term]:
        return [one.guard, step_code(t, one.side_conditions, bounds)]

    (guard, code), (guard_there, code_there) = outcome(action), substitute(t, outcome(twin), there)
    after = renaming.terms(t, [action.updates.get(n, leaf) for n, leaf in enumerate(now)], swap)
    renamed = [substitute(t, [twin.updates[n]], there)[0] if n in twin.updates else there[n] for n in range(len(now))]
    effects = t.disjunction(_unequal(lifted, a, b) for a, b in zip(after, renamed, strict=True))
    taken = t.equal(code, t.integer(0))
    results = t.disjunction((_unequal(lifted, code, code_there), t.conjunction((taken, effects))))
    return t.disjunction((_unequal(lifted, guard, guard_there), t.conjunction((guard, results))))


def _truths_differ(
    lifted: Lifted, renaming: Renaming, swap: Permutation, pair: tuple[LiftedProperty, LiftedProperty]
) -> Term:
    """Return where a property differs from the renamed one in the renamed state, or states."""
    t, (prop, other) = lifted.terms, pair
    now = state_variables(lifted)
    there = renaming.terms(t, now, swap)
    if prop.prop.kind is Kind.STEP:
        there += renaming.terms(t, state_variables(lifted, len(now)), swap)
    premise, truth, *errors = prop.roots
    said, true, *failed = substitute(t, other.roots, there)
    wrong = t.disjunction((t.negation(truth), *errors))
    wrong_there = t.disjunction((t.negation(true), *failed))
    both = t.conjunction((premise, _unequal(lifted, wrong, wrong_there)))
    return t.disjunction((_unequal(lifted, premise, said), both))


def _unequal(lifted: Lifted, one: Term, other: Term) -> Term:
    return lifted.terms.negation(lifted.terms.equal(one, other))


# Where it is ordered.


def _ordering_lines(
    model: Model, function: Callable[..., Any], args: tuple[Any, ...], states: tuple[Vector, ...]
) -> list[str]:
    """Return the places of the first lines that a function executes in some states and that depend on an order."""
    ran: dict[tuple[str, int], None] = {}

    def trace(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            ran[frame.f_code.co_filename, frame.f_lineno] = None
        return trace

    given = [model.state(vector) for vector in states]
    with model.active(), suppress(Exception):
        sys.settrace(trace)
        try:
            function(*given, *args)
        finally:
            sys.settrace(None)
    own = Path(__file__).parents[3] / "model" / "language"
    places = (f"{file}:{line}" for file, line in ran if own not in Path(file).parents and line in _ordered_in(file))
    return list(dict.fromkeys(places))[:NAMED]


@cache
def _ordered_in(file: str) -> frozenset[int]:
    """Return the lines of a file that compare by size, calculate, select the first, or name a member by its number."""
    try:
        tree = ast.parse(Path(file).read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return frozenset()
    return frozenset(node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt) and _orders(node))


def _orders(node: ast.expr | ast.stmt) -> bool:
    if isinstance(node, ast.Compare):
        sizes = any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)
        return sizes or any(_is_number(side) for side in (node.left, *node.comparators))
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Sub | ast.Mod | ast.FloorDiv | ast.Mult)
    if isinstance(node, ast.Call):
        picks = isinstance(node.func, ast.Name) and node.func.id in ORDERING
        return picks or any(map(_is_number, node.args))
    if isinstance(node, ast.Assign):
        return _is_number(node.value)
    return isinstance(node, ast.Break) or (isinstance(node, ast.Subscript) and _is_number(node.slice))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


__all__ = ["check_interchangeable"]
