"""A mistake in the lifter, in the kernel emitter or in the mapping to Z3 is found by a few random models."""

from __future__ import annotations

import pytest
import z3

from kwalk.model.language.lift.solver import Solver
from kwalk.model.language.lift.terms import Term
from kwalk.search.kernel.compile import functions  # whose own names must not be bound while a mistake is planted
from kwalk.search.kernel.compile.emitter import Emitter
from tests.agreement.planted_kernels import without_cache
from tests.agreement.test_planted_errors import PLANTED
from tests.fuzz.comparison import Engines, difference_in
from tests.fuzz.models import random_model

__all__ = ["functions", "without_cache"]

FEW = 160
"""The number of models within which each mistake must be found."""
LIFTER = (
    "if runs both branches",
    "writes are not masked",
    "an early return continues",
    "break does nothing",
    "an abort undoes what was done",
    "except does not run",
    "a chain keeps its last link",
    "sets keep the left side",
    "min is max",
    "pop leaves the head",
    "guards are dropped",
    "bounds are dropped",
    "a symbolic index is the first",
    "records are never equal",
    "evolve changes nothing",
    "a sorted set is descending",
)
OPERATION, NUMBER, Z3_OPERATION = Emitter._operation, Emitter._number, Solver._operation


def emits(op: str, wrong):
    """The mistake: terms of one operation are emitted by another function."""

    def operation(self: Emitter, term: Term, args: list[str]) -> str:
        return wrong(self, term, args) if term.op == op else OPERATION(self, term, args)

    return lambda patch: patch.setattr(Emitter, "_operation", operation)


def translates(op: str, wrong):
    """The mistake: terms of one operation are translated to another expression of Z3."""

    def operation(self: Solver, term: Term, args: list):
        return wrong(args) if term.op == op else Z3_OPERATION(self, term, args)

    return lambda patch: patch.setattr(Solver, "_operation", operation)


EMITTER = {
    "< is unsigned": emits("lt", lambda e, term, args: e.op(f"icmp ult i64 {args[0]}, {args[1]}")),
    "< is <=": emits("lt", lambda e, term, args: e.op(f"icmp sle i64 {args[0]}, {args[1]}")),
    "+ is -": emits("add", lambda e, term, args: e.op(f"sub i64 {args[0]}, {args[1]}")),
    "or keeps its first operands": emits("or", lambda e, term, args: e.op(f"or i1 {args[0]}, {args[1]}")),
    "not does nothing": emits("not", lambda e, term, args: args[0]),
    "the least value of a leaf is 0": lambda patch: patch.setattr(
        Emitter, "_number", lambda self, variable: NUMBER(_Lowless(self), variable)
    ),
    "division rounds towards 0": lambda patch: patch.setattr(
        Emitter,
        "_division",
        lambda self, term, args: self.op(f"s{'div' if term.op == 'div' else 'rem'} i64 {args[0]}, {args[1]}"),
    ),
    "new values do not clear the old bits": lambda patch: patch.setattr(
        "kwalk.search.kernel.compile.emitter.signed_word", lambda number: -1 if number < 0 else number
    ),
}
Z3 = {
    "< is <=": translates("lt", lambda args: args[0] <= args[1]),
    "< is unsigned": translates("lt", lambda args: z3.ULT(args[0], args[1])),
    "== is !=": translates("eq", lambda args: args[0] != args[1]),
    "- is +": translates("sub", lambda args: args[0] + args[1]),
    "and keeps its first operand": translates("and", lambda args: args[0]),
    "the arms of if-else are swapped": translates("ite", lambda args: z3.If(args[0], args[2], args[1])),
    "division rounds towards 0": lambda patch: patch.setattr(
        Solver, "_division", lambda self, term, a, b: a / b if term.op == "div" else z3.SRem(a, b)
    ),
    "numbers have one bit too few": lambda patch: patch.setattr(
        Solver, "width_for", staticmethod(lambda roots, real=Solver.width_for: max(2, real(roots) - 1))
    ),
}


class _Lowless:
    """An emitter that has forgotten the least values of leaves."""

    def __init__(self, real: Emitter) -> None:
        self._real = real

    def __getattr__(self, name: str):
        return self if name == "layout" else [0] if name == "lows" else getattr(self._real, name)


def is_found(engines: Engines) -> bool:
    return any(difference_in(random_model(seed), seed, engines) is not None for seed in range(200, 200 + FEW))


LONG = "a sorted set is descending"
"""Few random models show it, so that many have to be tried."""


@pytest.mark.parametrize("wrong", [pytest.param(w, marks=pytest.mark.thorough if w == LONG else ()) for w in LIFTER])
def test_a_mistake_in_the_lifter_is_found(wrong, monkeypatch):
    PLANTED[wrong](monkeypatch)
    assert is_found(Engines.NONE)


@pytest.mark.usefixtures("without_cache")
@pytest.mark.parametrize("wrong", EMITTER)
def test_a_mistake_in_the_kernel_emitter_is_found(wrong, monkeypatch):
    EMITTER[wrong](monkeypatch)
    assert is_found(Engines.KERNEL)


@pytest.mark.parametrize("wrong", Z3)
def test_a_mistake_in_the_mapping_to_z3_is_found(wrong, monkeypatch):
    Z3[wrong](monkeypatch)
    assert is_found(Engines.Z3)
