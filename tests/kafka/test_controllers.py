"""Watches, the event queue, elections, and what a deposed controller can still do."""

from __future__ import annotations

import pytest

from kwalk.model.kafka.controller.controller_context import BrokerRegistration, EventKind, EventProgress
from kwalk.model.kafka.requests import ControlRequest, LeaderAndIsrPartitionState
from tests.kafka.schedule import Schedule, model_of


def created(**bounds: int) -> Schedule:
    """A settled cluster with a topic of one partition, controller 0."""
    schedule = Schedule(model_of("2.8.2", **bounds))
    schedule.do("old_client_creates_topic(0)")
    return schedule


def events(schedule: Schedule, broker: int) -> list[EventKind]:
    return [event.kind for event in schedule.cluster.controller_of(broker).events]


def test_a_watch_fires_once_until_a_read_arms_it_again():
    schedule = created(new_expansions=1)
    schedule.take("new_client_adds_partitions(0)")
    assert not schedule.cluster.zookeeper.watches[0].topic[0]
    assert events(schedule, 0) == [EventKind.PARTITION_MODIFICATIONS]
    schedule.take("partition_modifications(0, 0)")
    assert schedule.cluster.zookeeper.watches[0].topic[0]


def test_only_the_controller_hears_of_topics_and_everybody_of_the_controller():
    schedule = Schedule(model_of("2.8.2"))
    schedule.take("old_client_creates_topic(0)")
    assert [events(schedule, b) for b in range(3)] == [[EventKind.TOPIC_CHANGE], [], []]
    schedule.take("delete_controller()")
    assert [events(schedule, b)[-1:] for b in range(3)] == [[EventKind.REELECT]] * 3


def test_the_old_controller_handles_what_was_queued_before_its_reelect_with_success():
    schedule = created()
    schedule.take("old_client_adds_partitions(0)")
    schedule.take("delete_controller()")
    schedule.take("partition_modifications(0, 0)")
    assert schedule.cluster.zookeeper.state_of(0, 1).exists


def test_the_old_controller_is_fenced_once_another_was_elected_and_then_resigns():
    schedule = created()
    schedule.take("old_client_adds_partitions(0)")
    schedule.take("delete_controller()")
    schedule.take("reelect(1)")
    schedule.take("partition_modifications(0, 0)")
    assert schedule.cluster.controller_of(0).step is EventProgress.CONTROLLER_MOVED
    assert not schedule.cluster.zookeeper.state_of(0, 1).exists
    schedule.take("controller_moved(0)")
    assert not schedule.cluster.controller_of(0).is_active
    schedule.settle()
    assert schedule.cluster.zookeeper.state_of(0, 1).exists


def test_the_old_controller_can_win_again_with_an_empty_context():
    schedule = created()
    schedule.take("delete_controller()")
    schedule.take("reelect(0)")
    controller = schedule.cluster.controller_of(0)
    assert schedule.cluster.zookeeper.controller == 0 and controller.epoch == 2
    assert controller.topics[0].partition_count == 0 and set(controller.registrations) == {BrokerRegistration.GONE}


def test_an_expansion_after_the_deletion_is_seen_by_the_next_controller_only():
    schedule = created()
    schedule.take("delete_controller()")
    schedule.take("old_client_adds_partitions(0)")
    assert events(schedule, 0) == [EventKind.REELECT, EventKind.PARTITION_MODIFICATIONS]
    schedule.settle()
    assert schedule.cluster.zookeeper.state_of(0, 1).exists


def test_of_a_resigning_controllers_requests_those_in_flight_still_arrive():
    schedule = Schedule(model_of("2.8.2"))
    cluster = schedule.cluster
    requests = cluster.brokers[1].requests
    with schedule.model.active():
        for controller_epoch, leader_epoch in ((1, 0), (1, 1), (2, 2)):
            requests.headers.push(ControlRequest(controller_epoch))
            for column in requests.partition_states:
                column.push(LeaderAndIsrPartitionState(0, leader_epoch))
        requests.drop_waiting(1)
    assert [header.controller_epoch for header in requests.headers] == [1, 2]
    assert [[state.leader_epoch for state in column] for column in requests.partition_states] == [[0, 2], [0, 2]]


def test_a_broker_that_bounces_unnoticed_gets_no_request_until_the_controller_knows_its_new_registration():
    schedule = created()
    schedule.take("crash(2)")
    schedule.take("restart(2)")
    schedule.take("old_client_adds_partitions(0)")
    assert events(schedule, 0) == [EventKind.BROKER_CHANGE, EventKind.PARTITION_MODIFICATIONS]
    schedule.take("broker_failure(0)")
    assert schedule.cluster.brokers[2].requests.headers.is_empty
    assert events(schedule, 0)[0] is EventKind.BROKER_CHANGE
    schedule.take("broker_startup(0)")
    assert not schedule.cluster.brokers[2].requests.headers.is_empty


def test_the_last_isr_member_stays_in_the_isr_without_a_leader_when_it_goes():
    schedule = created()
    for broker in (1, 2):
        schedule.do(f"stop({broker}, 0)")
    schedule.do("stop(0, 0)")
    for broker in (1, 2):
        schedule.restart(broker)
    state = schedule.cluster.zookeeper.state_of(0, 0)
    assert (state.leader, state.isr) == (None, {0})
    schedule.restart(0)
    state = schedule.cluster.zookeeper.state_of(0, 0)
    assert (state.leader, state.isr) == (0, {0, 1, 2})


def test_preferred_replicas_lead_again_some_time_after_a_restart():
    schedule = Schedule(model_of("2.8.2", flags={"preferred_election": True}))
    schedule.do("old_client_creates_topic(0)")
    schedule.do("stop(0, 0)")
    schedule.restart(0)
    assert schedule.cluster.zookeeper.state_of(0, 0).leader == 1
    schedule.do(f"auto_preferred_election({schedule.cluster.zookeeper.controller})")
    state = schedule.cluster.zookeeper.state_of(0, 0)
    assert (state.leader, state.leader_epoch) == (0, 2)


def test_an_inactive_module_keeps_nothing_of_its_context():
    schedule = created()
    model = schedule.model
    blank = model.state(model.initial[0]).brokers[1].controller
    schedule.do("delete_controller()", winner=2)
    assert schedule.cluster.controller_of(0) == blank


@pytest.mark.parametrize(("variant", "shrinks"), [("2.5.0", True), ("2.8.2", False), ("3.9.0", False)])
def test_before_2_7_a_leader_changes_the_isr_without_a_controller(variant, shrinks):
    schedule = Schedule(model_of(variant, flags={"isr_changes": "any time"}))
    schedule.do("old_client_creates_topic(0)")
    schedule.take("delete_controller()")
    schedule.take("crash(2)")
    shrink = schedule.model.instance("shrink_isr(0, 0, 0)")
    after = schedule.model.attempt(shrink, schedule.vector).after
    assert (after is not None) == shrinks
    if after is not None:
        schedule.take("shrink_isr(0, 0, 0)")
        assert schedule.cluster.zookeeper.state_of(0, 0).isr == {0, 1}
        assert schedule.cluster.zookeeper.controller is None
