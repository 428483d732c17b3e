"""What comes eventually in Kafka once faults are over: it does in 2.8.2; in 3.0 a deletion hangs; and it can fail."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.invariants.stories.deletion import RECOVERY, TOPIC_DELETION, TOPIC_DELETION_WITH_STRAY_LOG
from kwalk.invariants.stories.healthy import AFTER_FAULTS, HEALTHY
from kwalk.model.kafka.controller.kafka_controller import broker_startup, reelect
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.fairness import is_fair_counterexample, neglected_conditions
from kwalk.search.results.verdict import Answer, Strength
from tests.kafka.outcomes import pinned


def recovery(scenario, variant, **flags):
    """The verdict on what comes eventually, and in how many states waits begin that need not end."""
    model = Model(scenario, variant, flags=flags)
    properties = tuple(prop for prop in model.properties if prop.declaration in (*RECOVERY, *AFTER_FAULTS))
    verdict = exhaust(model, properties=properties, keep_going=True)
    return model, verdict, {finding.prop: finding.count for finding in verdict.findings}


@pytest.mark.parametrize(
    ("variant", "waits"), [pytest.param("2.8.2", 4_372, marks=pytest.mark.thorough), ("3.9.0", 4_316)]
)
def test_when_faults_are_over_all_comes_right_in_a_story_of_a_deletion(variant, waits):
    states = pinned(Model(TOPIC_DELETION, variant)).states
    _, verdict, endless = recovery(TOPIC_DELETION, variant)
    assert (verdict.answer, verdict.strength, verdict.distinct_states) == (Answer.HOLDS, Strength.EXHAUSTIVE, states)
    assert (endless, verdict.bounds_hit) == ({}, {})
    assert verdict.premises["deletion_eventually_ends(0)"] == waits
    assert verdict.premises["failover_eventually_ends()"] == states


def test_in_3_0_a_deletion_that_meets_a_stray_log_never_ends():
    model, verdict, endless = recovery(TOPIC_DELETION_WITH_STRAY_LOG, "3.0")
    assert endless == {"partition_is_eventually_served(0, 0)": 66, "deletion_eventually_ends(0)": 66}
    trace, (prop,) = verdict.findings[-1].trace, model.properties_of("deletion_eventually_ends")
    assert (trace.length, trace.loop, trace.prop) == (14, 14, prop.key)
    assert is_fair_counterexample(model, prop, trace) and neglected_conditions(model, trace) == ()
    stable = exhaust(model, properties=model.properties_of("deletion_terminates")).counterexample
    assert stable.length == trace.length


@pytest.mark.thorough
def test_before_offline_replicas_were_distinguished_a_deletion_hangs_as_well():
    _, verdict, endless = recovery(TOPIC_DELETION, "2.8.2", offline_without_leadership=False)
    assert verdict.answer is Answer.VIOLATED
    assert "deletion_eventually_ends(0)" in endless


def test_where_no_controller_is_elected_a_failover_never_ends():
    without = evolve(TOPIC_DELETION, actions=tuple(a for a in TOPIC_DELETION.actions if a is not reelect))
    _, verdict, endless = recovery(without, "2.8.2")
    assert endless["failover_eventually_ends()"] > 0
    trace = next(f.trace for f in verdict.findings if f.prop == "failover_eventually_ends()")
    assert trace.loop == trace.length


def test_an_event_that_no_controller_handles_waits_infinitely():
    (story,) = (scenario for scenario in HEALTHY if scenario.name == "healthy-cluster")
    small = evolve(story, bounds={**story.bounds, "partitions": 1, "new_expansions": 0})
    without = evolve(small, actions=tuple(a for a in small.actions if a is not broker_startup))
    _, verdict, endless = recovery(small, "3.9.0")
    assert (verdict.answer, verdict.strength, endless) == (Answer.HOLDS, Strength.EXHAUSTIVE, {})
    _, verdict, endless = recovery(without, "3.9.0")
    assert endless["events_are_eventually_handled(0)"] > 0
