"""Disks that fail: who leads then, what becomes of deletions, and what brokers of 3.0 take for a failed disk."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.deletion import DELETE_BY_HAND
from kwalk.model.kafka.controller.controller_context import ReplicaState
from kwalk.model.language import Model
from tests.kafka.schedule import Schedule

ROOM = {
    "restarts": 4,
    "failovers": 3,
    "deletions": 2,
    "hand_removals": 4,
    "topic_ids": 3,
    "incarnations": 2,
    "controller_epochs": 9,
    "leader_epochs": 14,
}


def with_topic(variant: str = "2.8.2") -> Schedule:
    """A settled cluster of two brokers with topic t."""
    schedule = Schedule(Model(DELETE_BY_HAND, variant, ROOM, {"offline_logs": True}))
    schedule.do("new_client_creates_topic(0)")
    return schedule


def leader_and_isr(schedule: Schedule) -> tuple[int | None, frozenset[int]]:
    state = schedule.cluster.zookeeper.state_of(0, 0)
    return state.leader, state.isr


def test_a_broker_that_starts_without_its_disk_stays_out_of_the_isr_and_has_its_log_at_the_next_start():
    schedule = with_topic()
    schedule.do("stop(1, 0)")
    schedule.do("start_with_offline_logs(1)")
    assert schedule.cluster.replica_of(1, 0, 0).offline and leader_and_isr(schedule) == (0, {0})
    assert schedule.cluster.controller_of(0).topics[0].offline[0] == {1}
    schedule.do("stop(1, 0)")
    schedule.restart(1)
    replica = schedule.cluster.replica_of(1, 0, 0)
    assert replica.log_open and not replica.offline and not schedule.cluster.controller_of(0).topics[0].offline[0]


def test_the_only_isr_member_leads_no_more_when_its_disk_has_failed():
    schedule = with_topic()
    schedule.do("stop(1, 0)")
    schedule.do("crash(0)")
    schedule.restart(1)
    assert leader_and_isr(schedule)[1] == {0}
    schedule.do("start_with_offline_logs(0)")
    assert leader_and_isr(schedule) == (None, {0})


def test_a_deletion_hangs_while_a_disk_has_failed_and_continues_when_the_broker_has_its_logs_again():
    schedule = with_topic()
    schedule.do("stop(1, 0)")
    schedule.do("start_with_offline_logs(1)")
    schedule.do("client_deletes_topic(0)")
    context = schedule.cluster.controller_of(0).topics[0]
    assert context.ineligible_for_deletion and list(context.replica_states[0]) == [
        ReplicaState.DELETION_SUCCESSFUL,
        ReplicaState.OFFLINE,
    ]
    assert schedule.violated("deletion_terminates") == ["deletion_terminates(0)"]
    schedule.do("stop(1, 0)")
    schedule.restart(1)
    assert not schedule.violated("deletion_terminates") and not schedule.violated("no_stray")


@pytest.mark.parametrize(("variant", "offline"), [("2.8.2", False), ("3.0", True), ("3.9.0", False)])
def test_in_3_0_a_broker_takes_a_log_with_another_topic_id_for_one_on_a_failed_disk(variant, offline):
    schedule = with_topic(variant)
    schedule.do("delete_controller()", winner=0)
    schedule.do("stop(1, 0)")
    assert schedule.cluster.replica_of(1, 0, 0).file_topic_id == 0
    schedule.do("remove_topic_by_hand(0)")
    schedule.do("new_client_creates_topic(0)")
    schedule.do("delete_controller()", winner=0)
    schedule.restart(1)
    replica = schedule.cluster.replica_of(1, 0, 0)
    assert (replica.offline, replica.log_open) == (offline, variant == "2.8.2")
    schedule.do("delete_controller()", winner=0)
    assert schedule.cluster.controller_of(0).topics[0].offline[0] == ({1} if offline else frozenset())
    schedule.do("client_deletes_topic(0)")
    assert bool(schedule.violated("deletion_terminates")) == offline
