"""The page of rules lists the rules that lifting has."""

from __future__ import annotations

from kwalk.model.language.lift.kinds import ValueKind
from kwalk.model.language.lift.rules import RULES, Operation
from kwalk.model.language.lift.rules_page import page


def test_the_page_has_a_row_for_each_operation():
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(Operation) == len(RULES)


def test_every_kind_has_a_rule_for_some_operation():
    used = {kind for combinations in RULES.values() for kinds in combinations for kind in kinds}
    assert used == set(ValueKind)
