"""Lifting a model: from its plain Python source to terms over the leaves of its state.

For every action instance this gives a guard, an obligation for each bound and error on its way, and a term for each
leaf that it changes; for every claim its premise and its truth. Variables 0 … n-1 are the leaves of the state; in
claims about steps, n … 2n-1 are the leaves of the state after the step.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from model.language.errors import LiftError
from model.language.invariant import Kind
from model.language.lift import expressions, statements
from model.language.lift.calls import call_function
from model.language.lift.machine import Coverage, Machine, Obligation, Owed, Unreachable
from model.language.lift.terms import Term, Terms, in_order
from model.language.lift.values import Reference
from model.language.model import Claim, Instance, Model


@frozen(eq=False)
class LiftedAction:
    """An action instance as terms. `obligations`: its bound hits and errors where the guard holds, in program order."""

    instance: Instance
    guard: Term
    obligations: tuple[Obligation, ...]
    updates: dict[int, Term]
    coverage: Coverage
    """The parts of the model's source that it comes from."""

    @property
    def writes(self) -> frozenset[int]:
        """The leaves that it can change."""
        return frozenset(self.updates)

    @property
    def roots(self) -> list[Term]:
        """All of its terms."""
        return [self.guard, *(o.condition for o in self.obligations), *self.updates.values()]


@frozen(eq=False)
class LiftedClaim:
    """An invariant instance as terms. Errors are obligations, where the premise holds.

    Of an `eventually` claim, premise and truth are each meant for themselves, and errors hold everywhere.
    """

    claim: Claim
    premise: Term
    truth: Term
    errors: tuple[Obligation, ...]

    @property
    def roots(self) -> list[Term]:
        """All of its terms: the premise, the truth, the errors."""
        return [self.premise, self.truth, *(o.condition for o in self.errors)]


@frozen(eq=False)
class Lifted:
    """A whole model as terms of one table."""

    model: Model
    terms: Terms
    actions: tuple[LiftedAction, ...]
    claims: tuple[LiftedClaim, ...]
    guard_reads: tuple[frozenset[int], ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "guard_reads", tuple(reads([action.guard]) for action in self.actions))

    @property
    def bounds(self) -> tuple[str, ...]:
        """The names of all bounds that a step can reach."""
        hit = {o.name for a in self.actions for o in a.obligations if o.owed is Owed.BOUND}
        return tuple(sorted(hit))

    @property
    def errors(self) -> tuple[str, ...]:
        """The texts of all errors that could not be ruled out while lifting."""
        found = {o.name for a in self.actions for o in a.obligations if o.owed is Owed.ERROR}
        return tuple(sorted(found | {o.name for c in self.claims for o in c.errors}))


def reads(roots: Iterable[Term]) -> frozenset[int]:
    """The variables below some terms."""
    return frozenset(term.payload for term in in_order(roots) if term.op in ("intvar", "boolvar"))


def lift(model: Model) -> Lifted:
    """Lift every action and claim of a model; LiftError names the file and line of what cannot be lifted."""
    terms = Terms()
    with model.active():
        actions = tuple(lift_action(model, terms, instance) for instance in model.instances)
        claims = tuple(_lift_claim(model, terms, claim) for claim in model.claims)
    return Lifted(model, terms, actions, claims)


def _start(model: Model, terms: Terms, states: int) -> tuple[Machine, list[Any]]:
    machine = Machine(terms, statements.execute, expressions.evaluate)
    nodes = []
    for number in range(states):
        variables = machine.objects.variables(number * len(model.leaves))
        nodes.append(machine.objects.make(model.shape, variables, machine.now.store))
    machine.state_cells = machine.objects.count
    return machine, nodes


def lift_action(model: Model, terms: Terms, instance: Instance) -> LiftedAction:
    """Lift one action instance, within the model's `active`, to terms of a table."""
    machine, (root,) = _start(model, terms, 1)
    base = machine.now.fork()
    _run(machine, instance.action.function, [root], instance.args)
    ends = [*machine.aborts, *([(machine.world, None)] if machine.world is not None else [])]
    for world, _ in ends:
        world.local = {}
    machine.join(base, ends)
    guard, owed = _guard(terms, machine.obligations)
    seen = machine.coverage
    if guard is terms.false:
        return LiftedAction(instance, terms.false, (), {}, seen)
    if machine.world is None:  # wherever the guard holds, a bound or an error is certain
        return LiftedAction(instance, guard, owed, {}, seen)
    after = list(machine.objects.layout(model.shape, root, machine.world.store))
    before = list(machine.objects.layout(model.shape, root, base.store))
    updates = {leaf: new for leaf, (old, new) in enumerate(zip(before, after, strict=True)) if new is not old}
    return LiftedAction(instance, guard, owed, updates, seen)


def _run(machine: Machine, function: Any, roots: list[Any], args: tuple[Any, ...]) -> Any:
    references = [Reference(((machine.terms.true, root),)) for root in roots]
    try:
        return call_function(machine, function, [*references, *args], {})
    except Unreachable:
        machine.world = None
        return None


def _guard(terms: Terms, obligations: list[Obligation]) -> tuple[Term, tuple[Obligation, ...]]:
    """The guard, and what remains owed where it holds. A guard that raises an error counts as true: the error shows."""
    disabled: list[Term] = []
    failed: list[Term] = []
    owed: list[Obligation] = []
    for obligation in obligations:
        if obligation.owed is Owed.DISABLED:
            before = terms.negation(terms.disjunction(failed))
            disabled.append(terms.conjunction((obligation.condition, before)))
        else:
            failed.append(obligation.condition)
            owed.append(obligation)
    return terms.negation(terms.disjunction(disabled)), tuple(owed)


def _lift_claim(model: Model, terms: Terms, claim: Claim) -> LiftedClaim:
    states = 2 if claim.kind is Kind.STEP else 1
    machine, roots = _start(model, terms, states)
    machine.premises = [] if claim.kind is Kind.EVENTUALLY else None
    value = _run(machine, claim.invariant.function, roots, claim.args)
    if machine.world is not None and machine.world.touched:
        code = claim.invariant.function.__code__
        raise LiftError(
            f"{code.co_filename}:{code.co_firstlineno}: cannot lift this: {claim.invariant.name} changes the state. "
            "Instead: an invariant only looks; keep what it works out in local variables."
        )
    premise, owed = _guard(terms, machine.obligations)
    premise = terms.conjunction((premise, *(machine.premises or ())))
    truth = terms.true if machine.world is None else machine.values.truth(value)
    return LiftedClaim(claim, premise, truth, owed)
