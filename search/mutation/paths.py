"""Paths: under which conditions a step comes to each statement of a model, noted while the model is lifted.

A path is never too narrow: in a state where none of a statement's paths is taken, the step does not come there. What
stands there then makes no difference, and a mistake in it need not be lifted to know that it makes none.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from model.language.lift import Term
from model.language.lift.machine import Coverage, Machine
from model.language.lift.statements import STATEMENTS

Path = tuple[Term, ...]
"""The conditions of the branches that were taken, all of them true on the path."""
Paths = dict[Coverage, dict[ast.stmt, set[Path]]]
"""By the coverage of a run, the paths to each statement that it came to."""


@contextmanager
def noted_paths() -> Iterator[Paths]:
    """The paths to all statements that are lifted within the context."""
    found: Paths = {}
    rules = dict(STATEMENTS)
    STATEMENTS.update({kind: _noting(rule, found) for kind, rule in rules.items()})
    try:
        yield found
    finally:
        STATEMENTS.update(rules)


def _noting(rule: Callable[[Machine, Any], None], found: Paths) -> Callable[[Machine, Any], None]:
    def noted(m: Machine, node: ast.stmt) -> None:
        found.setdefault(m.coverage, {}).setdefault(node, set()).add(m.now.path)
        rule(m, node)

    return noted
