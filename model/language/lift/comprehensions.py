"""The items of loops and comprehensions, each with the condition under which it is present."""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from kwalk.model.language.binding import Domain
from kwalk.model.language.lift import containers
from kwalk.model.language.lift.access import constant, element
from kwalk.model.language.lift.machine import SymbolicMachine
from kwalk.model.language.lift.objects import ArrayObject, FifoObject
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import Reference, Refused, Set, SortedItems, describe


class Generated:
    """A generator expression; the function that consumes it decides under which facts each item is evaluated."""

    def __init__(self, m: SymbolicMachine, node: ast.GeneratorExp) -> None:
        self.m, self.node = m, node

    def items(self, stop: Callable[[Term, Any], Term] | None = None) -> Iterator[tuple[Term, Any]]:
        """Yield each item with its condition. After an item for which `stop` is true, no item follows."""
        return generate(self.m, self.node.generators, self.node.elt, stop)


def generate(
    m: SymbolicMachine, clauses: list[ast.comprehension], elt: ast.expr, stop: Callable[[Term, Any], Term] | None = None
) -> Iterator[tuple[Term, Any]]:
    """Yield the items of a comprehension with their conditions, evaluated in a pure section."""
    over = m.terms.false
    found: list[tuple[Term, Any]] = []
    with m.assuming(m.terms.true):
        for condition, bindings in _clauses(m, clauses, m.terms.true):
            m.now.local.update(bindings)
            here = m.simplify(m.terms.conjunction((condition, m.terms.negation(over))))
            if here is m.terms.false:
                continue
            with m.assuming(here):
                value = m.evaluate(m, elt)
            found.append((condition, value))
            if stop is not None:
                over = m.terms.disjunction((over, m.terms.conjunction((condition, stop(condition, value)))))
    yield from found


def _clauses(
    m: SymbolicMachine, clauses: list[ast.comprehension], so_far: Term
) -> Iterator[tuple[Term, dict[str, Any]]]:
    if not clauses:
        yield so_far, {}
        return
    clause, *rest = clauses
    for present, value in items_of(m, m.evaluate(m, clause.iter)):
        bindings = bind_target(clause.target, value, m)
        m.now.local.update(bindings)
        condition = m.simplify(m.terms.conjunction((so_far, present)))
        for test in clause.ifs:
            if condition is m.terms.false:
                break
            with m.assuming(condition):
                truth = m.values.truth(m.evaluate(m, test))
            condition = m.simplify(m.terms.conjunction((condition, truth)))
        if condition is not m.terms.false:
            for inner, more in _clauses(m, rest, condition):
                yield inner, {**bindings, **more}


def items_of(m: SymbolicMachine, iterable: Any) -> list[tuple[Term, Any]]:
    """Return the items of a loop over a value, each with the condition under which it is present."""
    true = m.terms.true
    if isinstance(iterable, Generated):
        return list(iterable.items())
    if isinstance(iterable, (Domain, range, tuple, list)):
        return [(true, constant(item)) for item in iterable]
    if isinstance(iterable, type) and issubclass(iterable, Enum):
        return [(true, member) for member in iterable]
    if isinstance(iterable, Reference) and isinstance(iterable.sample, ArrayObject):
        return [(true, element(m, iterable, index)) for index in range(len(iterable.sample.items))]
    if isinstance(iterable, Reference) and isinstance(iterable.sample, FifoObject):
        return containers.items(m, iterable)
    if isinstance(iterable, SortedItems):
        return list(iterable.items)
    if isinstance(iterable, (Set, frozenset, set)):
        raise Refused("a loop over a set, whose order Python does not fix", "loop over `sorted(…)` of it")
    raise Refused(f"a loop over {describe(iterable)}", "a Domain, range, tuple, list, Array, Fifo or Enum")


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
