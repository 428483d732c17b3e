"""How a broker judges a LeaderAndIsr request, check by check, in each version."""

from __future__ import annotations

import pytest

from kwalk.model.kafka.broker.log_manager import clear_memory, load_log
from kwalk.model.kafka.broker.replica_manager import become_leader_or_follower
from kwalk.model.kafka.requests import ControlRequest, LeaderAndIsrPartitionState
from kwalk.model.kafka.state import Replica
from tests.kafka.schedule import Schedule, model_of

ID, OTHER = 0, 1


def handle(
    variant: str, replica: Replica, *, topic_id: int | None = ID, leader: int | None = 1, epoch: int = 0
) -> Replica:
    """Broker 0's replica handles a request; its metadata file is written at once."""
    with model_of(variant, flags={"async_metadata_flush": False}).active():
        become_leader_or_follower(replica, topic_id, LeaderAndIsrPartitionState(leader, epoch), 0)
    return replica


def fresh(variant: str, **fields: object) -> Replica:
    with model_of(variant).active():
        return Replica(**fields)


def restarted(variant: str, file_topic_id: int | None) -> Replica:
    """The replica of a process that has just started, with this id on disk."""
    replica = fresh(variant, log_open=True, leader_epoch=3, topic_id=file_topic_id, file_topic_id=file_topic_id)
    with model_of(variant).active():
        clear_memory(replica)
        load_log(replica)
    return replica


def test_before_3_0_a_new_log_gets_its_id_from_the_second_request_only():
    replica = handle("2.8.2", fresh("2.8.2"))
    assert (replica.log_open, replica.leader_epoch, replica.topic_id) == (True, 0, None)
    handle("2.8.2", replica)
    assert (replica.topic_id, replica.file_topic_id) == (ID, ID)


def test_since_3_0_a_new_log_gets_its_id_from_the_first_request():
    replica = handle("3.9.0", fresh("3.9.0"))
    assert (replica.log_open, replica.topic_id, replica.file_topic_id) == (True, ID, ID)


def test_before_3_0_the_first_request_after_a_restart_is_accepted_with_another_id():
    replica = handle("2.8.2", restarted("2.8.2", ID), topic_id=OTHER, leader=0, epoch=4)
    assert (replica.leader_epoch, replica.is_leader, replica.topic_id) == (4, True, ID)
    handle("2.8.2", replica, topic_id=OTHER, leader=0, epoch=5)
    assert replica.leader_epoch == 4


def test_since_3_0_the_first_request_after_a_restart_is_refused_with_another_id():
    replica = handle("3.9.0", restarted("3.9.0", ID), topic_id=OTHER, leader=0, epoch=4)
    assert (replica.log_open, replica.leader_epoch, replica.is_leader) == (False, None, False)


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_a_request_without_id_passes_whatever_the_log_has(variant):
    replica = handle(variant, restarted(variant, ID), topic_id=None, epoch=4)
    assert (replica.leader_epoch, replica.topic_id) == (4, ID)


def test_before_3_0_an_id_is_assigned_even_by_a_request_with_an_older_leader_epoch():
    replica = handle("2.8.2", fresh("2.8.2", log_open=True, leader_epoch=3), epoch=2)
    assert (replica.leader_epoch, replica.topic_id) == (3, ID)


@pytest.mark.parametrize(("epoch", "assigned"), [(2, None), (3, ID), (4, ID)])
def test_since_3_0_a_request_with_an_older_leader_epoch_assigns_nothing(epoch, assigned):
    replica = handle("3.9.0", fresh("3.9.0", log_open=True, leader_epoch=3), epoch=epoch)
    assert replica.topic_id == assigned


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_when_the_leader_is_dead_the_log_is_opened_and_epoch_and_role_stay(variant):
    replica = handle(variant, fresh(variant), leader=None, epoch=4)
    assert (replica.log_open, replica.leader_epoch, replica.is_leader) == (True, None, False)


def test_an_existing_file_is_never_overwritten():
    replica = handle("2.8.2", fresh("2.8.2", log_open=True, leader_epoch=0, file_topic_id=OTHER))
    assert (replica.topic_id, replica.file_topic_id) == (ID, OTHER)


def test_a_request_of_an_older_controller_is_refused_whole():
    schedule = Schedule(model_of("2.8.2"))
    schedule.do("old_client_creates_topic(0)")
    cluster = schedule.cluster
    with schedule.model.active():
        cluster.brokers[1].controller_epoch = 5
        cluster.brokers[1].requests.headers.push(ControlRequest(4, 0, ID))
        for column in cluster.brokers[1].requests.partition_states:
            column.push(LeaderAndIsrPartitionState(1, 3))
    schedule.vector = schedule.model.vector(cluster)
    schedule.take("handle_leader_and_isr(1)")
    broker = schedule.cluster.brokers[1]
    assert (broker.controller_epoch, broker.replicas[0][0].leader_epoch) == (5, 0)
    assert broker.requests.headers.is_empty and all(column.is_empty for column in broker.requests.partition_states)


def test_an_id_that_was_not_flushed_is_lost_in_a_crash_and_kept_by_a_clean_stop():
    for fault, kept in (("crash(1)", None), ("stop(1, 0)", ID)):
        schedule = Schedule(model_of("3.9.0"))
        schedule.take("old_client_creates_topic(0)")
        schedule.settle(but=("flush_metadata",))
        assert schedule.files(0) == [None, None, None]
        schedule.take(fault)
        assert schedule.files(0)[1] == kept
