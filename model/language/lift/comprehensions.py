"""The items of loops and comprehensions, each with the condition under which it is present."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from kwalk.model.language.lift import containers, sets
from kwalk.model.language.lift.access import element
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import kind_of
from kwalk.model.language.lift.machine import NOT_ASSIGNED, SideCondition, SymbolicMachine
from kwalk.model.language.lift.rules import Operation, apply, rule
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.truth import truth
from kwalk.model.language.lift.values import OnceItems, Reference, Refused, VaryingItems, describe
from kwalk.model.language.source import target_names


def generator(m: SymbolicMachine, node: ast.GeneratorExp) -> OnceItems:
    """Return a generator expression; what consumes it decides under which facts each item is evaluated.

    Python evaluates its first iterable early and all else late, so it is refused where something changed in between.
    """
    writes, frame, local = m.writes, m.frames[-1], m.now.local
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    before = {name: local.get(name) for name in names}

    def items(
        stop: Callable[[Term, Any], Term] | None = None, *, any_order: bool = False
    ) -> Iterator[tuple[Term, Any]]:
        is_unchanged = m.writes == writes and all(m.now.local.get(name) is before[name] for name in names)
        if m.frames[-1] is not frame or not is_unchanged:
            what = "a generator expression that is used in another function, or after a change of what it reads"
            raise Refused(what, "a list or set comprehension, or the expression in the place of its use")
        return generate(m, node, stop, any_order=any_order)

    return OnceItems(items, None, (node.lineno, node.col_offset))


def generate(
    m: SymbolicMachine,
    node: ast.GeneratorExp | ast.ListComp | ast.SetComp,
    stop: Callable[[Term, Any], Term] | None = None,
    *,
    any_order: bool = False,
) -> Iterator[tuple[Term, Any]]:
    """Yield the items of a comprehension with their conditions, evaluated in a pure section.

    Args:
        m: the machine.
        node: the comprehension.
        stop: whether its consumer stops after an item; None if it takes all.
        any_order: whether the order makes no difference to the consumer, so that sets can be iterated.
    """
    clauses, elt = node.generators, node.elt
    over = [m.terms.false]  # whether the consumer has stopped
    found: list[tuple[Term, Any]] = []

    def goes_on() -> Term:
        return m.terms.negation(over[0])

    consumer = _Consumer(goes_on, any_order)
    with m.assuming(m.terms.true):
        items = consumer.items(m, m.evaluate(m, clauses[0].iter))
        first_condition = len(m.side_conditions)
        m.now.local.update(dict.fromkeys(target_names([clause.target for clause in clauses]), NOT_ASSIGNED))
        for condition, bindings in _clauses(m, clauses, m.terms.true, items, consumer):
            m.now.local.update(bindings)
            here = m.simplify(m.terms.conjunction((condition, goes_on())))
            if here is m.terms.false:
                continue
            with m.assuming(here):
                value = m.evaluate(m, elt)
            found.append((condition, value))
            if stop is not None:
                over[0] = m.terms.disjunction((over[0], m.terms.conjunction((condition, stop(condition, value)))))
    consumer.check(m.side_conditions[first_condition:], can_stop=stop is not None)
    yield from found


class _Consumer:
    """What takes the items of a comprehension, which may go through a set, whose order Python does not fix.

    Args:
        goes_on: whether it takes further items.
        any_order: whether their order makes no difference to it.
    """

    def __init__(self, goes_on: Callable[[], Term], any_order: bool) -> None:
        self.goes_on, self.allowed, self.is_open = goes_on, any_order, False

    def items(self, m: SymbolicMachine, iterable: Any) -> list[tuple[Term, Any]]:
        """Return the items of an iterable with their conditions."""
        self.is_open |= self.allowed and kind_of(iterable) is K.SET
        return items_of(m, iterable, any_order=self.allowed)

    def check(self, conditions: list[SideCondition], *, can_stop: bool) -> None:
        """Refuse errors that Python meets or not, or bounds that come before or after them, as the order is open."""
        is_unclear = conditions if can_stop else len({one.kind for one in conditions}) > 1
        if self.is_open and is_unclear:
            what = "a comprehension over a set, whose order Python does not fix, with a possible error"
            instead = "a test before it that excludes the error, or a loop over `sorted(…)` or a Domain"
            raise Refused(f"{what} ({conditions[0].name})", instead)


def _clauses(
    m: SymbolicMachine,
    clauses: list[ast.comprehension],
    so_far: Term,
    items: list[tuple[Term, Any]],
    consumer: _Consumer,
) -> Iterator[tuple[Term, dict[str, Any]]]:
    """Yield the bindings of the clauses' targets, each with its condition.

    What Python does not evaluate raises no error: a test or an inner iterable is evaluated where the tests before it
    are true and `consumer.goes_on` is, which is false after the item at which the consumer stops.
    """
    clause, *rest = clauses
    for present, value in items:
        bindings = bind_target(clause.target, value, m)
        m.now.local.update(bindings)
        condition = m.simplify(m.terms.conjunction((so_far, present)))
        for test in clause.ifs:
            if condition is m.terms.false:
                break
            with m.assuming(m.simplify(m.terms.conjunction((condition, consumer.goes_on())))):
                is_true = truth(m, m.evaluate(m, test))
            condition = m.simplify(m.terms.conjunction((condition, is_true)))
        if condition is m.terms.false:
            continue
        if not rest:
            yield condition, bindings
            continue
        with m.assuming(m.simplify(m.terms.conjunction((condition, consumer.goes_on())))):
            inner_items = consumer.items(m, m.evaluate(m, rest[0].iter))
        for inner, more in _clauses(m, rest, condition, inner_items, consumer):
            yield inner, {**bindings, **more}


Round = tuple[Term, Callable[[], Any]]
"""The condition of one round of a loop, and what returns the item at the beginning of the round."""


def items_of(m: SymbolicMachine, iterable: Any, *, any_order: bool = False) -> list[tuple[Term, Any]]:
    """Return the items of a value, each with the condition under which it is present; of a set only in any order."""
    if any_order and kind_of(iterable) is K.SET:
        return sets.items_of_set(m, iterable)
    if isinstance(iterable, OnceItems):
        return list(iterable.use().items(None))
    return [(condition, item()) for condition, item in rounds_of(m, iterable)]


def rounds_of(m: SymbolicMachine, iterable: Any) -> list[Round]:
    """Return the rounds of a loop over a value. An Array or list is read at the beginning of each round."""
    found: list[Round] = apply(m, Operation.ITERATE, iterable)
    return found


def constant_rounds(m: SymbolicMachine, items: Iterable[Any]) -> list[Round]:
    """Return the rounds of a loop over items that are there in any state and do not change."""
    return [(m.terms.true, partial(_same, item)) for item in items]


def _same(item: Any) -> Any:
    return item


@rule(Operation.ITERATE, (K.DOMAIN, K.RANGE, K.TUPLE, K.ENUM_CLASS))
def _rounds_of_constants(m: SymbolicMachine, iterable: Any) -> list[Round]:
    m.count_rounds(len(iterable))
    return constant_rounds(m, iterable)


@rule(Operation.ITERATE, (K.ARRAY, K.LIST))
def _rounds_of_array(m: SymbolicMachine, iterable: Reference) -> list[Round]:
    m.count_rounds(len(iterable.sample.items))
    return [(m.terms.true, partial(element, m, iterable, index)) for index in range(len(iterable.sample.items))]


@rule(Operation.ITERATE, (K.FIFO,))
def _rounds_of_queue(m: SymbolicMachine, iterable: Reference) -> list[Round]:
    return [(condition, partial(_same, item)) for condition, item in containers.items(m, iterable)]


@rule(Operation.ITERATE, (K.RECORD_SET,))
def _rounds_of_set(m: SymbolicMachine, iterable: Reference) -> list[Round]:
    return [(condition, partial(_same, item)) for condition, item in sets.items_of_set(m, iterable)]


@rule(Operation.ITERATE, (K.VARYING,))
def _rounds_of_varying(m: SymbolicMachine, iterable: VaryingItems) -> list[Round]:
    m.count_rounds(len(iterable.items))
    return [(condition, partial(_same, item)) for condition, item in iterable.items]


@rule(Operation.ITERATE, (K.ITERATOR,))
def _rounds_of_iterator(m: SymbolicMachine, iterable: OnceItems) -> list[Round]:
    rounds = iterable.use().rounds
    if rounds is None:
        what = "a loop over a generator expression, which Python evaluates between the rounds"
        raise Refused(what, "a list comprehension, or the loops and conditions of the generator as statements")
    return rounds


def bind_target(target: ast.expr, value: Any, m: SymbolicMachine) -> dict[str, Any]:
    """Return the names to which a loop or comprehension target gives a value, with their values."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
        found: dict[str, Any] = {}
        for part, item in zip(target.elts, value, strict=True):
            found.update(bind_target(part, item, m))
        return found
    raise Refused(f"this loop target for {describe(value)}", "a name, or as many names as the tuple has elements")
