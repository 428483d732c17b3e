"""Do the engines agree? Plain Python, terms, kernel and Z3 on the same states: guards, successors, bounds, truth.

Words: a *disagreement* names the thing (an action instance or a claim), the state, and what each meaning says of it. It
is the worst bug that kwalk can have: with one, no verdict of any engine is worth anything.
"""
from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator, Sequence

import numpy as np
import z3
from attrs import frozen

from model.language import DomainError, Kind, Model, Result, Vector
from model.language.lift import Lifted, LiftedAction, LiftedClaim, Owed, Term, in_order, lift
from model.language.lift.evaluation import evaluate_terms, values_of
from model.language.lift.solver import Solver, model_where, number_in
from search.kernel import Kernel

Said = Vector | str | bool | None
"""What a meaning says: of an action the next vector, "disabled", "bound NAME" or "error"; of a claim its truth."""


@frozen
class Disagreement:
    """Two meanings that differ."""

    thing: str
    state: Vector
    said: dict[str, Said]


def random_states(model: Model, count: int, seed: int) -> list[Vector]:
    """Arbitrary states of the domain, reachable or not."""
    rng = random.Random(seed)
    return [model.canonical([rng.randint(leaf.low, leaf.high) for leaf in model.leaves]) for _ in range(count)]


def reachable_states(model: Model, count: int, seed: int) -> list[Vector]:
    """States met on random walks in plain Python."""
    rng = random.Random(seed)
    found: list[Vector] = []
    state = rng.choice(model.initial)
    while len(found) < count:
        found.append(state)
        following = _any_successor(model, state, rng)
        state = rng.choice(model.initial) if following is None else following
    return found


def _any_successor(model: Model, state: Vector, rng: random.Random) -> Vector | None:
    for instance in rng.sample(model.instances, len(model.instances)):
        after = model.attempt(instance, state).after
        if after is not None:
            return after
    return None


def disagreements(
    model: Model,
    states: Sequence[Vector],
    *,
    kernel: Kernel | None = None,
    with_z3: bool = False,
    lifted: Lifted | None = None,
) -> Iterator[Disagreement]:
    """Every action and claim on every state: plain Python, lifted terms, the kernel (if given), and Z3 (if asked).

    Claims about steps are asked from the first of the states to each of them.
    """
    lifted = lifted or lift(model)
    meanings: list[_Plain | _Terms | _Compiled] = [_Plain(model), _Terms(lifted)]
    if kernel is not None:
        meanings.append(_Compiled(model, kernel))
    if with_z3:
        meanings.append(_Solved(lifted))
    for state in states:
        for action in lifted.actions:
            yield from _compare(action.instance.key, state, {m.name: m.action(action, state) for m in meanings})
        for claim in lifted.claims:
            before = None if claim.claim.kind is not Kind.STEP else states[0]
            said = {m.name: m.claim(claim, state, before) for m in meanings}
            yield from _compare(claim.claim.key, state, said)


def _compare(thing: str, state: Vector, said: dict[str, Said]) -> Iterator[Disagreement]:
    first = next(iter(said.values()))
    if any(other != first or type(other) is not type(first) for other in said.values()):
        yield Disagreement(thing, state, said)


class _Plain:
    """Python runs the model's own functions."""

    name = "plain Python"

    def __init__(self, model: Model) -> None:
        self.model = model

    def action(self, action: LiftedAction, state: Vector) -> Said:
        try:
            outcome = self.model.attempt(action.instance, state)
        except DomainError:
            return "error"
        if outcome.result is Result.BOUND:
            return f"bound {outcome.bound}"
        return "disabled" if outcome.after is None else outcome.after

    def claim(self, claim: LiftedClaim, state: Vector, before: Vector | None) -> Said:
        try:
            if claim.claim.kind is Kind.EVENTUALLY:
                return _awaited(*self.model.awaited(claim.claim, state))
            return self.model.truth(claim.claim, state, before)
        except DomainError:
            return "error"


class _Terms:
    """The lifted terms, evaluated one by one."""

    name = "terms"

    def __init__(self, lifted: Lifted) -> None:
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for c in lifted.claims if c.claim.kind is not Kind.STEP for root in c.roots]
        self._order = list(in_order(roots))
        self._numbers: Vector = ()
        self._known: dict[int, int] = {}
        self._leaves = len(lifted.model.leaves)

    def _values(self, roots: Sequence[Term], numbers: Vector) -> list[int]:
        """All terms of a state are evaluated at once, as they share most of their parts."""
        if numbers != self._numbers:
            self._known = values_of(self._order, numbers) if len(numbers) == self._leaves else {}
            self._numbers = numbers
        if all(root.id in self._known for root in roots):
            return [self._known[root.id] for root in roots]
        return evaluate_terms(roots, numbers)

    def action(self, action: LiftedAction, state: Vector) -> Said:
        guard, *rest = self._values(action.roots, state)
        if not guard:
            return "disabled"
        for obligation, true in zip(action.obligations, rest, strict=False):
            if true:
                return f"bound {obligation.name}" if obligation.owed is Owed.BOUND else "error"
        after = list(state)
        for leaf, number in zip(action.updates, rest[len(action.obligations) :], strict=True):
            after[leaf] = number
        return tuple(after)

    def claim(self, claim: LiftedClaim, state: Vector, before: Vector | None) -> Said:
        premise, truth, *errors = self._values(claim.roots, state if before is None else (*before, *state))
        if claim.claim.kind is Kind.EVENTUALLY:
            return "error" if any(errors) else _awaited(bool(premise), bool(truth))
        if not premise:
            return None
        return "error" if any(errors) else bool(truth)


