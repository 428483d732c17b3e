"""The page of Kafka's names has every step of the controller and of brokers."""

from __future__ import annotations

from docs.generate.kafka_names import entries
from kwalk.invariants.stories import SCENARIOS
from kwalk.model.kafka.actors import BROKER, CONTROLLER
from kwalk.model.kafka.groups.domains import COORDINATOR


def test_every_step_of_the_controller_of_brokers_and_of_group_coordinators_has_a_name_of_kafka():
    actors = (CONTROLLER, BROKER, COORDINATOR)
    actions = {action for scenario in SCENARIOS for action in scenario.actions if action.by in actors}
    assert {action.name for action in actions} - {entry.model for entry in entries()} == UNNAMED


UNNAMED = {"receive_late_copy", "partition_modifications_restores_topic_id"}
"""A copy that the network delays, and a fix that no release has."""
