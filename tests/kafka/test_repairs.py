"""What the page on repairs of topic ids advises: which id replicas have after an expansion, and when each way heals."""

from __future__ import annotations

from itertools import permutations

import pytest
from attrs import evolve

from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.clients.operator import remove_metadata_files, write_topic_id
from kwalk.model.language import Model
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import CALM, Schedule
from tests.kafka.test_topic_ids import examined

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
WHOLE = ("replica_id_matches_zookeeper", "partition_servable", "replicas_converge", "context_agrees")
FIRST, SECOND = 0, 1
"""The topic's first id, which the old client erased, and the one that the next controller minted."""


def wrong(schedule: Schedule) -> list[str]:
    """What of a whole cluster does not hold."""
    return [name for name in WHOLE if schedule.violated(name)]


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
@pytest.mark.parametrize("stopped", range(3))
def test_after_the_outage_as_well_the_first_id_written_back_and_one_failover_repair(variant, stopped):
    bounds = {"brokers": 3, "controller_epochs": 9, "restarts": 4, "failovers": 2}
    schedule = Schedule(Model(STORIES["repair-by-writing-the-id-back"], variant, bounds))
    schedule.do(f"stop({stopped}, 0)")
    schedule.restart(stopped)
    assert wrong(schedule) == ["replica_id_matches_zookeeper", "partition_servable", "replicas_converge"]
    schedule.do("write_topic_id(0, 0)")
    assert wrong(schedule) == ["partition_servable", "replicas_converge", "context_agrees"]
    schedule.do("delete_controller()")
    assert wrong(schedule) == []


def expanded(variant: str, *, failover: bool) -> Schedule:
    """An old client has added partition 1 to a topic whose partition 0 is not fresh; the controller may have moved."""
    flags = {**OLD_CLIENT_EXPANSION.flags, **CALM, "metadata_file_removal": True}
    actions = (*OLD_CLIENT_EXPANSION.actions, remove_metadata_files, write_topic_id)
    room = {"failovers": 4, "restarts": 9, "repairs": 9, "leader_epochs": 14, "controller_epochs": 9, "requests": 9}
    schedule = Schedule(Model(evolve(OLD_CLIENT_EXPANSION, flags=flags, actions=actions), variant, room))
    schedule.do("old_client_creates_topic(0)")
    schedule.do("delete_controller()")
    schedule.do("old_client_adds_partitions(0)")
    if failover:
        schedule.do("delete_controller()")
    return schedule


def restarted(schedule: Schedule) -> Schedule:
    """The same when every broker has been restarted, one after another."""
    for broker in range(3):
        schedule.do(f"stop({broker}, {schedule.cluster.zookeeper.controller})")
        schedule.restart(broker)
    return schedule


@pytest.mark.parametrize(("variant", "added"), [("2.8.2", None), ("3.9.0", FIRST)])
def test_before_the_next_failover_the_first_id_written_back_is_all_that_is_needed(variant, added):
    schedule = expanded(variant, failover=False)
    assert (schedule.files(0), schedule.files(1)) == ([FIRST] * 3, [added] * 3)
    schedule.do(f"write_topic_id(0, {FIRST})")
    assert wrong(schedule) == []
    schedule.do("delete_controller()")
    assert wrong(restarted(schedule)) == [] and schedule.files(1) == [FIRST] * 3


@pytest.mark.parametrize(
    ("variant", "added", "left"),
    [("2.8.2", SECOND, list(WHOLE[:3])), ("3.9.0", FIRST, [])],
)
def test_after_it_the_added_partitions_of_2_8_have_the_second_id_and_break_if_the_first_is_written(
    variant, added, left
):
    schedule = expanded(variant, failover=True)
    assert (schedule.files(0), schedule.files(1)) == ([FIRST] * 3, [added] * 3)
    schedule.do(f"write_topic_id(0, {FIRST})")
    schedule.do("delete_controller()")
    assert wrong(restarted(schedule)) == left


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_files_removed_and_every_broker_restarted_repair_old_and_added_partitions(variant):
    schedule = expanded(variant, failover=True)
    for broker in range(3):
        schedule.do(f"remove_metadata_files({broker})")
    assert wrong(restarted(schedule)) == []


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_until_the_last_broker_is_restarted_it_alone_is_in_the_isr_and_nothing_heals(variant, order):
    bounds = {"brokers": 3, "repairs": 3, "restarts": 4, "failovers": 1, "controller_epochs": 9}
    schedule = Schedule(Model(STORIES["repair-by-removing-files"], variant, bounds))
    for broker in range(3):
        schedule.do(f"remove_metadata_files({broker})")
    isr = []
    for broker in order:
        schedule.do(f"stop({broker}, {schedule.cluster.zookeeper.controller})")
        schedule.restart(broker)
        isr.append(set(schedule.cluster.zookeeper.state_of(0, 0).isr))
        assert wrong(schedule) == ([] if broker == order[-1] else list(WHOLE[:3]))
    assert isr == [{order[1], order[2]}, {order[2]}, {0, 1, 2}]


@pytest.mark.thorough
def test_in_3_9_as_well_data_are_safe_while_files_with_topic_ids_are_removed_and_brokers_restarted():
    model = Model(STORIES["repair-with-records"], "3.9.0", {"restarts": 3})
    verdict, found = examined(model)
    assert outcome_of(verdict) == pinned(model)
    assert found.keys() == {"records_have_a_topic_id", "partition_servable", "replicas_converge"}


def test_data_are_not_safe_where_a_replica_outside_the_isr_may_be_elected_meanwhile():
    _, found = examined(Model(STORIES["repair-with-records"], "2.8.2", {}, {"unclean_election": True}))
    assert "committed_survives" in found
