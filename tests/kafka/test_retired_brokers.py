"""A broker is stopped for good: what breaks if it still has replicas, and that nothing does if it has none."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.reassignment import RETIRE_BROKER as ANY_MOMENT
from kwalk.invariants.stories.reassignment import RETIRE_BROKER_WITHOUT_REPLICAS as WITHOUT_REPLICAS
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.structure.rooms import ROOT


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("story", "states", "found"),
    [(ANY_MOMENT, 265, {"partition_has_a_live_isr_member": 8, "replicas_are_live": 8}), (WITHOUT_REPLICAS, 119, {})],
    ids=["at any moment", "without replicas"],
)
def test_of_two_brokers_one_is_missed_unless_it_has_no_replica(story, states, found):
    verdict = exhaust(Model(story, "3.9.0", {"brokers": 2}), keep_going=True)
    assert (verdict.strength, verdict.distinct_states, shortest(verdict)) == (Strength.EXHAUSTIVE, states, found)
    assert all(verdict.premises.values())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("story", "replicas", "states", "found"),
    [
        (ANY_MOMENT, 1, 903, {"partition_has_a_live_isr_member": 9, "replicas_are_live": 9}),
        (ANY_MOMENT, 2, 10_380, {"replicas_are_live": 5}),
        (WITHOUT_REPLICAS, 1, 580, {}),
        (WITHOUT_REPLICAS, 2, 1_288, {}),
    ],
)
def test_what_a_broker_that_is_stopped_for_good_breaks(story, replicas, states, found):
    verdict = exhaust(Model(story, "3.9.0", {"replication_factor": replicas}), keep_going=True)
    assert (verdict.strength, verdict.distinct_states, shortest(verdict)) == (Strength.EXHAUSTIVE, states, found)


def test_the_page_has_the_number_of_states():
    text = (ROOT / "docs" / "stories" / "retire-broker.md").read_text(encoding="utf-8")
    assert "all 580 states" in text and "all 1,288" in text