class _Solved(_Terms):
    """The lifted terms as Z3 sees them."""

    name = "Z3"

    def __init__(self, lifted: Lifted) -> None:
        super().__init__(lifted)
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for claim in lifted.claims for root in claim.roots]
        self.solver = Solver(Solver.width_for(roots))
        for root in roots:
            self.solver.expression(root)
        self._model: z3.ModelRef | None = None

    def _values(self, roots: Sequence[Term], numbers: Vector) -> list[int]:
        if self._model is None or numbers != self._numbers:
            self._numbers, self._model = numbers, model_where(self.solver, numbers)
        return [number_in(self._model, self.solver.expression(root)) for root in roots]


class _Compiled:
    """Machine code. An error in a claim reads as false there, so it is looked up by the caller's plain replay."""

    name = "kernel"

    def __init__(self, model: Model, kernel: Kernel) -> None:
        self.model, self.kernel = model, kernel
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self._guards = ctypes.CFUNCTYPE(None, pointer, pointer)(kernel.guards)
        self._apply = ctypes.CFUNCTYPE(number, number, pointer, pointer)(kernel.apply)
        self._advance = ctypes.CFUNCTYPE(number, number, pointer, pointer, pointer)(kernel.advance)
        self._check = ctypes.CFUNCTYPE(None, pointer, number, pointer, pointer)(kernel.check)
        self._state: Vector = ()
        self._check_step = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer)(kernel.check_step)

    def _row(self, words: int) -> np.ndarray:
        return np.zeros(max(1, words), np.uint64)

    def _guards_of(self, packed: np.ndarray) -> np.ndarray:
        row = self._row(self.kernel.instance_words)
        self._guards(packed.ctypes.data, row.ctypes.data)
        return row

    def _packed(self, state: Vector) -> tuple[np.ndarray, np.ndarray]:
        """A packed state and a fresh copy of its row of guards."""
        if state != self._state:
            self._state, self._before = state, self.kernel.pack(np.array([state], np.int64))
            self._row_before = self._guards_of(self._before)
        return self._before, self._row_before.copy()

    def action(self, action: LiftedAction, state: Vector) -> Said:
        index, kernel = action.instance.index, self.kernel
        before, row = self._packed(state)
        after = np.zeros((1, kernel.words), np.uint64)
        if not _bit(row, index):
            return "disabled"
        code = self._apply(index, before.ctypes.data, after.ctypes.data)
        if code:
            return f"bound {kernel.bounds[code - 1]}" if code > 0 else "error"
        again = np.zeros((1, kernel.words), np.uint64)
        self._advance(index, before.ctypes.data, again.ctypes.data, row.ctypes.data)
        if (again != after).any() or (row != self._guards_of(after)).any():
            return "advance differs from apply and guards"
        return tuple(int(n) for n in kernel.unpack(after)[0])

    def claim(self, claim: LiftedClaim, state: Vector, before: Vector | None) -> Said:
        kernel, index = self.kernel, claim.claim.index
        false, premise = self._row(kernel.claim_words), self._row(kernel.claim_words)
        after = kernel.pack(np.array([state], np.int64))
        if before is None:
            self._check(after.ctypes.data, 1, false.ctypes.data, premise.ctypes.data)
        else:
            start = kernel.pack(np.array([before], np.int64))
            self._check_step(start.ctypes.data, after.ctypes.data, false.ctypes.data, premise.ctypes.data)
        if claim.claim.kind is Kind.EVENTUALLY:
            return self._both(claim, state, premise=_bit(premise, index), false=_bit(false, index))
        if not _bit(premise, index):
            return None
        if not _bit(false, index):
            return claim.claim.kind is not Kind.REACHABLE
        return self._why_false(claim, state, before)

    def _both(self, claim: LiftedClaim, state: Vector, *, premise: bool, false: bool) -> Said:
        failed = false and _Plain(self.model).claim(claim, state, None) == "error"
        return "error" if failed else _awaited(premise, not false)

    def _why_false(self, claim: LiftedClaim, state: Vector, before: Vector | None) -> Said:
        """False, unless plain Python says that the claim itself fails here (the kernel has one bit for both)."""
        said = _Plain(self.model).claim(claim, state, before)
        return "error" if said == "error" else claim.claim.kind is Kind.REACHABLE


def _awaited(premise: bool, there: bool) -> str:
    """What a meaning says of an `eventually` claim, which has two answers."""
    return f"premise {premise}, there {there}"


def _bit(row: np.ndarray, index: int) -> bool:
    return bool(int(row[index // 64]) >> (index % 64) & 1)
