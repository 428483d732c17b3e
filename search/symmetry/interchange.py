"""Whether the members of a domain are interchangeable: proved by Z3, swap by swap, or refused with what orders them.

A renaming must lead initial states to initial states; it must lead each instance to one with the renamed guard, bounds,
errors and effect; and each claim that is asked to one that is asked, and is as true. That is checked for the swaps of
neighbours, from which all permutations are made.
"""
from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from model.language import Claim, Kind, Model, UsageError, Vector
from model.language.action import Parametric
from model.language.lift import Lifted, LiftedAction, LiftedClaim, Owed, lift
from model.language.lift.terms import Term
from search.prove.terms import satisfying, state_variables, substitute
from search.symmetry.permutations import Permutation, Renaming

MILLISECONDS = 20_000
"""Time for one question to Z3."""
ORDERING = ("next", "min", "max", "enumerate", "reversed", "zip")
"""Functions that go by order, or pick the first."""
NAMED = 3
"""Places that a refusal names, at most."""


def check_interchangeable(renaming: Renaming, asked: Iterable[Claim]) -> None:
    """UsageError, with file and line, if the members are not interchangeable or Z3 cannot tell that they are."""
    _check_claims_asked(renaming, tuple(asked))
    _check_start(renaming)
    lifted = lift(renaming.model)
    for swap in renaming.swaps:
        for action in lifted.actions:
            twin = lifted.actions[renaming.instance(action.instance, swap).index]
            _demand(renaming, swap, _steps_differ(lifted, renaming, swap, (action, twin)), action)
        for claim in lifted.claims:
            if claim.claim in asked:
                other = lifted.claims[renaming.claim(claim.claim, swap).index]
                _demand(renaming, swap, _truths_differ(lifted, renaming, swap, (claim, other)), claim)


def _check_claims_asked(renaming: Renaming, asked: tuple[Claim, ...]) -> None:
    for claim in asked:
        if claim.kind is Kind.EVENTUALLY:
            raise UsageError(
                f"{claim.invariant.name} is about what comes eventually, and fairness looks at each actor for itself: "
                "search it without symmetry, or ask for other invariants."
            )
        if any(renaming.claim(claim, swap) not in asked for swap in renaming.swaps):
            name = claim.invariant.name
            raise UsageError(f"With symmetry in {renaming.name!r} ask for {name} as a whole, not for one instance.")


def _check_start(renaming: Renaming) -> None:
    model = renaming.model
    starts = set(model.initial)
    for swap in renaming.swaps:
        if any(renaming.vector(start, swap) not in starts for start in starts):
            start = Parametric(model.scenario.initial, states=1)
            with model.active():
                args = next(iter(start.arguments()))
                fresh = model.vector(model.scenario.state())
            raise _refusal(renaming, "gives some another start than others", start, (args, (fresh,)))


def _demand(renaming: Renaming, swap: Permutation, differ: Term, thing: LiftedAction | LiftedClaim) -> None:
    """Refuse if there is a state where things differ."""
    model = renaming.model
    what: Parametric = thing.instance.action if isinstance(thing, LiftedAction) else thing.claim.invariant
    args = thing.instance.args if isinstance(thing, LiftedAction) else thing.claim.args
    try:
        state = satisfying(model, differ, MILLISECONDS)
    except TimeoutError as error:
        raise _refusal(renaming, f"may treat some otherwise, and Z3 cannot tell ({error})", what, (args, ())) from error
    if state is not None:
        raise _refusal(renaming, "does not treat all alike", what, (args, (state,) * what.states))


def _refusal(renaming: Renaming, why: str, what: Parametric, run: tuple[Any, tuple[Vector, ...]]) -> UsageError:
    """The error for a function, with the lines that a run of it on arguments and states goes through and that order."""
    name, code = renaming.name, what.function.__code__
    lines = _ordering_lines(renaming.model, what.function, *run) if run[1] else []
    seen = f" (look at {', '.join(lines)})" if lines else ""
    return UsageError(
        f"The {name} are not interchangeable: {what.name}, {code.co_filename}:{code.co_firstlineno}, {why}{seen}. "
        f"Search without symmetry in {name}."
    )


def _steps_differ(
    lifted: Lifted, renaming: Renaming, swap: Permutation, pair: tuple[LiftedAction, LiftedAction]
) -> Term:
    """Where an instance and its renamed one, in the renamed state, do something else."""
    t, (action, twin) = lifted.terms, pair
    now = state_variables(lifted)
    there = renaming.terms(t, now, swap)

    def outcome(one: LiftedAction) -> list[Term]:
        owed = {kind: t.disjunction(o.condition for o in one.obligations if o.owed is kind) for kind in Owed}
        names = {o.name for o in (*action.obligations, *twin.obligations) if o.owed is Owed.BOUND}
        bounds = [t.disjunction(o.condition for o in one.obligations if o.name == name) for name in sorted(names)]
        return [one.guard, owed[Owed.ERROR], *bounds]

    mine, others = outcome(action), substitute(t, outcome(twin), there)
    after = renaming.terms(t, [action.updates.get(n, leaf) for n, leaf in enumerate(now)], swap)
    renamed = [substitute(t, [twin.updates[n]], there)[0] if n in twin.updates else there[n] for n in range(len(now))]
    happens = t.conjunction((mine[0], *(t.negation(o.condition) for o in action.obligations)))
    effects = t.disjunction(_unequal(lifted, a, b) for a, b in zip(after, renamed, strict=True))
    outcomes = [_unequal(lifted, a, b) for a, b in zip(mine[:1], others[:1], strict=True)]
    owed = [t.conjunction((mine[0], _unequal(lifted, a, b))) for a, b in zip(mine[1:], others[1:], strict=True)]
    return t.disjunction((*outcomes, *owed, t.conjunction((happens, effects))))


def _truths_differ(
    lifted: Lifted, renaming: Renaming, swap: Permutation, pair: tuple[LiftedClaim, LiftedClaim]
) -> Term:
    """Where a claim and its renamed one, in the renamed state (or states), are not as true."""
    t, (claim, other) = lifted.terms, pair
    now = state_variables(lifted)
    there = renaming.terms(t, now, swap)
    if claim.claim.kind is Kind.STEP:
        there += renaming.terms(t, state_variables(lifted, len(now)), swap)
    premise, truth, *errors = claim.roots
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
    """The places of the first lines that run in a state and put things in order or name one of them."""
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
    own = Path(__file__).parents[2] / "model" / "language"
    places = (f"{file}:{line}" for file, line in ran if own not in Path(file).parents and line in _ordered_in(file))
    return list(dict.fromkeys(places))[:NAMED]


@cache
def _ordered_in(file: str) -> frozenset[int]:
    """The lines of a file that compare by size, reckon, pick the first, or name a member by its number."""
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
