"""Deleted topics: by a client, by hand, created again; and what dead entries of a controller's state machines do."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.invariants.stories.deletion import (
    DELETE_AND_RECREATE,
    DELETE_BY_HAND,
    DELETION_DISABLED,
    EXPANSION_DURING_DELETION,
    TOPIC_DELETION,
    cluster_with_topic,
)
from kwalk.model.kafka.actions import REASSIGNMENT as REASSIGNMENT_ACTIONS
from kwalk.model.kafka.broker import replica_manager
from kwalk.model.kafka.clients import faults
from kwalk.model.kafka.controller.controller_context import PartitionState, ReplicaState
from kwalk.model.kafka.requests import RequestKind
from kwalk.model.kafka.versions import RELEASES
from kwalk.model.kafka.zookeeper.kafka_zk_client import create_delete_topics_znode
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned, pinned_steps
from tests.kafka.planted import takes_any_controller
from tests.kafka.schedule import PATIENT, Schedule

LATE_COPIES = evolve(
    DELETE_AND_RECREATE,
    actions=(*DELETE_AND_RECREATE.actions, faults.break_connection, faults.receive_late_copy),
)
"""A StopReplica may arrive once more, after whatever came in between."""


def by_hand(**flags: bool) -> Schedule:
    """A settled cluster of two brokers with topic t, where everything may be done to it."""
    room = {"restarts": 4, "failovers": 2, "deletions": 2, "hand_removals": 4, "topic_ids": 3, "incarnations": 2}
    bounds = {**room, "controller_epochs": 9, "leader_epochs": 14}
    schedule = Schedule(Model(DELETE_BY_HAND, "2.8.2", bounds, flags))
    schedule.do("new_client_creates_topic(0)")
    return schedule


def on_disk(schedule: Schedule) -> list[bool]:
    """Whether each broker has the log of partition 0."""
    return [broker.replicas[0][0].on_disk for broker in schedule.cluster.brokers]


@pytest.mark.parametrize(("variant", "is_told_first"), [("2.5.0", True), ("2.8.2", False), ("3.9.0", False)])
def test_up_to_2_6_a_broker_that_starts_is_told_first_which_topics_are_being_deleted(variant, is_told_first):
    """KAFKA-10040; later the requests about its replicas bring it."""
    schedule = Schedule(Model(TOPIC_DELETION, variant, {"requests": 9}, {"metadata_caches": True}))
    schedule.do("new_client_creates_topic(0)")
    schedule.do("crash(1)")
    schedule.do("client_deletes_topic(0)")
    schedule.take("restart(1)")
    schedule.take("broker_startup(0)")
    kinds = [request.kind for request in schedule.cluster.brokers[1].requests.headers]
    assert (kinds[0] is RequestKind.UPDATE_METADATA) == is_told_first and RequestKind.UPDATE_METADATA in kinds
    schedule.settle()
    assert schedule.cluster.brokers[1].metadata[0][0].leader is None and not schedule.violated("deletion_terminates")


def test_a_deletion_leaves_nothing_of_the_topic():
    schedule = by_hand()
    schedule.do("client_deletes_topic(0)")
    znode, context = schedule.cluster.zookeeper.topics[0], schedule.cluster.controller_of(0).topics[0]
    assert not znode.exists and not znode.has_config and not schedule.cluster.zookeeper.delete_topics
    assert on_disk(schedule) == [False, False] and context.partition_count == 0
    assert context.partition_states[0] is PartitionState.NON_EXISTENT
    assert set(context.replica_states[0]) == {ReplicaState.NON_EXISTENT}


def test_a_deletion_waits_for_a_dead_replica_and_continues_when_its_broker_starts():
    schedule = by_hand()
    schedule.do("stop(1, 0)")
    schedule.do("client_deletes_topic(0)")
    assert schedule.cluster.zookeeper.delete_topics == {0} and on_disk(schedule) == [False, True]
    schedule.restart(1)
    assert not schedule.cluster.zookeeper.delete_topics and on_disk(schedule) == [False, False]


def partly_hosted(**bounds: int) -> Model:
    """A topic that has a replica on the first of two brokers only, and may be reassigned and deleted."""
    scenario = evolve(
        TOPIC_DELETION,
        initial=cluster_with_topic,
        actions=(*TOPIC_DELETION.actions, *REASSIGNMENT_ACTIONS),
        bounds={**TOPIC_DELETION.bounds, "new_creations": 0, "restarts": 0, "replication_factor": 1, **bounds},
        flags={**TOPIC_DELETION.flags, "reassignment": True, "isr_changes": "between requests"},
    )
    return Model(scenario, "3.9.0")


def test_a_deletion_does_not_wait_for_a_broker_without_a_replica():
    schedule = Schedule(partly_hosted(restarts=1))
    schedule.do("crash(1)")
    schedule.do("client_deletes_topic(0)")
    assert not schedule.cluster.zookeeper.delete_topics and on_disk(schedule) == [False, False]


def test_a_replica_that_was_moved_is_deleted_where_it_is():
    schedule = Schedule(partly_hosted(reassignments=1))
    schedule.do("alter_partition_reassignments(0, 0, 0, 0)")
    assert on_disk(schedule) == [False, True]
    schedule.do("client_deletes_topic(0)")
    assert not schedule.cluster.zookeeper.delete_topics and on_disk(schedule) == [False, False]


def test_znodes_that_are_removed_by_hand_leave_the_logs_and_dead_entries():
    schedule = by_hand()
    schedule.do("remove_topic_by_hand(0)")
    context = schedule.cluster.controller_of(0).topics[0]
    assert schedule.cluster.controller_of(0).topics[0].partition_count == 0
    assert on_disk(schedule) == [True, True] and schedule.violated("no_stray")
    assert context.partition_states[0] is PartitionState.ONLINE and set(context.replica_states[0]) == {
        ReplicaState.ONLINE
    }


def test_a_topic_created_again_after_removal_by_hand_has_no_leader_until_the_next_failover():
    schedule = by_hand()
    schedule.do("remove_topic_by_hand(0)")
    schedule.do("new_client_creates_topic(0)")
    assert schedule.violated("partition_gets_a_leader")
    schedule.do("delete_controller()")
    assert not schedule.violated("partition_gets_a_leader")


def test_it_has_a_leader_at_once_if_the_controller_forgets_states_with_the_topic():
    schedule = by_hand(clear_sm_on_remove=True)
    schedule.do("remove_topic_by_hand(0)")
    schedule.do("new_client_creates_topic(0)")
    assert schedule.cluster.zookeeper.state_of(0, 0).leader == 0


def test_a_topic_removed_by_hand_while_it_was_ineligible_can_never_be_deleted_again():
    schedule = by_hand()
    schedule.do("stop(1, 0)")
    schedule.do("client_deletes_topic(0)")
    schedule.do("remove_topic_by_hand(0)")
    schedule.do("remove_deletion_request_by_hand(0)")
    schedule.restart(1)
    schedule.do("new_client_creates_topic(0)")
    schedule.do("client_deletes_topic(0)")
    assert schedule.cluster.controller_of(0).topics[0].ineligible_for_deletion
    assert schedule.violated("deletion_terminates")


def test_a_marker_that_outlives_a_removal_by_hand_deletes_the_next_topic_of_that_name():
    schedule = by_hand()
    schedule.do("stop(1, 0)")
    schedule.do("client_deletes_topic(0)")
    schedule.do("remove_topic_by_hand(0)")
    schedule.restart(1)
    schedule.do("new_client_creates_topic(0)")
    assert schedule.cluster.zookeeper.topics[0].exists
    schedule.do("delete_controller()")
    znode = schedule.cluster.zookeeper.topics[0]
    assert not znode.exists and not znode.deletion_requested


@pytest.mark.parametrize("next_controller", [None, 1])
def test_a_marker_of_a_topic_that_never_existed_goes_with_either_controller(next_controller):
    # No action writes such a marker: a client checks first that the topic exists.
    schedule = Schedule(Model(DELETE_BY_HAND, "2.8.2", {"failovers": 1, "controller_epochs": 3}))
    if next_controller is not None:
        schedule.take("delete_controller()")
    with schedule.model.active():
        cluster = schedule.cluster
        create_delete_topics_znode(cluster, 0)
        schedule.vector = schedule.model.vector(cluster)
    if next_controller is not None:
        schedule._elect(next_controller)
    schedule.settle()
    assert schedule.cluster.zookeeper.controller == (next_controller or 0)
    assert not schedule.cluster.zookeeper.delete_topics
    assert not any(broker.controller.topics[0].to_be_deleted for broker in schedule.cluster.brokers)


def test_a_clients_deletion_holds_all_that_is_asked_of_it_in_every_state():
    model = Model(TOPIC_DELETION, "2.8.2")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert (verdict.findings, verdict.bounds_hit) == ((), {})


STALE_RESPONSES = (
    "topic_deletion(0)",
    "handle_stop_replica(0)",
    "handle_stop_replica(0)",
    "handle_stop_replica(1)",
    "handle_stop_replica(1)",
    "reelect(0)",
    "delete_controller()",
    "failover_reads_topics(0)",
    "failover_sets_topic_ids(0)",
    "failover_reads_states(0)",
    "failover_sends_requests(0)",
    "stop_replica_response(0)",
    "stop_replica_response(0)",
    "complete_deletion_deletes_topic(0)",
    "complete_deletion_deletes_config(0)",
    "complete_deletion_deletes_request(0)",
)
"""A controller deletes a topic, is elected again, and continues with the answers to its first term's requests."""


