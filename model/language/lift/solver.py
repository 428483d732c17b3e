"""Terms as Z3 expressions: the meaning of a model that proofs use.

Ints become bit-vectors of one width that holds every interval among the terms, so nothing wraps around.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from kwalk.model.language.lift.terms import Term, in_order


class Solver:
    """Translates the terms of one table. Variable n is the Z3 constant `x<n>`."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._known: dict[int, Any] = {}
        self.variables: dict[int, tuple[Term, Any]] = {}

    @staticmethod
    def width_for(roots: Iterable[Term]) -> int:
        """The number of bits that hold every number among the terms, with a sign."""
        reach = max((max(-term.low, term.high + 1) for term in in_order(roots)), default=1)
        return reach.bit_length() + 1

    def expression(self, root: Term) -> Any:
        """The Z3 expression of a term; shared subterms are translated once."""
        pending = [root] if root.id not in self._known else []
        for term in in_order(pending):
            if term.id not in self._known:
                self._known[term.id] = self._translate(term, [self._known[a.id] for a in term.args])
        return self._known[root.id]

    def domain(self) -> list[Any]:
        """That every variable translated so far lies in its interval."""
        limits = []
        for term, name in self.variables.values():
            if not term.is_bool:
                limits += [name >= term.low, name <= term.high]
        return limits

    def _translate(self, term: Term, args: list[Any]) -> Any:
        if term.op == "bool":
            return z3.BoolVal(bool(term.payload))
        if term.op == "int":
            return z3.BitVecVal(term.payload, self.width)
        if term.op in ("boolvar", "intvar"):
            name = f"x{term.payload}"
            made = z3.Bool(name) if term.is_bool else z3.BitVec(name, self.width)
            self.variables[term.payload] = (term, made)
            return made
        return self._operation(term, args)

    def _operation(self, term: Term, args: list[Any]) -> Any:
        if term.op in ("and", "or", "not"):
            return {"and": z3.And, "or": z3.Or, "not": z3.Not}[term.op](*args)
        if term.op == "ite":
            return z3.If(*args)
        if term.op == "within":
            return args[0]
        if term.op in ("div", "mod"):
            return self._division(term, *args)
        a, b = args
        return {
            "eq": lambda: a == b,
            "lt": lambda: a < b,
            "add": lambda: a + b,
            "sub": lambda: a - b,
            "mul": lambda: a * b,
        }[term.op]()

    def _division(self, term: Term, a: Any, b: Any) -> Any:
        """Rounded down; the divisor is a positive constant."""
        if term.args[0].low >= 0:
            return z3.UDiv(a, b) if term.op == "div" else z3.URem(a, b)
        remainder = z3.SRem(a, b)
        if term.op == "mod":
            return z3.If(remainder < 0, remainder + b, remainder)
        return z3.If(remainder < 0, a / b - 1, a / b)


def number_in(model: z3.ModelRef, expression: Any) -> int:
    """The value of an expression in a Z3 model; truth values as 0 and 1."""
    value = model.eval(expression, model_completion=True)
    return int(z3.is_true(value)) if z3.is_bool(value) else value.as_signed_long()


def model_where(solver: Solver, numbers: Sequence[int]) -> z3.ModelRef:
    """The Z3 model in which the leaves have given numbers, for evaluating what was translated so far."""
    check = z3.Solver()
    for number, (_, name) in solver.variables.items():
        if number < len(numbers):
            check.add(name == (bool(numbers[number]) if z3.is_bool(name) else numbers[number]))
    if check.check() != z3.sat:
        raise AssertionError("Z3 finds no model in which variables have given values")
    return check.model()
