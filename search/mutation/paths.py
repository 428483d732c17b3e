"""Paths: under which conditions a step comes to each statement of a model, noted while the model is lifted.

A path is never too narrow: in a state where none of a statement's paths is taken, the step does not come there. What
stands there then makes no difference, and a mistake in it need not be lifted to know that it makes none.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attrs import field, frozen

from model.language.lift import Obligation, Term, Terms
from model.language.lift.machine import Coverage, Machine
from model.language.lift.statements import STATEMENTS

Path = tuple[tuple[Term, ...], int]
"""The conditions of the branches that were taken, and how many obligations of the run came before."""


@frozen(eq=False)
class Run:
    """The lifting of one action instance: its obligations in order, and the paths to each statement."""

    obligations: list[Obligation] = field(repr=False)
    paths: dict[ast.stmt, set[Path]] = field(factory=dict, repr=False)

    def comes_to(self, line: ast.stmt, terms: Terms) -> Term:
        """Where the step comes to a line: on one of its paths, and nothing has ended it before."""
        return terms.disjunction(
            terms.conjunction((*branches, *(terms.negation(o.condition) for o in self.obligations[:number])))
            for branches, number in self.paths.get(line, ())
        )


@contextmanager
def noted_runs() -> Iterator[dict[Coverage, Run]]:
    """By their coverage, the runs that lift something within the context."""
    found: dict[Coverage, Run] = {}
    rules = dict(STATEMENTS)
    STATEMENTS.update({kind: _noting(rule, found) for kind, rule in rules.items()})
    try:
        yield found
    finally:
        STATEMENTS.update(rules)


def _noting(rule: Callable[[Machine, Any], None], found: dict[Coverage, Run]) -> Callable[[Machine, Any], None]:
    def noted(m: Machine, node: ast.stmt) -> None:
        run = found.get(m.coverage) or found.setdefault(m.coverage, Run(m.obligations))
        run.paths.setdefault(node, set()).add((m.now.path, len(m.obligations)))
        rule(m, node)

    return noted