def test_answers_to_an_earlier_term_of_the_controller_complete_a_deletion_whose_requests_are_still_on_their_way():
    schedule = Schedule(Model(TOPIC_DELETION, "2.8.2", {"failovers": 2, "restarts": 0}))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("client_deletes_topic(0)")
    schedule.take("delete_controller()")
    for key in STALE_RESPONSES:
        schedule.take(key)
    assert not schedule.cluster.zookeeper.topics[0].exists and not schedule.cluster.zookeeper.delete_topics
    schedule._elect(1)
    schedule.settle()
    assert schedule.violated("no_stray"), "the second term's LeaderAndIsr came, its StopReplica was dropped"


@pytest.mark.parametrize("fenced", [True, False])
def test_a_late_stop_replica_of_a_deposed_controller_would_remove_the_next_topics_log_but_for_its_epoch(
    monkeypatch, fenced
):
    """Real brokers refuse it: `kwalk lab reproduce late-stop-replica`."""
    if not fenced:
        monkeypatch.setattr(replica_manager, "is_from_older_controller", takes_any_controller)
    schedule = Schedule(Model(LATE_COPIES, "3.9.0", {"late_copies": 1, "requests": 4}))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("client_deletes_topic(0)")
    schedule.take("topic_deletion(0)")
    schedule.take("handle_stop_replica(1)")
    assert on_disk(schedule) == [True, True]
    schedule.take("break_connection(1)")
    later = (*PATIENT, "receive_late_copy")
    schedule.settle(but=later)
    schedule.take("delete_controller()")
    schedule._elect(1)
    schedule.settle(but=later)
    schedule.take("new_client_creates_topic(0)")
    schedule.settle(but=later)
    assert schedule.cluster.zookeeper.controller_epoch == 2 and on_disk(schedule) == [True, True]
    schedule.take("receive_late_copy(1)")
    schedule.take("handle_stop_replica(1)")
    assert on_disk(schedule) == [True, fenced]


