"""No invariant is vacuous: each can be violated, its premise occurs, and its symptom is what operators look for."""

from __future__ import annotations

import re

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Kind, Model, Scenario
from kwalk.search.examination.falsifiability import Falsifiability, falsifiability
from kwalk.search.results.trace import run
from tests.kafka.broken import Broken
from tests.kafka.planted import PLANTED
from tests.kafka.violations import BROKEN

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
INVARIANTS = {invariant.name: invariant for scenario in SCENARIOS for invariant in scenario.properties}
NUMBERED = re.compile(r"P(\d+) [A-Z]")
PROPERTIES = {
    name: invariant
    for name, invariant in INVARIANTS.items()
    if invariant.kind is not Kind.REACHABLE and NUMBERED.match(invariant.about)
}
"""The properties P1 to P24; some are several invariants."""

WITNESSES = {
    "zk_id_not_erased": ("healthy-cluster", "replica_gets_its_file"),
    "topic_id_stable": ("healthy-cluster", "replica_gets_its_file"),
    "replica_id_matches_zookeeper": ("healthy-cluster", "replica_gets_its_file"),
    "context_agrees": ("healthy-cluster", "failover_completes"),
    "one_effective_controller": ("healthy-sessions", "deposed_controller_is_unaware"),
    "controller_serves": ("healthy-cluster", "failover_completes"),
    "controller_epoch_monotone": ("healthy-cluster", "failover_completes"),
    "leader_epoch_monotone": ("healthy-cluster", "leader_epoch_rises"),
    "replica_leader_epoch_monotone": ("healthy-cluster", "leader_epoch_rises"),
    "partition_servable": ("healthy-cluster", "leader_epoch_rises"),
    "partition_gets_a_leader": ("healthy-cluster", "expansion_is_registered"),
    "replicas_converge": ("healthy-cluster", "leader_epoch_rises"),
    "leader_in_assignment": ("healthy-reassignment", "replica_is_moved"),
    "no_partition_lost": ("healthy-cluster", "expansion_is_registered"),
    "committed_survives": ("healthy-records", "record_is_committed"),
    "no_divergence": ("healthy-records", "record_is_replicated"),
    "no_resurrection": ("recreated-topic-records", "recreated_topic_has_a_record"),
    "elected_log_is_of_its_topic": ("recreated-topic-records", "recreated_topic_has_a_record"),
    "deletion_targets_intent": ("healthy-deletion", "topic_is_deleted"),
    "deleted_logs_were_unused": ("healthy-deletion", "topic_is_deleted"),
    "deletion_terminates": ("healthy-deletion", "topic_is_deleted"),
    "deletion_is_not_dropped": ("healthy-deletion", "topic_is_deleted"),
    "no_stray": ("healthy-reassignment", "replica_is_moved"),
    "no_unrequested_topic": ("delete-and-recreate", "topic_is_created_again"),
    "watch_covered": ("healthy-cluster", "fired_watch_is_pending"),
    "topic_watch_covered": ("healthy-cluster", "fired_topic_watch_is_pending"),
    "records_have_a_topic_id": ("healthy-records", "record_is_committed"),
    "log_keeps_its_topic_id": ("healthy-records", "record_is_committed"),
    "records_are_committed": ("healthy-records", "record_is_committed"),
    "topic_has_an_id": ("mixed-inter-broker-protocol", "old_protocol_controller_serves"),
    "preferred_replica_leads": ("healthy-cluster", "leader_epoch_rises"),
    "metadata_converges": ("healthy-metadata", "failover_completes"),
    "removed_topic_is_not_served": ("runbook-remove-topic", "runbook_is_finished"),
    "config_goes_with_topic": ("runbook-remove-topic", "runbook_is_finished"),
}
"""For each invariant a story that has it, and the `reachable` witness there that its premise occurs."""


def model_of(broken: Broken) -> Model:
    """The model in which a behaviour was found."""
    return Model(STORIES[broken.story], broken.variant, broken.bounds, broken.flags)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.invariant)
def test_each_invariant_is_broken_by_the_last_step_of_a_behaviour(broken, monkeypatch):
    for module, function, mistake in PLANTED[broken.planted]:
        monkeypatch.setattr(module, function, mistake)
    model = model_of(broken)
    (prop,) = model.properties_of(broken.prop)
    states = run(model, model.initial[broken.start], broken.actions)
    before = (None, *states[:-1]) if prop.kind is Kind.STEP else [None] * len(states)
    violated = [model.violates(prop, state, earlier) for earlier, state in zip(before, states, strict=True)]
    assert violated == [False] * len(broken.actions) + [True]


@pytest.mark.parametrize("broken", [b for b in BROKEN if b.planted], ids=lambda broken: broken.invariant)
def test_without_the_planted_mistake_the_behaviour_breaks_nothing(broken):
    model = model_of(broken)
    (prop,) = model.properties_of(broken.prop)
    states = [model.initial[broken.start]]
    for key in broken.actions:
        after = model.attempt(model.instance(key), states[-1]).after
        if after is None:
            break
        assert not model.violates(prop, after, states[-1] if prop.kind is Kind.STEP else None)
        states.append(after)


def test_every_invariant_is_broken_somewhere():
    assert PROPERTIES.keys() <= {broken.invariant for broken in BROKEN}


def test_every_invariant_has_a_witness_that_its_story_is_searched_for():
    assert WITNESSES.keys() >= PROPERTIES.keys()
    for invariant, (story, witness) in WITNESSES.items():
        assert {invariant, witness} <= {known.name for known in STORIES[story].properties}
        assert INVARIANTS[witness].kind is Kind.REACHABLE


def test_all_properties_p1_to_p24_are_there():
    found = [NUMBERED.match(invariant.about) for invariant in PROPERTIES.values()]
    assert {int(number[1]) for number in found if number} == set(range(1, 25))


@pytest.mark.parametrize("name", PROPERTIES)
def test_an_invariant_names_what_an_operator_looks_for(name):
    assert PROPERTIES[name].about and PROPERTIES[name].symptom and PROPERTIES[name].log


def some_variants(story: Scenario, number: int) -> list[str]:
    """The default variant, the first, the last, and one in turn: together the stories look at every release."""
    names = list(story.variants)
    return [*dict.fromkeys((story.default_variant, names[0], names[-1], names[number % len(names)]))] if names else []


QUICK = ("old-client-expansion", "recreated-topic-records", "zombie-controller", "consumer-group", "log-roll")
"""Stories whose default variant is not a thorough test."""
QUICKEST = {(name, STORIES[name].default_variant) for name in QUICK}
VARIANTS = [
    pytest.param(name, variant, marks=() if (name, variant) in QUICKEST else pytest.mark.thorough)
    for number, (name, story) in enumerate(STORIES.items())
    for variant in some_variants(story, number)
]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_each_property_of_a_story_can_fail_or_the_story_says_why_it_cannot(name, variant):
    model = Model(STORIES[name], variant)
    unfailing = {
        prop for prop, what in falsifiability(model, model.properties).items() if what is not Falsifiability.CAN_FAIL
    }
    assert unfailing <= set(STORIES[name].cannot_fail)
