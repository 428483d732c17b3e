"""A topic's znodes that go one after the other, those of its partitions first; and brokers that delete no topics."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.deletion import DELETE_BY_HAND, TOPIC_DELETION
from kwalk.model.kafka.controller.controller_context import ReplicaState
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.outcomes import outcome_of, pinned
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


def with_topic(variant: str = "2.8.2", **flags: bool) -> Schedule:
    """A settled cluster of two brokers with topic t."""
    schedule = Schedule(Model(DELETE_BY_HAND, variant, ROOM, {"piecemeal_removal": True, **flags}))
    schedule.do("new_client_creates_topic(0)")
    return schedule


def half_deleted(**flags: bool) -> Schedule:
    """A controller has deleted the states of a topic's partitions, and then crashed."""
    schedule = with_topic(**flags)
    schedule.take("client_deletes_topic(0)")
    while schedule.cluster.zookeeper.state_of(0, 0).exists:
        key = schedule._enabled(schedule._system(("restart",)))
        assert key is not None
        schedule.take(key)
    assert schedule.taken[-1] == "complete_deletion_deletes_states(0)"
    assert schedule.cluster.zookeeper.topics[0].exists
    schedule.do("crash(0)")
    return schedule


def test_the_next_controller_completes_a_deletion_whose_states_are_gone():
    schedule = half_deleted()
    schedule.restart(0)
    znode = schedule.cluster.zookeeper.topics[0]
    assert not znode.exists and not znode.has_config and not schedule.violated("deletion_terminates")
    assert not schedule.violated("no_stray")


def test_before_kafka_6650_no_controller_can_complete_it():
    schedule = half_deleted(offline_without_leadership=False)
    schedule.restart(0)
    context = schedule.cluster.controller_of(1).topics[0]
    assert set(context.replica_states[0]) == {ReplicaState.ONLINE} and context.deletion_started
    assert schedule.violated("deletion_terminates") == ["deletion_terminates(0)"]


def test_a_deletion_that_is_asked_for_after_an_interrupted_removal_by_hand_hangs_until_the_controller_moves():
    schedule = with_topic()
    schedule.do("remove_partition_states_by_hand(0)")
    schedule.do("client_deletes_topic(0)")
    context = schedule.cluster.controller_of(0).topics[0]
    assert set(context.replica_states[0]) == {ReplicaState.ONLINE} and context.deletion_started
    assert schedule.violated("deletion_terminates")
    schedule.do("delete_controller()", winner=1)
    assert not schedule.violated("deletion_terminates") and not schedule.violated("no_stray")


def raised() -> Schedule:
    """Partition 0 is under leader epoch 1, as one of its replicas has stopped and started."""
    schedule = with_topic()
    schedule.do("stop(1, 0)")
    schedule.restart(1)
    assert schedule.cluster.zookeeper.state_of(0, 0).leader_epoch == 1
    return schedule


def test_an_interrupted_removal_shows_only_when_the_controller_moves_and_leader_epochs_begin_again():
    schedule = raised()
    schedule.do("remove_partition_states_by_hand(0)")
    assert schedule.cluster.replica_of(0, 0, 0).is_leader
    schedule.do("delete_controller()", winner=1)
    state = schedule.cluster.zookeeper.state_of(0, 0)
    assert (state.leader, state.leader_epoch, state.isr) == (0, 0, {0, 1})
    assert [broker.replicas[0][0].leader_epoch for broker in schedule.cluster.brokers] == [1, 1]
    assert schedule.violated("partition_gets_a_leader") == [] and schedule.violated("context_agrees") == []


def test_the_topics_own_znode_stays_if_a_controller_creates_a_state_below_it_meanwhile():
    schedule = with_topic()
    removal = schedule.model.instance("remove_topic_by_hand(0)")
    assert schedule.model.attempt(removal, schedule.vector).after is None
    schedule.take("remove_partition_states_by_hand(0)")
    assert schedule.model.attempt(removal, schedule.vector).after is not None
    schedule.do("delete_controller()", winner=1)
    assert schedule.cluster.zookeeper.state_of(0, 0).exists
    assert schedule.model.attempt(removal, schedule.vector).after is None
    schedule.take("remove_partition_states_by_hand(0)")
    schedule.do("remove_topic_by_hand(0)")
    assert not schedule.cluster.zookeeper.topics[0].exists


def test_where_brokers_delete_no_topics_a_marker_goes_and_the_topic_stays():
    schedule = with_topic(delete_topic_enable=False)
    schedule.do("client_deletes_topic(0)")
    assert schedule.cluster.zookeeper.topics[0].exists and not schedule.cluster.zookeeper.delete_topics
    assert not schedule.cluster.controller_of(0).topics[0].to_be_deleted
    assert all(broker.replicas[0][0].on_disk for broker in schedule.cluster.brokers)


def test_so_does_the_next_controller_with_a_marker_that_it_finds():
    schedule = with_topic(delete_topic_enable=False)
    schedule.take("delete_controller()")
    schedule.take("client_deletes_topic(0)")
    schedule.take("reelect(1)")
    schedule.settle()
    assert schedule.cluster.zookeeper.topics[0].exists and not schedule.cluster.zookeeper.delete_topics
    assert not schedule.cluster.controller_of(1).topics[0].to_be_deleted


@pytest.mark.parametrize("enabled", [True, False])
def test_the_marker_of_a_topic_that_is_unknown_goes_either_way(enabled):
    schedule = with_topic(delete_topic_enable=enabled)
    schedule.take("client_deletes_topic(0)")
    schedule.take("remove_partition_states_by_hand(0)")
    schedule.take("remove_topic_by_hand(0)")
    schedule.take("topic_deletion(0)")
    assert schedule.cluster.zookeeper.delete_topics == ({0} if enabled else frozenset())


@pytest.mark.parametrize(
    "bounds", [{"restarts": 1}, pytest.param({"restarts": 0, "failovers": 1}, marks=pytest.mark.thorough)]
)
def test_a_clients_deletion_holds_all_that_is_asked_of_it_also_if_it_goes_znode_by_znode(bounds):
    model = Model(TOPIC_DELETION, "2.8.2", bounds, {"piecemeal_removal": True})
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, verdict.bounds_hit, verdict.findings) == (Strength.EXHAUSTIVE, {}, ())
    assert outcome_of(verdict) == pinned(model)