@pytest.mark.parametrize(
    "release", [r if r == RELEASES[-1] else pytest.param(r, marks=pytest.mark.thorough) for r in RELEASES]
)
def test_in_every_release_a_second_deletion_is_lost_or_hangs(release):
    at_once = Model(DELETE_AND_RECREATE, release, {"deletions": 2, "failovers": 0})
    lost = exhaust(at_once, properties=at_once.properties_of("deletion_is_not_dropped")).counterexample
    restarted = Model(DELETE_AND_RECREATE, release, {"deletions": 2, "failovers": 0, "restarts": 1})
    hangs = exhaust(restarted, properties=restarted.properties_of("deletion_terminates")).counterexample
    shown = [Model(DELETE_AND_RECREATE, RELEASES[-1], model.bound_overrides) for model in (at_once, restarted)]
    assert lost.length == pinned_steps(shown[0], "deletion_is_not_dropped")
    assert hangs.length == pinned_steps(shown[1], "deletion_terminates")


@pytest.mark.parametrize(("old_admins", "is_back"), [(1, True), (0, False)])
def test_only_a_client_of_1_0_creates_the_znode_that_it_writes(old_admins, is_back):
    bounds = {"failovers": 0, "old_admins": old_admins}
    schedule = Schedule(Model(EXPANSION_DURING_DELETION, "2.8.2", bounds, {"old_upsert": True}))
    schedule.take("admin_reads_topic(0, 0)")
    schedule.do("client_deletes_topic(0)")
    assert not schedule.cluster.zookeeper.topics[0].exists
    schedule.do("admin_writes_topic(0, 1)")
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.exists, znode.has_config) == (is_back, False)


@pytest.mark.usefixtures("interpreted")
def test_where_deletion_is_disabled_a_request_is_dropped_and_no_mark_is_left():
    model = Model(DELETION_DISABLED, "2.8.2", {"restarts": 0, "deletions": 1})
    verdict = exhaust(model, keep_going=True)
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == {"deletion_is_not_dropped"}


@pytest.mark.thorough
def test_where_deletion_is_disabled_nothing_else_breaks():
    model = Model(DELETION_DISABLED, "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == {"deletion_is_not_dropped"}
