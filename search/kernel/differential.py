"""Differential testing of the four executions of a model: plain Python, lifted terms, kernel and Z3.

They are compared on the same states: guards, successors, bounds, and the truth of properties. A disagreement is the
gravest bug that kwalk can have, as it makes the verdicts of all engines worthless.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import z3
from attrs import frozen

from kwalk.model.language import Kind, Model, Vector
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedAction, LiftedProperty, Term, in_order, lift
from kwalk.model.language.lift.solver import Solver, model_where, number_in
from kwalk.model.language.lift.terms import evaluate_terms, values_of
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.interpreter import VisitCache
from kwalk.search.kernel.python_comparison import (
    CompiledState,
    RecordMaker,
    StepOrText,
    Truth,
    awaited_text,
    compiled_truth,
    has_bit,
    plain_step,
    plain_truth,
)

EngineResult = StepOrText | Truth
"""The result of an action instance, or of a property."""


@frozen
class Disagreement:
    """An action instance or property (by its key), a state, and the results of the executions, which differ."""

    key: str
    state: Vector
    results: dict[str, EngineResult]


def disagreements(
    model: Model,
    states: Sequence[Vector],
    *,
    kernel: Kernel | None = None,
    with_z3: bool = False,
    lifted: Lifted | None = None,
    others: Sequence[Any] = (),
) -> Iterator[Disagreement]:
    """Yield the disagreements on every action instance and property in every state.

    Step properties are evaluated on the pair of the first state and each state.

    Args:
        model: The model.
        states: The states to compare in.
        kernel: A kernel of the model; None to leave it out.
        with_z3: Whether Z3 is compared as well.
        lifted: The lifted model, if it is there already.
        others: More executions.
    """
    lifted = lifted or lift(model)
    executions: list[Any] = [_Interpreter(model), TermExecution(lifted), *others]
    if kernel is not None:
        executions.append(KernelExecution(kernel))
    if with_z3:
        executions.append(Z3Execution(lifted))
    # Step properties come last: they need the values of two states, and the others those of one.
    properties = sorted(lifted.properties, key=lambda prop: prop.prop.kind is Kind.STEP)
    for state in states:
        for action in lifted.actions:
            yield from _compare(action.instance.key, state, {m.name: m.action(action, state) for m in executions})
        for prop in properties:
            before = None if prop.prop.kind is not Kind.STEP else states[0]
            yield from _compare(prop.prop.key, state, {m.name: m.prop(prop, state, before) for m in executions})


def _compare(key: str, state: Vector, results: dict[str, EngineResult]) -> Iterator[Disagreement]:
    first = next(iter(results.values()))
    if any(other != first or type(other) is not type(first) for other in results.values()):
        yield Disagreement(key, state, results)


class _Interpreter:
    """Plain Python: the functions of the model."""

    name = "plain Python"

    def __init__(self, model: Model) -> None:
        self._visits = VisitCache(model, capacity=1)

    def action(self, action: LiftedAction, state: Vector) -> EngineResult:
        return plain_step(self._visits.at(state), action.instance.index)

    def prop(self, prop: LiftedProperty, state: Vector, before: Vector | None) -> EngineResult:
        return plain_truth(self._visits.at(state), prop.prop, before)


class TermExecution:
    """The lifted terms, evaluated one by one."""

    name = "terms"

    def __init__(self, lifted: Lifted) -> None:
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for c in lifted.properties if c.prop.kind is not Kind.STEP for root in c.roots]
        self._order = list(in_order(roots))
        self._numbers: Vector = ()
        self._known: dict[int, int] = {}
        self._leaves = len(lifted.model.leaves)

    def _values(self, roots: Sequence[Term], numbers: Vector) -> list[int]:
        """Return the values of terms. All terms of a state are evaluated at once, as they share most of their parts."""
        if numbers != self._numbers:
            self._known = values_of(self._order, numbers) if len(numbers) == self._leaves else {}
            self._numbers = numbers
        if all(root.id in self._known for root in roots):
            return [self._known[root.id] for root in roots]
        return evaluate_terms(roots, numbers)

    def action(self, action: LiftedAction, state: Vector) -> EngineResult:
        guard, *rest = self._values(action.roots, state)
        if not guard:
            return "disabled"
        for obligation, true in zip(action.side_conditions, rest, strict=False):
            if true:
                return f"bound {obligation.name}" if obligation.kind is ConditionKind.BOUND else "error"
        after = list(state)
        for leaf, number in zip(action.updates, rest[len(action.side_conditions) :], strict=True):
            after[leaf] = number
        return tuple(after)

    def prop(self, prop: LiftedProperty, state: Vector, before: Vector | None) -> EngineResult:
        premise, truth, *errors = self._values(prop.roots, state if before is None else (*before, *state))
        if prop.prop.kind.is_liveness:
            return "error" if any(errors) else awaited_text(bool(premise), bool(truth))
        if not premise:
            return None
        return "error" if any(errors) else bool(truth)


class Z3Execution(TermExecution):
    """The lifted terms, evaluated by Z3."""

    name = "Z3"

    def __init__(self, lifted: Lifted) -> None:
        super().__init__(lifted)
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for prop in lifted.properties for root in prop.roots]
        self.solver = Solver(Solver.width_for(roots))
        for root in roots:
            self.solver.expression(root)
        self._model: z3.ModelRef | None = None

    def _values(self, roots: Sequence[Term], numbers: Vector) -> list[int]:
        if self._model is None or numbers != self._numbers:
            self._numbers, self._model = numbers, model_where(self.solver, numbers)
        return [number_in(self._model, self.solver.expression(root)) for root in roots]


class KernelExecution:
    """Machine code, without its bit-sliced functions."""

    name = "kernel"

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self._maker = kernel, RecordMaker(kernel)
        self._known: tuple[Vector, CompiledState] | None = None

    def _at(self, state: Vector) -> CompiledState:
        if self._known is None or self._known[0] != state:
            self._known = state, CompiledState(self.kernel, self._maker.record(self._packed(state)))
        return self._known[1]

    def _packed(self, state: Vector) -> np.ndarray:
        packed: np.ndarray = self.kernel.pack(np.array([state], np.int64))[0]
        return packed

    def action(self, action: LiftedAction, state: Vector) -> EngineResult:
        compiled, index = self._at(state), action.instance.index
        if index in compiled.record.advance_differs:
            return "advance differs from apply and guards"
        return compiled.step(index)

    def prop(self, prop: LiftedProperty, state: Vector, before: Vector | None) -> EngineResult:
        if before is None:
            return self._at(state).truth(prop.prop)
        false, premise = self._maker.calls.check_step(self._packed(before), self._packed(state))
        return compiled_truth(prop.prop, has_bit(false, prop.prop.index), has_bit(premise, prop.prop.index))
