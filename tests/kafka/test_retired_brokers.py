"""A broker is stopped for good: what breaks if it still has replicas, and that nothing does if it has none."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.reassignment import RETIRE_BROKER as ANY_MOMENT
from kwalk.invariants.stories.reassignment import RETIRE_BROKER_WITHOUT_REPLICAS as WITHOUT_REPLICAS
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("story", "broken"),
    [(ANY_MOMENT, {"partition_has_a_live_isr_member", "replicas_are_live"}), (WITHOUT_REPLICAS, set())],
    ids=["at any moment", "without replicas"],
)
def test_of_two_brokers_one_is_missed_unless_it_has_no_replica(story, broken):
    model = Model(story, "3.9.0", {"brokers": 2})
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert shortest(verdict).keys() == broken and all(verdict.premises.values())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("story", "replicas", "broken"),
    [
        (ANY_MOMENT, 1, {"partition_has_a_live_isr_member", "replicas_are_live"}),
        (ANY_MOMENT, 2, {"replicas_are_live"}),
        (WITHOUT_REPLICAS, 1, set()),
        (WITHOUT_REPLICAS, 2, set()),
    ],
)
def test_what_a_broker_that_is_stopped_for_good_breaks(story, replicas, broken):
    model = Model(story, "3.9.0", {"replication_factor": replicas})
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert shortest(verdict).keys() == broken
