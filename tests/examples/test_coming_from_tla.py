"""The page for users of TLA+ is true: its counts are what a search counts."""

from __future__ import annotations

import pytest

from kwalk.model.examples.checkpoint_lease import CHECKPOINT_LEASE
from kwalk.model.examples.disruptor import DISRUPTOR
from kwalk.model.examples.ewd998 import EWD998
from kwalk.model.examples.synod import SYNOD
from kwalk.model.language import Model, Scenario
from kwalk.search.exhaustive.search import exhaust
from tests.structure.rooms import ROOT

PAGE = (ROOT / "docs" / "explanation" / "coming-from-tla.md").read_text(encoding="utf-8")
ROWS = {cells[0].strip("` "): cells for line in PAGE.splitlines() if (cells := line.strip("|").split("|"))}


@pytest.mark.parametrize(
    ("name", "scenario", "bounds"),
    [
        ("ewd998", EWD998, {"nodes": 2}),
        ("disruptor", DISRUPTOR, {}),
        ("synod", SYNOD, {"acceptors": 3, "values": 2, "ballots": 2}),
        ("checkpoint_lease", CHECKPOINT_LEASE, {"nodes": 2, "numbers": 3}),
    ],
)
def test_the_counts_of_a_port_add_up_to_those_of_tlc(name: str, scenario: Scenario, bounds: dict[str, int]) -> None:
    distinct, by_tlc, generated, hits, repeated = (int(cell.replace(",", "")) for cell in ROWS[name][3:8])
    verdict = exhaust(Model(scenario, bounds=bounds), properties=())
    counted = (verdict.distinct_states, verdict.generated_states, sum(verdict.bounds_hit.values()))
    assert counted == (distinct, generated, hits)
    assert generated + hits + repeated == by_tlc
